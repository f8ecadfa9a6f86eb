//! Random policies, as lists of rules.

use proptest::prelude::*;
use proptest::sample::select;
use seawall::policy::{Advice, Level, Limits, Policy, PolicyError};

/// A rule of one list of a policy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    AllowRows(String),
    DenyRows(String),
    AllowFunction(String),
    DenyFunction(String),
    TrustTrigger(String),
    TrustView(String),
}

impl Entry {
    pub(crate) fn opens(&self) -> bool {
        !matches!(self, Self::DenyRows(_) | Self::DenyFunction(_))
    }

    /// The same rule with its names in capitals; the words of the language stay.
    pub(crate) fn capitals(&self) -> Self {
        let loud = |rule: &str| -> String {
            let words = ["read", "insert", "update", "delete", "replace", "write", "call", "on", "by"];
            let mut out = String::new();
            for piece in rule.split_inclusive([' ', ',', '(', ')', '.']) {
                let word = piece.trim_end_matches([' ', ',', '(', ')', '.']);
                out.push_str(&if words.contains(&word) { piece.to_owned() } else { piece.to_uppercase() });
            }
            out
        };
        match self {
            Self::AllowRows(rule) => Self::AllowRows(loud(rule)),
            Self::DenyRows(rule) => Self::DenyRows(loud(rule)),
            Self::AllowFunction(rule) => Self::AllowFunction(loud(rule)),
            Self::DenyFunction(rule) => Self::DenyFunction(loud(rule)),
            Self::TrustTrigger(rule) => Self::TrustTrigger(loud(rule)),
            Self::TrustView(rule) => Self::TrustView(loud(rule)),
        }
    }
}

fn verbs() -> impl Strategy<Value = &'static str> {
    select(&["read", "read", "write", "insert", "update", "delete", "replace", "read, update"][..])
}

fn targets() -> impl Strategy<Value = &'static str> {
    select(
        &["t", "u", "log", "secret", "vt", "vs", "vi", "ft", "*", "aux.*", "aux.x", "*.secret", "*.t*", "?"]
            [..],
    )
}

fn row_rules() -> impl Strategy<Value = String> {
    let columns = ("read|update", targets(), select(&["a", "k", "id", "g", "*"][..]));
    prop_oneof![
        3 => (verbs(), targets()).prop_map(|(verbs, target)| format!("{verbs} on {target}")),
        1 => columns.prop_map(|(verb, target, column)| format!("{verb} on {target}({column})")),
    ]
}

fn functions() -> impl Strategy<Value = String> {
    select(
        &["abs", "hex", "changes", "sqlite_version", "count", "json_each", "max", "*", "l*", "coalesce"][..],
    )
    .prop_map(str::to_owned)
}

fn triggers() -> impl Strategy<Value = &'static str> {
    select(&["*", "t_*", "t_log", "main.t_log", "vi_*", "u_stop", "t_copy", "aux.*"][..])
}

fn grants() -> impl Strategy<Value = String> {
    let powers = select(&["read", "call", "read, call", "insert", "write"][..]);
    (powers, prop::option::of(targets()), triggers()).prop_map(|(powers, target, by)| match target {
        Some(target) if !powers.contains("call") => format!("{powers} on {target} by {by}"),
        _ => format!("{powers} by {by}"),
    })
}

pub(crate) fn entries() -> impl Strategy<Value = Entry> {
    prop_oneof![
        3 => row_rules().prop_map(Entry::AllowRows),
        3 => row_rules().prop_map(Entry::DenyRows),
        1 => functions().prop_map(Entry::AllowFunction),
        1 => functions().prop_map(Entry::DenyFunction),
        2 => grants().prop_map(Entry::TrustTrigger),
        1 => triggers().prop_map(|by| Entry::TrustView(format!("call by {by}"))),
    ]
}

const OPEN: &[&[&str]] =
    &[&[], &["read, write on *.*"], &["read on *.*", "write on t, u, vi"], &["read, write on *"]];

const TRUSTED: &[&[&str]] = &[&[], &["read, call by *"], &["call by *", "write by *"]];

/// Rules that often let much through, so that verdicts of both kinds are common.
pub(crate) fn policies() -> impl Strategy<Value = Vec<Entry>> {
    let base = select(OPEN);
    let trust = select(TRUSTED);
    (base, trust, prop::collection::vec(entries(), 0..6), any::<bool>()).prop_map(
        |(base, trust, mut rules, all)| {
            rules.extend(base.iter().map(|rule| Entry::AllowRows((*rule).to_owned())));
            rules.extend(trust.iter().map(|rule| Entry::TrustTrigger((*rule).to_owned())));
            if all {
                rules.push(Entry::AllowFunction("*".to_owned()));
            }
            rules
        },
    )
}

/// The policy of these rules; without `shipped`, no function is allowed but what they say.
pub(crate) fn build(entries: &[Entry]) -> Result<Policy, PolicyError> {
    let mut builder = Policy::builder().extends(Policy::builtin("base")?).limits(Limits {
        steps: Some(200_000),
        value: Some(1_000_000),
        ..Limits::default()
    });
    for entry in entries {
        builder = match entry {
            Entry::AllowRows(rule) => builder.allow_rows(rule),
            Entry::DenyRows(rule) => builder.deny_rows(rule),
            Entry::AllowFunction(rule) => builder.allow_functions(rule),
            Entry::DenyFunction(rule) => builder.deny_functions(rule),
            Entry::TrustTrigger(rule) => builder.trust_triggers(rule),
            Entry::TrustView(rule) => builder.trust_views(rule),
        }?;
    }
    for advice in [Advice::NoWhere, Advice::DoubleQuotedString, Advice::BareName] {
        builder = builder.advice(advice, Level::Allow);
    }
    builder.build()
}
