//! A database on which the readings of statements are compared.

use std::sync::Arc;

use rusqlite::Connection;

use super::Agreement;
use crate::engine::catalog;
use crate::engine::open::Hardened;
use crate::guard::Guard;
use crate::guard::judging::Judging;
use crate::ruleset::Ruleset;
use crate::statement::{Head, Statement, statements};

/// A database on which statements are compared. What builds the schema runs without a guard; a
/// statement on rows is never run.
#[derive(Debug)]
pub struct Trial {
    connection: Connection,
    /// The rules for the schema that was met last, by its whole text.
    met: Option<(Vec<u8>, Arc<Ruleset>)>,
}

/// Pragmas that reach beyond the connection.
const PROCESS_WIDE: [&str; 5] =
    ["hard_heap_limit", "soft_heap_limit", "temp_store_directory", "data_store_directory", "lock_proxy_file"];

impl Trial {
    /// An empty database in memory.
    ///
    /// # Errors
    ///
    /// SQLite's.
    pub fn new() -> rusqlite::Result<Self> {
        Ok(Self { connection: Connection::open_in_memory()?, met: None })
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
            } else if !reaches_out(&statement) {
                // A statement that fails is part of a corpus too.
                let _ = self.connection.execute_batch(statement.sql());
            }
        }
        Ok(())
    }

    fn compare(&mut self, guard: &Guard, statement: &Statement<'_>) -> rusqlite::Result<Option<Agreement>> {
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

/// Whether a statement would touch more than the database in memory.
fn reaches_out(statement: &Statement<'_>) -> bool {
    match &statement.head {
        Head::Pragma(pragma) => PROCESS_WIDE.contains(&pragma.name.folded()),
        Head::Maintenance => true,
        Head::Attach => !statement.sql().contains(":memory:"),
        _ => false,
    }
}
