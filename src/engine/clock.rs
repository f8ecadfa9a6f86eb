//! The time that SQL sees: a clock of our own under every connection of an instance.
//!
//! SQLite asks its VFS for the time, once per run of a statement that wants to know. So a VFS that is
//! the host's in everything but the clock makes `datetime('now')`, `CURRENT_TIMESTAMP`, DEFAULTs and
//! trigger bodies follow the instance. Only `'localtime'` still reads the host's zone.

#![expect(unsafe_code, reason = "a VFS is a table of C callbacks")]

mod instant;

pub use instant::{format_instant, parse_instant};

use std::cell::UnsafeCell;
use std::ffi::{CString, c_int};
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Error, Result, ffi};

/// The Julian day of 1970-01-01T00:00:00Z, in milliseconds.
const UNIX_EPOCH: i64 = 210_866_760_000_000;
const MS_PER_DAY: f64 = 86_400_000.0;

/// Which time an instance's SQL sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// The host's.
    #[default]
    Host,
    /// One instant for ever, in milliseconds since 1970.
    Fixed(i64),
}

impl Clock {
    /// The lease that a connection needs to see this time; the host's needs none.
    ///
    /// # Errors
    ///
    /// As [`ClockLease::new`].
    pub fn lease(self) -> Result<Option<ClockLease>> {
        match self {
            Self::Host => Ok(None),
            Self::Fixed(unix_millis) => ClockLease::new(unix_millis).map(Some),
        }
    }
}

/// A registered VFS with a clock, for as long as one clone of the lease lives.
///
/// Pass [`name`](Self::name) to `Connection::open_with_flags_and_vfs`. Everything that the connection
/// attaches follows the same clock. Keep a clone beside each connection and declare it *after* the
/// connection, so that it is dropped later: a returned clock goes to the next lease, which sets it
/// anew, and a connection that outlives its lease would see that time. It would see no freed memory:
/// a registered VFS is never freed.
#[derive(Clone, Debug)]
pub struct ClockLease(Arc<Held>);

impl ClockLease {
    /// Takes a free clock, or registers another one, and sets it.
    ///
    /// # Errors
    ///
    /// When SQLite has no default VFS to build on, or no memory.
    pub fn new(unix_millis: i64) -> Result<Self> {
        let free = POOL.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let slot = match free {
            Some(slot) => slot,
            None => Slot::register()?,
        };
        let lease = Self(Arc::new(Held(slot)));
        lease.set(unix_millis);
        Ok(lease)
    }

    /// The name of the VFS.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.0.name
    }

    /// Moves the clock; a running statement keeps the time that it has read.
    ///
    /// Outside the years 0000 to 9999 SQLite has no time and answers NULL.
    pub fn set(&self, unix_millis: i64) {
        self.0.0.julian_ms.store(unix_millis.saturating_add(UNIX_EPOCH), Ordering::Relaxed);
    }

    /// What the clock shows.
    #[must_use]
    pub fn get(&self) -> i64 {
        self.0.0.julian_ms.load(Ordering::Relaxed) - UNIX_EPOCH
    }
}

/// Slots that nobody leases at present.
static POOL: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());

