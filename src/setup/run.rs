//! The run.

use std::sync::Arc;
use std::time::Instant;

use rusqlite::{Connection, Error};

use super::commit::Pending;
use super::count::{About, Counting};
use super::outcome::{Outcome, Verdict};
use super::plan::{Draft, Plan};
use super::report::{Kind, Report};
use super::script;
use crate::diagnostic::Code;
use crate::engine::budget::Exceeded;
use crate::engine::open::Hardened;
use crate::engine::rows::RowWatch;
use crate::engine::{dry, selftest};
use crate::guard::{Guard, Judged, Judging, Piece, Ready, Script, StepError, near, world};
use crate::policy::{Advice, ForeignKeys, Level};
use crate::refusal::{AdviceNote, Context, Failure, FailureContext, Finding, Refusal, counted, named};
use crate::request::Resource;
use crate::ruleset::Ruleset;
use crate::source::Source;
use crate::statement::Conflict;

/// Why a run could not even begin, or could not be undone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The linked SQLite cannot be guarded.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The connection is in a transaction already.
    #[error("the connection is inside a transaction; setup SQL needs one of its own")]
    InTransaction,
    /// SQLite failed outside of the author's statements.
    #[error("SQLite: {0}")]
    Sqlite(#[from] Error),
}

/// Runs `source` on `connection` under the policy of `guard`.
///
/// Everything runs in one transaction. Unless the outcome is ok, every row of every attached
/// database is as before. The connection's settings are put back; an authorizer, progress handler or
/// pre-update hook that it had is gone.
///
/// # Errors
///
/// [`SetupError`], where the run could not begin or not be undone; what is wrong with the text is
/// an [`Outcome`].
pub fn run(connection: &mut Connection, guard: &Guard, source: &Source) -> Result<Outcome, SetupError> {
    execute(connection, guard, source, None)
}

/// The same run, to the end of its COMMIT, and then undone: what it would change, `rows` rows of a table
/// at most. There is a plan where the outcome is ok.
///
/// Nothing is kept. A commit hook that the connection had is gone.
///
/// # Errors
///
/// Those of [`run`]; [`SetupError::Unsupported`] where SQLite was built without the pre-update hook.
///
/// ```
/// use seawall::rusqlite::Connection;
/// use seawall::source::Source;
/// use seawall::{Guard, Policy, setup};
///
/// let mut connection = Connection::open_in_memory()?;
/// connection.execute_batch("CREATE TABLE issues(id INTEGER PRIMARY KEY, title TEXT)")?;
/// let guard = Guard::new(Policy::builtin("setup_sql")?, "setup_sql");
/// let text = Source::new("setup.sql", "INSERT INTO issues VALUES (1, 'Webhook retries')");
/// let (outcome, plan) = setup::plan(&mut connection, &guard, &text, setup::plan::ROWS)?;
/// assert!(outcome.is_ok());
/// assert_eq!(plan.unwrap().text(), "issues: 1 inserted\n  + id 1: title 'Webhook retries'");
/// assert_eq!(connection.query_row("SELECT count(*) FROM issues", [], |row| row.get::<_, i64>(0))?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(
    connection: &mut Connection,
    guard: &Guard,
    source: &Source,
    rows: usize,
) -> Result<(Outcome, Option<Plan>), SetupError> {
    if !PLANS {
        return Err(SetupError::Unsupported(NO_HOOK));
    }
    let mut draft = Draft::new(rows);
    let outcome = execute(connection, guard, source, Some(&mut draft))?;
    let plan = outcome.is_ok().then(|| draft.finish(connection));
    Ok((outcome, plan))
}

/// Whether the linked SQLite tells which rows change, so that there can be a plan and every count of
/// a report is known.
pub const PLANS: bool = RowWatch::AVAILABLE;

const NO_HOOK: &str = "SQLite was built without the pre-update hook, so no row can be followed: \
                       set LIBSQLITE3_FLAGS, see docs/building.md";

/// Runs the text; with a draft of a plan everything is undone in the end.
fn execute(
    connection: &mut Connection,
    guard: &Guard,
    source: &Source,
    draft: Option<&mut Draft>,
) -> Result<Outcome, SetupError> {
    let begin = Instant::now();
    let mut outcome = Outcome {
        verdict: Verdict::Ok,
        statements: 0,
        advice: Vec::new(),
        steps: 0,
        policy: guard.hash().to_owned(),
        report: Report::default(),
    };
    let script = match Script::cut(guard, source) {
        Ok(script) => script,
        Err(exceeded) => {
            outcome.statements = exceeded.statements;
            outcome.verdict = Verdict::Failed(exceeded);
            return Ok(outcome);
        }
    };
    outcome.statements = script.spans.len();
    if script.spans.is_empty() {
        return Ok(outcome);
    }
    if let Some(why) = selftest::failure() {
        return Err(SetupError::Unsupported(why));
    }
    if !connection.is_autocommit() {
        return Err(SetupError::InTransaction);
    }
    let held = Hardened::new(connection, &guard.policy().limits)?;
    let (judging, pieces) = script::read(&held, &script)?;
    let ruleset = Arc::clone(judging.ruleset());
    let counting = Counting::new(held.connection, ruleset.catalog().cloned().unwrap_or_default());
    let mut run =
        Run { held: &held, judging, ruleset: &ruleset, script: &script, counting, advice: Vec::new() };
    outcome.verdict = run.go(pieces, draft)?;
    outcome.steps = held.budget.spent();
    outcome.advice = run.advice;
    outcome.report = run.counting.report();
    outcome.report.time = begin.elapsed();
    Ok(outcome)
}

