//! The way out of one of SQLite's own errors.

use super::FailureContext;
use super::world_code::{calling, raising};
use crate::catalog::ForeignKey;
use crate::diagnostic::Code;
use crate::policy::{ForeignKeys, Verb};
use crate::refusal::words::{call, named as sql_name, sentence};
use crate::request::{Action, Resource};
use crate::source::{Name, Span, nearest};
use crate::statement::{self, Head, Statement, Token, TokenKind, written};

const CURLY: [char; 4] = ['\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}'];
const STRAIGHT: &str = "Replace the curly quotes by straight ones.";

/// Statements behind a failed one that are looked through for a row that it refers to.
const FOLLOWING: usize = 1_000;

pub(super) fn out_of(code: Code, text: &str, context: &FailureContext<'_>) -> String {
    let name = named(text).unwrap_or_default();
    match code {
        Code::NoSuchTable => table(text, name, context),
        Code::NoSuchColumn => column(name, context),
        Code::NoSuchFunction => function(name, context),
        Code::Constraint => constraint(text, context),
        Code::Syntax => syntax(text, context),
        Code::UnknownDatabase => attached(name, context),
        Code::Raise => raising(text, context).map_or_else(
            || "A trigger of the world refuses this change on purpose.".to_owned(),
            |trigger| format!("{} refuses this change on purpose.", sentence_start(&trigger)),
        ),
        Code::SqliteError if text.contains(" values for ") || text.contains(" values were supplied") => {
            "Give one value for each column.".to_owned()
        }
        _ => String::new(),
    }
}

/// The last part of the name in one of SQLite's messages.
pub(super) fn named(text: &str) -> Option<&str> {
    let (_, name) = text.rsplit_once(": ").or_else(|| text.rsplit_once(" named "))?;
    let name = name.split(" - ").next().unwrap_or(name);
    Some(name.rsplit('.').next().unwrap_or(name).trim_matches('"'))
}

fn table(text: &str, name: &str, context: &FailureContext<'_>) -> String {
    if let Some(culprit) = world_names(name, context) {
        return culprit;
    }
    let Some(catalog) = context.ruleset.catalog() else { return String::new() };
    let full = text.split_once(": ").map_or("", |(_, full)| full);
    let schema = full.strip_suffix(name).and_then(|schema| schema.strip_suffix('.'));
    let schema = schema.filter(|schema| !schema.is_empty()).map(Name::from);
    if schema.as_ref().is_some_and(|schema| catalog.schema(schema).is_none()) {
        return elsewhere(schema.as_ref(), name, context);
    }
    let looked_at = catalog.schemas.iter().filter(|held| schema.as_ref().is_none_or(|s| *s == held.name));
    let tables = looked_at
        .flat_map(|held| held.tables.keys().map(|table| Resource::table(held.name.clone(), table.clone())));
    let open: Vec<Resource> = tables.filter(|table| is_open(table, context)).collect();
    let names = open.iter().filter_map(|table| table.table_name()).map(|(_, table)| table.as_str());
    let near = nearest(name, names);
    let found = open.iter().find(|table| table.table_name().is_some_and(|(_, t)| Some(t.as_str()) == near));
    match found {
        Some(table) => format!("Did you mean {}?", sql_name(table)),
        None => report("table_list", "the tables", context),
    }
}

/// A table of a schema that is not there: one of that name in another, or the schema that was meant.
fn elsewhere(schema: Option<&Name>, table: &str, context: &FailureContext<'_>) -> String {
    let schemas = context.ruleset.catalog().into_iter().flat_map(|catalog| &catalog.schemas);
    let table = Name::from(table);
    let held = schemas.filter(|held| held.tables.contains_key(&table));
    let mut held = held.map(|held| Resource::table(held.name.clone(), table.clone()));
    match held.find(|table| is_open(table, context)).as_ref().and_then(Resource::table_name) {
        Some((schema, table)) => {
            format!("Did you mean {}.{}?", written(schema.as_str()), written(table.as_str()))
        }
        None => attached(schema.map(Name::as_str).unwrap_or_default(), context),
    }
}

