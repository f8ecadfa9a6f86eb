//! What kind of statement it is.

use crate::source::{Name, Span};

/// EXPLAIN before a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Explain {
    /// `EXPLAIN`: the program.
    Program,
    /// `EXPLAIN QUERY PLAN`.
    QueryPlan,
}

/// The kind of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// SELECT or VALUES, with or without WITH.
    Select,
    /// INSERT or REPLACE, with or without WITH.
    Insert,
    /// UPDATE, with or without WITH.
    Update,
    /// DELETE, with or without WITH.
    Delete,
    /// PRAGMA.
    Pragma(PragmaHead),
    /// CREATE, DROP, ALTER, REINDEX, ANALYZE.
    Schema,
    /// BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT, RELEASE.
    Transaction,
    /// ATTACH, DETACH.
    Attach,
    /// VACUUM.
    Maintenance,
    /// Nothing that the grammar starts with; SQLite will say so.
    Unknown,
}

impl Head {
    /// Whether it reads or writes rows.
    pub const fn is_row(&self) -> bool {
        matches!(self, Self::Select | Self::Insert | Self::Update | Self::Delete)
    }
}

/// A PRAGMA statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PragmaHead {
    /// The schema before the name.
    pub schema: Option<Name>,
    /// The pragma.
    pub name: Name,
    /// Its name in the text.
    pub span: Span,
    /// What stands in its parentheses or after `=`.
    pub argument: Option<PragmaArgument>,
}

/// The argument of a PRAGMA statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PragmaArgument {
    /// As SQLite passes it on: without quotes, with its sign.
    pub text: String,
    /// Its tokens.
    pub span: Span,
}
