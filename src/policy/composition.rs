//! Denies that travel with an added world.

use super::merge::collect;
use super::rule::{RowRule, Rule, Target};
use super::{Pattern, Policy};
use crate::source::Name;

impl Policy {
    /// This policy with the denies of a world that is added under `schema`.
    ///
    /// The added world's `main` becomes `schema`, and the worlds added to it in turn `schema__name`. What it
    /// allows or trusts does not come along: the root's policy alone opens things.
    #[must_use]
    pub fn with_added(&self, schema: &Name, added: &Self) -> Self {
        let mut policy = self.clone();
        let rows = added.rows.deny.iter().map(|rule| relocated(rule, schema));
        policy.rows.deny = collect(self.rows.deny.iter().cloned().chain(rows));
        let functions = added.functions.deny.iter().cloned();
        policy.functions.deny = collect(functions.chain(self.functions.deny.iter().cloned()));
        policy
    }
}

fn relocated(rule: &Rule<RowRule>, schema: &Name) -> Rule<RowRule> {
    let mut moved = rule.clone();
    moved.what.targets = rule.what.targets.iter().flat_map(|target| places(target, schema)).collect();
    moved.what.targets.sort();
    moved.what.targets.dedup();
    moved
}

/// The target within the added world: in its own schema, and in those of the worlds added to it.
fn places(target: &Target, schema: &Name) -> Vec<Target> {
    let mut targets = Vec::new();
    let main = target.schema.matches(&Name::from("main"));
    if main {
        targets.push(Target { schema: Pattern::exactly(schema), ..target.clone() });
    }
    if target.schema.literal().is_none() || !main {
        targets.push(Target { schema: below(&target.schema, schema), ..target.clone() });
    }
    targets
}

fn below(pattern: &Pattern, schema: &Name) -> Pattern {
    if let Some(name) = pattern.literal() {
        return Pattern::exactly(&Name::from(format!("{schema}__{name}")));
    }
    let Pattern::Glob(glob) = pattern else { return pattern.clone() };
    // A glob cannot quote; `?` closes a little more rather than less.
    let prefix: String =
        schema.as_str().chars().map(|c| if super::pattern::is_plain(c) { c } else { '?' }).collect();
    Pattern::Glob(Name::from(format!("{prefix}__{glob}")))
}