/// Whether the caller may do anything with it.
fn is_open(resource: &Resource, context: &FailureContext<'_>) -> bool {
    let actions = [Action::Read, Action::Insert, Action::Update, Action::Delete];
    actions.into_iter().any(|action| context.ruleset.allows(action, resource.clone()))
}

fn column(name: &str, context: &FailureContext<'_>) -> String {
    if name.contains(CURLY) {
        return STRAIGHT.to_owned();
    }
    if let Some(culprit) = world_names(name, context) {
        return culprit;
    }
    let columns = context.near.map(|near| near.columns.as_slice()).unwrap_or_default();
    if let Some(near) = nearest(name, columns.iter().map(Name::as_str)) {
        return format!("Did you mean {}?", written(near));
    }
    let all: Vec<_> = columns.iter().map(|column| written(column.as_str())).take(12).collect();
    let all = if all.is_empty() { String::new() } else { format!("Columns: {}.", all.join(", ")) };
    match (is_value(name, context), all.as_str()) {
        (true, "") => format!("Text goes in single quotes: '{name}'."),
        (true, all) => format!("Text goes in single quotes: '{name}'. {all}"),
        (false, _) => all,
    }
}

/// Whether a word without quotes stands where a value can, so that text may be meant.
fn is_value(name: &str, context: &FailureContext<'_>) -> bool {
    let statement = context.statement;
    let assigned = statement.target.iter().flat_map(|target| &target.columns);
    let assigned: Vec<Span> = assigned.map(|column| column.span).collect();
    let is_mark = |token: Option<&Token>| token.is_some_and(|token| statement.word(*token) == ".");
    let tokens = &statement.tokens;
    tokens.iter().enumerate().any(|(at, token)| {
        token.kind == TokenKind::Word
            && statement.word(*token).eq_ignore_ascii_case(name)
            && !assigned.contains(&token.span)
            && !is_mark(tokens.get(at + 1))
            && !is_mark(at.checked_sub(1).and_then(|before| tokens.get(before)))
    })
}

fn attached(wanted: &str, context: &FailureContext<'_>) -> String {
    let schemas = context.ruleset.catalog().into_iter().flat_map(|catalog| &catalog.schemas);
    let names: Vec<_> =
        schemas.filter(|schema| schema.name != *"temp").map(|schema| written(schema.name.as_str())).collect();
    match nearest(wanted, names.iter().map(AsRef::as_ref)) {
        Some(near) => format!("Did you mean {near}?"),
        None => format!("Databases here: {}.", names.join(", ")),
    }
}

/// What a pragma would tell, if the policy lets it be asked.
fn report(pragma: &str, what: &str, context: &FailureContext<'_>) -> String {
    let open = context.ruleset.reports(&Name::from(pragma));
    if open { format!("PRAGMA {pragma} reports {what}.") } else { String::new() }
}

fn function(name: &str, context: &FailureContext<'_>) -> String {
    let called = context.statement.calls.iter().any(|c| c.name == *name);
    if !called {
        return calling(name, context).map_or_else(
            || "The statement does not call it; a trigger, view or column of the world does.".to_owned(),
            |culprit| {
                format!(
                    "{} calls it, not this statement; the host must register it.",
                    sentence_start(&culprit)
                )
            },
        );
    }
    // What another database calls it, and the functions that the answer needs.
    let known: Option<(&str, &[&str])> = match name.to_ascii_lowercase().as_str() {
        "now" | "getdate" | "sysdate" => Some(("datetime('now')", &["datetime"])),
        "strcat" | "concat" => Some(("a || b", &[])),
        "nvl" | "isnull" => Some(("ifnull(a, b)", &["ifnull"])),
        "len" | "char_length" => Some(("length(a)", &["length"])),
        "left" => Some(("substr(a, 1, n)", &["substr"])),
        "right" => Some(("substr(a, -n)", &["substr"])),
        "uuid" | "gen_random_uuid" => Some(("lower(hex(randomblob(16)))", &["lower", "hex", "randomblob"])),
        "regexp" => Some(("LIKE or GLOB", &["like", "glob"])),
        _ => None,
    };
    let open = |name: &&str| context.ruleset.allows_call(&Name::from(*name));
    if let Some((known, _)) = known.filter(|(_, needs)| needs.iter().all(open)) {
        return format!("Use {known}.");
    }
    let listed = context.ruleset.policy().functions.allow.iter().filter_map(|rule| rule.what.name.literal());
    let near = nearest(name, listed.filter(|name| context.ruleset.allows_call(name)).map(Name::folded));
    match near {
        Some(near) => format!("Did you mean {}?", call(&Name::from(near))),
        None => report("function_list", "the functions", context),
    }
}

