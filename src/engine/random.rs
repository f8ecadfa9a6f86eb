//! `random()` and `randomblob()` that draw from a seeded stream.

#![expect(unsafe_code, reason = "a function's connection and SQLite's own generator have no safe form")]

use std::sync::{Arc, Mutex};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result, ffi};

use super::streams::{Stream, fold};

/// Makes `random()` and `randomblob(n)` of this connection draw from `stream`.
///
/// Triggers and DEFAULTs may call them too, whatever `trusted_schema` says, as with SQLite's own.
///
/// # Errors
///
/// SQLite's, when a statement that may use them is running.
pub fn install(conn: &Connection, stream: Arc<Mutex<Stream>>) -> Result<()> {
    let drawn = Arc::clone(&stream);
    register(
        conn,
        move || Ok(drawn.lock().map_err(|_| broken())?.random()),
        move |length| Ok(stream.lock().map_err(|_| broken())?.blob(length)),
    )
}

/// Makes them unpredictable again, as SQLite's own are.
///
/// The built-in functions themselves can't come back: SQLite keeps the emptied entry of a removed
/// override, which hides them. So functions that draw from SQLite's own generator take their place.
///
/// # Errors
///
/// SQLite's, when a statement that may use them is running.
pub fn uninstall(conn: &Connection) -> Result<()> {
    register(
        conn,
        || {
            let mut bytes = [0; 8];
            entropy(&mut bytes);
            Ok(fold(i64::from_ne_bytes(bytes)))
        },
        |length| {
            let mut bytes = vec![0; length];
            entropy(&mut bytes);
            Ok(bytes)
        },
    )
}

fn register(
    conn: &Connection,
    random: impl Fn() -> Result<i64> + Send + 'static,
    blob: impl Fn(usize) -> Result<Vec<u8>> + Send + 'static,
) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    conn.create_scalar_function("random", 0, flags, move |_| random())?;
    conn.create_scalar_function("randomblob", 1, flags, move |context| blob(blob_length(context)?))
}

/// The length asked for, checked before anything is drawn or allocated.
fn blob_length(context: &Context<'_>) -> Result<usize> {
    let wanted = integer(context.get_raw(0)).max(1);
    // SAFETY: the reference lives for this call only and never leaves the thread that runs it.
    let limit = unsafe { context.get_connection() }?.limit(Limit::SQLITE_LIMIT_LENGTH)?;
    match usize::try_from(wanted) {
        Ok(length) if wanted <= i64::from(limit) => Ok(length),
        _ => Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None)),
    }
}

/// What `sqlite3_value_int64` makes of a value.
fn integer(value: ValueRef<'_>) -> i64 {
    match value {
        ValueRef::Null => 0,
        ValueRef::Integer(value) => value,
        // The cast truncates and stops at either end, as SQLite's conversion does.
        ValueRef::Real(value) => value as i64,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => leading_integer(bytes),
    }
}

/// The integer that a text starts with, or 0; too large a one stops at either end.
fn leading_integer(text: &[u8]) -> i64 {
    let text = match text.iter().position(|byte| !matches!(byte, b' ' | b'\t'..=b'\r')) {
        Some(start) => &text[start..],
        None => return 0,
    };
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    digits.iter().take_while(|byte| byte.is_ascii_digit()).fold(0, |value: i64, byte| {
        let digit = i64::from(byte - b'0');
        let value = value.saturating_mul(10);
        if negative { value.saturating_sub(digit) } else { value.saturating_add(digit) }
    })
}

fn entropy(bytes: &mut [u8]) {
    for chunk in bytes.chunks_mut(1 << 30) {
        // SAFETY: SQLite writes exactly the given number of bytes, and a chunk's length fits an int.
        unsafe { ffi::sqlite3_randomness(chunk.len() as i32, chunk.as_mut_ptr().cast()) }
    }
}

