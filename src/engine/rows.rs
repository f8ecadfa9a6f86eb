//! The rows that statements change, as SQLite's pre-update hook tells them: counted per table, and on
//! demand followed row by row.
//!
//! A row costs an increment; an UPDATE also the comparison of old and new values up to the first that
//! differ. Without the hook (`docs/building.md`) nothing is told, and nothing is guessed.

#![cfg_attr(not(seawall_session), expect(dead_code, reason = "only the hook calls what counts"))]

mod follow;
mod hook;
mod key;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::Connection;

use crate::catalog::{Catalog, Schema, TableKind, is_internal};
use crate::source::Name;
use follow::Following;
pub use follow::{Followed, Touch};
use hook::{Operation, RowChange};
pub use key::{Key, KeyValue};

/// A table whose rows are counted, apart for those that a trigger or a foreign key's action changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The schema that holds the table.
    pub schema: Name,
    /// The table; a virtual one under its own name, not those of the tables where it keeps its data.
    pub table: Name,
    /// Whether a trigger or a foreign key's action did it. Of a virtual table this is not known.
    pub nested: bool,
    /// The module of a virtual table.
    pub module: Option<Name>,
}

/// What was done to the rows of one table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of the table in the watch.
    pub number: usize,
    /// Rows inserted.
    pub inserted: u64,
    /// Rows updated to something else; of a virtual table every row that was written again.
    pub updated: u64,
    /// Rows deleted, replaced ones included.
    pub deleted: u64,
    /// Rows that an UPDATE matched and left as they were.
    pub unchanged: u64,
}

/// Counts the rows that change on a connection, for as long as it lives.
///
/// It must be there before the statements are prepared that it is to count.
#[derive(Debug)]
pub struct RowWatch<'c> {
    connection: &'c Connection,
    /// On the heap, where SQLite finds it however the watch moves.
    state: Box<RefCell<State>>,
}

impl<'c> RowWatch<'c> {
    /// Whether the linked SQLite tells of rows.
    pub const AVAILABLE: bool = cfg!(seawall_session);

    /// Begins to count. `catalog` is the connection's own.
    pub fn install(connection: &'c Connection, catalog: Arc<Catalog>) -> Self {
        let state = State { catalog, counters: Vec::new(), last: 0, following: None };
        let watch = Self { connection, state: Box::new(RefCell::new(state)) };
        hook::set(connection, &watch.state);
        watch
    }

    /// Also follows single rows from now on, `most` of them.
    pub fn follow(&self, tables: Vec<Followed>, most: usize) {
        self.state.borrow_mut().following = Some(Following::new(tables, most));
    }

    /// Hands over what was counted since it was last asked.
    pub fn take(&self, tallies: &mut Vec<Tally>) {
        tallies.extend(self.state.borrow_mut().counters.iter_mut().filter_map(Counter::take));
    }

    /// The table of this number.
    pub fn table(&self, number: usize) -> Option<Counted> {
        self.state.borrow().counters.get(number)?.counted.clone()
    }

    /// The tables that were followed, with the rows that were touched.
    pub fn take_followed(&self) -> Vec<Followed> {
        self.state.borrow_mut().following.take().map_or_else(Vec::new, Following::tables)
    }
}

impl Drop for RowWatch<'_> {
    fn drop(&mut self) {
        hook::clear(self.connection);
    }
}

#[derive(Debug)]
struct State {
    catalog: Arc<Catalog>,
    /// They stay from statement to statement: what a table is need not be looked up again.
    counters: Vec<Counter>,
    /// The counter of the row before.
    last: usize,
    following: Option<Following>,
}

impl State {
    fn on(&mut self, change: &RowChange) {
        // An address may have come to hold another name between two statements.
        let is_of = |counter: &Counter| counter.is_of(change) && (counter.used || counter.is_named(change));
        // Rows of one table come one after the other.
        let is_last = self.counters.get(self.last).is_some_and(is_of);
        let known = if is_last { Some(self.last) } else { self.counters.iter().position(is_of) };
        let number = known.unwrap_or(self.counters.len());
        if known.is_none() {
            self.counters.push(Counter::new(number, change, &self.catalog, self.following.as_ref()));
        }
        self.last = number;
        let Some(counter) = self.counters.get_mut(number) else { return };
        let unchanged = counter.add(change);
        if let (Some(following), Some(table)) = (&mut self.following, counter.followed) {
            following.on(table, change, unchanged);
        }
    }
}