/// That world code names what the statement does not.
fn world_names(name: &str, context: &FailureContext<'_>) -> Option<String> {
    if context.statement.mentions(|word| word.eq_ignore_ascii_case(name)) {
        return None;
    }
    let culprit = calling(name, context)?;
    Some(format!("{} names it, not this statement; mend the world's schema.", sentence_start(&culprit)))
}

fn constraint(text: &str, context: &FailureContext<'_>) -> String {
    let subject = text.split_once(": ").map_or("", |(_, subject)| subject);
    let target = context.statement.target.as_ref();
    let of_target = target.is_none_or(|target| {
        let table = target.table.table.folded();
        subject.to_ascii_lowercase().strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))
    });
    let of_index = subject.starts_with("index '");
    let many = subject.contains(", ");
    if text.starts_with("FOREIGN KEY") {
        return foreign_key(context);
    }
    if (text.starts_with("UNIQUE") || text.starts_with("NOT NULL")) && !of_target && !of_index {
        let table = subject.split('.').next().unwrap_or_default();
        if let Some(culprit) = calling(table, context) {
            return format!("{} writes there; give this row other values.", sentence_start(&culprit));
        }
    }
    if text.starts_with("UNIQUE") {
        let values = match (of_index, many) {
            (true, _) => "Use other values".to_owned(),
            (false, true) => format!("Use other values for {subject}"),
            (false, false) => format!("Use another value for {subject}"),
        };
        let inserts = target.is_some_and(|target| target.verb == Verb::Insert);
        if inserts {
            format!("{values}, or say what happens with ON CONFLICT.")
        } else {
            format!("{values}.")
        }
    } else if text.starts_with("NOT NULL") {
        format!("Give {subject} a value.")
    } else if text.starts_with("CHECK") {
        "Write values that satisfy it; it stands in the world's schema.".to_owned()
    } else if text.contains("STRICT") || text.contains("cannot store") {
        "Write a value of the column's type.".to_owned()
    } else {
        String::new()
    }
}

fn foreign_key(context: &FailureContext<'_>) -> String {
    let target = context.statement.target.as_ref();
    let written_columns = target.map(|target| target.columns.as_slice()).unwrap_or_default();
    let verb = target.map(|target| target.verb);
    // An UPDATE breaks a reference that it sets, or else the references to what it changes.
    let concerned = |key: &&ForeignKey| {
        let is_set = |name: &Name| written_columns.iter().any(|column| column.name == *name);
        verb != Some(Verb::Update) || key.columns.iter().any(|(from, _)| is_set(from))
    };
    let keys = context.near.map(|near| near.references.as_slice()).unwrap_or_default();
    let references = keys.iter().filter(concerned).map(|key| {
        let columns: Vec<_> = key.columns.iter().map(|(from, _)| written(from.as_str())).collect();
        format!("{} refers to {}", columns.join(", "), written(key.parent.as_str()))
    });
    let references: Vec<String> = references.collect();
    let told = if references.is_empty() { String::new() } else { format!(" ({})", references.join("; ")) };
    let later = match context.ruleset.policy().foreign_keys {
        ForeignKeys::Immediate => ", or set `foreign_keys: deferred` in the policy to check once, at COMMIT",
        ForeignKeys::Deferred => "",
    };
    if let Some((number, parent, column)) = parent_that_follows(context, concerned) {
        let (parent, column) = (written(parent.as_str()), written(column.as_str()));
        return format!(
            "Move statement {number} before this one: it inserts into {parent}, which {column} refers to{later}."
        );
    }
    match verb {
        Some(Verb::Delete) => "Change or delete the rows that refer to it first.".to_owned(),
        Some(Verb::Update) if references.is_empty() => {
            format!("Change the rows that refer to it first{later}.")
        }
        _ => format!("Write the row that it refers to first{told}{later}."),
    }
}

