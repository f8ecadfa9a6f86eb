//! Which rows were touched, and what that comes to for each.

use std::collections::BTreeMap;

use super::hook::{Operation, RowChange};
use super::key::{Key, KeyValue};
use crate::source::Name;

/// A table whose rows are followed.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The schema that holds it.
    pub schema: Name,
    /// Its name.
    pub table: Name,
    /// The places of the primary key's columns in the table, in the key's order; none for the rowid.
    pub key: Vec<i32>,
    /// The rows that were touched and may have become others.
    pub rows: BTreeMap<Key, Touch>,
    /// Changes of further rows, which were too many to follow.
    pub beyond: u64,
}

/// What has happened to one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Whether it was there before.
    pub before: bool,
    /// Whether it is there now.
    pub now: bool,
}

#[derive(Debug)]
pub(super) struct Following {
    tables: Vec<Followed>,
    /// How many more rows can be followed.
    room: usize,
}

impl Following {
    pub(super) const fn new(tables: Vec<Followed>, most: usize) -> Self {
        Self { tables, room: most }
    }

    pub(super) fn tables(self) -> Vec<Followed> {
        self.tables
    }

    pub(super) fn find(&self, schema: &Name, table: &Name) -> Option<usize> {
        self.tables.iter().position(|followed| followed.schema == *schema && followed.table == *table)
    }

    pub(super) fn on(&mut self, table: usize, change: &RowChange, unchanged: bool) {
        let Some(followed) = self.tables.get_mut(table) else { return };
        if unchanged {
            return;
        }
        let old =
            || key(&followed.key, change.old_rowid, |column| change.before(column).and_then(KeyValue::of));
        let new =
            || key(&followed.key, change.new_rowid, |column| change.after(column).and_then(KeyValue::of));
        match change.operation {
            Operation::Insert => {
                let key = new();
                self.touch(table, key, false, true);
            }
            Operation::Delete => {
                let key = old();
                self.touch(table, key, true, false);
            }
            Operation::Update => {
                let (old, new) = (old(), new());
                if old == new {
                    self.touch(table, old, true, true);
                } else {
                    self.touch(table, old, true, false);
                    self.touch(table, new, false, true);
                }
            }
        }
    }

    fn touch(&mut self, table: usize, key: Key, before: bool, now: bool) {
        let Some(followed) = self.tables.get_mut(table) else { return };
        if let Some(touch) = followed.rows.get_mut(&key) {
            touch.now = now;
        } else if self.room == 0 {
            followed.beyond += 1;
        } else {
            self.room -= 1;
            followed.rows.insert(key, Touch { before, now });
        }
    }
}

fn key(columns: &[i32], rowid: i64, value: impl Fn(i32) -> Option<KeyValue>) -> Key {
    let values: Option<Vec<KeyValue>> = columns.iter().map(|column| value(*column)).collect();
    match values {
        Some(values) if !values.is_empty() => Key::Columns(values),
        _ => Key::Rowid(rowid),
    }
}
