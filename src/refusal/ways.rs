//! The way out of a refusal, ready to paste where it can be.

use super::Context;
use super::Finding;
use super::words::call;
use crate::diagnostic::Code;
use crate::policy::{Pattern, REPORTING_ARGUMENT, Verb};
use crate::request::{Action, Origin, Request, Resource};
use crate::ruleset::Ground;
use crate::source::{Name, nearest};
use crate::statement::{Statement, TokenKind};

pub(super) fn out_of(finding: &Finding, request: &Request, context: &Context<'_>) -> String {
    match &request.resource {
        Resource::Pragma { name, argument } => pragma(name, argument.as_deref(), context),
        Resource::Command { command, .. } => command_way(command.as_deref(), context),
        Resource::Function(name) => function(name, request, context),
        Resource::Table { table, .. } | Resource::Column { table, .. } => match finding.code {
            Code::InternalTable => internal(table, request.action),
            Code::ShadowTable => String::new(),
            _ => rows(finding, request),
        },
        Resource::Statement(_) => String::new(),
    }
}

fn pragma(name: &Name, argument: Option<&str>, context: &Context<'_>) -> String {
    if ["foreign_keys", "defer_foreign_keys"].contains(&name.folded()) && argument.is_some() {
        return "It would do nothing inside the transaction; write the rows in the order parent before child, or set \
                foreign_keys: deferred in the policy."
            .to_owned();
    }
    if argument.is_some() && !REPORTING_ARGUMENT.contains(&name.folded()) && context.ruleset.reports(name) {
        return format!("It may be asked, not set: PRAGMA {name}.");
    }
    let rules = &context.ruleset.policy().pragmas;
    let mut open: Vec<&str> =
        rules.iter().filter_map(|rule| rule.what.name.literal()).map(Name::folded).collect();
    open.sort_unstable();
    open.dedup();
    if open.is_empty() {
        return "The policy allows no pragma.".to_owned();
    }
    let meant = nearest(name.folded(), open.iter().copied());
    let meant = meant.map(|near| format!("Did you mean {near}? ")).unwrap_or_default();
    format!("{meant}Allowed: {}.", open.join(", "))
}

fn command_way(command: Option<&str>, context: &Context<'_>) -> String {
    let rules = &context.ruleset.policy().virtual_tables;
    let mut open: Vec<&str> = rules.iter().map(|rule| rule.what.command.folded()).collect();
    open.sort_unstable();
    open.dedup();
    let allowed = match open.as_slice() {
        [] => "The policy allows none.".to_owned(),
        open => format!("Allowed: '{}'.", open.join("', '")),
    };
    match command {
        Some(_) => allowed,
        None => format!("Write the command as one literal in a VALUES row. {allowed}"),
    }
}

fn function(name: &Name, request: &Request, context: &Context<'_>) -> String {
    match &request.origin {
        Origin::Trigger(names) => {
            let by: Vec<String> = names.iter().map(written).collect();
            return format!("To trust it, add `call by {}` to triggers.trust in the policy.", by.join(", "));
        }
        Origin::View(view) => {
            return format!(
                "Select from the tables it reads, or add `call by {}` to views.trust in the policy.",
                written(view)
            );
        }
        Origin::Caller | Origin::Expression | Origin::ForeignKey | Origin::Module(_) => {}
    }
    let instead = match name.folded() {
        "last_insert_rowid" => inserted_row(context).unwrap_or_else(|| {
            "Give the row an id of your own and repeat it here, or select it by its natural key.".to_owned()
        }),
        "changes" | "total_changes" => "Count the rows with (SELECT count(*) FROM ...).".to_owned(),
        "match" | "bm25" | "snippet" | "highlight" => "Find the rows with LIKE.".to_owned(),
        "load_extension" | "fts3_tokenizer" => {
            return "It reaches outside the database; leave it out.".to_owned();
        }
        "sqlite_version" | "sqlite_source_id" | "sqlite_compileoption_get" | "sqlite_compileoption_used" => {
            "It describes the host, not the world; write the value itself.".to_owned()
        }
        _ => {
            let listed = &context.ruleset.policy().functions.allow;
            let names = listed.iter().filter_map(|rule| rule.what.name.literal()).map(Name::folded);
            let near = nearest(name.folded(), names);
            near.map(|near| format!("Did you mean {}?", call(&Name::from(near)))).unwrap_or_default()
        }
    };
    let add = format!("To allow it, add `{}` to functions.allow in the policy.", written(name));
    if instead.is_empty() { add } else { format!("{instead} {add}") }
}

