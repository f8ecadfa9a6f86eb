//! How a request was found.

/// A way to find what a statement asks. Each only finds; none decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Witness {
    /// The text of the statement.
    Text,
    /// SQLite's authorizer callback.
    Authorizer,
    /// The program that `EXPLAIN` lists.
    Audit,
}

impl Witness {
    /// The word for it in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Authorizer => "authorizer",
            Self::Audit => "audit",
        }
    }
}
