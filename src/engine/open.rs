//! Opening and hardening a connection, and giving back what was changed on a caller's own.

#![expect(
    unsafe_code,
    reason = "callbacks are taken off through a shared reference, which rusqlite does not offer"
)]

use std::path::Path;
use std::ptr::null_mut;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, ffi};

use super::budget::Budget;
use super::recorder::Recorder;
use crate::policy::Limits;

/// The flags that a guard sets, with the value that it sets.
const FLAGS: [(DbConfig, bool); 6] = [
    (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
];

const FIXED_LIMITS: [(Limit, i32); 2] =
    [(Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 100), (Limit::SQLITE_LIMIT_WORKER_THREADS, 0)];

/// A connection under guard: hardened, its callbacks ours. Dropping it puts every setting back and
/// takes the callbacks off; an authorizer or progress handler that was there before is gone.
#[derive(Debug)]
pub struct Hardened<'c> {
    /// The connection.
    pub connection: &'c Connection,
    /// Its authorizer.
    pub recorder: Recorder,
    /// Its bounds.
    pub budget: Budget,
    flags: Vec<(DbConfig, bool)>,
    limits: Vec<(Limit, i32)>,
}

impl<'c> Hardened<'c> {
    /// Hardens `connection`: defensive, no ATTACH beyond what is attached, foreign keys on, bounded.
    pub fn new(connection: &'c mut Connection, limits: &Limits) -> rusqlite::Result<Self> {
        let recorder = Recorder::install(connection)?;
        let budget = Budget::install(connection, limits.steps, limits.time)?;
        let connection: &'c Connection = connection;
        let mut held = Self { connection, recorder, budget, flags: Vec::new(), limits: Vec::new() };
        for (flag, value) in FLAGS {
            held.flags.push((flag, connection.db_config(flag)?));
            connection.set_db_config(flag, value)?;
        }
        for (limit, value) in FIXED_LIMITS {
            held.limit(limit, value)?;
        }
        let bound = |value: u64| i32::try_from(value).unwrap_or(i32::MAX).max(1);
        if let Some(value) = limits.value {
            held.limit(Limit::SQLITE_LIMIT_LENGTH, bound(value))?;
        }
        // What is attached stays attached.
        held.limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        Ok(held)
    }

    fn limit(&mut self, limit: Limit, value: i32) -> rusqlite::Result<()> {
        self.limits.push((limit, self.connection.limit(limit)?));
        self.connection.set_limit(limit, value)?;
        Ok(())
    }
}

impl Drop for Hardened<'_> {
    fn drop(&mut self) {
        // Setting flags and limits of an open connection has no way to fail.
        for (flag, value) in &self.flags {
            let _ = self.connection.set_db_config(*flag, *value);
        }
        for (limit, value) in self.limits.iter().rev() {
            let _ = self.connection.set_limit(*limit, *value);
        }
        // SAFETY: the handle is open for as long as the borrowed connection is; a null callback
        // only clears the pointer that SQLite would call. The closures stay with the connection.
        unsafe {
            let handle = self.connection.handle();
            ffi::sqlite3_set_authorizer(handle, None, null_mut());
            ffi::sqlite3_progress_handler(handle, 0, None, null_mut());
        }
    }
}

/// Opens an existing file for reading and writing; `vfs` names the clock's VFS, if there is one.
pub fn open(path: &Path, vfs: Option<&str>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(path, flags, vfs),
        None => Connection::open_with_flags(path, flags),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_callers_own_connection_gets_every_setting_back() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false).unwrap();
        connection.set_limit(Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 7).unwrap();
        let settings = |c: &Connection| {
            let limits =
                [Limit::SQLITE_LIMIT_LENGTH, Limit::SQLITE_LIMIT_ATTACHED, Limit::SQLITE_LIMIT_TRIGGER_DEPTH];
            let flags: Vec<bool> = FLAGS.iter().map(|(flag, _)| c.db_config(*flag).unwrap()).collect();
            (flags, limits.map(|limit| c.limit(limit).unwrap()))
        };
        let before = settings(&connection);
        let limits = Limits {
            value: Some(1000),
            steps: Some(10),
            time: Some(Duration::from_secs(1)),
            ..Limits::default()
        };
        let held = Hardened::new(&mut connection, &limits).unwrap();
        assert_ne!(settings(held.connection), before);
        drop(held);
        assert_eq!(settings(&connection), before);
        connection.execute_batch("CREATE TABLE t(a); ATTACH ':memory:' AS o").unwrap();
        let long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 5000) SELECT sum(i) FROM n";
        assert_eq!(connection.query_row(long, [], |row| row.get::<_, i64>(0)), Ok(12_502_500));
    }
}
