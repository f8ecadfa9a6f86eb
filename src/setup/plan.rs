//! What a run would do, row by row: the rows that were touched, before and after, net per key.

mod cell;
mod content;
mod draft;
mod text;

use serde_json::{Map, Value, json};

use crate::source::Name;
pub use cell::Cell;
pub(super) use draft::Draft;

/// Rows of a table that are shown unless another number is asked for.
pub const ROWS: usize = 20;

/// The rows that a run would change.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The tables of which any row would be another, in order of their names.
    pub tables: Vec<TablePlan>,
}

/// The rows of one table that would be others.
#[derive(Clone, Debug, PartialEq)]
pub struct TablePlan {
    /// The schema that holds the table.
    pub schema: Name,
    /// The table.
    pub table: Name,
    /// How many rows, each counted once however often it was written.
    pub total: Changes,
    /// The first of them, in order of their keys.
    pub rows: Vec<RowPlan>,
    /// Those that are not shown.
    pub more: Changes,
    /// Columns that the policy closes for reading, and that are left out.
    pub hidden: usize,
    /// Changes of further rows that were too many to follow; a row may be among them several times.
    pub beyond: u64,
}

/// Numbers of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Rows that were not there before.
    pub inserted: u64,
    /// Rows with other values than before.
    pub updated: u64,
    /// Rows that are no longer there.
    pub deleted: u64,
}

/// One row that would be another.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPlan {
    /// Its primary key, or its rowid; `None` where the policy closes it for reading.
    pub key: Option<Vec<(String, Cell)>>,
    /// What happens to it.
    pub change: Change,
    /// The values before, of an update only those that change; `None` of an insert.
    pub before: Option<Vec<(String, Cell)>>,
    /// The values after, in the same columns; `None` of a delete.
    pub after: Option<Vec<(String, Cell)>>,
}

/// What happens to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was not there before.
    Insert,
    /// It has other values than before.
    Update,
    /// It is no longer there.
    Delete,
}

impl Change {
    /// Its word in every format.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

impl Changes {
    /// All of them.
    pub const fn sum(self) -> u64 {
        self.inserted + self.updated + self.deleted
    }

    const fn add(&mut self, change: Change) {
        match change {
            Change::Insert => self.inserted += 1,
            Change::Update => self.updated += 1,
            Change::Delete => self.deleted += 1,
        }
    }

    fn json(self) -> Value {
        json!({ "inserted": self.inserted, "updated": self.updated, "deleted": self.deleted })
    }
}

impl Plan {
    /// As JSON, with every key.
    pub fn json(&self) -> Value {
        json!({ "tables": self.tables.iter().map(TablePlan::json).collect::<Vec<_>>() })
    }
}

impl TablePlan {
    fn json(&self) -> Value {
        json!({
            "schema": self.schema.as_str(),
            "table": self.table.as_str(),
            "inserted": self.total.inserted,
            "updated": self.total.updated,
            "deleted": self.total.deleted,
            "rows": self.rows.iter().map(RowPlan::json).collect::<Vec<_>>(),
            "more": self.more.json(),
            "hidden_columns": self.hidden,
            "not_followed": self.beyond,
        })
    }
}

impl RowPlan {
    fn json(&self) -> Value {
        let object = |values: &Option<Vec<(String, Cell)>>| {
            values.as_ref().map(|values| {
                values.iter().map(|(name, cell)| (name.clone(), cell.json())).collect::<Map<_, _>>()
            })
        };
        json!({
            "key": object(&self.key),
            "change": self.change.word(),
            "before": object(&self.before),
            "after": object(&self.after),
        })
    }
}
