//! Refusals and failures in words. This is the only place that turns a finding into a sentence;
//! the templates stand in [`crate::diagnostic::code`].

mod excerpt;
mod failure;
mod finding;
mod ways;
mod words;

pub use excerpt::excerpt;
pub use failure::{Failure, FailureContext, Near, counted, in_bytes};
pub use finding::Finding;
pub(crate) use finding::{one_name, settle};
pub(crate) use words::named;

use std::fmt;

use serde_json::{Value, json};

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::request::Origin;
use crate::ruleset::{Ground, Ruleset};
use crate::source::{Place, Source, Span};
use crate::statement::Statement;

/// Where a statement stands among others.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The door's name, the first word of every message.
    pub door: &'a str,
    /// The whole text, with its name.
    pub source: &'a Source,
    /// Every statement of the text.
    pub statements: &'a [Statement<'a>],
    /// The one that is spoken of, from 0.
    pub index: usize,
    /// What it was judged by.
    pub ruleset: &'a Ruleset,
}

/// A denied statement as its author sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The door it came through.
    pub door: String,
    /// Which statement, from 1.
    pub statement: usize,
    /// Of how many.
    pub statements: usize,
    /// Which kind.
    pub code: Code,
    /// Why, as a clause without a period.
    pub reason: String,
    /// What to do, as sentences.
    pub fix: String,
    /// The offending words, as bytes of the SQL text.
    pub span: Span,
    /// Where they stand: in the SQL text, or in the file that holds it.
    pub place: Place,
    /// Whose text asked.
    pub origin: Origin,
    /// Why it was decided so.
    pub ground: Ground,
    /// The rule that decided, where it is written.
    pub rule: Option<Place>,
    /// The statement, shortened.
    pub excerpt: String,
}

impl Refusal {
    /// Words for `finding`.
    pub fn new(finding: &Finding, context: &Context<'_>) -> Self {
        let (reason, fix) = words::of(finding, context);
        let statement = context.statements.get(context.index);
        let span = finding.span.or_else(|| statement.map(|s| s.span)).unwrap_or(Span::new(0, 0));
        let rule = match finding.ground {
            Ground::Rule(id) => context.ruleset.rule(id).and_then(|rule| rule.place.cloned()),
            Ground::Default | Ground::Never | Ground::World => None,
        };
        Self {
            door: context.door.to_owned(),
            statement: context.index + 1,
            statements: context.statements.len(),
            code: finding.code,
            reason,
            fix,
            span,
            place: Place { source: context.source.clone(), span },
            origin: finding.request.as_ref().map_or(Origin::Caller, |request| request.origin.clone()),
            ground: finding.ground,
            rule,
            excerpt: statement.map(|s| excerpt(s.sql())).unwrap_or_default(),
        }
    }

    /// The same refusal of a text that stands in a file; `place` says where its bytes are there.
    #[must_use]
    pub fn placed(mut self, place: impl Fn(Span) -> Place) -> Self {
        self.place = place(self.span);
        self
    }

    /// The first line of the message.
    pub fn headline(&self) -> String {
        let (door, reason) = (&self.door, &self.reason);
        let head =
            format!("{door} statement {} of {} was refused: {reason}.", self.statement, self.statements);
        if self.fix.is_empty() { head } else { format!("{head} {}", self.fix) }
    }

    /// For the terminal and the annotations of a review.
    pub fn diagnostic(&self) -> Diagnostic {
        let message = format!(
            "{} statement {} of {} was refused: {}",
            self.door, self.statement, self.statements, self.reason
        );
        let mut diagnostic =
            Diagnostic::error(self.code, message, Some(self.place.clone())).severity(Severity::Error);
        if !self.fix.is_empty() {
            diagnostic = diagnostic.help(self.fix.clone());
        }
        match &self.rule {
            Some(rule) => diagnostic.related(rule.clone(), "this rule decided"),
            None => diagnostic,
        }
    }

    /// As JSON, with every key.
    pub fn json(&self) -> Value {
        let position = self.place.position();
        let rule = self.rule.as_ref().map(
            |rule| json!({ "file": rule.source.name(), "line": rule.position().line, "text": rule.text() }),
        );
        json!({
            "statement": self.statement,
            "code": self.code.word(),
            "message": self.to_string(),
            "reason": self.reason,
            "fix": self.fix,
            "span": [self.span.start, self.span.end],
            "line": position.line,
            "column": position.column,
            "origin": self.origin.to_string(),
            "ground": self.ground.word(),
            "rule": rule,
        })
    }
}

/// The message: the headline, and the statement under it.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}", self.headline(), self.excerpt)
    }
}

impl std::error::Error for Refusal {}

/// A piece of advice on a statement that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdviceNote {
    /// The same fields and words as a refusal of the same code.
    told: Refusal,
}

impl AdviceNote {
    /// Words for `finding`, as advice.
    pub fn new(finding: &Finding, context: &Context<'_>) -> Self {
        Self { told: Refusal::new(finding, context) }
    }

    /// The same advice on a text that stands in a file.
    #[must_use]
    pub fn placed(self, place: impl Fn(Span) -> Place) -> Self {
        Self { told: self.told.placed(place) }
    }

    /// Which kind.
    pub fn code(&self) -> Code {
        self.told.code
    }

    /// Which statement, from 1.
    pub fn statement(&self) -> usize {
        self.told.statement
    }

    /// For the terminal and the annotations of a review.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic = self.told.diagnostic().severity(Severity::Warning);
        diagnostic.message = format!(
            "{} statement {} of {}: {}",
            self.told.door, self.told.statement, self.told.statements, self.told.reason
        );
        diagnostic
    }

    /// As JSON, with every key.
    pub fn json(&self) -> Value {
        let position = self.told.place.position();
        json!({
            "statement": self.told.statement,
            "code": self.told.code.word(),
            "message": self.to_string(),
            "span": [self.told.span.start, self.told.span.end],
            "line": position.line,
            "column": position.column,
        })
    }
}

/// The message: one line, and the statement under it.
impl fmt::Display for AdviceNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = &self.told;
        write!(f, "{} statement {} of {}: {}.", told.door, told.statement, told.statements, told.reason)?;
        if !told.fix.is_empty() {
            write!(f, " {}", told.fix)?;
        }
        write!(f, "\n  {}", told.excerpt)
    }
}