/// Counts for one table at one depth. SQLite's names stay where they are while a statement runs, so
/// their addresses tell tables apart.
#[derive(Debug)]
struct Counter {
    address: (usize, usize),
    name: (Name, Name),
    nested: bool,
    /// Whether the statement that runs has changed a row of it.
    used: bool,
    counted: Option<Counted>,
    tally: Tally,
    /// Of a virtual table, the rows that are gone for now: it writes a row anew by deleting it first.
    gone: BTreeSet<i64>,
    followed: Option<usize>,
}

impl Counter {
    fn new(number: usize, change: &RowChange, catalog: &Catalog, following: Option<&Following>) -> Self {
        let (schema, table) = (change.schema_name(), change.table_name());
        let counted = counted_as(catalog, &schema, &table).map(|(table, module)| Counted {
            schema: schema.clone(),
            table,
            nested: change.is_nested() && module.is_none(),
            module,
        });
        let followed = counted.as_ref().zip(following).and_then(|(c, f)| f.find(&c.schema, &c.table));
        Self {
            address: change.address(),
            name: (schema, table),
            nested: change.is_nested(),
            used: false,
            counted,
            tally: Tally { number, ..Tally::default() },
            gone: BTreeSet::new(),
            followed,
        }
    }

    fn is_of(&self, change: &RowChange) -> bool {
        self.address == change.address() && self.nested == change.is_nested()
    }

    fn is_named(&self, change: &RowChange) -> bool {
        change.has_names(self.name.0.as_str(), self.name.1.as_str())
    }

    /// Counts a row; answers whether it stays as it is.
    fn add(&mut self, change: &RowChange) -> bool {
        // Also where nothing is counted: its name need not be looked at again for this statement.
        self.used = true;
        let Some(counted) = &self.counted else { return false };
        let tally = &mut self.tally;
        if counted.module.is_some() {
            match change.operation {
                Operation::Insert if self.gone.remove(&change.new_rowid) => tally.updated += 1,
                Operation::Insert => tally.inserted += 1,
                Operation::Update => tally.updated += 1,
                Operation::Delete => {
                    self.gone.insert(change.old_rowid);
                }
            }
            return false;
        }
        match change.operation {
            Operation::Insert => tally.inserted += 1,
            Operation::Delete => tally.deleted += 1,
            Operation::Update if change.is_same() => {
                tally.unchanged += 1;
                return true;
            }
            Operation::Update => tally.updated += 1,
        }
        false
    }

    /// What was counted, if anything was; from here it counts anew.
    fn take(&mut self) -> Option<Tally> {
        if !std::mem::take(&mut self.used) || self.counted.is_none() {
            return None;
        }
        let mut told = self.tally;
        told.deleted += self.gone.len() as u64;
        self.gone.clear();
        self.tally = Tally { number: told.number, ..Tally::default() };
        Some(told)
    }
}

/// The name under which the rows of a table are counted, and the module of a virtual table; `None` for
/// what SQLite and the modules keep for themselves.
fn counted_as(catalog: &Catalog, schema: &Name, table: &Name) -> Option<(Name, Option<Name>)> {
    if is_internal(table) {
        return None;
    }
    let found = catalog.schema(schema)?;
    let TableKind::Shadow(owner) = &found.tables.get(table)?.kind else {
        return Some((table.clone(), None));
    };
    let (keeper, module) = keeper(found, owner)?;
    (keeper == *table).then(|| (owner.clone(), Some(module.clone())))
}

/// Whether the rows of a virtual table can be counted and followed.
pub fn are_kept(schema: &Schema, table: &Name) -> bool {
    keeper(schema, table).is_some()
}

/// The table that holds a row for each row of a virtual table, and the module.
fn keeper<'s>(schema: &'s Schema, table: &Name) -> Option<(Name, &'s Name)> {
    let TableKind::Virtual(module) = &schema.tables.get(table)?.kind else { return None };
    let named =
        super::catalog::row_tables(module).iter().map(|ending| Name::from(format!("{table}_{ending}")));
    // The first that is there does.
    Some((named.into_iter().find(|name| schema.tables.contains_key(name))?, module))
}
