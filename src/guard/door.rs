//! A guard for a connection of the caller's own: one statement at a time.

use std::cell::OnceCell;
use std::sync::{Arc, Mutex, OnceLock};

use rusqlite::{Connection, Error};

use super::judging::{Judged, Judging};
use super::near::{near, world};
use super::prepared::{Prepared, Rows, take};
use super::script::within_text;
use crate::catalog::{Catalog, Known};
use crate::diagnostic::Code;
use crate::engine::budget::Exceeded;
use crate::engine::open::Hardened;
use crate::engine::{catalog, selftest};
use crate::policy::Policy;
use crate::refusal::{Context, Failure, FailureContext, Refusal};
use crate::ruleset::Ruleset;
use crate::source::Source;
use crate::statement::{self, Statement};

/// A policy and the name of the door where it holds; opens doors to connections.
///
/// ```
/// use seawall::{Guard, Policy};
///
/// let mut connection = rusqlite::Connection::open_in_memory()?;
/// connection.execute_batch("CREATE TABLE issues(id INTEGER PRIMARY KEY, title TEXT)")?;
/// let guard = Guard::new(Policy::builtin("setup_sql")?, "setup_sql");
/// let mut door = guard.open(&mut connection)?;
/// assert_eq!(door.execute("INSERT INTO issues(title) VALUES ('a'), ('b')")?, 2);
/// let refused = door.execute("DROP TABLE issues").unwrap_err();
/// assert!(refused.to_string().starts_with("setup_sql statement 1 of 1 was refused: it changes the schema."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Guard {
    /// The rules, ready but for a schema.
    rules: Ruleset,
    name: String,
    hash: Arc<OnceLock<String>>,
    schemas: Arc<Mutex<Schemas>>,
}

/// The rules for the schemas that a guard has met, by the whole text of each: thousands of runs
/// start from one fixture.
///
/// A list, because comparing a text is cheaper than hashing it.
type Schemas = Vec<(Vec<u8>, Arc<Ruleset>)>;

/// Schemas remembered at most; then all are forgotten and met anew.
const MOST_SCHEMAS: usize = 16;

impl Guard {
    /// A guard that judges by `policy`; `name` is the first word of its messages.
    pub fn new(policy: impl Into<Arc<Policy>>, name: &str) -> Self {
        Self {
            rules: Ruleset::compile(policy.into(), None),
            name: name.to_owned(),
            hash: Arc::default(),
            schemas: Arc::default(),
        }
    }

    /// The policy.
    pub fn policy(&self) -> &Arc<Policy> {
        self.rules.policy()
    }

    /// The hash of the effective policy, as reports carry it.
    pub fn hash(&self) -> &str {
        self.hash.get_or_init(|| self.policy().hash())
    }

    /// The rules for the schema of `connection`, to which the host has added nothing.
    pub(crate) fn rules_on(&self, connection: &Connection) -> rusqlite::Result<Arc<Ruleset>> {
        let text = catalog::text(connection)?;
        let met = |schemas: &Schemas| {
            schemas.iter().find(|(met, _)| *met == text).map(|(_, rules)| Arc::clone(rules))
        };
        if let Some(rules) = self.schemas.lock().ok().and_then(|schemas| met(&schemas)) {
            return Ok(rules);
        }
        let rules = self.rules_for(catalog::load(connection, self.policy(), &catalog::built_in()?)?);
        if let Ok(mut schemas) = self.schemas.lock() {
            if schemas.len() >= MOST_SCHEMAS {
                schemas.clear();
            }
            schemas.push((text, Arc::clone(&rules)));
        }
        Ok(rules)
    }

    /// The rules for texts alone: of the world they know what SQLite itself has.
    pub(super) fn rules_for_text(&self, known: Arc<Known>) -> Arc<Ruleset> {
        self.rules_for(Catalog { schemas: Vec::new(), known })
    }

    /// The rules for a schema.
    pub(crate) fn rules_for(&self, catalog: Catalog) -> Arc<Ruleset> {
        Arc::new(self.rules.for_catalog(Arc::new(catalog)))
    }

    /// The name of the door.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Opens a door to `connection`; functions and modules that the host has registered on it are
    /// known to every witness.
    ///
    /// # Errors
    ///
    /// [`GuardError::Unsupported`] where the linked SQLite is too old or unknown.
    pub fn open<'c>(&self, connection: &'c mut Connection) -> Result<Door<'c>, GuardError> {
        Door::new(connection, self.clone())
    }
}

/// A guarded door to a connection.
///
/// While it is open, every statement that goes through it is judged under one policy; statements
/// that the host runs on [`Door::connection`] itself are not. When it is dropped, every setting of
/// the connection is as before; an authorizer or progress handler that was there is gone.
#[derive(Debug)]
pub struct Door<'c> {
    pub(super) judging: Judging<'c>,
    pub(super) held: Hardened<'c>,
    pub(super) guard: Guard,
    known: Arc<Known>,
    schema_versions: Vec<i64>,
    /// What a failure is explained by, read with the first one: every statement of many texts may fail.
    world: OnceCell<Arc<Catalog>>,
}

