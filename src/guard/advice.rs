//! What an author should look at although the policy may allow it.

use super::judging::Judging;
use super::ready::Ready;
use crate::catalog::Catalog;
use crate::diagnostic::Code;
use crate::engine::event::EventKind;
use crate::policy::{Advice, Level, Policy, Verb};
use crate::refusal::Finding;
use crate::source::{Name, Span};
use crate::statement::{Conflict, Statement, unquote, written};

/// What the text alone shows, as far as the policy gives it this level.
pub(super) fn from_text(
    policy: &Policy,
    catalog: Option<&Catalog>,
    statement: &Statement<'_>,
    wanted: Level,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let is = |advice| policy.level(advice) == wanted;
    if statement.explain.is_some() && is(Advice::ExplainOnly) {
        let word = statement.tokens.first().map(|token| token.span);
        found.push(Finding::plain(Code::ExplainOnly, word, ""));
    }
    if let Some(target) = &statement.target {
        let every_row = matches!(target.verb, Verb::Update | Verb::Delete) && !target.has_where;
        if every_row && statement.explain.is_none() && is(Advice::NoWhere) {
            found.push(Finding::plain(
                Code::NoWhere,
                Some(target.table.span),
                written(target.table.table.as_str()),
            ));
        }
    }
    if let Some(catalog) = catalog.filter(|catalog| catalog.schemas.len() > 1)
        && is(Advice::BareName)
    {
        found.extend(bare_names(catalog, statement));
    }
    found
}

/// Unqualified names that the root does not have, so that they land in an attached schema.
fn bare_names(catalog: &Catalog, statement: &Statement<'_>) -> Vec<Finding> {
    let targets = statement.target.iter().map(|target| &target.table);
    let mut found = Vec::new();
    for mention in targets.chain(&statement.sources) {
        let cte = statement.ctes.iter().any(|cte| cte.name == mention.table);
        if mention.schema.is_some() || cte {
            continue;
        }
        let landed = catalog.resolve(None, &mention.table).map(|(schema, _)| &schema.name);
        if let Some(schema) = landed.filter(|schema| **schema != *"main" && **schema != *"temp") {
            let text = statement.text.get(mention.span.range()).unwrap_or_default();
            let subject = written(mention.table.as_str());
            let mut finding = Finding::plain(Code::BareName, Some(mention.span), subject);
            finding.detail = format!("{}.{text}", written(schema.as_str()));
            found.push(finding);
        }
    }
    found
}

/// What needs SQLite to tell, on a statement that is otherwise allowed: first what is denied, then
/// all advice of the statement that is told.
pub(super) fn of_allowed(
    judging: &Judging<'_>,
    statement: &Statement<'_>,
    ready: &Ready<'_>,
    strings: Vec<Finding>,
) -> (Vec<Finding>, Vec<Finding>) {
    let mut told = from_text(judging.ruleset.policy(), Some(&judging.catalog), statement, Level::Warn);
    let mut denied = Vec::new();
    let mut add = |advice: Advice, findings: Vec<Finding>| match judging.ruleset.policy().level(advice) {
        Level::Allow => {}
        Level::Warn => told.extend(findings),
        Level::Deny => denied.extend(findings),
    };
    add(Advice::ConflictReachesTrigger, reaches_trigger(judging, statement, ready));
    add(Advice::DoubleQuotedString, strings);
    (denied, told)
}

fn reaches_trigger(judging: &Judging<'_>, statement: &Statement<'_>, ready: &Ready<'_>) -> Vec<Finding> {
    let Some(target) = &statement.target else { return Vec::new() };
    let Some((Conflict::Ignore | Conflict::Fail | Conflict::Rollback, span)) = target.conflict else {
        return Vec::new();
    };
    let writes = ready.events.iter().any(|event| {
        matches!(event.kind, EventKind::Insert | EventKind::Update)
            && judging.catalog.triggers_named(&Name::from(&*event.accessor)).next().is_some()
    });
    if !writes {
        return Vec::new();
    }
    let word = target.conflict.map_or("", |(conflict, _)| conflict.word());
    let mut finding = Finding::plain(Code::ConflictReachesTrigger, Some(span), word);
    finding.detail = written(target.table.table.as_str()).into_owned();
    vec![finding]
}

/// Double-quoted words that SQLite reads as text because they name no column. SQLite itself says
/// so when asked without that fallback; the statement that runs is not touched.
///
/// Asked before the statement is prepared: the switch expires prepared statements.
pub(super) fn double_quoted_strings(judging: &Judging<'_>, statement: &Statement<'_>) -> Vec<Finding> {
    if !statement.head.is_row() || judging.ruleset.policy().level(Advice::DoubleQuotedString) == Level::Allow
    {
        return Vec::new();
    }
    let quoted: Vec<Span> = statement.double_quoted().map(|token| token.span).collect();
    let unknown: Vec<Span> = quoted
        .into_iter()
        .filter(|span| {
            let text = statement.text.get(span.range()).unwrap_or_default();
            let name = Name::from(&*unquote(text));
            let named = judging.catalog.holders(&name).next().is_some()
                || statement.ctes.iter().any(|c| c.name == name);
            let called = statement.calls.iter().any(|call| call.span == *span);
            let column = statement.target.iter().flat_map(|t| &t.columns).any(|c| c.span == *span);
            !named && !called && !column
        })
        .collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    let strings = crate::engine::strings::double_quoted(judging.connection, statement, &unknown);
    let told = strings.into_iter().map(|span| {
        let text = statement.text.get(span.range()).unwrap_or_default();
        let mut finding = Finding::plain(Code::DoubleQuotedString, Some(span), text);
        finding.detail = format!("'{}'", unquote(text).replace('\'', "''"));
        finding
    });
    told.collect()
}
