//! Reading one statement.

use super::head::{self, Explain};
use super::keyword::Keyword;
use super::split::split;
use super::token::{Token, TokenKind, tokens};
use super::walk::Walk;
use super::{Mention, Statement, TableMention, Target};
use crate::source::Span;

/// Every statement of a text.
pub fn statements(text: &str) -> Vec<Statement<'_>> {
    split(text).into_iter().map(|span| Statement::read(text, span)).collect()
}

/// What the clauses of a statement on rows say.
#[derive(Debug, Default)]
pub(super) struct Clauses {
    pub(super) calls: Vec<Mention>,
    pub(super) ctes: Vec<Mention>,
    pub(super) target: Option<Target>,
    pub(super) sources: Vec<TableMention>,
}

impl<'t> Statement<'t> {
    /// Reads the statement at `span` of `text`, one of those that [`split`] found.
    ///
    /// It never fails: what SQLite's grammar would not take is read as far as it makes sense, and
    /// SQLite will say what is wrong with it.
    pub fn read(text: &'t str, span: Span) -> Self {
        let (tokens, illegal) = tokens(text, span);
        let (explain, start) = explain(&tokens);
        let mut walk = Walk::new(text, &tokens, start);
        match tokens.get(start).filter(|token| token.kind == TokenKind::Word) {
            Some(first) if first.keyword.starts_rows() => walk.run(),
            Some(first) => walk.head = head::read(text, Span::new(first.span.start, span.end)),
            None => {}
        }
        let Walk { head, found: Clauses { calls, ctes, target, sources }, .. } = walk;
        let parameters = tokens.iter().filter(|token| token.kind == TokenKind::Parameter);
        Self {
            nul: nul(text, span),
            parameters: parameters.map(|token| token.span).collect(),
            text,
            span,
            tokens,
            explain,
            head,
            illegal,
            calls,
            ctes,
            target,
            sources,
        }
    }
}

/// SQLite ends a text at its first NUL byte, inside a comment too, so that the rest of the
/// statement is lost.
fn nul(text: &str, span: Span) -> Option<Span> {
    let bytes = text.as_bytes().get(span.range())?;
    // Nearly every text has none, and `contains` looks at many bytes at a time.
    if !bytes.contains(&0) {
        return None;
    }
    let at = span.start + bytes.iter().position(|&byte| byte == 0)?;
    Some(Span::new(at, at + 1))
}

/// EXPLAIN, and the index of the token after it.
fn explain(tokens: &[Token]) -> (Option<Explain>, usize) {
    let keyword = |at: usize| {
        let token = tokens.get(at).filter(|token| token.kind == TokenKind::Word);
        token.map(|token| token.keyword)
    };
    if keyword(0) != Some(Keyword::Explain) {
        (None, 0)
    } else if keyword(1) == Some(Keyword::Query) && keyword(2) == Some(Keyword::Plan) {
        (Some(Explain::QueryPlan), 3)
    } else {
        (Some(Explain::Program), 1)
    }
}

pub(super) fn word<'t>(text: &'t str, token: &Token) -> &'t str {
    text.get(token.span.range()).unwrap_or_default()
}