fn broken() -> Error {
    let message = "the seeded stream is broken: an earlier draw panicked".to_owned();
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_ERROR), Some(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::streams::Seed;

    fn seeded() -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        install(&conn, Arc::new(Mutex::new(Seed::new("base", Some(7)).stream("instance")))).unwrap();
        conn
    }

    fn integer_of(conn: &Connection, sql: &str) -> i64 {
        conn.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn sql_draws_the_values_of_the_stream() {
        let conn = seeded();
        assert_eq!(integer_of(&conn, "SELECT random()"), 2_837_102_585_351_533_444);
        let blob: String = conn.query_row("SELECT hex(randomblob(4))", [], |row| row.get(0)).unwrap();
        assert_eq!(blob, "A3C3E19C");
    }

    #[test]
    fn each_row_draws_again() {
        let conn = seeded();
        let rows = "SELECT count(DISTINCT random()) FROM (VALUES (1), (2), (3))";
        assert_eq!(integer_of(&conn, rows), 3);
    }

    #[test]
    fn defaults_and_triggers_draw_without_a_trusted_schema() {
        let conn = seeded();
        conn.execute_batch(
            "PRAGMA trusted_schema = off;
             CREATE TABLE t(id INTEGER PRIMARY KEY, r DEFAULT (random()));
             CREATE TABLE log(r);
             CREATE TRIGGER note AFTER INSERT ON t BEGIN INSERT INTO log VALUES (random()); END;
             INSERT INTO t(id) VALUES (1);",
        )
        .unwrap();
        let mut expected = Seed::new("base", Some(7)).stream("instance");
        assert_eq!(integer_of(&conn, "SELECT r FROM t"), expected.random());
        assert_eq!(integer_of(&conn, "SELECT r FROM log"), expected.random());
    }

    #[test]
    fn the_length_is_read_as_sqlite_reads_it() {
        let own = Connection::open_in_memory().unwrap();
        let seeded = seeded();
        for argument in [
            "NULL",
            "0",
            "-5",
            "1",
            "7",
            "3.99",
            "-0.5",
            "1e3",
            "'12abc'",
            "' 9'",
            "'+4'",
            "'-4'",
            "'abc'",
            "''",
            "'1e2'",
            "x'3132'",
            "x''",
            "' \t\n\x0b\x0c\r6'",
            "'2.9'",
            "-9e99",
            "'- 3'",
            "'\u{a0}5'",
        ] {
            let sql = format!("SELECT length(randomblob({argument}))");
            assert_eq!(integer_of(&seeded, &sql), integer_of(&own, &sql), "{argument}");
        }
    }

    #[test]
    fn a_blob_over_the_limit_is_refused_before_it_is_drawn() {
        let conn = seeded();
        conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, 1000).unwrap();
        assert_eq!(integer_of(&conn, "SELECT length(randomblob(1000))"), 1000);
        let mut expected = Seed::new("base", Some(7)).stream("instance");
        expected.blob(1000);
        for length in ["1001", "9223372036854775807", "'99999999999999999999'", "9e99"] {
            let sql = format!("SELECT randomblob({length})");
            let error = conn.query_row(&sql, [], |_| Ok(())).unwrap_err();
            assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::TooBig));
            assert_eq!(error.to_string(), "string or blob too big");
        }
        assert_eq!(integer_of(&conn, "SELECT random()"), expected.random());
    }

    #[test]
    fn a_poisoned_stream_fails_the_call() {
        let stream = Arc::new(Mutex::new(Seed::new("base", None).stream("setup")));
        let conn = Connection::open_in_memory().unwrap();
        install(&conn, Arc::clone(&stream)).unwrap();
        std::thread::spawn(move || {
            let _held = stream.lock().unwrap();
            panic!("poison the lock");
        })
        .join()
        .unwrap_err();
        for sql in ["SELECT random()", "SELECT randomblob(4)"] {
            let error = conn.query_row(sql, [], |_| Ok(())).unwrap_err();
            assert!(error.to_string().contains("the seeded stream is broken"), "{error}");
        }
    }

    #[test]
    fn a_removed_override_does_not_uncover_the_builtin() {
        let conn = seeded();
        conn.remove_function("random", 0).unwrap();
        let error = conn.prepare("SELECT random()").unwrap_err();
        assert!(error.to_string().contains("wrong number of arguments to function random()"), "{error}");
    }

    #[test]
    fn uninstalling_brings_unpredictable_values_back() {
        let conn = seeded();
        uninstall(&conn).unwrap();
        assert_ne!(integer_of(&conn, "SELECT random()"), 2_837_102_585_351_533_444);
        assert_eq!(integer_of(&conn, "SELECT length(randomblob(9))"), 9);
        assert_eq!(integer_of(&conn, "SELECT count(DISTINCT random()) FROM (VALUES (1), (2), (3))"), 3);
        assert_eq!(integer_of(&conn, "SELECT length(randomblob('2x'))"), 2);
    }
}
