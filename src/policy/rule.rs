//! The rules of a policy, and how each is written.

use std::collections::BTreeSet;

use super::Pattern;
use crate::request::Action;
use crate::source::{Name, Place};

/// An entry of a section, with the author's own words for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule<T> {
    /// What it says.
    pub what: T,
    /// Why, for the refusal.
    pub reason: Option<String>,
    /// The way out, for the refusal.
    pub fix: Option<String>,
    /// Where it stands; `None` for a rule built in code.
    pub place: Option<Place>,
}

/// What a row rule speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Read rows.
    Read,
    /// Insert rows.
    Insert,
    /// Update rows.
    Update,
    /// Delete rows.
    Delete,
    /// Replace rows on a conflict.
    Replace,
}

impl Verb {
    /// All of them, in the order of the canonical form.
    pub const ALL: [Self; 5] = [Self::Read, Self::Insert, Self::Update, Self::Delete, Self::Replace];
    /// The four that `write` stands for.
    pub const WRITE: [Self; 4] = [Self::Insert, Self::Update, Self::Delete, Self::Replace];

    /// The action of a request that the verb judges.
    pub const fn action(self) -> Action {
        match self {
            Self::Read => Action::Read,
            Self::Insert => Action::Insert,
            Self::Update => Action::Update,
            Self::Delete => Action::Delete,
            Self::Replace => Action::Replace,
        }
    }
}

/// `read, write on *.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRule {
    /// What may or may not be done.
    pub verbs: BTreeSet<Verb>,
    /// To what.
    pub targets: Vec<Target>,
}

/// `main.users(email, name)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The schema; `main` where none is written.
    pub schema: Pattern,
    /// The table or view.
    pub table: Pattern,
    /// The columns, `None` for all and the table itself.
    pub columns: Option<Columns>,
}

/// The columns of a target.
pub type Columns = Vec<Pattern>;

/// A function, an operator that is one (`->`), or a table function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRule {
    /// Its name.
    pub name: Pattern,
}

/// `foreign_key_check(table?)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PragmaRule {
    /// The pragma.
    pub name: Pattern,
    /// What may stand in its parentheses; `None` for the question form alone.
    pub argument: Option<Argument>,
}

/// The argument of a pragma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its type.
    pub kind: ArgumentType,
    /// Whether the question form is open too.
    pub optional: bool,
}

/// What an argument may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentType {
    /// The name of a table or view.
    Table,
    /// The name of an index.
    Index,
    /// A whole number.
    Integer,
    /// Any text.
    Text,
}

impl ArgumentType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Table, Self::Index, Self::Integer, Self::Text];
}

/// `insert on audit_log by issues_audit`; for views `call by *`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// What is trusted.
    pub powers: BTreeSet<Power>,
    /// On what; empty where none is written, which means everything.
    pub targets: Vec<Target>,
    /// Whose text is trusted.
    pub by: Vec<TriggerPattern>,
}

/// What a grant can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Power {
    /// A verb of a row rule.
    Row(Verb),
    /// Calling functions.
    Call,
}

/// The name of a trigger or view in a grant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TriggerPattern {
    /// Its schema; `None` for any.
    pub schema: Option<Pattern>,
    /// Its name.
    pub name: Pattern,
}

/// `integrity-check`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandRule {
    /// The command, in lower case.
    pub command: Name,
}
