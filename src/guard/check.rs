//! Judging every statement of a text and running none.

use std::collections::HashSet;
use std::sync::Arc;

use rusqlite::Error;

use super::advice;
use super::door::{Door, Guard, GuardError};
use super::judging::{Judged, Piece};
use super::script::Script;
use super::text;
use crate::catalog::{Known, is_internal};
use crate::engine::catalog;
use crate::policy::{Level, Policy};
use crate::refusal::{AdviceNote, Failure, Finding, Refusal};
use crate::ruleset::Ruleset;
use crate::source::{Name, Place, Source, Span};
use crate::statement::{self, Statement};
use crate::text_witness;

/// Everything that there is to say about a text, of all of its statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Statements in the text; pieces without a token do not count.
    pub statements: usize,
    /// What the policy denies.
    pub refusals: Vec<Refusal>,
    /// What SQLite does not prepare, or a bound that the text exceeds.
    pub failures: Vec<Failure>,
    /// What the author should look at.
    pub advice: Vec<AdviceNote>,
}

impl Checked {
    /// Nothing but the bound that the text exceeds.
    fn exceeding(bound: Failure) -> Self {
        Self { statements: bound.statements, failures: vec![bound], ..Self::default() }
    }

    /// Whether nothing would be refused and nothing has failed.
    pub fn is_ok(&self) -> bool {
        self.refusals.is_empty() && self.failures.is_empty()
    }

    /// The same of a text that stands in a file; `place` says where its bytes are there.
    #[must_use]
    pub fn placed(self, place: impl Fn(Span) -> Place) -> Self {
        Self {
            statements: self.statements,
            refusals: self.refusals.into_iter().map(|refusal| refusal.placed(&place)).collect(),
            failures: self.failures.into_iter().map(|failure| failure.placed(&place)).collect(),
            advice: self.advice.into_iter().map(|note| note.placed(&place)).collect(),
        }
    }
}

impl Guard {
    /// Judges every statement of `source` by its text alone, without a database.
    ///
    /// What only a schema shows, such as a function that a trigger calls, is not seen; [`Door::check`] sees it.
    ///
    /// ```
    /// use seawall::source::Source;
    /// use seawall::{Guard, Policy};
    ///
    /// let guard = Guard::new(Policy::builtin("setup_sql")?, "setup_sql");
    /// let checked = guard.check(&Source::new("setup.sql", "INSERT INTO t VALUES (1); DROP TABLE t"))?;
    /// assert_eq!((checked.statements, checked.refusals.len()), (2, 1));
    /// assert_eq!(checked.refusals[0].place.text(), "DROP TABLE");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GuardError::Sqlite`] where the linked SQLite cannot be asked for its functions.
    pub fn check(&self, source: &Source) -> Result<Checked, GuardError> {
        Ok(self.checker()?.check(source))
    }

    /// A checker for many texts; statements of one shape are judged once.
    ///
    /// # Errors
    ///
    /// As for [`Guard::check`].
    pub fn checker(&self) -> Result<Checker, GuardError> {
        let known = catalog::built_in()?;
        let ruleset = self.rules_for_text(Arc::clone(&known));
        Ok(Checker {
            names: Names::of(self.policy(), &known),
            guard: self.clone(),
            known,
            ruleset,
            clean: HashSet::new(),
            shape: Vec::new(),
        })
    }
}

/// Judges texts alone, without a database.
#[derive(Debug)]
pub struct Checker {
    guard: Guard,
    known: Arc<Known>,
    ruleset: Arc<Ruleset>,
    names: Names,
    /// The shapes of statements that there was nothing to say about.
    clean: HashSet<Vec<u8>>,
    /// The shape that is being read; kept for its room.
    shape: Vec<u8>,
}

/// Shapes kept at most; beyond that nothing more is remembered, and everything still judged.
const MOST_SHAPES: usize = 4_096;
/// Longer shapes are not kept, so that what is remembered has a bound; few statements are as long and alike.
const LONGEST_SHAPE: usize = 4_096;

