//! Which world code SQLite's message is about: it names none.

use super::FailureContext;
use crate::catalog::{Schema, TableKind, Trigger};
use crate::source::{Name, Span};
use crate::statement::{TokenKind, tokens, unquote, written};

/// The trigger or view whose text has this name, as `trigger x on y`; those of the tables that the
/// statement names come first.
pub(super) fn calling(name: &str, context: &FailureContext<'_>) -> Option<String> {
    let holds = |sql: &str| {
        words(sql).any(|(kind, word)| kind != TokenKind::String && word.eq_ignore_ascii_case(name))
    };
    trigger(context, holds).or_else(|| view(context, holds))
}

/// The trigger that raises this text.
pub(super) fn raising(text: &str, context: &FailureContext<'_>) -> Option<String> {
    trigger(context, |sql| words(sql).any(|(kind, word)| kind == TokenKind::String && word == text))
}

fn words(sql: &str) -> impl Iterator<Item = (TokenKind, String)> {
    let (tokens, _) = tokens(sql, Span::new(0, sql.len()));
    tokens.into_iter().map(|token| {
        let text = sql.get(token.span.range()).unwrap_or_default();
        (token.kind, unquote(text).into_owned())
    })
}

fn trigger(context: &FailureContext<'_>, holds: impl Fn(&str) -> bool) -> Option<String> {
    let catalog = &context.near?.world;
    let target = context.statement.target.as_ref()?;
    let every = || catalog.schemas.iter().flat_map(|schema: &Schema| &schema.triggers);
    let on_target = |(_, trigger): &(&Name, &Trigger)| trigger.table == target.table.table;
    let found = every().filter(on_target).chain(every()).find(|(_, trigger)| holds(&body(trigger)));
    found.map(|(name, trigger)| {
        format!("trigger {} on {}", written(name.as_str()), written(trigger.table.as_str()))
    })
}

/// The text of a trigger after the table that it stands on.
fn body(trigger: &Trigger) -> String {
    let begin = trigger.sql.to_ascii_lowercase().find("begin").unwrap_or(0);
    trigger.sql.get(begin..).unwrap_or_default().to_owned()
}

fn view(context: &FailureContext<'_>, holds: impl Fn(&str) -> bool) -> Option<String> {
    let catalog = &context.near?.world;
    context.statement.sources.iter().find_map(|source| {
        let (_, table) = catalog.resolve(source.schema.as_ref(), &source.table)?;
        let found = table.kind == TableKind::View && holds(&table.sql);
        found.then(|| format!("view {}", written(source.table.as_str())))
    })
}
