//! SQLite's own errors and limits, in words.

mod ways;
mod world_code;

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::excerpt;
use crate::catalog::{Catalog, ForeignKey};
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::budget::Exceeded;
use crate::engine::fault::Fault;
use crate::policy::Limits;
use crate::ruleset::Ruleset;
use crate::source::{Name, Place, Source, Span};
use crate::statement::{Statement, TokenKind};

/// A statement or a commit that SQLite or a limit stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The door it came through.
    pub door: String,
    /// Which statement, from 1; `None` for the commit.
    pub statement: Option<usize>,
    /// Of how many.
    pub statements: usize,
    /// Which kind.
    pub code: Code,
    /// What SQLite said, or which limit was reached.
    pub reason: String,
    /// What to do, as sentences; may be empty.
    pub fix: String,
    /// The words it is about, as bytes of the SQL text.
    pub span: Option<Span>,
    /// Where they stand: in the SQL text, or in the file that holds it.
    pub place: Option<Place>,
    /// The statement, shortened; empty for the commit.
    pub excerpt: String,
}

/// What is known about the statement that failed.
#[derive(Debug)]
pub struct FailureContext<'a> {
    /// The door's name.
    pub door: &'a str,
    /// The whole text, with its name.
    pub source: &'a Source,
    /// The statement that failed.
    pub statement: &'a Statement<'a>,
    /// Its place, from 0.
    pub index: usize,
    /// Of how many.
    pub statements: usize,
    /// What it was judged by.
    pub ruleset: &'a Ruleset,
    /// What is known about the tables that it names.
    pub near: Option<&'a Near>,
}

/// What is known about the tables that a statement names.
#[derive(Clone, Debug, Default)]
pub struct Near {
    /// Their columns, as far as the caller may do anything with them.
    pub columns: Vec<Name>,
    /// The foreign keys of the table that is written.
    pub references: Vec<ForeignKey>,
    /// The schema with the texts of its triggers and views.
    pub world: Arc<Catalog>,
}

impl Failure {
    /// Words for SQLite's error.
    pub fn of_sqlite(fault: &Fault, limits: &Limits, context: &FailureContext<'_>) -> Self {
        let Fault { text, code, .. } = fault;
        let code = *code;
        if let (Code::LimitValue, Some(bound)) = (code, limits.value) {
            return Self::of_limit(code, &in_bytes(bound), context);
        }
        let fix = match code.fix() {
            "{way}" => ways::out_of(code, text, context),
            fix => fix.to_owned(),
        };
        // SQLite quotes what it does not understand, whole.
        let reason = excerpt(text.trim_end_matches('.'));
        Self::of_statement(code, reason, fix, place(fault, context), context)
    }

    /// A failure of one statement.
    pub fn of_statement(
        code: Code,
        reason: String,
        fix: String,
        span: Option<Span>,
        context: &FailureContext<'_>,
    ) -> Self {
        let span = span.unwrap_or(context.statement.span);
        Self {
            door: context.door.to_owned(),
            statement: Some(context.index + 1),
            statements: context.statements,
            code,
            reason,
            fix,
            span: Some(span),
            place: Some(Place { source: context.source.clone(), span }),
            excerpt: excerpt(context.statement.sql()),
        }
    }

    /// A run that took too long.
    pub fn of_exceeded(exceeded: Exceeded, limits: &Limits, context: &FailureContext<'_>) -> Self {
        match exceeded {
            Exceeded::Steps => {
                Self::of_limit(Code::LimitSteps, &limits.steps.unwrap_or_default().to_string(), context)
            }
            Exceeded::Time => {
                Self::of_limit(Code::LimitTime, &format!("{:?}", limits.time.unwrap_or_default()), context)
            }
        }
    }

    /// A bound that the whole text exceeds.
    pub fn of_text(door: &str, code: Code, bound: &str, statements: usize) -> Self {
        Self {
            door: door.to_owned(),
            statement: None,
            statements,
            code,
            reason: code.reason().replace("{what}", bound),
            fix: code.fix().to_owned(),
            span: None,
            place: None,
            excerpt: String::new(),
        }
    }

    /// A limit that a statement reached; `bound` says which.
    fn of_limit(code: Code, bound: &str, context: &FailureContext<'_>) -> Self {
        Self::of_statement(code, code.reason().replace("{what}", bound), code.fix().to_owned(), None, context)
    }