/// The last clone's drop returns the slot.
struct Held(&'static Slot);

impl Drop for Held {
    fn drop(&mut self) {
        POOL.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

// INVARIANT: a slot is never freed and never unregistered, and `vfs` is its first field.
#[repr(C)]
struct Slot {
    /// SQLite's once it is registered; it links the entry into its list.
    vfs: UnsafeCell<ffi::sqlite3_vfs>,
    julian_ms: AtomicI64,
    name: String,
    /// What `vfs.zName` points to.
    _c_name: CString,
}

// SAFETY: `vfs` alone is not thread-safe, and after registration only SQLite touches it, under its own
// mutex; the rest is atomic or never changes.
unsafe impl Sync for Slot {}

impl Slot {
    fn register() -> Result<&'static Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        // Another copy of this crate in the process counts for itself, and of two VFS of one name SQLite
        // takes the newer, so a taken name is stepped over.
        let (name, c_name) = loop {
            let name = format!("seawall-clock-{}", COUNTER.fetch_add(1, Ordering::Relaxed));
            let c_name = CString::new(name.as_str())?;
            // SAFETY: the name is a C string that outlives the call.
            if unsafe { ffi::sqlite3_vfs_find(c_name.as_ptr()) }.is_null() {
                break (name, c_name);
            }
        };
        // SAFETY: a null name asks for the default VFS.
        let base = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
        if base.is_null() {
            return Err(failure(ffi::SQLITE_ERROR, "SQLite has no default VFS"));
        }
        // Field by field, because another thread's registration may be writing `pNext`. Version 2 is the
        // one with the clock; what version 3 adds are SQLite's own tests' hooks.
        // SAFETY: `base` is registered, so it stays alive, and its other fields don't change.
        let vfs = unsafe {
            ffi::sqlite3_vfs {
                iVersion: 2,
                szOsFile: (*base).szOsFile,
                mxPathname: (*base).mxPathname,
                pNext: ptr::null_mut(),
                zName: c_name.as_ptr(),
                pAppData: (*base).pAppData,
                xOpen: (*base).xOpen,
                xDelete: (*base).xDelete,
                xAccess: (*base).xAccess,
                xFullPathname: (*base).xFullPathname,
                xDlOpen: (*base).xDlOpen,
                xDlError: (*base).xDlError,
                xDlSym: (*base).xDlSym,
                xDlClose: (*base).xDlClose,
                xRandomness: (*base).xRandomness,
                xSleep: (*base).xSleep,
                xCurrentTime: Some(julian_day),
                xGetLastError: (*base).xGetLastError,
                xCurrentTimeInt64: Some(julian_ms),
                xSetSystemCall: None,
                xGetSystemCall: None,
                xNextSystemCall: None,
            }
        };
        let slot = Self { vfs: UnsafeCell::new(vfs), julian_ms: AtomicI64::new(0), name, _c_name: c_name };
        let slot = Box::into_raw(Box::new(slot));
        // SAFETY: the slot is leaked, so SQLite may keep the pointer for ever.
        let code = unsafe { ffi::sqlite3_vfs_register(slot.cast(), 0) };
        if code != ffi::SQLITE_OK {
            // Stays leaked: whether SQLite kept the pointer is unknown.
            return Err(failure(code, "no clock could be registered"));
        }
        // SAFETY: valid for ever, and only shared from here on.
        Ok(unsafe { &*slot })
    }
}

fn failure(code: c_int, message: &str) -> Error {
    Error::SqliteFailure(ffi::Error::new(code), Some(message.to_owned()))
}

/// The callbacks load an atomic and nothing else: a panic in them would end the process.
unsafe extern "C" fn julian_ms(vfs: *mut ffi::sqlite3_vfs, out: *mut i64) -> c_int {
    // SAFETY: SQLite passes the registered pointer, which is a slot's, and a place for the answer.
    unsafe { *out = (*vfs.cast::<Slot>()).julian_ms.load(Ordering::Relaxed) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn julian_day(vfs: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    // SAFETY: as above.
    unsafe { *out = (*vfs.cast::<Slot>()).julian_ms.load(Ordering::Relaxed) as f64 / MS_PER_DAY };
    ffi::SQLITE_OK
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::{Connection, OpenFlags};

    const JUNE: i64 = 1_780_304_400_123; // 2026-06-01T09:00:00.123Z
    const NOON: i64 = 1_780_315_200_000; // 2026-06-01T12:00:00Z

    fn open(lease: &ClockLease) -> Connection {
        Connection::open_in_memory_with_flags_and_vfs(OpenFlags::default(), lease.name()).unwrap()
    }

    fn text(conn: &Connection, sql: &str) -> String {
        conn.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn every_way_to_ask_the_time_follows_the_lease() {
        let lease = ClockLease::new(JUNE).unwrap();
        let conn = open(&lease);
        assert_eq!(text(&conn, "SELECT datetime('now')"), "2026-06-01 09:00:00");
        assert_eq!(text(&conn, "SELECT CURRENT_TIMESTAMP"), "2026-06-01 09:00:00");
        assert_eq!(text(&conn, "SELECT strftime('%Y-%m-%dT%H:%M:%fZ')"), "2026-06-01T09:00:00.123Z");
        assert_eq!(text(&conn, "SELECT CURRENT_DATE || ' ' || CURRENT_TIME"), "2026-06-01 09:00:00");
        assert_eq!(text(&conn, "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) || ''"), JUNE.to_string());
        lease.set(NOON);
        assert_eq!(text(&conn, "SELECT datetime()"), "2026-06-01 12:00:00");
        assert_eq!(lease.get(), NOON);
    }

    #[test]
    fn defaults_and_triggers_follow_the_lease() {
        let lease = ClockLease::new(JUNE).unwrap();
        let conn = open(&lease);
        conn.execute_batch(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, made DEFAULT CURRENT_TIMESTAMP, day DEFAULT (date('now')));
             CREATE TABLE log(at);
             CREATE TRIGGER note AFTER INSERT ON t BEGIN INSERT INTO log VALUES (datetime('now')); END;
             INSERT INTO t(id) VALUES (1);",
        )
        .unwrap();
        assert_eq!(text(&conn, "SELECT made || ' ' || day FROM t"), "2026-06-01 09:00:00 2026-06-01");
        assert_eq!(text(&conn, "SELECT at FROM log"), "2026-06-01 09:00:00");
    }

    #[test]
    fn attached_databases_follow_the_main_ones_lease() {
        let dir = tempfile::tempdir().unwrap();
        let lease = ClockLease::new(JUNE).unwrap();
        let flags = OpenFlags::default();
        let main = dir.path().join("main.db");
        let conn = Connection::open_with_flags_and_vfs(main, flags, lease.name()).unwrap();
        conn.execute("ATTACH ?1 AS side", [dir.path().join("side.db").to_str().unwrap()]).unwrap();
        conn.execute_batch(
            "ATTACH ':memory:' AS mem;
             CREATE TABLE side.t(at DEFAULT CURRENT_TIMESTAMP);
             CREATE TABLE mem.t(at DEFAULT CURRENT_TIMESTAMP);
             INSERT INTO side.t DEFAULT VALUES;
             INSERT INTO mem.t DEFAULT VALUES;",
        )
        .unwrap();
        assert_eq!(text(&conn, "SELECT at FROM side.t"), "2026-06-01 09:00:00");
        assert_eq!(text(&conn, "SELECT at FROM mem.t"), "2026-06-01 09:00:00");
    }

    #[test]
    fn two_leases_at_once_do_not_disturb_each_other() {
        let (june, noon) = (ClockLease::new(JUNE).unwrap(), ClockLease::new(NOON).unwrap());
        let (first, second) = (open(&june), open(&noon));
        noon.set(NOON + 1000);
        assert_eq!(text(&first, "SELECT datetime('now')"), "2026-06-01 09:00:00");
        assert_eq!(text(&second, "SELECT datetime('now')"), "2026-06-01 12:00:01");
    }

    #[test]
    fn a_connection_without_a_lease_keeps_the_hosts_time() {
        let _lease = ClockLease::new(0).unwrap();
        let conn = Connection::open_in_memory().unwrap();
        assert_ne!(text(&conn, "SELECT date('now')"), "1970-01-01");
        assert!(Clock::Host.lease().unwrap().is_none());
    }

    #[test]
    fn the_last_clone_returns_the_slot() {
        // Other tests take and return slots meanwhile, so ask only about this one.
        let free = |name: &str| POOL.lock().unwrap().iter().any(|slot| slot.name == name);
        let lease = Clock::Fixed(JUNE).lease().unwrap().unwrap();
        let name = lease.name().to_owned();
        let clone = lease.clone();
        drop(lease);
        assert!(!free(&name));
        assert_eq!(text(&open(&clone), "SELECT date('now')"), "2026-06-01");
        drop(clone);
        let mut taken = Vec::new();
        let again = (0..1000).any(|_| {
            taken.push(ClockLease::new(NOON).unwrap());
            taken.iter().any(|lease| lease.name() == name) || free(&name)
        });
        assert!(again, "the slot is free or has been leased again");
    }

    #[test]
    fn a_statement_keeps_the_time_that_it_has_read() {
        let lease = ClockLease::new(JUNE).unwrap();
        let conn = open(&lease);
        let mut statement = conn.prepare("SELECT datetime('now') FROM (VALUES (1), (2))").unwrap();
        let mut rows = statement.query([]).unwrap();
        let first: String = rows.next().unwrap().unwrap().get(0).unwrap();
        lease.set(NOON);
        let second: String = rows.next().unwrap().unwrap().get(0).unwrap();
        assert_eq!(first, second);
    }

    #[test]
    fn the_ends_of_the_range_are_times_and_beyond_them_is_none() {
        let lease = ClockLease::new(parse_instant("9999-12-31T23:59:59.999Z").unwrap()).unwrap();
        let conn = open(&lease);
        assert_eq!(text(&conn, "SELECT datetime('now')"), "9999-12-31 23:59:59");
        lease.set(parse_instant("0000-01-01T00:00:00Z").unwrap());
        assert_eq!(text(&conn, "SELECT datetime('now')"), "0000-01-01 00:00:00");
        lease.set(i64::MAX);
        assert_eq!(text(&conn, "SELECT coalesce(datetime('now'), 'none')"), "none");
    }
}
