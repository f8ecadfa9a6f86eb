//! Everything that the statements of a text ask, who saw it, and on what ground it was decided.

mod report;
mod tree;

use std::sync::Arc;

use super::door::{Door, Guard, GuardError};
use super::examine::{Examined, Seen, Way};
use super::judging::Judged;
use super::script::Script;
use super::text;
use crate::diagnostic::Diagnostic;
use crate::engine::catalog;
use crate::refusal::{Failure, Finding, Refusal};
use crate::request::Witness;
use crate::ruleset::{Ground, Ruleset};
use crate::source::{Name, Place, Source};
use crate::statement::{Head, Statement};
use crate::text_witness::{self, Reading};

/// What the statements of a text ask, with the ground of every decision. Nothing was run.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The statements, in order.
    pub statements: Vec<Explanation>,
    /// A bound that the text as a whole exceeds; then no statement was looked at.
    pub exceeded: Option<Failure>,
    /// Whether there was no database, so that the text was the only witness.
    pub by_text_alone: bool,
}

/// What one statement asks.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The statement.
    pub place: Place,
    /// What kind of statement it is, in a word.
    pub kind: &'static str,
    /// What would become of it.
    pub outcome: Judgement,
    /// How it was judged.
    pub way: Way,
    /// Why the text may ask more than it was seen to, and where.
    pub not_understood: Option<(&'static str, Option<Place>)>,
    /// The caller's requests by their place in the text, then the world's.
    pub requests: Vec<Decided>,
    /// The virtual tables that it uses. They ask for things while it runs, which is judged then.
    pub modules: Vec<Name>,
    /// Its refusals, as a run tells them.
    pub refusals: Vec<Refusal>,
    /// Why SQLite does not prepare it.
    pub error: Option<Failure>,
}

/// What would become of a statement, as far as it can be told without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It may run.
    Allowed,
    /// The policy denies it.
    Refused,
    /// SQLite does not prepare it.
    Failed,
}

impl Judgement {
    /// The word for it in reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// One request, with the rule that decided.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The request, who saw it, and what was decided.
    pub seen: Seen,
    /// The rule, where it is written.
    pub rule: Option<Place>,
}

impl Explained {
    /// Whether every statement may run.
    pub fn is_ok(&self) -> bool {
        self.exceeded.is_none() && self.statements.iter().all(|one| one.outcome == Judgement::Allowed)
    }

    /// Refusals and failures, as a run tells them.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let of_one = |one: &Explanation| -> Vec<Diagnostic> {
            // A run that is refused never comes to what SQLite says.
            match &one.error {
                Some(failure) if one.refusals.is_empty() => vec![failure.diagnostic()],
                _ => one.refusals.iter().map(Refusal::diagnostic).collect(),
            }
        };
        let exceeded = self.exceeded.iter().map(Failure::diagnostic);
        exceeded.chain(self.statements.iter().flat_map(of_one)).collect()
    }
}

impl Guard {
    /// Explains every statement of `source` by its text alone, without a database.
    ///
    /// Of the world it knows what SQLite itself has; [`Door::explain`] asks every witness.
    ///
    /// ```
    /// use seawall::source::Source;
    /// use seawall::{Guard, Policy};
    ///
    /// let guard = Guard::new(Policy::builtin("setup_sql")?, "setup_sql");
    /// let explained = guard.explain(&Source::new("setup.sql", "SELECT upper('a'), changes()"))?;
    /// assert!(explained.text().contains("[function-not-allowed] default"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GuardError::Sqlite`] where the linked SQLite cannot be asked for its functions.
    pub fn explain(&self, source: &Source) -> Result<Explained, GuardError> {
        let known = catalog::built_in()?;
        let ruleset = self.rules_for_text(Arc::clone(&known));
        let script = match Script::cut(self, source) {
            Ok(script) => script,
            Err(exceeded) => return Ok(Explained::new(Some(*exceeded), true)),
        };
        let mut explained = Explained::new(None, true);
        let teller = Teller { script: &script, ruleset: &ruleset };
        for (index, statement) in script.statements().iter().enumerate() {
            let text = text_witness::read(statement, &known, None);
            let decide = |request: &crate::request::Request| Seen {
                request: request.clone(),
                witnesses: vec![Witness::Text],
                decision: ruleset.decide(request),
            };
            let seen = text.requests.iter().map(decide).collect();
            let findings = text::findings(&ruleset, None, statement, text.requests.clone());
            let examined = Examined { seen, text, way: Way::TextAlone, error: None };
            explained.statements.push(teller.explanation(index, statement, examined, &findings));
        }
        Ok(explained)
    }
}

