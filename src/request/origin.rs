//! Whose text asked.

use std::fmt;

use crate::source::Name;

/// Whose text a request comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The statement that was given.
    Caller,
    /// A trigger of the world. Where SQLite does not tell which one asked, all that fire, in the
    /// order of their names; then every one of them must be trusted.
    Trigger(Vec<Name>),
    /// A view of the world.
    View(Name),
    /// A DEFAULT, generated column, CHECK or index expression of the world.
    Expression,
    /// A foreign-key check or action of the world.
    ForeignKey,
    /// A virtual table's own SQL.
    Module(Name),
}

impl Origin {
    /// The word for it in reports.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Trigger(_) => "trigger",
            Self::View(_) => "view",
            Self::Expression => "expression",
            Self::ForeignKey => "foreign key",
            Self::Module(_) => "module",
        }
    }
}

/// The word, and the name of the object where there is one.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Self::Caller | Self::Expression | Self::ForeignKey => Ok(()),
            Self::View(name) | Self::Module(name) => write!(f, " {name}"),
            Self::Trigger(names) => {
                for (i, name) in names.iter().enumerate() {
                    write!(f, "{}{name}", if i == 0 { " " } else { " or " })?;
                }
                Ok(())
            }
        }
    }
}
