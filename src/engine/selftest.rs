//! What the guard relies on in the linked SQLite, tried once per process.
//!
//! The silent paths of the authorizer are known; these statements say that the witnesses which
//! cover them still work, so that an SQLite that changed under us is refused instead of trusted.

use std::sync::OnceLock;

use rusqlite::Connection;

use super::audit::Program;
use super::build_info;
use super::event::{Event, EventKind};
use super::recorder::{Phase, Recorder};
use super::switches::WorldCodeOff;

/// Why the linked SQLite cannot be guarded; tried once, then remembered.
pub fn failure() -> Option<&'static str> {
    static FAILURE: OnceLock<Option<String>> = OnceLock::new();
    FAILURE.get_or_init(|| build_info::ensure_supported().and_then(|()| run()).err()).as_deref()
}

fn run() -> Result<(), String> {
    let told = |error: rusqlite::Error| format!("the self-test of SQLite failed: {error}");
    let mut connection = Connection::open_in_memory().map_err(told)?;
    connection.execute_batch(SCHEMA).map_err(told)?;
    let recorder = Recorder::install(&mut connection).map_err(told)?;
    let asked = |sql: &str| -> Result<Vec<Event>, String> {
        let armed = recorder.arm(Phase::Prepare);
        connection.prepare(sql).map_err(told)?;
        let events = recorder.take();
        drop(armed);
        Ok(events)
    };
    let program = |sql: &str| Program::of(&connection, sql).map_err(told);
    let known = |fact: &str, holds: bool| {
        if holds { Ok(()) } else { Err(format!("the linked SQLite is unknown: {fact}")) }
    };

    let read = |events: &[Event], table: &str| {
        events.iter().any(|e| e.kind == EventKind::Read && &*e.first == table)
    };
    known("a read is not reported", read(&asked("SELECT a FROM t")?, "t"))?;
    known(
        "a FULL JOIN is not reported",
        read(&asked("SELECT v FROM (SELECT 1 AS v) FULL JOIN s USING(v)")?, "s"),
    )?;
    let silent = "SELECT 1 FROM (SELECT 1 AS v) JOIN s USING(v)";
    let opens = program(silent)?.opens_root(2, 0);
    known("EXPLAIN does not show the table of a USING join", opens || read(&asked(silent)?, "s"))?;
    let second = "INSERT INTO t(a) VALUES(1),(sqlite_version())";
    let shown = program(second)?.functions().iter().any(|name| *name == *"sqlite_version");
    known("EXPLAIN does not show a function of a later VALUES row", shown)?;
    let fired = program("INSERT INTO t(a) VALUES(1)")?.triggers();
    known("EXPLAIN does not name the trigger that fires", fired.iter().any(|name| *name == *"t_ai"))?;

    let off = WorldCodeOff::new(&connection).map_err(told)?;
    let without = asked("INSERT INTO t(a) VALUES(1)")?;
    drop(off);
    known("triggers cannot be switched off", without.iter().all(|event| event.accessor.is_empty()))
}

const SCHEMA: &str = "CREATE TABLE s(v); CREATE TABLE t(a);
    CREATE TRIGGER t_ai AFTER INSERT ON t BEGIN DELETE FROM s WHERE v = new.a; END;";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linked_sqlite_is_one_that_the_guard_knows() {
        assert_eq!(failure(), None);
    }
}