impl Door<'_> {
    /// Explains every statement of `source`: what each witness sees on the door's connection, what is decided,
    /// and why. Nothing is run.
    ///
    /// # Errors
    ///
    /// [`GuardError::Sqlite`] where the schema cannot be read.
    pub fn explain(&mut self, source: &Source) -> Result<Explained, GuardError> {
        self.follow_schema()?;
        self.held.budget.restart();
        let guard = self.guard.clone();
        let ruleset = Arc::clone(self.judging.ruleset());
        let script = match Script::cut(&guard, source) {
            Ok(script) => script,
            Err(exceeded) => return Ok(Explained::new(Some(*exceeded), false)),
        };
        let mut explained = Explained::new(None, false);
        let teller = Teller { script: &script, ruleset: &ruleset };
        for (index, statement) in script.statements().iter().enumerate() {
            let mut examined = self.judging.examine(statement);
            let (findings, modules, outcome) = match self.judging.judge(statement) {
                Judged::Ready(ready) => {
                    let mut modules: Vec<Name> =
                        ready.modules.iter().map(|module| module.table().clone()).collect();
                    modules.sort();
                    modules.dedup();
                    (Vec::new(), modules, Judgement::Allowed)
                }
                Judged::Refused(findings) => (findings, Vec::new(), Judgement::Refused),
                Judged::Failed(error) => {
                    examined.error = Some(error);
                    (Vec::new(), Vec::new(), Judgement::Failed)
                }
            };
            let context = script.failure_context(index, &ruleset);
            let error = examined.error.take().zip(context);
            let error = error.map(|(error, context)| self.failure(&error, context));
            let explanation = teller.explanation(index, statement, examined, &findings);
            explained.statements.push(Explanation { modules, outcome, error, ..explanation });
        }
        Ok(explained)
    }
}

impl Explained {
    const fn new(exceeded: Option<Failure>, by_text_alone: bool) -> Self {
        Self { statements: Vec::new(), exceeded, by_text_alone }
    }
}

/// What puts the statements of a text into words.
struct Teller<'a> {
    script: &'a Script<'a>,
    ruleset: &'a Ruleset,
}

impl Teller<'_> {
    fn explanation(
        &self,
        index: usize,
        statement: &Statement<'_>,
        examined: Examined,
        findings: &[Finding],
    ) -> Explanation {
        let context = self.script.context(index, self.ruleset);
        let place = |span| Place { source: self.script.source.clone(), span };
        let Examined { seen, text: Reading { not_understood, .. }, way, .. } = examined;
        Explanation {
            place: place(statement.span),
            kind: kind(statement),
            outcome: if findings.is_empty() { Judgement::Allowed } else { Judgement::Refused },
            way,
            not_understood: not_understood.map(|why| (why.reason, why.span.map(place))),
            requests: seen.into_iter().map(|seen| self.decided(seen)).collect(),
            modules: Vec::new(),
            refusals: findings.iter().map(|finding| Refusal::new(finding, &context)).collect(),
            error: None,
        }
    }

    fn decided(&self, seen: Seen) -> Decided {
        let rule = match seen.decision.ground {
            Ground::Rule(id) => self.ruleset.rule(id).and_then(|rule| rule.place.cloned()),
            Ground::Default | Ground::Never | Ground::World => None,
        };
        Decided { seen, rule }
    }
}

/// What kind of statement it is, in a word; EXPLAIN stands before it.
fn kind(statement: &Statement<'_>) -> &'static str {
    let explained = statement.explain.is_some();
    match &statement.head {
        Head::Select if explained => "explain select",
        Head::Insert if explained => "explain insert",
        Head::Update if explained => "explain update",
        Head::Delete if explained => "explain delete",
        Head::Select => "select",
        Head::Insert => "insert",
        Head::Update => "update",
        Head::Delete => "delete",
        Head::Pragma(_) => "pragma",
        Head::Schema => "schema",
        Head::Transaction => "transaction",
        Head::Attach => "attach",
        Head::Maintenance => "maintenance",
        Head::Unknown => "unknown",
    }
}
