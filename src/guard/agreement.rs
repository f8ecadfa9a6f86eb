//! What the text alone says of a statement, held against what SQLite's own witnesses say.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::Connection;

use super::examine::Seen;
use super::judging::Judging;
use crate::diagnostic::Code;
use crate::engine::catalog;
use crate::engine::open::Hardened;
use crate::refusal::one_name;
use crate::request::{Action, Origin, Request, Resource};
use crate::ruleset::Ruleset;
use crate::source::Name;
use crate::statement::Statement;
use crate::text_witness::{self, NotUnderstood, Reading};

/// Something that a statement asks, as far as two witnesses can be expected to name it alike: the
/// action, and the function or the table. Columns are compared by their tables.
pub type Asked = (Action, Name);

/// The two views of one statement.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Why the text was not understood to its end.
    pub not_understood: Option<NotUnderstood>,
    /// What only the text asks.
    pub text_only: BTreeSet<Asked>,
    /// What only SQLite's witnesses were asked, and the text could have named.
    pub engine_only: BTreeSet<Asked>,
    /// What the text refuses and SQLite's witnesses do not refuse with that code.
    pub text_refuses: BTreeSet<(Code, Name)>,
    /// What SQLite's witnesses refuse and the text does not refuse with that code, although it
    /// names the thing.
    pub engine_refuses: BTreeSet<(Code, Name)>,
    /// How many refusals of SQLite's witnesses name something that stands in the text.
    pub visible_refusals: usize,
}

/// Compares what the text of `statement` asks with what `engine` saw.
pub fn compare(statement: &Statement<'_>, text: &Reading, ruleset: &Ruleset, engine: &[Seen]) -> Compared {
    let callers: Vec<&Seen> = engine.iter().filter(|seen| seen.request.origin == Origin::Caller).collect();
    let by_text: BTreeSet<Asked> = text.requests.iter().filter_map(asked).collect();
    let by_engine: BTreeSet<Asked> = callers.iter().filter_map(|seen| asked(&seen.request)).collect();
    let denied = |request: &Request| Some((ruleset.decide(request).code?, asked(request)?.1));
    let refused_by_text: BTreeSet<(Code, Name)> = text.requests.iter().filter_map(denied).collect();
    let refused_by_engine: BTreeSet<(Code, Name)> =
        callers.iter().filter_map(|seen| denied(&seen.request)).collect();
    let visible = |request: &Request| is_visible(statement, request);
    let visibly: BTreeSet<(Code, Name)> =
        callers.iter().filter(|seen| visible(&seen.request)).filter_map(|seen| denied(&seen.request)).collect();
    Compared {
        not_understood: text.not_understood,
        text_only: by_text.difference(&by_engine).cloned().collect(),
        engine_only: by_engine.difference(&by_text).cloned().collect(),
        text_refuses: refused_by_text.difference(&refused_by_engine).cloned().collect(),
        engine_refuses: visibly.difference(&refused_by_text).cloned().collect(),
        visible_refusals: visibly.len(),
    }
}

/// The action with the function or table.
fn asked(request: &Request) -> Option<Asked> {
    let name = match &request.resource {
        Resource::Table { schema, table } | Resource::Column { schema, table, .. } => one_name(schema, table).1,
        Resource::Function(name) => name.clone(),
        Resource::Command { table, .. } => table.clone(),
        Resource::Pragma { .. } | Resource::Statement(_) => return None,
    };
    Some((request.action, name))
}

/// Whether the text names all of what is asked for.
fn is_visible(statement: &Statement<'_>, request: &Request) -> bool {
    let names = |name: &Name| statement.mentions(|word| *name == *word);
    match &request.resource {
        Resource::Function(name) => statement.calls.iter().any(|call| call.name == *name) || names(name),
        Resource::Table { table, .. } => names(table),
        Resource::Column { table, column, .. } => names(table) && names(column),
        _ => true,
    }
}

/// A database on which statements are compared. What builds the schema runs without a guard; a
/// statement on rows is never run.
#[derive(Debug)]
pub struct Trial {
    connection: Connection,
    /// The rules for the schema that was met last, by its whole text.
    met: Option<(Vec<u8>, Arc<Ruleset>)>,
}

/// Pragmas that reach beyond the connection.
const PROCESS_WIDE: [&str; 5] = [
    "hard_heap_limit",
    "soft_heap_limit",
    "temp_store_directory",
    "data_store_directory",
    "lock_proxy_file",
];

impl Trial {
    /// An empty database in memory.
    ///
    /// # Errors
    ///
    /// SQLite's.
    pub fn new() -> rusqlite::Result<Self> {
        Ok(Self { connection: Connection::open_in_memory()?, met: None })
    }

    /// Compares the statements on rows of `sql`, one after the other, and runs the others.
    pub fn run(
        &mut self,
        guard: &super::Guard,
        sql: &str,
        see: &mut dyn FnMut(&Statement<'_>, [Compared; 2]),
    ) -> rusqlite::Result<()> {
        for statement in crate::statement::statements(sql) {
            if statement.head.is_row() {
                self.compare(guard, &statement, see)?;
            } else if !reaches_out(&statement) {
                // A statement that fails is part of a corpus too.
                let _ = self.connection.execute_batch(statement.sql());
            }
        }
        Ok(())
    }

    fn compare(
        &mut self,
        guard: &super::Guard,
        statement: &Statement<'_>,
        see: &mut dyn FnMut(&Statement<'_>, [Compared; 2]),
    ) -> rusqlite::Result<()> {
        if statement.nul.is_some() || self.connection.prepare(statement.sql()).is_err() {
            return Ok(());
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
        let mut judging = Judging::new(held.connection, held.recorder.clone(), rules.clone())?;
        let Ok(engine) = judging.examine_by_engine(statement) else { return Ok(()) };
        let alone = text_witness::read(statement, &catalog.known, None);
        let informed = text_witness::read(statement, &catalog.known, Some(&catalog));
        let compared = [
            compare(statement, &alone, &rules, &engine),
            compare(statement, &informed, &rules, &engine),
        ];
        see(statement, compared);
        Ok(())
    }
}

/// Whether a statement would touch more than the database in memory.
fn reaches_out(statement: &Statement<'_>) -> bool {
    use crate::statement::Head;
    match &statement.head {
        Head::Pragma(pragma) => PROCESS_WIDE.contains(&pragma.name.folded()),
        Head::Maintenance => true,
        Head::Attach => !statement.sql().contains(":memory:"),
        _ => false,
    }
}
