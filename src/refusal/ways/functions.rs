//! The way out of a call.

use super::rows::rule_target;
use super::{add, in_rule};
use crate::policy::Verb;
use crate::refusal::Context;
use crate::refusal::Finding;
use crate::request::{Action, Origin, Request, Resource};
use crate::ruleset::Ground;
use crate::source::{Name, Span};
use crate::statement::{Statement, TokenKind, written};

/// Statements that are looked through for the INSERT before one, so that a long text costs no square of it.
const LOOKED_BACK: usize = 1_000;

/// Literals of an INSERT that its row is found by, at most.
const KEYS: usize = 3;

pub(super) fn out_of(name: &Name, finding: &Finding, request: &Request, context: &Context<'_>) -> String {
    match &request.origin {
        Origin::Trigger(names) => {
            let by: Vec<String> = names.iter().map(in_rule).collect();
            let line = format!("call by {}", by.join(", "));
            return format!("To trust it, {}.", add(&line, "triggers.trust"));
        }
        Origin::View(view) => {
            let line = format!("call by {}", in_rule(view));
            return format!("Select from the tables it reads, or {}.", add(&line, "views.trust"));
        }
        Origin::Caller | Origin::Expression | Origin::ForeignKey | Origin::Module(_) => {}
    }
    let instead = instead(name, context);
    if matches!(name.folded(), "load_extension" | "fts3_tokenizer") {
        return instead;
    }
    let open = match finding.ground {
        Ground::Rule(_) if instead.is_empty() => "Leave it out; a rule of the policy denies it.".to_owned(),
        Ground::Rule(_) => String::new(),
        _ => format!("To allow it, {}.", add(&in_rule(name), "functions.allow")),
    };
    [instead, open].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What does the same and is open.
fn instead(name: &Name, context: &Context<'_>) -> String {
    let open = |function: &str| context.ruleset.allows_call(&Name::from(function));
    let text = match name.folded() {
        "last_insert_rowid" => {
            return inserted_row(context).unwrap_or_else(|| {
                "Give the row an id of your own and repeat it here, or select it by its natural key."
                    .to_owned()
            });
        }
        "changes" | "total_changes" if open("count") => "Count the rows with (SELECT count(*) FROM ...).",
        "match" if open("like") => "Find the rows with LIKE.",
        "load_extension" | "fts3_tokenizer" => "Leave it out; it reaches outside the database.",
        "sqlite_version" | "sqlite_source_id" | "sqlite_compileoption_get" | "sqlite_compileoption_used" => {
            "It describes the host, not the world; write the value itself."
        }
        "if" | "iif" | "ifnull" | "coalesce" => "Use CASE WHEN ... THEN ... ELSE ... END.",
        "zeroblob" => "Write the bytes themselves, as in x'0000'.",
        "octet_length" if open("length") => "Use length(CAST(... AS BLOB)).",
        json if json.starts_with("jsonb") => {
            let text = json.replacen("jsonb", "json", 1);
            return if open(&text) { format!("Use {text}().") } else { String::new() };
        }
        _ => "",
    };
    text.to_owned()
}

/// The subselect that finds the row of the INSERT before this statement, if the caller may read it.
fn inserted_row(context: &Context<'_>) -> Option<String> {
    let before = context.statements.get(..context.index)?;
    let insert = before
        .iter()
        .rev()
        .take(LOOKED_BACK)
        .find(|s| s.target.as_ref().is_some_and(|t| t.verb == Verb::Insert))?;
    let target = insert.target.as_ref()?;
    let (schema, _) =
        context.ruleset.catalog()?.resolve(target.table.schema.as_ref(), &target.table.table)?;
    let readable = |column: &Name| {
        let (schema, table) = (schema.name.clone(), target.table.table.clone());
        context.ruleset.allows(Action::Read, Resource::column(schema, table, column.clone()))
    };
    let whole = Resource::table(schema.name.clone(), target.table.table.clone());
    if rule_target(&whole).is_empty() || !context.ruleset.allows(Action::Insert, whole) {
        return None;
    }
    let row = target.single_row.as_ref()?;
    let pairs = target.columns.iter().zip(row).filter(|(column, _)| readable(&column.name));
    let keys = pairs.filter_map(|(column, span)| {
        let literal = insert.text.get(span.range()).filter(|_| is_literal(insert, *span))?;
        Some(format!("{} = {literal}", written(column.name.as_str())))
    });
    let keys: Vec<String> = keys.take(KEYS).collect();
    if keys.is_empty() {
        return None;
    }
    let table = insert.text.get(target.table.span.range())?;
    Some(format!("Use (SELECT rowid FROM {table} WHERE {}).", keys.join(" AND ")))
}

fn is_literal(statement: &Statement<'_>, span: Span) -> bool {
    let mut tokens = statement.tokens.iter().filter(|t| t.span.start >= span.start && t.span.end <= span.end);
    let kind = tokens.next().map(|token| token.kind);
    matches!(kind, Some(TokenKind::String | TokenKind::Number)) && tokens.next().is_none()
}