/// The first later statement that inserts into a table which this one refers to, that table, and by which column.
fn parent_that_follows<'a>(
    context: &FailureContext<'a>,
    concerned: impl Fn(&&ForeignKey) -> bool,
) -> Option<(usize, &'a Name, &'a Name)> {
    let near = context.near?;
    if context.statement.target.as_ref()?.verb == Verb::Delete {
        return None;
    }
    let text = context.source.text();
    let later = statement::split(text).into_iter().enumerate().skip(context.index + 1);
    later.take(FOLLOWING).find_map(|(index, span)| {
        let target = Statement::read(text, span).target.filter(|target| target.verb == Verb::Insert)?;
        let is_parent = |key: &&ForeignKey| key.parent == target.table.table;
        let key = near.references.iter().filter(&concerned).find(is_parent)?;
        Some((index + 1, &key.parent, &key.columns.first()?.0))
    })
}

fn syntax(text: &str, context: &FailureContext<'_>) -> String {
    let sql = context.statement.sql();
    let first = sql.split_whitespace().next().unwrap_or_default();
    let is = |words: &[&str]| words.iter().any(|word| first.eq_ignore_ascii_case(word));
    let hint = if first.starts_with('.') {
        "Commands that begin with a dot belong to the sqlite3 shell; leave them out"
    } else if is(&["truncate"]) {
        "Write DELETE FROM and the table"
    } else if is(&["show", "describe", "desc"]) {
        return report("table_list", "the tables", context);
    } else if sql.contains("::") && text.contains("\":\"") {
        "Write CAST(value AS type)"
    } else if sql.contains("\\'") || stands(text, context, ends_a_text) {
        "A quote inside a string is doubled, as in 'it''s'"
    } else if sql.contains(CURLY) {
        return STRAIGHT.to_owned();
    } else if context.statement.illegal.is_some() && text.starts_with("unrecognized token") {
        "Look for a quote that is not closed"
    } else if context.statement.head == Head::Unknown {
        return beginning(first);
    } else if text == "incomplete input" {
        "Finish it; the statement ends too early"
    } else if stands(text, context, |before, word| before.is_plain_name() && word.is_plain_name()) {
        "Text goes in single quotes; if none is meant, a semicolon or a comma may be missing just before"
    } else {
        "Look at the words just before it; a semicolon or a comma may be missing"
    };
    sentence(hint)
}

/// Whether a word follows a text without a space, as where a quote inside it has ended it.
fn ends_a_text(before: Token, word: Token) -> bool {
    before.kind == TokenKind::String && word.kind == TokenKind::Word && before.span.end == word.span.start
}

/// Whether the word that SQLite stops at stands behind another as `how` says.
fn stands(text: &str, context: &FailureContext<'_>, how: impl Fn(Token, Token) -> bool) -> bool {
    let near =
        text.strip_prefix("near \"").and_then(|rest| rest.split_once('"')).map_or("", |(near, _)| near);
    let statement = context.statement;
    statement.tokens.windows(2).any(|pair| {
        let [before, word] = pair else { return false };
        statement.word(*word) == near && how(*before, *word)
    })
}

fn beginning(first: &str) -> String {
    let words = ["SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "VALUES", "PRAGMA", "EXPLAIN"];
    match nearest(&first.to_ascii_uppercase(), words.into_iter()) {
        Some(near) => format!("Did you mean {near}?"),
        None => "A statement begins with SELECT, INSERT, UPDATE, DELETE, REPLACE, WITH or VALUES.".to_owned(),
    }
}

/// `trigger x on y` at the start of a sentence.
fn sentence_start(clause: &str) -> String {
    let mut letters = clause.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}