struct Run<'r> {
    held: &'r Hardened<'r>,
    judging: Judging<'r>,
    ruleset: &'r Ruleset,
    script: &'r Script<'r>,
    counting: Counting<'r>,
    advice: Vec<AdviceNote>,
}

impl Run<'_> {
    fn go(&mut self, pieces: Vec<Piece<'_>>, mut draft: Option<&mut Draft>) -> Result<Verdict, SetupError> {
        if pieces.iter().any(|piece| matches!(piece, Piece::Read { findings, .. } if !findings.is_empty())) {
            return Ok(self.refuse_all(None));
        }
        self.held.connection.execute_batch("BEGIN")?;
        if self.ruleset.policy().foreign_keys == ForeignKeys::Deferred {
            self.held.connection.execute_batch("PRAGMA defer_foreign_keys = ON")?;
        }
        if let Some(draft) = &mut draft {
            draft.begin(self.held.connection, self.ruleset, self.counting.watch());
        }
        for (index, piece) in pieces.into_iter().enumerate() {
            if let Some(stopped) = self.statement(index, piece) {
                self.roll_back()?;
                return Ok(match stopped {
                    Stopped::Refused(findings) => self.refuse_all(Some((index, findings))),
                    Stopped::Failed(failure) => Verdict::Failed(failure),
                });
            }
        }
        let ended = match draft {
            None => self.held.connection.execute_batch("COMMIT"),
            Some(draft) => {
                self.held.budget.lift();
                draft.read_after(self.held.connection, self.counting.watch());
                dry::commit(self.held.connection)
            }
        };
        match ended {
            Ok(()) => Ok(Verdict::Ok),
            Err(error) => {
                let connection = self.held.connection;
                let pending = Pending::new(
                    connection,
                    self.ruleset,
                    self.script.guard.name(),
                    self.script.spans.len(),
                    &error,
                );
                self.roll_back()?;
                Ok(Verdict::Failed(Box::new(pending.told(connection))))
            }
        }
    }

    /// Judges and runs one statement; answers why the run must stop.
    fn statement(&mut self, index: usize, piece: Piece<'_>) -> Option<Stopped> {
        let (before, spent_before) = (self.held.connection.total_changes(), self.held.budget.spent());
        let about = self.about(index, &piece);
        let judged = match piece {
            Piece::Known(id) => match self.judging.judge_known(id, self.script.sql(index)) {
                Some(ready) => Judged::Ready(ready),
                None => match self.script.statements().get(index) {
                    Some(statement) => self.judging.judge_by_engine(statement),
                    None => return Some(Stopped::Refused(Vec::new())),
                },
            },
            Piece::Read { statement, id, .. } => self.judging.judge_shaped(&statement, id),
        };
        let mut ready = match judged {
            Judged::Ready(ready) => ready,
            Judged::Refused(findings) => return Some(Stopped::Refused(findings)),
            Judged::Failed(error) => return Some(self.failed(index, &error)),
        };
        let stepped = ready.step(|_| Ok(true));
        let spent = self.held.budget.spend(ready.prepared());
        match stepped {
            Ok(()) => {}
            Err(StepError::Refused(findings)) => return Some(Stopped::Refused(findings)),
            Err(StepError::Sqlite(error)) => return Some(self.failed(index, &error)),
            Err(changed @ StepError::SchemaChanged) => return Some(self.broken(index, &changed.to_string())),
        }
        if let Err(exceeded) = spent {
            return Some(self.exceeded(index, exceeded));
        }
        if self.held.connection.is_autocommit() {
            // Nothing that passes the guard ends a transaction and succeeds; were it to, the rows
            // before it are kept or lost already, and the run must not go on as if they were not.
            return Some(self.broken(index, "the statement ended the transaction"));
        }
        let changed = self.held.connection.total_changes() != before;
        let steps = self.held.budget.spent() - spent_before;
        self.counting.statement(&about, ready.events(), steps, changed);
        self.look_at(index, &ready, changed, &about)
    }

    /// What a statement is; its text is read again only where its shape was not seen here before.
    fn about(&mut self, index: usize, piece: &Piece<'_>) -> Arc<About> {
        match piece {
            Piece::Read { statement, id, .. } => self.counting.about(statement, *id),
            Piece::Known(id) => match self.counting.known(*id) {
                Some(about) => about,
                None => match self.script.statements().get(index) {
                    Some(statement) => self.counting.about(statement, Some(*id)),
                    None => Arc::default(),
                },
            },
        }
    }

    /// Stops for something that SQLite has no error for.
    fn broken(&self, index: usize, reason: &str) -> Stopped {
        let Some(context) = self.failure_context(index) else { return Stopped::Refused(Vec::new()) };
        let failure =
            Failure::of_statement(Code::SqliteError, reason.to_owned(), String::new(), None, &context);
        Stopped::Failed(Box::new(failure))
    }

    /// Adds the advice on a statement that has run; some may be refused by the policy.
    fn look_at(&mut self, index: usize, ready: &Ready<'_>, changed: bool, about: &About) -> Option<Stopped> {
        let mut findings = ready.advice.clone();
        let mut seen = Vec::new();
        if !changed && ready.writes() {
            let statement = self.script.statements().get(index);
            let whole = self.script.spans.get(index).copied();
            let place = statement.and_then(crate::statement::Statement::condition).or(whole);
            seen.push((Advice::NoRowChanged, Finding::plain(Code::NoRowChanged, place, "")));
        }
        seen.extend(self.replaced(index, about).map(|found| (Advice::ReplaceDeletedRows, found)));
        for (advice, finding) in seen {
            match self.ruleset.policy().level(advice) {
                Level::Allow => {}
                Level::Warn => findings.push(finding),
                Level::Deny => return Some(Stopped::Refused(vec![finding])),
            }
        }
        if !findings.is_empty() {
            let context = self.context(index);
            let notes: Vec<AdviceNote> =
                findings.iter().map(|finding| AdviceNote::new(finding, &context)).collect();
            self.advice.extend(notes);
        }
        None
    }

    /// Rows that the statement's own REPLACE deleted. A clause of the schema is the world's.
    fn replaced(&self, index: usize, about: &About) -> Option<Finding> {
        if !matches!(about.kind, Kind::Insert | Kind::Update) {
            return None;
        }
        let (schema, table, rows) = self.counting.deleted_from_target(about)?;
        let target = self.script.statements().get(index)?.target.as_ref()?;
        let (_, span) = target.conflict.filter(|(conflict, _)| *conflict == Conflict::Replace)?;
        let mut finding = Finding::plain(Code::ReplaceDeletedRows, Some(span), counted(rows, "row"));
        finding.detail = named(&Resource::table(schema, table));
        Some(finding)
    }

    fn context(&self, index: usize) -> Context<'_> {
        self.script.context(index, self.ruleset)
    }

    fn failure_context(&self, index: usize) -> Option<FailureContext<'_>> {
        self.script.failure_context(index, self.ruleset)
    }

    fn failed(&self, index: usize, error: &Error) -> Stopped {
        if let Some(exceeded) = self.held.budget.exceeded() {
            return self.exceeded(index, exceeded);
        }
        let Some(context) = self.failure_context(index) else { return Stopped::Refused(Vec::new()) };
        let near = near(world(self.held.connection, self.ruleset), self.ruleset, context.statement);
        let context = FailureContext { near: Some(&near), ..context };
        let limits = &self.script.guard.policy().limits;
        Stopped::Failed(Box::new(Failure::of_sqlite(&error.into(), limits, &context)))
    }

    fn exceeded(&self, index: usize, exceeded: Exceeded) -> Stopped {
        let Some(context) = self.failure_context(index) else { return Stopped::Refused(Vec::new()) };
        Stopped::Failed(Box::new(Failure::of_exceeded(
            exceeded,
            &self.script.guard.policy().limits,
            &context,
        )))
    }

    /// The refusals of every statement. `known` are those of one that was judged already: what it
    /// asked for while it ran cannot be seen again.
    fn refuse_all(&mut self, known: Option<(usize, Vec<Finding>)>) -> Verdict {
        let mut refusals = Vec::new();
        for (index, statement) in self.script.statements().iter().enumerate() {
            let findings = match &known {
                Some((judged, findings)) if *judged == index => findings.clone(),
                _ => match self.judging.judge(statement) {
                    Judged::Refused(findings) => findings,
                    Judged::Ready(_) | Judged::Failed(_) => Vec::new(),
                },
            };
            let context = self.context(index);
            refusals.extend(findings.iter().map(|finding| Refusal::new(finding, &context)));
        }
        Verdict::Refused(refusals)
    }

    /// A limit, an interrupt or OR ROLLBACK may have ended the transaction already.
    fn roll_back(&self) -> rusqlite::Result<()> {
        if self.held.connection.is_autocommit() {
            return Ok(());
        }
        self.held.connection.execute_batch("ROLLBACK")
    }
}

/// Why a run stops.
enum Stopped {
    Refused(Vec<Finding>),
    Failed(Box<Failure>),
}
