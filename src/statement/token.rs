//! SQLite's tokens.

use std::borrow::Cow;

use crate::source::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A keyword or an unquoted name; which one, the grammar tells.
    Word,
    /// A name in `"`, `` ` `` or `[ ]`. The first byte tells which.
    Quoted,
    /// Text in single quotes.
    String,
    /// `x'..'`
    Blob,
    /// A number.
    Number,
    /// A bind parameter.
    Parameter,
    /// An operator or a mark, one token as SQLite has it: `->>` is one.
    Mark,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// The tokens of `text` within `span`, without spaces and comments, and the first illegal one.
pub fn tokens(_text: &str, _span: Span) -> (Vec<Token>, Option<Span>) {
    (Vec::new(), None)
}

/// The name or text that a token stands for: without quotes, doubled quotes single.
pub fn unquote(token: &str) -> Cow<'_, str> {
    Cow::Borrowed(token)
}
