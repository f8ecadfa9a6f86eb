//! The run.

use std::sync::Arc;

use rusqlite::{Connection, Error};

use super::commit::Pending;
use super::outcome::{Outcome, Verdict};
use crate::catalog::Catalog;
use crate::diagnostic::Code;
use crate::engine::budget::Exceeded;
use crate::engine::open::Hardened;
use crate::engine::{catalog, selftest};
use crate::guard::{Finding, Guard, Judged, Judging, Ready, StepError};
use crate::policy::{Advice, ForeignKeys, Level, Limits};
use crate::refusal::{AdviceNote, Context, Failure, FailureContext, Near, Refusal, counted, in_bytes};
use crate::request::{Action, Resource};
use crate::ruleset::Ruleset;
use crate::source::{Name, Source};
use crate::statement::{self, Statement};

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
/// database is as before. The connection's settings are put back; an authorizer or progress
/// handler that it had is gone.
///
/// # Errors
///
/// [`SetupError`], where the run could not begin or not be undone; what is wrong with the text is
/// an [`Outcome`].
pub fn run(connection: &mut Connection, guard: &Guard, source: &Source) -> Result<Outcome, SetupError> {
    let (policy, door) = (guard.policy(), guard.name());
    let mut outcome =
        Outcome { verdict: Verdict::Ok, statements: 0, advice: Vec::new(), steps: 0, policy: policy.hash() };
    let limits = &policy.limits;
    let over =
        |code, bound: &str, count| Verdict::Failed(Box::new(Failure::of_text(door, code, bound, count)));
    let text = source.text();
    if let Some(bound) = limits.text.filter(|bound| text.len() as u64 > *bound) {
        outcome.verdict = over(Code::LimitText, &in_bytes(bound), outcome.statements);
        return Ok(outcome);
    }
    let spans = statement::split(text);
    outcome.statements = spans.len();
    if let Some(bound) = limits.statements.filter(|bound| spans.len() as u64 > *bound) {
        outcome.verdict = over(Code::LimitStatements, &counted(bound, "statement"), outcome.statements);
        return Ok(outcome);
    }
    if spans.is_empty() {
        return Ok(outcome);
    }
    if let Some(why) = selftest::failure() {
        return Err(SetupError::Unsupported(why));
    }
    if !connection.is_autocommit() {
        return Err(SetupError::InTransaction);
    }
    let statements: Vec<Statement<'_>> = spans.into_iter().map(|span| Statement::read(text, span)).collect();
    let held = Hardened::new(connection, limits)?;
    let mut catalog = catalog::load(held.connection, policy, &catalog::built_in()?)?;
    if statements.iter().any(|statement| names_unknown(statement, &catalog)) {
        catalog.known = catalog::known_to(held.connection)?;
    }
    let ruleset = guard.rules_for(catalog);
    let judging = Judging::new(held.connection, held.recorder.clone(), Arc::clone(&ruleset))?;
    let run = Run { held: &held, judging, ruleset: &ruleset, limits, door, source, statements: &statements };
    let verdict = run.go(&mut outcome.advice)?;
    outcome.verdict = verdict;
    outcome.steps = held.budget.spent();
    Ok(outcome)
}

/// Whether the text uses a name that neither the schema nor SQLite itself has. Only then can what
/// the host registered on the connection matter, and reading it takes longer than a short run.
fn names_unknown(statement: &Statement<'_>, catalog: &Catalog) -> bool {
    let known = &catalog.known;
    let is_cte = |name: &Name| statement.ctes.iter().any(|cte| cte.name == *name);
    let targets = statement.target.iter().map(|target| &target.table);
    let mut tables = targets.chain(&statement.sources).map(|mention| &mention.table);
    statement.calls.iter().any(|call| !known.functions.contains(&call.name))
        || tables.any(|name| {
            !is_cte(name) && !known.modules.contains(name) && catalog.resolve(None, name).is_none()
        })
}

struct Run<'r> {
    held: &'r Hardened<'r>,
    judging: Judging<'r>,
    ruleset: &'r Ruleset,
    limits: &'r Limits,
    door: &'r str,
    source: &'r Source,
    statements: &'r [Statement<'r>],
}

