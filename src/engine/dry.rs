//! A COMMIT that is tried to its very end and then undone.

#![expect(unsafe_code, reason = "rusqlite sets a commit hook only through an exclusive reference")]

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use rusqlite::{Connection, Error, ffi};

/// Called by SQLite when everything that can fail a COMMIT has passed; the answer undoes it.
const unsafe extern "C" fn undo(_: *mut c_void) -> c_int {
    1
}

/// Commits, but the rows go back: deferred keys are checked and virtual tables written out as in a
/// COMMIT that is kept. Replaces a commit hook of the connection.
///
/// # Errors
///
/// What a COMMIT would have failed with; the transaction is open then, as after a real one.
pub fn commit(connection: &Connection) -> rusqlite::Result<()> {
    // SAFETY: the handle is open while the connection is borrowed; the callback has no state.
    unsafe {
        ffi::sqlite3_commit_hook(connection.handle(), Some(undo), null_mut());
    }
    let tried = connection.execute_batch("COMMIT");
    // SAFETY: the same handle.
    unsafe {
        ffi::sqlite3_commit_hook(connection.handle(), None, null_mut());
    }
    match tried {
        // The hook is asked last, and not at all where nothing was written.
        Err(Error::SqliteFailure(error, _)) if error.extended_code == ffi::SQLITE_CONSTRAINT_COMMITHOOK => {
            Ok(())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_commit_fails_as_a_real_one_would_and_keeps_nothing() {
        let connection = Connection::open_in_memory().unwrap();
        let ddl = "PRAGMA foreign_keys = ON; CREATE TABLE p(id INTEGER PRIMARY KEY);
                   CREATE TABLE c(p REFERENCES p DEFERRABLE INITIALLY DEFERRED)";
        connection.execute_batch(ddl).unwrap();
        let rows = || connection.query_row("SELECT count(*) FROM c", [], |row| row.get::<_, i64>(0)).unwrap();
        connection.execute_batch("BEGIN; INSERT INTO c VALUES (1); INSERT INTO p VALUES (1)").unwrap();
        assert_eq!(rows(), 1);
        commit(&connection).unwrap();
        assert_eq!((rows(), connection.is_autocommit()), (0, true));
        connection.execute_batch("BEGIN; INSERT INTO c VALUES (2)").unwrap();
        let error = commit(&connection).unwrap_err();
        assert!(error.to_string().contains("FOREIGN KEY"), "{error}");
        assert!(!connection.is_autocommit());
        connection.execute_batch("ROLLBACK; BEGIN").unwrap();
        commit(&connection).unwrap();
        connection.execute_batch("INSERT INTO p VALUES (9)").unwrap();
        assert!(connection.is_autocommit(), "the hook is off again");
    }
}
