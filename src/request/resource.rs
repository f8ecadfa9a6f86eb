//! What a request is about.

use std::fmt;

use crate::source::Name;

/// The object of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// A table or view as a whole.
    Table {
        /// The schema that holds it.
        schema: Name,
        /// Its name.
        table: Name,
    },
    /// One column of a table or view; `ROWID` for a rowid without a column of its own.
    Column {
        /// The schema that holds the table.
        schema: Name,
        /// The table.
        table: Name,
        /// The column.
        column: Name,
    },
    /// A function, an operator that is one, or a table function.
    Function(Name),
    /// A pragma.
    Pragma {
        /// The pragma's name.
        name: Name,
        /// The argument as SQLite passes it on, `None` for the question form.
        argument: Option<String>,
    },
    /// A command of a virtual table.
    Command {
        /// The schema that holds the virtual table.
        schema: Name,
        /// The virtual table.
        table: Name,
        /// The command, `None` where it is computed or stands beside others.
        command: Option<String>,
    },
    /// The statement itself: DDL, transaction control, ATTACH, VACUUM. Holds its first words.
    Statement(String),
}

impl Resource {
    /// A table or view as a whole.
    pub fn table(schema: impl Into<Name>, table: impl Into<Name>) -> Self {
        Self::Table { schema: schema.into(), table: table.into() }
    }

    /// One column.
    pub fn column(schema: impl Into<Name>, table: impl Into<Name>, column: impl Into<Name>) -> Self {
        Self::Column { schema: schema.into(), table: table.into(), column: column.into() }
    }

    /// The schema and table it belongs to, where it has them.
    pub fn table_name(&self) -> Option<(&Name, &Name)> {
        match self {
            Self::Table { schema, table }
            | Self::Column { schema, table, .. }
            | Self::Command { schema, table, .. } => Some((schema, table)),
            Self::Function(_) | Self::Pragma { .. } | Self::Statement(_) => None,
        }
    }
}

/// As messages name it: the schema is left out where it is `main`.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let qualified = |f: &mut fmt::Formatter<'_>, schema: &Name, table: &Name| {
            if *schema == *"main" { write!(f, "{table}") } else { write!(f, "{schema}.{table}") }
        };
        match self {
            Self::Table { schema, table } => qualified(f, schema, table),
            Self::Column { schema, table, column } => {
                qualified(f, schema, table)?;
                write!(f, ".{column}")
            }
            Self::Function(name) => write!(f, "{name}"),
            Self::Pragma { name, argument: None } => write!(f, "{name}"),
            Self::Pragma { name, argument: Some(argument) } => write!(f, "{name}({argument})"),
            Self::Command { schema, table, command } => {
                qualified(f, schema, table)?;
                match command {
                    Some(command) => write!(f, " '{command}'"),
                    None => write!(f, " (computed)"),
                }
            }
            Self::Statement(words) => f.write_str(words),
        }
    }
}
