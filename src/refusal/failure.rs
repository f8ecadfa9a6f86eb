//! SQLite's own errors and limits, in words.

use std::fmt;

use super::excerpt;
use super::words::{call, sentence};
use crate::catalog::Catalog;
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::budget::Exceeded;
use crate::engine::fault::Fault;
use crate::policy::Limits;
use crate::ruleset::Ruleset;
use crate::source::{Name, Place, Source, Span, nearest};
use crate::statement::{Head, Statement, TokenKind};

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
    /// The words it is about.
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
    /// The columns of the tables that the statement names.
    pub columns: &'a [Name],
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
            "{way}" => way(code, text, context),
            fix => fix.to_owned(),
        };
        let reason = text.trim_end_matches('.').to_owned();
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
            place: None,
            excerpt: String::new(),
        }
    }

    /// A limit that a statement reached; `bound` says which.
    fn of_limit(code: Code, bound: &str, context: &FailureContext<'_>) -> Self {
        Self::of_statement(code, code.reason().replace("{what}", bound), code.fix().to_owned(), None, context)
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
        if let Some(token) = tokens.iter().find(|token| token.span.start <= at && at < token.span.end) {
            return Some(token.span);
        }
        if context.statement.illegal.is_some_and(|illegal| illegal.start <= at) {
            return context.statement.illegal;
        }
    }
    let name = named(&fault.text)?;
    let is = |span: Span| {
        let word = context.statement.text.get(span.range()).unwrap_or_default();
        crate::statement::unquote(word).eq_ignore_ascii_case(name)
    };
    tokens.iter().find(|token| token.kind != TokenKind::Mark && is(token.span)).map(|token| token.span)
}

/// The last part of the name in one of SQLite's messages.
fn named(text: &str) -> Option<&str> {
    let (_, name) = text.rsplit_once(": ").or_else(|| text.rsplit_once(" named "))?;
    let name = name.split(" - ").next().unwrap_or(name);
    Some(name.rsplit('.').next().unwrap_or(name).trim_matches('"'))
}

fn way(code: Code, text: &str, context: &FailureContext<'_>) -> String {
    let name = named(text).unwrap_or_default();
    let catalog = context.ruleset.catalog().map(AsRef::as_ref);
    let meant = |near: Option<&str>| near.map(|near| format!("Did you mean {near}?"));
    match code {
        Code::NoSuchTable => {
            let tables = catalog.into_iter().flat_map(tables_of);
            let names: Vec<&str> = tables.map(Name::as_str).collect();
            meant(nearest(name, names.into_iter()))
                .unwrap_or_else(|| "PRAGMA table_list reports the tables.".to_owned())
        }
        Code::NoSuchColumn => {
            let near = nearest(name, context.columns.iter().map(Name::as_str));
            let text = if context.columns.is_empty() {
                String::new()
            } else {
                let all: Vec<&str> = context.columns.iter().map(Name::as_str).take(12).collect();
                format!("Columns: {}.", all.join(", "))
            };
            meant(near).unwrap_or(text)
        }
        Code::NoSuchFunction => function_way(name, context),
        Code::Constraint => constraint_way(text),
        Code::Syntax => syntax_way(text, context),
        Code::UnknownDatabase => {
            let schemas = catalog.map(|c| c.schemas.iter().map(|s| s.name.as_str()).collect::<Vec<_>>());
            format!("Attached: {}.", schemas.unwrap_or_default().join(", "))
        }
        _ => String::new(),
    }
}

fn tables_of(catalog: &Catalog) -> impl Iterator<Item = &Name> {
    catalog.schemas.iter().flat_map(|schema| schema.tables.keys())
}

fn function_way(name: &str, context: &FailureContext<'_>) -> String {
    let known = match name.to_ascii_lowercase().as_str() {
        "now" | "getdate" | "sysdate" => Some("datetime('now')"),
        "concat" | "strcat" => Some("a || b"),
        "nvl" | "isnull" => Some("ifnull(a, b)"),
        "len" | "char_length" => Some("length(a)"),
        "left" => Some("substr(a, 1, n)"),
        "right" => Some("substr(a, -n)"),
        "uuid" | "gen_random_uuid" => Some("lower(hex(randomblob(16)))"),
        "regexp" => Some("LIKE or GLOB"),
        _ => None,
    };
    if let Some(known) = known {
        return format!("Use {known}.");
    }
    let listed = context.ruleset.policy().functions.allow.iter().filter_map(|rule| rule.what.name.literal());
    let near = nearest(name, listed.map(Name::folded));
    let called = context.statement.calls.iter().any(|c| c.name == *name);
    match near {
        Some(near) => format!("Did you mean {}?", call(&Name::from(near))),
        None if called => String::new(),
        None => "The statement does not call it; a trigger, view or column of the world does.".to_owned(),
    }
}

fn constraint_way(text: &str) -> String {
    let subject = text.split_once(": ").map_or("", |(_, subject)| subject);
    if text.starts_with("UNIQUE") {
        format!("Use another value for {subject}, or say what happens with ON CONFLICT.")
    } else if text.starts_with("NOT NULL") {
        format!("Give {subject} a value.")
    } else if text.starts_with("CHECK") {
        "Look at the CHECK in the world's schema.".to_owned()
    } else if text.starts_with("FOREIGN KEY") {
        "Write the parent row first, or set foreign_keys: deferred in the policy to check once, at COMMIT."
            .to_owned()
    } else if text.contains("STRICT") || text.contains("cannot store") {
        "Write a value of the column's type.".to_owned()
    } else {
        String::new()
    }
}

fn syntax_way(text: &str, context: &FailureContext<'_>) -> String {
    let sql = context.statement.sql();
    let first = sql.split_whitespace().next().unwrap_or_default();
    let hint = if first.starts_with('.') {
        "Commands that begin with a dot belong to the sqlite3 shell; leave them out"
    } else if first.eq_ignore_ascii_case("truncate") {
        "Write DELETE FROM and the table"
    } else if sql.contains("::") && text.contains("\":\"") {
        "Write CAST(value AS type)"
    } else if sql.contains("\\'") {
        "A quote inside a string is doubled, as in 'it''s'"
    } else if sql.contains(['\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}']) {
        "Replace the curly quotes by straight ones"
    } else if context.statement.illegal.is_some() && text.starts_with("unrecognized token") {
        "Look for a quote that is not closed"
    } else if context.statement.head == Head::Unknown {
        let words =
            ["SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "VALUES", "PRAGMA", "EXPLAIN"];
        return match nearest(&first.to_ascii_uppercase(), words.into_iter()) {
            Some(near) => format!("Did you mean {near}?"),
            None => {
                "A statement begins with SELECT, INSERT, UPDATE, DELETE, REPLACE, WITH or VALUES.".to_owned()
            }
        };
    } else if text == "incomplete input" {
        "The statement ends too early"
    } else {
        "Look at the words just before it; a semicolon or a comma may be missing"
    };
    sentence(hint)
}

/// A number of bytes as policies write it.
pub fn in_bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.into_iter().find(|(size, _)| count >= *size && count.is_multiple_of(*size));
    unit.map_or_else(|| format!("{count} bytes"), |(size, word)| format!("{} {word}", count / size))
}
