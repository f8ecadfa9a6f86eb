//! The way out of a request for rows.

use super::{add, in_rule};
use crate::policy::Verb;
use crate::refusal::Context;
use crate::refusal::Finding;
use crate::refusal::words::view_between;
use crate::request::{Action, Origin, Request, Resource};
use crate::ruleset::Ground;
use crate::statement::{Statement, TokenKind};

pub(super) fn out_of(finding: &Finding, request: &Request, context: &Context<'_>) -> String {
    let target = rule_target(&request.resource);
    let word = request.action.word();
    if let Origin::Trigger(names) = &request.origin {
        let by: Vec<String> = names.iter().map(in_rule).collect();
        let line = format!("{word} on {target} by {}", by.join(", "));
        return format!("To trust it, {}.", add(&line, "triggers.trust"));
    }
    if finding.ground == Ground::Default {
        return format!("To open it, {}.", add(&format!("{word} on {target}"), "rows.allow"));
    }
    let statement = context.statements.get(context.index);
    let writes = statement.and_then(|statement| statement.target.as_ref()).map(|target| target.verb);
    let way = match (request.action, writes) {
        (Action::Read, _) if view_between(request, context).is_some() => {
            "Select what you need from the tables that the view reads."
        }
        (Action::Read, _) => statement.map_or(CLOSED, |statement| read(statement, request)),
        (Action::Replace | Action::Delete, Some(Verb::Insert)) => {
            "Use INSERT ... ON CONFLICT ... DO UPDATE instead."
        }
        (Action::Replace | Action::Delete, Some(Verb::Update)) => "Use UPDATE without OR REPLACE.",
        _ => "Leave its rows as they are; a rule of the policy closes them.",
    };
    way.to_owned()
}

const CLOSED: &str = "Leave it out; a rule of the policy closes it.";

/// How to do without a column or table that the text may not even name.
fn read(statement: &Statement<'_>, request: &Request) -> &'static str {
    let Resource::Column { column, .. } = &request.resource else { return CLOSED };
    if statement.mentions(|name| *column == *name) {
        CLOSED
    } else if has_star(statement) {
        "Name the columns you need instead of *."
    } else if statement.mentions(|name| name.eq_ignore_ascii_case("natural")) {
        "Name the columns to compare with ON instead of NATURAL."
    } else {
        CLOSED
    }
}

/// Whether a `*` stands for all columns, which follows SELECT, a comma or a period.
fn has_star(statement: &Statement<'_>) -> bool {
    let mut before = "";
    for token in &statement.tokens {
        let word = statement.text.get(token.span.range()).unwrap_or_default();
        let after = ["select", "distinct", "all", "returning"].iter().any(|w| before.eq_ignore_ascii_case(w));
        if token.kind == TokenKind::Mark && word == "*" && (after || [",", "."].contains(&before)) {
            return true;
        }
        before = word;
    }
    false
}

/// A resource as the target of a row rule.
pub(super) fn rule_target(resource: &Resource) -> String {
    let Some((schema, table)) = resource.table_name() else { return String::new() };
    let schema = if *schema == *"main" { String::new() } else { format!("{}.", in_rule(schema)) };
    let column = match resource {
        Resource::Column { column, .. } => format!("({})", in_rule(column)),
        _ => String::new(),
    };
    format!("{schema}{}{column}", in_rule(table))
}
