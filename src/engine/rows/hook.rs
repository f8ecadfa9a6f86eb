//! The hook itself: what SQLite hands over for one row that is about to change.

#![cfg_attr(
    seawall_session,
    expect(unsafe_code, reason = "the pre-update hook has no form in rusqlite without libclang")
)]

use std::cell::RefCell;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::State;
use crate::source::Name;

/// What happens to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Insert,
    Update,
    Delete,
}

#[cfg(not(seawall_session))]
mod here {
    use super::*;

    /// Never made: this SQLite has no hook.
    pub(in super::super) struct RowChange {
        pub(in super::super) operation: Operation,
        pub(in super::super) old_rowid: i64,
        pub(in super::super) new_rowid: i64,
    }

    #[expect(clippy::unused_self, reason = "the other form reads them from SQLite")]
    impl RowChange {
        pub(in super::super) fn schema_name(&self) -> Name {
            Name::from("")
        }

        pub(in super::super) fn table_name(&self) -> Name {
            Name::from("")
        }

        pub(in super::super) const fn has_names(&self, _: &str, _: &str) -> bool {
            false
        }

        pub(in super::super) const fn address(&self) -> (usize, usize) {
            (0, 0)
        }

        pub(in super::super) const fn is_nested(&self) -> bool {
            false
        }

        pub(in super::super) const fn is_same(&self) -> bool {
            false
        }

        pub(in super::super) const fn before(&self, _: i32) -> Option<ValueRef<'_>> {
            None
        }

        pub(in super::super) const fn after(&self, _: i32) -> Option<ValueRef<'_>> {
            None
        }
    }

    pub(in super::super) const fn set(_: &Connection, _: &RefCell<State>) {}

    pub(in super::super) const fn clear(_: &Connection) {}
}

#[cfg(seawall_session)]
mod here {
    use std::ffi::{CStr, c_char, c_int, c_void};
    use std::ptr::{from_ref, null_mut};

    use rusqlite::ffi;

    use super::{Connection, Name, Operation, RefCell, State, ValueRef};

    /// The most columns that a table can have, whatever SQLite was built with.
    const MOST_COLUMNS: c_int = 32_767;

    /// How text is read: as SQLite keeps it, which costs no copy, or as UTF-8.
    #[derive(Clone, Copy)]
    enum Text {
        Stored,
        Utf8,
    }

    /// One row that is about to change. Made by the callback alone, and gone with it.
    pub(in super::super) struct RowChange {
        pub(in super::super) operation: Operation,
        pub(in super::super) old_rowid: i64,
        pub(in super::super) new_rowid: i64,
        handle: *mut ffi::sqlite3,
        schema: *const c_char,
        table: *const c_char,
        nested: bool,
    }

    impl RowChange {
        pub(in super::super) fn schema_name(&self) -> Name {
            name(self.schema)
        }

        pub(in super::super) fn table_name(&self) -> Name {
            name(self.table)
        }

        pub(in super::super) fn has_names(&self, schema: &str, table: &str) -> bool {
            text(self.table).to_string_lossy() == table && text(self.schema).to_string_lossy() == schema
        }

        pub(in super::super) fn address(&self) -> (usize, usize) {
            (self.schema as usize, self.table as usize)
        }

        pub(in super::super) const fn is_nested(&self) -> bool {
            self.nested
        }

        /// Whether an UPDATE leaves every stored value as it is.
        pub(in super::super) fn is_same(&self) -> bool {
            // SAFETY: the handle is that of the callback, which is running.
            let stored = unsafe { ffi::sqlite3_preupdate_count(self.handle) };
            let mut seen = 0;
            for column in 0..MOST_COLUMNS {
                if seen == stored {
                    break;
                }
                // A column that is not stored has no value here; it follows from the others.
                let old = self.value(column, ffi::sqlite3_preupdate_old, Text::Stored);
                let new = self.value(column, ffi::sqlite3_preupdate_new, Text::Stored);
                let (Some(old), Some(new)) = (old, new) else { continue };
                if old != new {
                    return false;
                }
                seen += 1;
            }
            self.old_rowid == self.new_rowid
        }

        /// The value before, of a stored column.
        pub(in super::super) fn before(&self, column: c_int) -> Option<ValueRef<'_>> {
            self.value(column, ffi::sqlite3_preupdate_old, Text::Utf8)
        }