/// Why a statement did not go through a door.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The policy denies it; every reason, in order.
    #[error("{}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Refused(Vec<Refusal>),
    /// SQLite or a limit stopped it.
    #[error("{0}")]
    Failed(Box<Failure>),
    /// The linked SQLite cannot be guarded.
    #[error("{0}")]
    Unsupported(&'static str),
    /// SQLite failed outside of the statement.
    #[error("SQLite: {0}")]
    Sqlite(#[from] Error),
}

impl<'c> Door<'c> {
    fn new(connection: &'c mut Connection, guard: Guard) -> Result<Self, GuardError> {
        if let Some(why) = selftest::failure() {
            return Err(GuardError::Unsupported(why));
        }
        let known = catalog::known_to(connection)?;
        let held = Hardened::new(connection, &guard.policy().limits)?;
        let judging = judge_of(&held, &guard, &known)?;
        let schema_versions = schema_versions(held.connection, &judging)?;
        Ok(Self { judging, held, guard, known, schema_versions, world: OnceCell::new() })
    }

    /// The connection, for the host's own statements, which are not judged.
    pub fn connection(&self) -> &'c Connection {
        self.held.connection
    }

    /// Judges one statement; what is allowed can then be run.
    pub fn prepare(&mut self, sql: &str) -> Result<Prepared<'_, 'c>, GuardError> {
        within_text(&self.guard, sql).map_err(GuardError::Failed)?;
        let source = Source::new(format!("<{}>", self.guard.name), sql);
        self.follow_schema()?;
        self.held.budget.restart();
        let statements = statement::statements(source.text());
        let statement = match statements.as_slice() {
            [one] => one,
            [] => return Ok(Prepared { door: self, ready: None, source: source.clone() }),
            several => {
                let (door, count) = (&self.guard.name, several.len());
                let failure = Failure::of_text(door, Code::LimitStatements, "1 statement", count);
                return Err(GuardError::Failed(Box::new(failure)));
            }
        };
        let ready = match self.judging.judge(statement) {
            Judged::Ready(ready) => ready,
            Judged::Refused(findings) => {
                let context = self.context(&source, &statements);
                let refusals = findings.iter().map(|finding| Refusal::new(finding, &context));
                return Err(GuardError::Refused(refusals.collect()));
            }
            Judged::Failed(error) => return Err(self.failed(&error, &source, statement)),
        };
        Ok(Prepared { door: self, ready: Some(ready), source: source.clone() })
    }

    /// Runs one statement and answers how many rows it changed itself.
    pub fn execute(&mut self, sql: &str) -> Result<u64, GuardError> {
        self.prepare(sql)?.run(|_| Ok(true))
    }

    /// Runs one statement and answers its rows, cut off by the policy's caps.
    pub fn query(&mut self, sql: &str) -> Result<Rows, GuardError> {
        let limits = self.guard.policy().limits.clone();
        let prepared = self.prepare(sql)?;
        let mut rows = Rows { columns: prepared.columns(), ..Rows::default() };
        let mut bytes = 0_u64;
        prepared.run(|row| take(row, &mut rows, &mut bytes, &limits))?;
        Ok(rows)
    }

    /// Another connection, or the host, may have changed the schema since it was read.
    pub(super) fn follow_schema(&mut self) -> Result<(), GuardError> {
        let now = schema_versions(self.held.connection, &self.judging)?;
        if now != self.schema_versions {
            self.judging = judge_of(&self.held, &self.guard, &self.known)?;
            self.schema_versions = now;
            self.world.take();
        }
        Ok(())
    }

    pub(super) fn context<'a>(&'a self, source: &'a Source, statements: &'a [Statement<'a>]) -> Context<'a> {
        Context { door: &self.guard.name, source, statements, index: 0, ruleset: self.judging.ruleset() }
    }

    pub(super) fn failure_context<'a>(
        &'a self,
        source: &'a Source,
        statement: &'a Statement<'a>,
    ) -> FailureContext<'a> {
        FailureContext {
            door: &self.guard.name,
            source,
            statement,
            index: 0,
            statements: 1,
            ruleset: self.judging.ruleset(),
            near: None,
        }
    }

    pub(super) fn failed(&self, error: &Error, source: &Source, statement: &Statement<'_>) -> GuardError {
        let context = self.failure_context(source, statement);
        GuardError::Failed(Box::new(self.failure(error, context)))
    }

    pub(super) fn exceeded(
        &self,
        exceeded: Exceeded,
        source: &Source,
        statement: &Statement<'_>,
    ) -> GuardError {
        let context = self.failure_context(source, statement);
        GuardError::Failed(Box::new(Failure::of_exceeded(exceeded, &self.guard.policy().limits, &context)))
    }

    /// Words for the error of a statement; what is near it is found here.
    pub(super) fn failure(&self, error: &Error, context: FailureContext<'_>) -> Failure {
        let ruleset = self.judging.ruleset();
        let limits = &self.guard.policy().limits;
        if let Some(exceeded) = self.held.budget.exceeded() {
            return Failure::of_exceeded(exceeded, limits, &context);
        }
        let schema = self.world.get_or_init(|| world(self.held.connection, ruleset));
        let near = near(Arc::clone(schema), ruleset, context.statement);
        Failure::of_sqlite(&error.into(), limits, &FailureContext { near: Some(&near), ..context })
    }
}

fn judge_of<'c>(held: &Hardened<'c>, guard: &Guard, known: &Arc<Known>) -> rusqlite::Result<Judging<'c>> {
    let catalog = catalog::load(held.connection, guard.policy(), known)?;
    Judging::new(held.connection, held.recorder.clone(), guard.rules_for(catalog))
}

fn schema_versions(connection: &Connection, judging: &Judging<'_>) -> rusqlite::Result<Vec<i64>> {
    let catalog = judging.ruleset().catalog();
    let names = catalog.into_iter().flat_map(|catalog| catalog.schemas.iter().map(|schema| &schema.name));
    names
        .map(|name| {
            let sql = format!("PRAGMA {}.schema_version", catalog::quote(name.as_str()));
            connection.query_row(&sql, [], |row| row.get(0))
        })
        .collect()
}
