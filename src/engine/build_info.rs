//! What the linked SQLite can do.

#![expect(unsafe_code, reason = "SQLite's list of compile options has no safe form outside SQL")]

use std::ffi::CStr;

use rusqlite::ffi;

/// The oldest SQLite whose authorizer the guard knows.
const OLDEST: i32 = 3_054_000;

/// The compile options that we build SQLite with and that a build can lack.
const WANTED: [&CStr; 4] =
    [c"ENABLE_SESSION", c"ENABLE_PREUPDATE_HOOK", c"ENABLE_MATH_FUNCTIONS", c"MAX_ATTACHED=125"];

/// The options that the linked SQLite was built without, for a message; none when all is there.
///
/// Nothing fails for want of them alone: without the session extension there is no change log, without
/// the math functions our own are registered, and fewer databases can be attached.
#[must_use]
pub fn missing() -> Vec<&'static str> {
    WANTED.into_iter().filter(|option| !has(option)).filter_map(|option| option.to_str().ok()).collect()
}

/// Whether the math functions are SQLite's own.
pub(super) fn has_math() -> bool {
    has(c"ENABLE_MATH_FUNCTIONS")
}

fn has(option: &CStr) -> bool {
    // SAFETY: a C string that outlives the call.
    unsafe { ffi::sqlite3_compileoption_used(option.as_ptr()) != 0 }
}

/// The version of the linked SQLite, as `3054001` for 3.54.1.
#[must_use]
pub fn version_number() -> i32 {
    rusqlite::version_number()
}

/// Says plainly that the linked SQLite is too old.
///
/// # Errors
///
/// A sentence for whoever built the program.
pub fn ensure_supported() -> Result<(), String> {
    supported(version_number())
}

fn supported(version: i32) -> Result<(), String> {
    if version >= OLDEST {
        return Ok(());
    }
    Err(format!(
        "SQLite {} is linked, but Seawall needs {} or newer. Build with the `bundled` feature, or link a newer SQLite.",
        dotted(version),
        dotted(OLDEST)
    ))
}

fn dotted(version: i32) -> String {
    format!("{}.{}.{}", version / 1_000_000, version / 1000 % 1000, version % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_sqlite_is_named_beside_the_one_that_is_needed() {
        assert_eq!(
            supported(3_053_000).unwrap_err(),
            "SQLite 3.53.0 is linked, but Seawall needs 3.54.0 or newer. \
             Build with the `bundled` feature, or link a newer SQLite."
        );
        assert_eq!(supported(3_054_000), Ok(()));
        assert_eq!(supported(4_000_000), Ok(()));
    }

    #[test]
    fn the_linked_sqlite_is_new_enough() {
        assert_eq!(ensure_supported(), Ok(()));
    }

    #[test]
    fn what_is_missing_is_what_sql_says_too() {
        let conn = rusqlite::Connection::open_in_memory().unwrap();
        for option in WANTED {
            let name = option.to_str().unwrap();
            let used: bool =
                conn.query_row("SELECT sqlite_compileoption_used(?1)", [name], |row| row.get(0)).unwrap();
            assert_eq!(used, !missing().contains(&name), "{name}");
        }
    }

    #[test]
    #[cfg(seawall_session)]
    fn the_build_script_saw_what_was_built() {
        assert!(!missing().contains(&"ENABLE_SESSION"));
        assert!(!missing().contains(&"ENABLE_PREUPDATE_HOOK"));
    }
}
