//! What no policy file can open, in one table. `policy show` prints it; the decision core obeys it.

/// A thing that stays closed whatever a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Never {
    /// What is closed.
    pub what: &'static str,
    /// Why.
    pub why: &'static str,
}

/// The whole list.
pub const NEVER: &[Never] = &[
    Never { what: "CREATE, DROP, ALTER, REINDEX, ANALYZE", why: "they change the schema or its statistics" },
    Never {
        what: "BEGIN, COMMIT, END, ROLLBACK, SAVEPOINT, RELEASE",
        why: "a run is one transaction, kept or undone as a whole",
    },
    Never { what: "ATTACH, DETACH", why: "they reach other files" },
    Never { what: "VACUUM", why: "it rewrites the file, or writes another" },
    Never {
        what: "write on sqlite_* tables, dbstat and shadow tables",
        why: "SQLite and its virtual tables keep their own data there; `read` opens one that a rule names exactly",
    },
    Never { what: "setting a pragma", why: "an argument is open only where it selects what is reported" },
    Never {
        what: "pragmas that act when asked: incremental_vacuum, optimize, shrink_memory, wal_checkpoint",
        why: "they change the file or the process",
    },
    Never {
        what: "computed commands of virtual tables",
        why: "only a literal command can be read before it runs",
    },
    Never { what: "action codes newer than this build", why: "what they do is not known" },
];

/// The pragmas whose argument selects what is reported. The argument of every other one sets it.
pub const REPORTING_ARGUMENT: &[&str] = &[
    "foreign_key_check",
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// The pragmas that act when they are asked.
pub const ACTING_PRAGMAS: &[&str] = &["incremental_vacuum", "optimize", "shrink_memory", "wal_checkpoint"];
