//! The names that the walk keeps, and looks at the tokens around one.

use super::keyword::Keyword;
use super::token::{Token, TokenKind, unquote};
use super::walk::{Frame, State, Walk};
use super::{Mention, TableMention};
use crate::source::{Name, Span};

impl Walk<'_> {
    pub(super) fn source(&mut self) {
        if let Some(table) = self.table() {
            self.found.sources.push(table);
        }
    }

    /// The table at this token; leaves `at` at its last token.
    pub(super) fn table(&mut self) -> Option<TableMention> {
        let first = *self.tokens.get(self.at)?;
        let second = self.tokens.get(self.at + 2).copied();
        let (schema, table, span) = match second {
            Some(second) if self.mark_at(1, b'.') && self.is_name(second) => {
                self.at += 2;
                let schema = self.name_of(first);
                (Some(schema), self.name_of(second), Span::new(first.span.start, second.span.end))
            }
            _ => (None, self.name_of(first), first.span),
        };
        Some(TableMention { schema, table, span, called: self.mark_at(1, b'(') })
    }

    /// Steps into the arguments of a table function.
    pub(super) fn arguments(&mut self) {
        if self.mark_at(1, b'(') {
            self.at += 1;
            self.frames.push(Frame::new(State::Operand));
        }
    }

    pub(super) fn call(&mut self, token: Token) {
        let mention = self.mention(token);
        self.found.calls.push(mention);
    }

    pub(super) fn mention(&self, token: Token) -> Mention {
        Mention { name: self.name_of(token), span: token.span }
    }

    pub(super) fn name_of(&self, token: Token) -> Name {
        Name::from(unquote(self.text_of(token)).as_ref())
    }

    /// Whether a token can be a name where only a name can stand.
    pub(super) fn is_name(&self, token: Token) -> bool {
        match token.kind {
            TokenKind::Word => token.keyword.can_name(),
            TokenKind::Quoted | TokenKind::String => true,
            _ => false,
        }
    }

    /// Whether the next token can be a name.
    pub(super) fn name_follows(&self) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|&token| self.is_name(token))
    }

    pub(super) fn behind_parenthesis(&self) -> bool {
        self.at.checked_sub(1).is_some_and(|at| self.is_mark(at, b')'))
    }

    /// Whether the token `ahead` of this one is that mark.
    pub(super) fn mark_at(&self, ahead: usize, mark: u8) -> bool {
        self.is_mark(self.at + ahead, mark)
    }

    fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| {
            token.kind == TokenKind::Mark && self.text.as_bytes().get(token.span.start) == Some(&mark)
        })
    }

    /// The keyword `ahead` of this token, `None` where that is no word.
    pub(super) fn keyword_at(&self, ahead: usize) -> Option<Keyword> {
        let token = self.tokens.get(self.at + ahead).filter(|token| token.kind == TokenKind::Word)?;
        Some(token.keyword)
    }
}