impl Run<'_> {
    fn go(mut self, advice: &mut Vec<AdviceNote>) -> Result<Verdict, SetupError> {
        if self.statements.iter().any(|statement| !self.judging.text_findings(statement).is_empty()) {
            return Ok(self.refuse_all(None));
        }
        self.held.connection.execute_batch("BEGIN")?;
        if self.ruleset.policy().foreign_keys == ForeignKeys::Deferred {
            self.held.connection.execute_batch("PRAGMA defer_foreign_keys = ON")?;
        }
        for index in 0..self.statements.len() {
            if let Some(stopped) = self.statement(index, advice) {
                self.roll_back()?;
                return Ok(match stopped {
                    Stopped::Refused(findings) => self.refuse_all(Some((index, findings))),
                    Stopped::Failed(failure) => Verdict::Failed(failure),
                });
            }
        }
        match self.held.connection.execute_batch("COMMIT") {
            Ok(()) => Ok(Verdict::Ok),
            Err(error) => {
                let connection = self.held.connection;
                let pending =
                    Pending::new(connection, self.ruleset, self.door, self.statements.len(), &error);
                self.roll_back()?;
                Ok(Verdict::Failed(Box::new(pending.told(connection))))
            }
        }
    }

    /// Judges and runs one statement; answers why the run must stop.
    fn statement(&mut self, index: usize, advice: &mut Vec<AdviceNote>) -> Option<Stopped> {
        let statement = self.statements.get(index)?;
        let before = self.held.connection.total_changes();
        let mut ready = match self.judging.judge_by_engine(statement) {
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
            Err(changed @ StepError::SchemaChanged) => {
                let context = self.failure_context(index, Near::NONE)?;
                let failure = Failure::of_statement(
                    Code::SqliteError,
                    changed.to_string(),
                    String::new(),
                    None,
                    &context,
                );
                return Some(Stopped::Failed(Box::new(failure)));
            }
        }
        if let Err(exceeded) = spent {
            return Some(self.exceeded(index, exceeded));
        }
        if self.held.connection.is_autocommit() {
            // Nothing that passes the guard ends a transaction and succeeds; were it to, the rows
            // before it are kept or lost already, and the run must not go on as if they were not.
            let context = self.failure_context(index, Near::NONE)?;
            let reason = "the statement ended the transaction".to_owned();
            let failure = Failure::of_statement(Code::SqliteError, reason, String::new(), None, &context);
            return Some(Stopped::Failed(Box::new(failure)));
        }
        self.look_at(index, &ready, self.held.connection.total_changes() == before, advice)
    }

    /// Adds the advice on a statement that has run; some may be refused by the policy.
    fn look_at(
        &self,
        index: usize,
        ready: &Ready<'_>,
        unchanged: bool,
        advice: &mut Vec<AdviceNote>,
    ) -> Option<Stopped> {
        let statement = self.statements.get(index)?;
        let mut findings = ready.advice.clone();
        if unchanged && statement.target.is_some() && statement.explain.is_none() {
            let level =
                self.ruleset.policy().advice.get(&Advice::NoRowChanged).copied().unwrap_or(Level::Warn);
            let finding = Finding::plain(Code::NoRowChanged, Some(statement.span), "");
            match level {
                Level::Allow => {}
                Level::Warn => findings.push(finding),
                Level::Deny => return Some(Stopped::Refused(vec![finding])),
            }
        }
        let context = self.context(index);
        advice.extend(findings.iter().map(|finding| AdviceNote::new(finding, &context)));
        None
    }

    fn context(&self, index: usize) -> Context<'_> {
        Context {
            door: self.door,
            source: self.source,
            statements: self.statements,
            index,
            ruleset: self.ruleset,
        }
    }

    fn failure_context<'a>(&'a self, index: usize, near: &'a Near) -> Option<FailureContext<'a>> {
        Some(FailureContext {
            door: self.door,
            source: self.source,
            statement: self.statements.get(index)?,
            index,
            statements: self.statements.len(),
            ruleset: self.ruleset,
            near,
        })
    }

    fn failed(&self, index: usize, error: &Error) -> Stopped {
        if let Some(exceeded) = self.held.budget.exceeded() {
            return self.exceeded(index, exceeded);
        }
        let near = self.near(index);
        let Some(context) = self.failure_context(index, &near) else {
            return Stopped::Refused(Vec::new());
        };
        Stopped::Failed(Box::new(Failure::of_sqlite(error, self.limits, &context)))
    }

    fn exceeded(&self, index: usize, exceeded: Exceeded) -> Stopped {
        let Some(context) = self.failure_context(index, Near::NONE) else {
            return Stopped::Refused(Vec::new());
        };
        Stopped::Failed(Box::new(Failure::of_exceeded(exceeded, self.limits, &context)))
    }

    /// What is known about the tables that a statement names, for the fix of what is wrong with it.
    fn near(&self, index: usize) -> Near {
        let mut near = Near::default();
        let (Some(statement), Some(catalog)) = (self.statements.get(index), self.ruleset.catalog()) else {
            return near;
        };
        let target = statement.target.as_ref().map(|target| &target.table);
        for mention in target.into_iter().chain(&statement.sources) {
            let found = catalog.resolve(mention.schema.as_ref(), &mention.table);
            let Some((schema, table)) = found else { continue };
            let Ok(details) =
                catalog::details(self.held.connection, &schema.name, &mention.table, &table.sql)
            else {
                continue;
            };
            let open = |column: &Name| {
                let resource = Resource::column(schema.name.clone(), mention.table.clone(), column.clone());
                [Action::Read, Action::Update]
                    .into_iter()
                    .any(|action| self.ruleset.allows(action, resource.clone()))
            };
            let columns = details.columns.into_iter().filter(|column| !column.hidden);
            near.columns.extend(columns.map(|column| column.name).filter(open));
            if target == Some(mention) {
                let keys = details.foreign_keys.into_iter();
                near.references.extend(
                    keys.map(|key| (key.columns.into_iter().map(|(from, _)| from).collect(), key.parent)),
                );
            }
        }
        near
    }

    /// The refusals of every statement. `known` are those of one that was judged already: what it
    /// asked for while it ran cannot be seen again.
    fn refuse_all(&mut self, known: Option<(usize, Vec<Finding>)>) -> Verdict {
        let mut refusals = Vec::new();
        for (index, statement) in self.statements.iter().enumerate() {
            let findings = match &known {
                Some((judged, findings)) if *judged == index => findings.clone(),
                _ => match self.judging.judge(statement) {
                    Judged::Refused(findings) => findings,
                    Judged::Ready(_) | Judged::Failed(_) => Vec::new(),
                },
            };
            let context = Context {
                door: self.door,
                source: self.source,
                statements: self.statements,
                index,
                ruleset: self.ruleset,
            };
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
