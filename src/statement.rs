//! A text cut into statements, and what the tokens of a statement say.
//!
//! Everything here is found from the text alone, with SQLite's own token rules, in one pass and
//! without a database. Spans are bytes of the whole text.

mod head;
mod keyword;
mod marks;
mod names;
mod read;
mod shape;
mod split;
mod target;
mod token;
mod walk;

pub use head::{Explain, Head, PragmaArgument, PragmaHead};
pub use keyword::written;
pub use read::statements;
pub use shape::shape;
pub use split::split;
pub use token::{Token, TokenKind, tokens, unquote};

use crate::policy::Verb;
use crate::source::{Name, Span};

/// One statement of a text.
#[derive(Clone, Debug)]
pub struct Statement<'t> {
    /// The whole text that it stands in.
    pub text: &'t str,
    /// From its first token to its last; the `;` is left out.
    pub span: Span,
    /// Its tokens, without spaces and comments. They end before an illegal one.
    pub tokens: Vec<Token>,
    /// Whether EXPLAIN stands before it.
    pub explain: Option<Explain>,
    /// What kind of statement it is.
    pub head: Head,
    /// The first NUL byte.
    pub nul: Option<Span>,
    /// The first token that SQLite does not know; nothing after it is read.
    pub illegal: Option<Span>,
    /// Bind parameters.
    pub parameters: Vec<Span>,
    /// Call mentions: the names, in any identifier quoting, before a parenthesis where a function
    /// can stand, `CURRENT_*`, and the operators `LIKE GLOB REGEXP MATCH -> ->>`.
    pub calls: Vec<Mention>,
    /// The names that WITH defines, at any depth.
    pub ctes: Vec<Mention>,
    /// What INSERT, REPLACE, UPDATE or DELETE writes.
    pub target: Option<Target>,
    /// The names after FROM, JOIN and IN and between the commas of a FROM list.
    pub sources: Vec<TableMention>,
}

/// A name of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The name, without its quotes.
    pub name: Name,
    /// Its token.
    pub span: Span,
}

/// A table's name in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableMention {
    /// The schema written before it.
    pub schema: Option<Name>,
    /// The table.
    pub table: Name,
    /// Schema and table.
    pub span: Span,
    /// Whether a parenthesis follows, so that it is a table function.
    pub called: bool,
}

/// What a statement writes.
#[derive(Clone, Debug)]
pub struct Target {
    /// Insert (also for REPLACE), update or delete.
    pub verb: Verb,
    /// The table.
    pub table: TableMention,
    /// The conflict clause, `REPLACE INTO` included.
    pub conflict: Option<(Conflict, Span)>,
    /// The columns that INSERT lists or that SET assigns.
    pub columns: Vec<Mention>,
    /// Whether UPDATE or DELETE has a WHERE of its own.
    pub has_where: bool,
    /// The expressions of `VALUES (...)` where INSERT has exactly one row of them.
    pub single_row: Option<Vec<Span>>,
}

/// A conflict clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conflict {
    /// OR ROLLBACK
    Rollback,
    /// OR ABORT
    Abort,
    /// OR FAIL
    Fail,
    /// OR IGNORE
    Ignore,
    /// OR REPLACE, REPLACE INTO
    Replace,
}

impl Conflict {
    /// The word after OR.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rollback => "ROLLBACK",
            Self::Abort => "ABORT",
            Self::Fail => "FAIL",
            Self::Ignore => "IGNORE",
            Self::Replace => "REPLACE",
        }
    }
}

impl Statement<'_> {
    /// Its tokens behind EXPLAIN and QUERY PLAN.
    pub fn unexplained(&self) -> &[Token] {
        let skipped = match self.explain {
            None => 0,
            Some(Explain::Program) => 1,
            Some(Explain::QueryPlan) => 3,
        };
        self.tokens.get(skipped..).unwrap_or_default()
    }

    /// The statement's own text.
    pub fn sql(&self) -> &str {
        self.text.get(self.span.range()).unwrap_or_default()
    }

    /// The WHERE clause of an UPDATE or DELETE, from its first word.
    pub fn condition(&self) -> Option<Span> {
        let mut depth = 0_usize;
        let mut found: Option<Span> = None;
        for token in &self.tokens {
            let word = self.word(*token);
            let is = |one_of: &[&str]| one_of.iter().any(|name| word.eq_ignore_ascii_case(name));
            match word {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            match &mut found {
                None if depth == 0 && is(&["where"]) => found = Some(token.span),
                Some(_) if depth == 0 && is(&["returning", "order", "limit"]) => break,
                Some(clause) => clause.end = token.span.end,
                None => {}
            }
        }
        found.filter(|_| self.target.as_ref().is_some_and(|target| target.has_where))
    }

    /// The words of one of its tokens.
    pub fn word(&self, token: Token) -> &str {
        self.text.get(token.span.range()).unwrap_or_default()
    }

    /// Whether `is` holds for some word, quoted name or string of it, without quotes.
    pub fn mentions(&self, mut is: impl FnMut(&str) -> bool) -> bool {
        let named = |kind| matches!(kind, TokenKind::Word | TokenKind::Quoted | TokenKind::String);
        self.tokens.iter().filter(|token| named(token.kind)).any(|&token| is(&unquote(self.word(token))))
    }

    /// Its tokens in double quotes: names, or strings where no such name is.
    pub fn double_quoted(&self) -> impl Iterator<Item = Token> {
        let quoted = self.tokens.iter().filter(|token| token.kind == TokenKind::Quoted);
        quoted.copied().filter(|&token| self.word(token).starts_with('"'))
    }
}
