//! A database on which the readings of statements are compared.

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::Agreement;
use crate::engine::catalog;
use crate::engine::open::Hardened;
use crate::guard::Guard;
use crate::guard::judging::Judging;
use crate::ruleset::Ruleset;
use crate::statement::{Statement, statements};

/// A database on which statements are compared. What builds the schema runs, but for what would reach
/// beyond memory; a statement on rows is never run.
#[derive(Debug)]
pub struct Trial {
    connection: Connection,
    /// The rules for the schema that was met last, by its whole text.
    met: Option<(Vec<u8>, Arc<Ruleset>)>,
}

/// Pragmas that reach beyond the connection, or move what it keeps out of memory.
const BEYOND: [&str; 6] = [
    "hard_heap_limit",
    "soft_heap_limit",
    "temp_store_directory",
    "data_store_directory",
    "lock_proxy_file",
    "temp_store",
];

/// Steps after which a statement that builds the schema is stopped; a recursive query may have no end.
const STEPS: i32 = 10_000_000;

impl Trial {
    /// An empty database in memory.
    ///
    /// # Errors
    ///
    /// SQLite's.
    pub fn new() -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        // What is too large for the page cache would go into a file.
        connection.execute_batch("PRAGMA temp_store = MEMORY")?;
        Ok(Self { connection, met: None })
    }

    /// Compares the statements on rows of `sql`, one after the other, and runs the others; some may
    /// fail. What SQLite does not prepare is not compared.
    ///
    /// # Errors
    ///
    /// SQLite's, where the database cannot be looked at.
    pub fn run(
        &mut self,
        guard: &Guard,
        sql: &str,
        see: &mut dyn FnMut(&Statement<'_>, Agreement),
    ) -> rusqlite::Result<()> {
        for statement in statements(sql) {
            if statement.head.is_row() {
                if let Some(agreement) = self.compare(guard, &statement)? {
                    see(&statement, agreement);
                }
            } else {
                self.confine()?;
                // A statement that fails is part of a corpus too.
                let _ = self.connection.execute_batch(statement.sql());
            }
        }
        Ok(())
    }

    /// Bounds what SQLite prepares and runs next, until a guard takes the connection.
    fn confine(&mut self) -> rusqlite::Result<()> {
        self.connection.authorizer(Some(stay_inside))?;
        self.connection.progress_handler(STEPS, Some(|| true))
    }

    fn compare(&mut self, guard: &Guard, statement: &Statement<'_>) -> rusqlite::Result<Option<Agreement>> {
        self.confine()?;
        if statement.nul.is_some() || self.connection.prepare(statement.sql()).is_err() {
            return Ok(None);
        }
        let held = Hardened::new(&mut self.connection, &guard.policy().limits)?;
        let text = catalog::text(held.connection)?;
        let rules = match &self.met {
            Some((met, rules)) if *met == text => Arc::clone(rules),
            _ => {
                let mut whole = catalog::load(held.connection, guard.policy(), &catalog::built_in()?)?;
                catalog::load_rest(held.connection, &mut whole)?;
                guard.rules_for(whole)
            }
        };
        self.met = Some((text, Arc::clone(&rules)));
        let catalog = rules.catalog().cloned().unwrap_or_default();
        let mut judging = Judging::new(held.connection, held.recorder.clone(), Arc::clone(&rules))?;
        let seen = judging.examine_by_engine(statement).ok();
        Ok(seen.map(|seen| Agreement::of(statement, &rules, &catalog, &seen)))
    }
}

/// Denies what would touch more than databases in memory. SQLite is asked and not the text, where a
/// comment, an EXPLAIN or a table function may hide it; VACUUM attaches the file that it writes.
fn stay_inside(context: AuthContext<'_>) -> Authorization {
    let inside = match context.action {
        AuthAction::Attach { filename } => filename == ":memory:",
        AuthAction::Pragma { pragma_name, .. } => {
            !BEYOND.iter().any(|name| pragma_name.eq_ignore_ascii_case(name))
        }
        // A file's name that is no literal, and what this build does not know.
        AuthAction::Unknown { .. } => false,
        _ => true,
    };
    if inside { Authorization::Allow } else { Authorization::Deny }
}