    /// The same failure of a text that stands in a file; `place` says where its bytes are there. One of a text
    /// as a whole stands where the text begins.
    #[must_use]
    pub fn placed(mut self, place: impl Fn(Span) -> Place) -> Self {
        self.place = Some(place(self.span.unwrap_or(Span::new(0, 0))));
        self
    }

    /// As JSON, with every key.
    pub fn json(&self) -> Value {
        let position = self.place.as_ref().map(Place::position);
        json!({
            "statement": self.statement,
            "code": self.code.word(),
            "message": self.to_string(),
            "reason": self.reason,
            "fix": self.fix,
            "span": self.span.map(|span| [span.start, span.end]),
            "line": position.map(|position| position.line),
            "column": position.map(|position| position.column),
        })
    }

    /// The message's first line.
    pub fn headline(&self) -> String {
        let which = match self.statement {
            Some(statement) => format!("statement {statement} of {} failed", self.statements),
            None if self.code == Code::CommitForeignKey => "failed at commit".to_owned(),
            None => "failed".to_owned(),
        };
        let head = format!("{} {which}: {}.", self.door, self.reason);
        if self.fix.is_empty() { head } else { format!("{head} {}", self.fix) }
    }

    /// For the terminal and the annotations of a review.
    pub fn diagnostic(&self) -> Diagnostic {
        let headline = Self { fix: String::new(), ..self.clone() }.headline();
        let diagnostic = Diagnostic::error(self.code, headline.trim_end_matches('.'), self.place.clone());
        if self.fix.is_empty() { diagnostic } else { diagnostic.help(self.fix.clone()) }
    }
}

/// The message: the headline, and the statement under it.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        if self.excerpt.is_empty() { Ok(()) } else { write!(f, "\n  {}", self.excerpt) }
    }
}

impl std::error::Error for Failure {}

/// The words that SQLite points at: from its offset, or the name in its message.
fn place(fault: &Fault, context: &FailureContext<'_>) -> Option<Span> {
    let tokens = &context.statement.tokens;
    if let Some(offset) = fault.offset {
        let at = context.statement.span.start + offset;
        let found = tokens.iter().position(|token| token.span.start <= at && at < token.span.end);
        if let Some(found) = found {
            return qualified(found, fault, context);
        }
        if context.statement.illegal.is_some_and(|illegal| illegal.start <= at) {
            return context.statement.illegal;
        }
    }
    let name = ways::named(&fault.text)?;
    let is = |span: Span| {
        let word = context.statement.text.get(span.range()).unwrap_or_default();
        crate::statement::unquote(word).eq_ignore_ascii_case(name)
    };
    let found =
        tokens.iter().enumerate().filter(|(_, token)| token.kind != TokenKind::Mark && is(token.span));
    let found: Vec<Span> = found.filter_map(|(at, _)| qualified(at, fault, context)).collect();
    // Another schema may hold a table of the same name.
    let whole = |span: &Span| {
        let words =
            tokens.iter().filter(|token| span.start <= token.span.start && token.span.end <= span.end);
        let name: String =
            words.map(|token| crate::statement::unquote(context.statement.word(*token))).collect();
        fault.text.rsplit_once(": ").is_some_and(|(_, told)| told.eq_ignore_ascii_case(&name))
    };
    found.iter().find(|span| whole(span)).or(found.first()).copied()
}

/// The token that SQLite points at; of a table's or column's name with what qualifies it.
fn qualified(at: usize, fault: &Fault, context: &FailureContext<'_>) -> Option<Span> {
    let tokens = &context.statement.tokens;
    let (mut first, mut last) = (at, at);
    if matches!(fault.code, Code::NoSuchTable | Code::NoSuchColumn) {
        let is_dot = |at: usize| tokens.get(at).is_some_and(|token| context.statement.word(*token) == ".");
        while first >= 2 && is_dot(first - 1) {
            first -= 2;
        }
        while is_dot(last + 1) && last + 2 < tokens.len() {
            last += 2;
        }
    }
    Some(Span::new(tokens.get(first)?.span.start, tokens.get(last)?.span.end))
}

/// A number of bytes as policies write it.
pub fn in_bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.into_iter().find(|(size, _)| count >= *size && count.is_multiple_of(*size));
    unit.map_or_else(|| format!("{count} bytes"), |(size, word)| format!("{} {word}", count / size))
}

/// `1 row`, `2 rows`.
pub fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
