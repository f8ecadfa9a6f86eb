//! Plain data of a schema, as the engine has read it. Nothing here talks to SQLite.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::source::Name;

/// The objects of every schema of a connection, in SQLite's order: `main`, `temp`, then those attached.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The schemas by their order in `PRAGMA database_list`.
    pub schemas: Vec<Schema>,
    /// What is there without being created.
    pub known: Arc<Known>,
}

/// What a connection knows without a schema.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Every function and operator that is one, host functions included.
    pub functions: BTreeSet<Name>,
    /// Table functions: `json_each`, `pragma_*` and every other module.
    pub modules: BTreeSet<Name>,
}

impl Known {
    /// Whether a name that no schema holds is a call; what SQLite keeps for itself is read as a table.
    pub fn is_table_function(&self, name: &Name) -> bool {
        self.modules.contains(name) && !is_internal(name)
    }
}

/// One schema.
#[derive(Clone, Debug)]
pub struct Schema {
    /// `main`, `temp` or the name it is attached under.
    pub name: Name,
    /// Its number in SQLite's programs: 0 for `main`, 1 for `temp`, then those attached.
    pub number: i64,
    /// Tables, views and virtual tables.
    pub tables: BTreeMap<Name, Table>,
    /// Triggers.
    pub triggers: BTreeMap<Name, Trigger>,
}

/// What kind of table it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// An ordinary table.
    Ordinary,
    /// A view.
    View,
    /// A virtual table of this module, in lower case.
    Virtual(Name),
    /// Where this virtual table keeps its data.
    Shadow(Name),
}

/// A table, view or virtual table.
#[derive(Clone, Debug)]
pub struct Table {
    /// What it is.
    pub kind: TableKind,
    /// Its root page, 0 where it has none.
    pub root: i64,
    /// The text that created it: of a virtual table always, of others where a lint has it read.
    pub sql: String,
    /// Columns and keys, read where something asks for them.
    pub details: Option<Arc<Details>>,
}

/// Columns and keys of a table.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// The columns in table order, hidden ones included.
    pub columns: Vec<Column>,
    /// The foreign keys that the table declares.
    pub foreign_keys: Vec<ForeignKey>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: Name,
    /// Its place in the primary key, from 1; 0 where it is not part of it.
    pub key: u32,
    /// Whether the rowid is read under its name, as of an `INTEGER PRIMARY KEY`.
    pub is_rowid: bool,
    /// Whether it is generated, and the other columns its expression names.
    pub generated_from: Option<Vec<Name>>,
    /// Whether `SELECT *` leaves it out.
    pub hidden: bool,
}

/// A declared foreign key.
#[derive(Clone, Debug)]
pub struct ForeignKey {
    /// The table that is referred to, in the same schema.
    pub parent: Name,
    /// The columns of this table and those of the parent, pair by pair; `None` for the parent's
    /// primary key.
    pub columns: Vec<(Name, Option<Name>)>,
}

/// A trigger.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// The table or view it stands on.
    pub table: Name,
    /// The text that created it, where a lint has it read.
    pub sql: String,
}

impl Catalog {
    /// The schema of this name.
    pub fn schema(&self, name: &Name) -> Option<&Schema> {
        self.schemas.iter().find(|schema| schema.name == *name)
    }

    /// The table that a name means: in `schema` if one is given, else where SQLite looks first
    /// (`temp`, `main`, then those attached in order).
    pub fn resolve(&self, schema: Option<&Name>, table: &Name) -> Option<(&Schema, &Table)> {
        let found = |s: &'_ Schema| s.tables.contains_key(table);
        let schema = match schema {
            Some(name) => self.schema(name).filter(|s| found(s))?,
            None => {
                let temp = self.schemas.iter().find(|s| s.name == *"temp" && found(s));
                temp.or_else(|| self.schemas.iter().find(|s| found(s)))?
            }
        };
        Some((schema, schema.tables.get(table)?))
    }

    /// The schemas that hold a table of this name, in SQLite's order.
    pub fn holders<'a>(&'a self, table: &'a Name) -> impl Iterator<Item = &'a Schema> + 'a {
        self.schemas.iter().filter(move |schema| schema.tables.contains_key(table))
    }

    /// Every trigger of this name, with its schema.
    pub fn triggers_named<'a>(
        &'a self,
        name: &'a Name,
    ) -> impl Iterator<Item = (&'a Schema, &'a Trigger)> + 'a {
        self.schemas.iter().filter_map(move |schema| Some((schema, schema.triggers.get(name)?)))
    }

    /// Whether any schema has a view of this name.
    pub fn is_view(&self, name: &Name) -> bool {
        self.holders(name).any(|s| s.tables.get(name).is_some_and(|t| t.kind == TableKind::View))
    }
}

impl Schema {
    /// The triggers that stand on `table`.
    pub fn triggers_on<'a>(&'a self, table: &'a Name) -> impl Iterator<Item = (&'a Name, &'a Trigger)> + 'a {
        self.triggers.iter().filter(move |(_, trigger)| trigger.table == *table)
    }
}

/// The four names of the schema table, folded. SQLite reports any of them.
pub const SCHEMA_TABLES: [&str; 4] =
    ["sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"];

/// Whether SQLite keeps a table of this name for itself.
pub fn is_internal(table: &Name) -> bool {
    table.folded().starts_with("sqlite_") || table.folded() == "dbstat"
}