        /// The value after, of a stored column.
        pub(in super::super) fn after(&self, column: c_int) -> Option<ValueRef<'_>> {
            self.value(column, ffi::sqlite3_preupdate_new, Text::Utf8)
        }

        fn value(
            &self,
            column: c_int,
            get: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, *mut *mut ffi::sqlite3_value) -> c_int,
            text: Text,
        ) -> Option<ValueRef<'_>> {
            let mut value = null_mut();
            // SAFETY: the handle is that of the callback, which is running; an unknown column or a
            // form that the operation does not have is answered with an error and no value.
            let answer = unsafe { get(self.handle, column, &raw mut value) };
            if answer != ffi::SQLITE_OK || value.is_null() {
                return None;
            }
            // SAFETY: SQLite keeps the value until the callback returns, and `self` lives no longer.
            unsafe {
                match ffi::sqlite3_value_type(value) {
                    ffi::SQLITE_NULL => Some(ValueRef::Null),
                    ffi::SQLITE_INTEGER => Some(ValueRef::Integer(ffi::sqlite3_value_int64(value))),
                    ffi::SQLITE_FLOAT => Some(ValueRef::Real(ffi::sqlite3_value_double(value))),
                    kind => {
                        let start = match text {
                            Text::Utf8 if kind == ffi::SQLITE_TEXT => ffi::sqlite3_value_text(value).cast(),
                            Text::Utf8 | Text::Stored => ffi::sqlite3_value_blob(value),
                        };
                        let length = usize::try_from(ffi::sqlite3_value_bytes(value)).unwrap_or(0);
                        let bytes = bytes(start, length);
                        let is_text = kind == ffi::SQLITE_TEXT;
                        Some(if is_text { ValueRef::Text(bytes) } else { ValueRef::Blob(bytes) })
                    }
                }
            }
        }
    }

    /// # Safety
    ///
    /// `start` is null or the start of `length` bytes that outlive the answer.
    const unsafe fn bytes<'v>(start: *const c_void, length: usize) -> &'v [u8] {
        if start.is_null() {
            return &[];
        }
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts(start.cast(), length) }
    }

    fn name(name: *const c_char) -> Name {
        Name::from(&*text(name).to_string_lossy())
    }

    /// One of SQLite's own names of a schema or a table.
    const fn text<'n>(name: *const c_char) -> &'n CStr {
        if name.is_null() {
            return c"";
        }
        // SAFETY: it ends with a NUL byte and stays for as long as the callback runs; no answer is
        // kept for longer.
        unsafe { CStr::from_ptr(name) }
    }

    /// Called by SQLite before each row that changes. Nothing in it panics.
    unsafe extern "C" fn on_row(
        context: *mut c_void,
        handle: *mut ffi::sqlite3,
        operation: c_int,
        schema: *const c_char,
        table: *const c_char,
        old_rowid: ffi::sqlite3_int64,
        new_rowid: ffi::sqlite3_int64,
    ) {
        // SAFETY: `set` gave the address of a state that stays in its box until `clear` has taken the
        // hook off, and SQLite calls from the thread that steps the statement.
        let state = unsafe { &*context.cast::<RefCell<State>>() };
        let Ok(mut state) = state.try_borrow_mut() else { return };
        let operation = match operation {
            ffi::SQLITE_INSERT => Operation::Insert,
            ffi::SQLITE_DELETE => Operation::Delete,
            _ => Operation::Update,
        };
        // SAFETY: the handle is that of this callback.
        let nested = unsafe { ffi::sqlite3_preupdate_depth(handle) } > 0;
        state.on(&RowChange { operation, old_rowid, new_rowid, handle, schema, table, nested });
    }

    pub(in super::super) fn set(connection: &Connection, state: &RefCell<State>) {
        let context = from_ref(state).cast_mut().cast::<c_void>();
        // SAFETY: the handle is open while the connection is borrowed; the state stays where it is, in
        // the box of a watch that calls `clear` before it lets go of it.
        unsafe {
            ffi::sqlite3_preupdate_hook(connection.handle(), Some(on_row), context);
        }
    }

    pub(in super::super) fn clear(connection: &Connection) {
        // SAFETY: the handle is open while the connection is borrowed.
        unsafe {
            ffi::sqlite3_preupdate_hook(connection.handle(), None, null_mut());
        }
    }
}

pub(super) use here::{RowChange, clear, set};
