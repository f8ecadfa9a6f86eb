//! The policy file after validation.
//!
//! [`Policy`] is what an author's YAML file means: it is made by [`Policy::load`], [`Policy::parse`],
//! [`Policy::builtin`] or, in code, by [`Policy::builder`]; it is shown by [`Policy::show`].

mod builder;
mod canonical;
mod composition;
mod document;
mod entries;
mod error;
mod grammar;
mod load;
mod merge;
mod never;
mod pattern;
mod reader;
mod rule;
mod scalars;
#[cfg(feature = "schema")]
mod schema;
mod settings;
mod show;

pub use builder::PolicyBuilder;
pub use error::PolicyError;
pub use never::{ACTING_PRAGMAS, NEVER, Never, REPORTING_ARGUMENT};
pub use pattern::Pattern;
pub use rule::{
    Argument, ArgumentType, Columns, CommandRule, FunctionRule, Grant, Power, PragmaRule, RowRule, Rule,
    Target, TriggerPattern, Verb,
};
pub use settings::{Advice, ForeignKeys, Level, Limits};

use std::collections::BTreeMap;

/// A validated policy: the file, what it extends, and nothing left to look up.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// What the policy is for, in its author's words.
    pub description: Option<String>,
    /// Rows that may be read and written.
    pub rows: Section<RowRule>,
    /// Functions, operators and table functions that may be called.
    pub functions: Section<FunctionRule>,
    /// Pragmas that may be asked; there is nothing to deny.
    pub pragmas: Vec<Rule<PragmaRule>>,
    /// What triggers of the world are trusted for.
    pub triggers: Vec<Rule<Grant>>,
    /// What views of the world are trusted for: calls alone.
    pub views: Vec<Rule<Grant>>,
    /// FTS commands the caller may insert.
    pub virtual_tables: Vec<Rule<CommandRule>>,
    /// When foreign keys are checked.
    pub foreign_keys: ForeignKeys,
    /// Bounds of a run.
    pub limits: Limits,
    /// What to do where advice applies.
    pub advice: BTreeMap<Advice, Level>,
}

impl Policy {
    /// The level of a piece of advice; what the policy does not speak of is told.
    pub fn level(&self, advice: Advice) -> Level {
        self.advice.get(&advice).copied().unwrap_or(Level::Warn)
    }
}

/// The rules of a section that can both allow and deny.
#[derive(Clone, Debug)]
pub struct Section<T> {
    /// What is open.
    pub allow: Vec<Rule<T>>,
    /// What is closed whatever else is open.
    pub deny: Vec<Rule<T>>,
}

impl<T> Default for Section<T> {
    fn default() -> Self {
        Self { allow: Vec::new(), deny: Vec::new() }
    }
}
