//! The scalars of a policy.

use std::time::Duration;

use crate::diagnostic::Code;

/// When foreign keys are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForeignKeys {
    /// As each is declared.
    #[default]
    Immediate,
    /// All once, at COMMIT.
    Deferred,
}

/// Bounds of a run; `None` for no bound but SQLite's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Statements in one text.
    pub statements: Option<u64>,
    /// Bytes of one text.
    pub text: Option<u64>,
    /// Bytes of one value.
    pub value: Option<u64>,
    /// Virtual-machine steps of a whole run.
    pub steps: Option<u64>,
    /// Time of a whole run.
    pub time: Option<Duration>,
    /// Rows that a single-statement door hands out.
    pub rows: Option<u64>,
    /// Bytes of the rows that a single-statement door hands out.
    pub bytes: Option<u64>,
}

/// What to do where advice applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Say nothing.
    Allow,
    /// Report it.
    Warn,
    /// Refuse the statement.
    Deny,
}

/// The advice whose level a policy can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Advice {
    /// The statement changed no row.
    NoRowChanged,
    /// UPDATE or DELETE without WHERE.
    NoWhere,
    /// A double-quoted name that is no column, so SQLite reads it as text.
    DoubleQuotedString,
    /// EXPLAIN runs nothing.
    ExplainOnly,
    /// An unqualified name that lands in an added world.
    BareName,
    /// A conflict clause that applies to what triggers write.
    ConflictReachesTrigger,
    /// REPLACE deleted rows.
    ReplaceDeletedRows,
}

impl Advice {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::NoRowChanged,
        Self::NoWhere,
        Self::DoubleQuotedString,
        Self::ExplainOnly,
        Self::BareName,
        Self::ConflictReachesTrigger,
        Self::ReplaceDeletedRows,
    ];

    /// Its code.
    pub const fn code(self) -> Code {
        match self {
            Self::NoRowChanged => Code::NoRowChanged,
            Self::NoWhere => Code::NoWhere,
            Self::DoubleQuotedString => Code::DoubleQuotedString,
            Self::ExplainOnly => Code::ExplainOnly,
            Self::BareName => Code::BareName,
            Self::ConflictReachesTrigger => Code::ConflictReachesTrigger,
            Self::ReplaceDeletedRows => Code::ReplaceDeletedRows,
        }
    }
}

#[cfg(feature = "schema")]
impl Advice {
    /// What it is about, as an editor shows it.
    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::NoRowChanged => "The statement changed no row: its WHERE matched nothing.",
            Self::NoWhere => "UPDATE or DELETE without WHERE changes every row.",
            Self::DoubleQuotedString => "A double-quoted name that is no column, so SQLite reads it as text.",
            Self::ExplainOnly => "EXPLAIN runs nothing.",
            Self::BareName => "A name without a schema that lands in an added world.",
            Self::ConflictReachesTrigger => "A conflict clause that also applies to what triggers write.",
            Self::ReplaceDeletedRows => "REPLACE deleted rows instead of changing them.",
        }
    }
}

impl Level {
    /// The levels with their words.
    pub(super) const WORDS: [(&'static str, Self); 3] =
        [("allow", Self::Allow), ("warn", Self::Warn), ("deny", Self::Deny)];

    /// The word for it in a policy.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }
}

impl ForeignKeys {
    /// The word for it in a policy.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::Deferred => "deferred",
        }
    }
}
