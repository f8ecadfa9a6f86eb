//! What a statement asks for: an action on a resource, and whose text asked.

mod origin;
mod resource;
mod witness;

pub use origin::Origin;
pub use resource::Resource;
pub use witness::Witness;

use crate::source::Span;

/// What a request wants to do.
///
/// A policy can open the first eight; [`Action::is_closed`] says which no file can open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Read a table or a column.
    Read,
    /// Insert rows.
    Insert,
    /// Update a column, or a table where no column is known.
    Update,
    /// Delete rows.
    Delete,
    /// Replace rows on a conflict, as `REPLACE` and `OR REPLACE` do.
    Replace,
    /// Call a function, an operator that is one, or a table function.
    Call,
    /// Ask a pragma.
    Pragma,
    /// Send a command to a virtual table.
    Command,
    /// CREATE, DROP, ALTER, REINDEX, ANALYZE.
    Schema,
    /// BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT, RELEASE.
    Transaction,
    /// ATTACH, DETACH.
    Attach,
    /// VACUUM.
    Maintenance,
    /// An action code that SQLite has and this build does not know.
    Unknown,
}

impl Action {
    /// The word for it in policies, messages and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Replace => "replace",
            Self::Call => "call",
            Self::Pragma => "pragma",
            Self::Command => "command",
            Self::Schema => "schema",
            Self::Transaction => "transaction",
            Self::Attach => "attach",
            Self::Maintenance => "maintenance",
            Self::Unknown => "unknown",
        }
    }

    /// Whether no policy file can open it.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Schema | Self::Transaction | Self::Attach | Self::Maintenance | Self::Unknown)
    }
}

/// One thing that a statement asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What it wants to do.
    pub action: Action,
    /// With what.
    pub resource: Resource,
    /// Whose text asked.
    pub origin: Origin,
    /// Where in the caller's text, if known; bytes of the whole text.
    pub span: Option<Span>,
}

impl Request {
    /// A request of the caller's.
    pub fn caller(action: Action, resource: Resource, span: Option<Span>) -> Self {
        Self { action, resource, origin: Origin::Caller, span }
    }
}