impl Checker {
    /// Everything that the text of `source` shows.
    pub fn check(&mut self, source: &Source) -> Checked {
        let script = match Script::cut(&self.guard, source) {
            Ok(script) => script,
            Err(exceeded) => return Checked::exceeding(*exceeded),
        };
        let whole = script.is_whole();
        let mut told = Told::new(&script);
        for (index, span) in script.spans.iter().enumerate() {
            self.shape.clear();
            let is_name = |name: &str| self.names.holds(name);
            let shaped = whole && statement::shape(source.text(), *span, is_name, &mut self.shape);
            if shaped && self.clean.contains(&self.shape) {
                continue;
            }
            let statement = Statement::read(source.text(), *span);
            let asked = text_witness::read(&statement, &self.known, None).requests;
            let denied = text::findings(&self.ruleset, None, &statement, asked);
            let advised = advice::from_text(self.ruleset.policy(), None, &statement, Level::Warn);
            if denied.is_empty() && advised.is_empty() {
                let plain = statement.head.is_row() && statement.explain.is_none();
                let kept = self.clean.len() < MOST_SHAPES && self.shape.len() <= LONGEST_SHAPE;
                if shaped && plain && kept {
                    self.clean.insert(self.shape.clone());
                }
                continue;
            }
            told.refuse(index, &denied, &self.ruleset);
            told.advise(index, &advised, &self.ruleset);
        }
        told.checked
    }
}

/// The names that may be decided otherwise than any other name, so that a string which stands for one is
/// no mere value.
#[derive(Debug)]
struct Names {
    patterns: Vec<crate::policy::Pattern>,
    modules: Arc<Known>,
}

impl Names {
    fn of(policy: &Policy, known: &Arc<Known>) -> Self {
        let rules = policy.rows.allow.iter().chain(&policy.rows.deny);
        let mut patterns: Vec<_> = rules
            .flat_map(|rule| &rule.what.targets)
            .flat_map(|target| {
                let columns = target.columns.iter().flatten();
                [&target.schema, &target.table].into_iter().chain(columns).cloned()
            })
            .filter(|pattern| !pattern.is_any())
            .collect();
        patterns.sort();
        patterns.dedup();
        Self { patterns, modules: Arc::clone(known) }
    }

    fn holds(&self, text: &str) -> bool {
        let name = Name::from(text);
        is_internal(&name)
            || self.modules.modules.contains(&name)
            || self.patterns.iter().any(|pattern| pattern.matches(&name))
    }
}

impl Door<'_> {
    /// Judges every statement of `source` on the door's connection and runs none: what is refused, what SQLite
    /// does not prepare, and the advice that needs no run.
    ///
    /// # Errors
    ///
    /// [`GuardError::Sqlite`] where the schema cannot be read.
    pub fn check(&mut self, source: &Source) -> Result<Checked, GuardError> {
        self.follow_schema()?;
        let guard = self.guard.clone();
        let script = match Script::cut(&guard, source) {
            Ok(script) => script,
            Err(exceeded) => return Ok(Checked::exceeding(*exceeded)),
        };
        self.held.budget.restart();
        let ruleset = Arc::clone(self.judging.ruleset());
        let whole = script.is_whole();
        let mut told = Told::new(&script);
        for (index, span) in script.spans.iter().enumerate() {
            let piece = self.judging.read(source.text(), *span, whole);
            let judged = match &piece {
                Piece::Known(id) => match self.judging.judge_known(*id, source.slice(*span)) {
                    Some(_) => continue,
                    None => self.judging.judge(&Statement::read(source.text(), *span)),
                },
                Piece::Read { statement, id, findings } if findings.is_empty() => {
                    self.judging.judge_shaped(statement, *id)
                }
                Piece::Read { statement, .. } => self.judging.judge(statement),
            };
            match judged {
                Judged::Ready(ready) => told.advise(index, &ready.advice, &ruleset),
                Judged::Refused(findings) => {
                    told.refuse(index, &findings, &ruleset);
                    if let Piece::Read { statement, .. } = &piece {
                        told.advise(index, &self.judging.told_by_text(statement), &ruleset);
                    }
                }
                Judged::Failed(error) => self.fail(&mut told, index, &error),
            }
        }
        Ok(told.checked)
    }

    fn fail(&self, told: &mut Told<'_>, index: usize, error: &Error) {
        if let Some(context) = told.script.failure_context(index, self.judging.ruleset()) {
            told.checked.failures.push(self.failure(error, context));
        }
    }
}

/// What was found so far, in words.
struct Told<'s> {
    script: &'s Script<'s>,
    checked: Checked,
}

impl<'s> Told<'s> {
    fn new(script: &'s Script<'s>) -> Self {
        Self { script, checked: Checked { statements: script.spans.len(), ..Checked::default() } }
    }

    fn refuse(&mut self, index: usize, findings: &[Finding], ruleset: &Ruleset) {
        for finding in findings {
            let refusal = Refusal::new(finding, &self.script.context(index, ruleset));
            self.checked.refusals.push(refusal);
        }
    }

    fn advise(&mut self, index: usize, findings: &[Finding], ruleset: &Ruleset) {
        for finding in findings {
            let note = AdviceNote::new(finding, &self.script.context(index, ruleset));
            self.checked.advice.push(note);
        }
    }
}
