//! The text of triggers and views.

use crate::source::{Source, Span};
use crate::statement::{Statement, Token, TokenKind, tokens};

/// What the text of a trigger says.
#[derive(Debug)]
pub(super) struct Body<'t> {
    /// The statement that fires it: INSERT, UPDATE or DELETE.
    pub(super) event: &'static str,
    /// Whether it fires for some columns only.
    pub(super) of_columns: bool,
    /// The statements between BEGIN and END.
    pub(super) statements: Vec<Statement<'t>>,
    /// The condition after WHEN.
    pub(super) when: Option<Span>,
}

struct Words<'t> {
    text: &'t str,
    tokens: Vec<Token>,
}

impl<'t> Words<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, tokens: tokens(text, Span::new(0, text.len())).0 }
    }

    /// Whether the token is this keyword; a quoted one is a name.
    fn is(&self, at: usize, word: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| {
            matches!(token.kind, TokenKind::Word | TokenKind::Mark)
                && self.text.get(token.span.range()).is_some_and(|text| text.eq_ignore_ascii_case(word))
        })
    }

    fn one_of(&self, at: usize, words: &[&'static str]) -> Option<&'static str> {
        words.iter().copied().find(|word| self.is(at, word))
    }

    fn span(&self, first: usize, end: usize) -> Option<Span> {
        let last = self.tokens.get(first..end)?.last()?;
        Some(Span::new(self.tokens.get(first)?.span.start, last.span.end))
    }
}

impl<'t> Body<'t> {
    /// Reads a CREATE TRIGGER.
    pub(super) fn read(source: &'t Source) -> Option<Self> {
        let words = Words::new(source.text());
        // SQLite takes `begin` and `when` as names too, so what follows tells.
        let starts = ["SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "VALUES"];
        let count = words.tokens.len();
        let begin =
            (0..count).find(|&at| words.is(at, "BEGIN") && words.one_of(at + 1, &starts).is_some())?;
        let (event, of_columns) = (2..begin).find_map(|at| {
            let event = words.one_of(at, &["INSERT", "UPDATE", "DELETE"])?;
            words.one_of(at + 1, &["ON", "OF"]).map(|next| (event, next == "OF"))
        })?;
        let when = (2..begin).rfind(|&at| words.is(at, "WHEN")).and_then(|at| words.span(at + 1, begin));
        let end = (begin..count).rfind(|&at| words.is(at, "END"))?;
        let mut statements = Vec::new();
        let mut first = begin + 1;
        for at in begin + 1..end {
            if words.is(at, ";") {
                statements.extend(words.span(first, at).map(|span| Statement::read(source.text(), span)));
                first = at + 1;
            }
        }
        Some(Self { event, of_columns, statements, when })
    }
}

/// The query of a CREATE VIEW.
pub(super) fn query(source: &Source) -> Option<Statement<'_>> {
    let words = Words::new(source.text());
    let starts = ["SELECT", "WITH", "VALUES"];
    let count = words.tokens.len();
    let first = (0..count)
        .find(|&at| words.is(at, "AS") && words.one_of(at + 1, &starts).is_some())
        .map(|at| at + 1)?;
    words.span(first, count).map(|span| Statement::read(source.text(), span))
}

/// Where `ON CONFLICT REPLACE` stands in a CREATE TABLE.
pub(super) fn replace_clauses(source: &Source) -> Vec<Span> {
    let words = Words::new(source.text());
    let clause =
        |at: &usize| words.is(*at, "ON") && words.is(at + 1, "CONFLICT") && words.is(at + 2, "REPLACE");
    (0..words.tokens.len()).filter(clause).filter_map(|at| words.span(at, at + 3)).collect()
}
