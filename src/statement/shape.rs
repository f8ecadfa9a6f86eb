//! The key under which a judged statement is remembered.

use super::keyword::Keyword;
use super::read;
use super::token::{Lexer, Step, Token, TokenKind, unquote};
use crate::source::Span;

/// What stands for a folded literal; the byte is in no SQL text that is legal.
const FOLDED: u8 = 0x01;
/// Behind every token, so that no two lists of tokens give one key.
const END: u8 = 0x00;

/// Appends the shape of the statement at `span` of `text` to `into`: statements of one shape differ in
/// literal values alone, so they ask for the same rows, columns and functions. Answers false where a
/// token is illegal; then the rest of the statement is no part of the shape.
///
/// Numbers, blobs and strings are folded, with these exceptions: a string for which `is_name` holds
/// (it is given without quotes), a string that stands right behind AS, and numbers in ORDER BY and
/// GROUP BY, because those can be positions of columns.
pub fn shape(text: &str, span: Span, is_name: impl Fn(&str) -> bool, into: &mut Vec<u8>) -> bool {
    into.reserve(2 * span.end.saturating_sub(span.start).min(1 << 10));
    let mut lexer = Lexer::new(text, span);
    let mut positions = Positions::default();
    let mut behind_as = false;
    loop {
        let token = match lexer.step() {
            Step::Token(token) => token,
            Step::Illegal(_) => return false,
            Step::End => return true,
        };
        let word = read::word(text, &token);
        into.push(tag(token.kind));
        let keyword = (token.kind == TokenKind::Word).then_some(token.keyword);
        positions.step(&token, word, keyword);
        match token.kind {
            TokenKind::String if !behind_as && !is_name(&unquote(word)) => into.push(FOLDED),
            TokenKind::Number if !positions.counts() => into.push(FOLDED),
            TokenKind::Blob => into.push(FOLDED),
            // As written: a script rarely changes its spelling, and folding would cost each statement.
            _ => into.extend_from_slice(word.as_bytes()),
        }
        into.push(END);
        behind_as = keyword == Some(Keyword::As);
    }
}

const fn tag(kind: TokenKind) -> u8 {
    match kind {
        TokenKind::Word => b'w',
        TokenKind::Quoted => b'q',
        TokenKind::String => b's',
        TokenKind::Blob => b'b',
        TokenKind::Number => b'n',
        TokenKind::Parameter => b'p',
        TokenKind::Mark => b'm',
    }
}

/// Whether the tokens stand in an ORDER BY or GROUP BY.
#[derive(Default)]
struct Positions {
    depth: usize,
    /// The depths of the clauses that are open, outermost first.
    open: Vec<usize>,
}

impl Positions {
    fn counts(&self) -> bool {
        !self.open.is_empty()
    }

    fn step(&mut self, token: &Token, text: &str, keyword: Option<Keyword>) {
        match (token.kind, text, keyword) {
            (TokenKind::Mark, "(", _) => self.depth += 1,
            (TokenKind::Mark, ")", _) => {
                self.depth = self.depth.saturating_sub(1);
                while self.open.last().is_some_and(|&depth| depth > self.depth) {
                    self.open.pop();
                }
            }
            (_, _, Some(Keyword::Order)) if self.open.last() != Some(&self.depth) => {
                self.open.push(self.depth);
            }
            (_, _, Some(Keyword::Clause | Keyword::Compound)) if self.open.last() == Some(&self.depth) => {
                self.open.pop();
            }
            _ => {}
        }
    }
}