/// The subselect that finds the row of the INSERT before this statement.
fn inserted_row(context: &Context<'_>) -> Option<String> {
    let before = context.statements.get(..context.index)?;
    let insert = before.iter().rev().find(|s| s.target.as_ref().is_some_and(|t| t.verb == Verb::Insert))?;
    let target = insert.target.as_ref()?;
    let row = target.single_row.as_ref()?;
    let literal = |span: &crate::source::Span| {
        let text = insert.text.get(span.range())?;
        is_literal(insert, *span).then_some(text)
    };
    let key = target.columns.iter().zip(row).find_map(|(column, span)| Some((column, literal(span)?)))?;
    let table = insert.text.get(target.table.span.range())?;
    Some(format!("Use (SELECT rowid FROM {table} WHERE {} = {}).", written(&key.0.name), key.1))
}

fn is_literal(statement: &Statement<'_>, span: crate::source::Span) -> bool {
    let mut tokens = statement.tokens.iter().filter(|t| t.span.start >= span.start && t.span.end <= span.end);
    let kind = tokens.next().map(|token| token.kind);
    matches!(kind, Some(TokenKind::String | TokenKind::Number)) && tokens.next().is_none()
}

fn internal(table: &Name, action: Action) -> String {
    match table.folded() {
        "sqlite_sequence" => "Give the rows explicit ids instead.".to_owned(),
        "sqlite_master" | "sqlite_schema" | "sqlite_temp_master" | "sqlite_temp_schema"
            if action == Action::Read =>
        {
            "PRAGMA table_list and PRAGMA table_info(...) report the schema.".to_owned()
        }
        "sqlite_master" | "sqlite_schema" | "sqlite_temp_master" | "sqlite_temp_schema" => {
            "Put schema changes into the world's own schema.".to_owned()
        }
        _ => "Leave it out.".to_owned(),
    }
}

fn rows(finding: &Finding, request: &Request) -> String {
    let target = rule_target(&request.resource);
    let word = request.action.word();
    match (&request.origin, finding.ground) {
        (Origin::Trigger(names), _) => {
            let by: Vec<String> = names.iter().map(written).collect();
            format!(
                "To trust it, add `{word} on {target} by {}` to triggers.trust in the policy.",
                by.join(", ")
            )
        }
        (_, Ground::Default) => format!("To open it, add `{word} on {target}` to rows.allow in the policy."),
        _ if request.action == Action::Replace => {
            "Use INSERT ... ON CONFLICT ... DO UPDATE, or update the row.".to_owned()
        }
        _ if request.action == Action::Read => {
            "Leave it out; the rule that closes it is in the policy.".to_owned()
        }
        _ => "Leave it as it is; the rule that closes it is in the policy.".to_owned(),
    }
}

/// A resource as the target of a row rule.
fn rule_target(resource: &Resource) -> String {
    let Some((schema, table)) = resource.table_name() else { return String::new() };
    let schema = if *schema == *"main" { String::new() } else { format!("{}.", written(schema)) };
    let column = match resource {
        Resource::Column { column, .. } => format!("({})", written(column)),
        _ => String::new(),
    };
    format!("{schema}{}{column}", written(table))
}

/// A name as the policy language and SQL both read it.
fn written(name: &Name) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
    let operator = matches!(name.as_str(), "->" | "->>");
    let first_is_letter = name.as_str().starts_with(|c: char| plain(c) && !c.is_ascii_digit());
    if operator || (first_is_letter && name.as_str().chars().all(plain)) {
        name.to_string()
    } else {
        Pattern::Exact(name.clone()).to_string()
    }
}
