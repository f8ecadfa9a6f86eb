//! The layer of tokens: it reads every statement, also one that no parser takes.

use crate::catalog::{Catalog, Known, TableKind, is_internal};
use crate::policy::Verb;
use crate::request::{Action, Request, Resource};
use crate::source::{Name, Span};
use crate::statement::{Conflict, Head, Statement, TableMention, Target};

/// The requests that the text of `statement` shows, in the order of the text.
pub(super) fn requests(statement: &Statement<'_>, known: &Known, catalog: Option<&Catalog>) -> Vec<Request> {
    let mut asked = Vec::new();
    match &statement.head {
        Head::Pragma(pragma) => {
            let argument = pragma.argument.as_ref();
            let span = Span::new(pragma.span.start, argument.map_or(pragma.span.end, |a| a.span.end));
            let resource =
                Resource::Pragma { name: pragma.name.clone(), argument: argument.map(|a| a.text.clone()) };
            asked.push(Request::caller(Action::Pragma, resource, Some(span)));
        }
        Head::Schema => asked.push(closed(statement, Action::Schema)),
        Head::Transaction => asked.push(closed(statement, Action::Transaction)),
        Head::Attach => asked.push(closed(statement, Action::Attach)),
        Head::Maintenance => asked.push(closed(statement, Action::Maintenance)),
        Head::Select | Head::Insert | Head::Update | Head::Delete => {
            asked.extend(reads(statement, known, catalog));
            asked.extend(writes(statement, catalog));
        }
        Head::Unknown => {}
    }
    asked.sort_by_key(|request| request.span);
    asked
}

/// A statement that no policy opens, by its first words.
fn closed(statement: &Statement<'_>, action: Action) -> Request {
    let words: Vec<_> = statement.unexplained().iter().take(2).collect();
    let span = match (words.first(), words.last()) {
        (Some(first), Some(last)) => Span::new(first.span.start, last.span.end),
        _ => statement.span,
    };
    let text = statement.text.get(span.range()).unwrap_or_default();
    Request::caller(action, Resource::Statement(text.to_owned()), Some(span))
}

/// What a statement on rows reads and calls.
pub(super) fn reads(statement: &Statement<'_>, known: &Known, catalog: Option<&Catalog>) -> Vec<Request> {
    let mut asked = Vec::new();
    // A function is judged only where there is one; else SQLite says that there is none.
    for call in statement.calls.iter().filter(|call| known.functions.contains(&call.name)) {
        asked.push(Request::caller(Action::Call, Resource::Function(call.name.clone()), Some(call.span)));
    }
    for source in &statement.sources {
        read(source, statement, known, catalog, &mut asked);
    }
    asked
}

/// What a statement on rows writes.
pub(super) fn writes(statement: &Statement<'_>, catalog: Option<&Catalog>) -> Vec<Request> {
    let mut asked = Vec::new();
    if let Some(target) = &statement.target {
        written(target, catalog, &mut asked, statement);
    }
    asked
}

/// The schema that a bare name is taken to mean where no catalog tells.
pub(super) fn home(table: &Name) -> Name {
    Name::from(if table.folded().starts_with("sqlite_temp_") { "temp" } else { "main" })
}

fn read(
    source: &TableMention,
    statement: &Statement<'_>,
    known: &Known,
    catalog: Option<&Catalog>,
    asked: &mut Vec<Request>,
) {
    let bare = source.schema.is_none();
    if bare && statement.ctes.iter().any(|cte| cte.name == source.table) {
        return;
    }
    let span = Some(source.span);
    let found = catalog.and_then(|catalog| catalog.resolve(source.schema.as_ref(), &source.table));
    if let Some((schema, _)) = found {
        let resource = Resource::table(schema.name.clone(), source.table.clone());
        // Which CTEs are reached is not known from tokens, so in a statement that has some only
        // what SQLite keeps for itself counts; the authorizer reports the rest.
        let kept = is_internal(&source.table)
            || schema.tables.get(&source.table).is_some_and(|t| matches!(t.kind, TableKind::Shadow(_)));
        if statement.ctes.is_empty() || kept {
            asked.push(Request::caller(Action::Read, resource, span));
        }
    } else if known.is_table_function(&source.table) {
        asked.push(Request::caller(Action::Call, Resource::Function(source.table.clone()), span));
    } else if catalog.is_none() || is_internal(&source.table) {
        let schema = source.schema.clone().unwrap_or_else(|| home(&source.table));
        asked.push(Request::caller(Action::Read, Resource::table(schema, source.table.clone()), span));
    }
}

fn written(target: &Target, catalog: Option<&Catalog>, asked: &mut Vec<Request>, statement: &Statement<'_>) {
    let table = &target.table.table;
    let span = Some(target.table.span);
    let found = catalog.and_then(|catalog| catalog.resolve(target.table.schema.as_ref(), table));
    let schema = match found {
        Some((schema, _)) => schema.name.clone(),
        None if catalog.is_none() || is_internal(table) => {
            target.table.schema.clone().unwrap_or_else(|| home(table))
        }
        None => return,
    };
    let whole = || Resource::table(schema.clone(), table.clone());
    match target.verb {
        Verb::Update if is_internal(table) || target.columns.is_empty() => {
            asked.push(Request::caller(Action::Update, whole(), span));
        }
        Verb::Update => asked.extend(target.columns.iter().map(|column| {
            let resource = Resource::column(schema.clone(), table.clone(), column.name.clone());
            Request::caller(Action::Update, resource, Some(column.span))
        })),
        verb => asked.push(Request::caller(verb.action(), whole(), span)),
    }
    if let Some((Conflict::Replace, clause)) = target.conflict {
        asked.push(Request::caller(Action::Replace, whole(), Some(clause)));
        asked.push(Request::caller(Action::Delete, whole(), Some(clause)));
    }
    let module = found.map(|(_, found)| &found.kind);
    if let Some(TableKind::Virtual(module)) = module
        && module.folded().starts_with("fts")
        && let Some(request) = command(target, statement, &schema)
    {
        asked.push(request);
    }
}

/// A command for a full-text table: an INSERT that names the table's own hidden column.
fn command(target: &Target, statement: &Statement<'_>, schema: &Name) -> Option<Request> {
    if target.verb != Verb::Insert {
        return None;
    }
    let at = target.columns.iter().position(|column| column.name == target.table.table)?;
    let value = target.single_row.as_ref().and_then(|row| row.get(at));
    let literal = value.and_then(|span| statement.text.get(span.range())).filter(|text| is_string(text));
    let resource = Resource::Command {
        schema: schema.clone(),
        table: target.table.table.clone(),
        command: literal.map(|text| crate::statement::unquote(text).to_ascii_lowercase()),
    };
    let span = value.copied().or_else(|| target.columns.get(at).map(|column| column.span));
    Some(Request::caller(Action::Command, resource, span))
}

/// Whether `text` is one string literal.
fn is_string(text: &str) -> bool {
    let (tokens, illegal) = crate::statement::tokens(text, Span::new(0, text.len()));
    illegal.is_none()
        && matches!(tokens.as_slice(), [token] if token.kind == crate::statement::TokenKind::String)
}
