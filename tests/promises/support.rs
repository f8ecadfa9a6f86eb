//! A database in memory, a run, and what is in it.

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use seawall::diagnostic::Code;
use seawall::policy::Policy;
use seawall::source::Source;
use seawall::{Guard, Outcome, setup};

/// The shipped guard of a door.
pub(crate) fn guard(door: &str) -> Guard {
    Guard::new(Policy::builtin(door).unwrap(), door)
}

/// A database in memory, made by `ddl`.
pub(crate) fn memory(ddl: &str) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(ddl).unwrap();
    connection
}

/// A run of `sql`.
pub(crate) fn run(connection: &mut Connection, guard: &Guard, sql: &str) -> Outcome {
    setup::run(connection, guard, &Source::new("setup.sql", sql)).unwrap()
}

/// The code of an outcome, or `ok`.
pub(crate) fn code(outcome: &Outcome) -> &'static str {
    outcome.code().map_or("ok", Code::word)
}

/// Each row that `sql` answers, its values divided by spaces.
pub(crate) fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut prepared = connection.prepare(sql).unwrap();
    let width = prepared.column_count();
    let shown = |value: ValueRef<'_>| match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned(),
    };
    let row = |row: &rusqlite::Row<'_>| {
        (0..width).map(|i| Ok(shown(row.get_ref(i)?))).collect::<rusqlite::Result<Vec<_>>>()
    };
    let found: Vec<Vec<String>> = prepared.query_map([], row).unwrap().map(Result::unwrap).collect();
    found.into_iter().map(|row| row.join(" ")).collect()
}
