//! A policy held against a schema: names that match nothing, rules that never decide, and text of the
//! world that the policy stops.
//!
//! All of it is warnings. What a shipped parent says is left alone, because its rules are written for every
//! schema.

mod body;
mod names;
mod redundant;
mod world;

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::policy::{Pattern, Policy, Rule};
use crate::ruleset::Ruleset;
use crate::source::{Name, Place, Span};

/// What the author of `policy` should look at where the schema is that of `catalog`.
///
/// Names of columns are looked at where the catalog has read the columns of the table.
pub fn lint(policy: &Policy, catalog: &Catalog) -> Vec<Diagnostic> {
    let ruleset = Ruleset::compile(Arc::new(policy.clone()), Some(Arc::new(catalog.clone())));
    let mut found = names::check(policy, catalog);
    found.extend(redundant::check(policy, &ruleset, catalog));
    found.sort_by_key(|diagnostic| diagnostic.place.as_ref().map(|place| place.span));
    found.extend(world::check(&ruleset, catalog));
    found
}

fn warning(code: Code, message: impl Into<String>, place: Option<Place>) -> Diagnostic {
    Diagnostic::error(code, message, place).severity(Severity::Warning)
}

/// Whether the rule is the author's own, not a shipped policy's.
fn own<T>(rule: &Rule<T>) -> bool {
    rule.place.as_ref().is_none_or(|place| !place.source.name().starts_with("builtin:"))
}

/// The place of `pattern` within the rule at `place`; the whole rule where its author wrote it otherwise.
fn within(place: Option<&Place>, pattern: &Pattern) -> Option<Place> {
    let place = place?;
    let written = place.text().to_ascii_lowercase();
    let word = pattern.to_string();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '*' | '?');
    let found = written.match_indices(&word).find(|(at, _)| {
        let before = written.get(..*at).and_then(|head| head.chars().next_back());
        let after = written.get(at + word.len()..).and_then(|tail| tail.chars().next());
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    });
    let span =
        found.map_or(place.span, |(at, word)| Span::new(at, at + word.len()).shifted(place.span.start));
    Some(Place { source: place.source.clone(), span })
}

/// `name` as messages name it: the schema is left out where it is `main`.
fn qualified(schema: &Name, name: &Name) -> String {
    if *schema == *"main" { name.to_string() } else { format!("{schema}.{name}") }
}
