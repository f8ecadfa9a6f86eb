//! What stands around the token that is being looked at.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::{Frame, Mending};
use crate::source::Span;
use crate::statement::{self, TokenKind};
use crate::text_witness::words::{keyword, may_name};

impl<'t> Mending<'_, 't> {
    /// Whether the last token that was handed on ends an operand.
    pub(super) fn behind_operand(&self) -> bool {
        self.out.last().is_some_and(|last| match &last.token {
            Token::Word(word) => match word.keyword {
                Keyword::NoKeyword | Keyword::NULL | Keyword::END | Keyword::TEXT => true,
                keyword => may_name(keyword),
            },
            Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::HexStringLiteral(_)
            | Token::Placeholder(_)
            | Token::RParen => true,
            _ => false,
        })
    }

    pub(super) fn last_is(&self, keyword: Keyword) -> bool {
        self.out
            .last()
            .is_some_and(|last| matches!(&last.token, Token::Word(word) if word.keyword == keyword))
    }

    /// Whether what was handed on is a WITH clause alone, so that the statement's own verb follows.
    pub(super) fn last_closes_with(&self) -> bool {
        let with =
            |first: &TokenWithSpan| matches!(&first.token, Token::Word(w) if w.keyword == Keyword::WITH);
        self.frames.len() == 1
            && self.out.first().is_some_and(with)
            && self.out.last().is_some_and(|last| last.token == Token::RParen)
            && self.mark_at(1) != Some("(")
    }

    pub(super) fn frame(&self) -> Frame {
        self.frames.last().copied().unwrap_or_default()
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.statement.span, |token| token.span)
    }

    pub(super) fn text(&self, token: statement::Token) -> &'t str {
        self.statement.text.get(token.span.range()).unwrap_or_default()
    }

    /// Whether a string is the name of a window: `'w' AS (`, `OVER 'w'`, `OVER ('w'`.
    pub(super) fn is_window(&self) -> bool {
        let behind = |back: usize| {
            let token = self.at.checked_sub(back).and_then(|at| self.tokens.get(at));
            token.map_or("", |token| self.statement.word(*token))
        };
        let is = |text: &str, words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        self.keyword_at(1) == Keyword::AS && self.mark_at(2) == Some("(")
            || is(behind(1), &["over"])
            || behind(1) == "(" && is(behind(2), &["over", "as"])
    }

    /// Whether the token stands beside a point, which only names do: 't'.'a'.
    pub(super) fn is_qualified(&self) -> bool {
        self.mark_at(1) == Some(".") || self.at > 0 && self.behind() == Some(".")
    }

    pub(super) fn behind(&self) -> Option<&str> {
        self.tokens.get(self.at - 1).map(|token| self.statement.word(*token))
    }

    pub(super) fn mark_or_word_at(&self, ahead: usize) -> Option<&str> {
        self.tokens.get(self.at + ahead).map(|token| self.statement.word(*token))
    }

    pub(super) fn mark_at(&self, ahead: usize) -> Option<&str> {
        let token = self.tokens.get(self.at + ahead).filter(|token| token.kind == TokenKind::Mark)?;
        Some(self.statement.word(*token))
    }

    pub(super) fn word_at(&self, ahead: usize) -> &str {
        let token = self.tokens.get(self.at + ahead).filter(|token| token.kind == TokenKind::Word);
        token.map_or("", |token| self.statement.word(*token))
    }

    pub(super) fn keyword_at(&self, ahead: usize) -> Keyword {
        keyword(self.word_at(ahead))
    }
}
