//! SQLite's tokens.
//!
//! The rules are those of SQLite's own tokenizer, down to its oddities: `$` and every byte from
//! 0x80 up belong to names, a byte order mark is a space, a vertical tab is one only after another
//! space, and a number that runs into a name is no token at all.

use std::borrow::Cow;

use super::keyword::Keyword;
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
    /// The keyword that a word is; a name for anything else. Looked up once, asked for often.
    pub(super) keyword: Keyword,
}

impl Token {
    /// Whether it is a name without quotes that is no word of the grammar.
    pub(crate) fn is_plain_name(self) -> bool {
        self.kind == TokenKind::Word && self.keyword == Keyword::Name
    }
}

/// The tokens of `text` within `span`, without spaces and comments, and the first illegal one.
///
/// Nothing is read past an illegal token: SQLite reads nothing there either. A NUL byte is illegal,
/// and so is a quoted token that holds one.
pub fn tokens(text: &str, span: Span) -> (Vec<Token>, Option<Span>) {
    // Three bytes a token is rarely too few; a long literal must not reserve for its whole length.
    let mut found = Vec::with_capacity((span.end.saturating_sub(span.start) / 3 + 4).min(64));
    let mut lexer = Lexer::new(text, span);
    loop {
        match lexer.step() {
            Step::Token(token) => found.push(token),
            Step::Illegal(illegal) => return (found, Some(illegal)),
            Step::End => return (found, None),
        }
    }
}

/// The name or text that a token stands for: without quotes, doubled quotes single.
pub fn unquote(token: &str) -> Cow<'_, str> {
    let Some((&open, rest)) = token.as_bytes().split_first() else {
        return Cow::Borrowed(token);
    };
    let close = match open {
        b'\'' | b'"' | b'`' => open,
        b'[' => b']',
        _ => return Cow::Borrowed(token),
    };
    let end = if rest.last() == Some(&close) { token.len() - 1 } else { token.len() };
    let inner = token.get(1..end).unwrap_or_default();
    if open != b'[' && inner.as_bytes().contains(&close) {
        let (twice, once) = match close {
            b'\'' => ("''", "'"),
            b'"' => ("\"\"", "\""),
            _ => ("``", "`"),
        };
        Cow::Owned(inner.replace(twice, once))
    } else {
        Cow::Borrowed(inner)
    }
}

/// What a token that begins with a byte can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Name,
    X,
    Digit,
    Sigil,
    Question,
    Space,
    Quote,
    Bracket,
    Minus,
    Slash,
    Dot,
    Less,
    Greater,
    Equals,
    Bang,
    Pipe,
    Single,
    Bom,
    Illegal,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Illegal; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'x' | b'X' => Class::X,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Name,
            0xEF => Class::Bom,
            0x80.. => Class::Name,
            b'0'..=b'9' => Class::Digit,
            b'$' | b'@' | b'#' | b':' => Class::Sigil,
            b'?' => Class::Question,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0C => Class::Space,
            b'\'' | b'"' | b'`' => Class::Quote,
            b'[' => Class::Bracket,
            b'-' => Class::Minus,
            b'/' => Class::Slash,
            b'.' => Class::Dot,
            b'<' => Class::Less,
            b'>' => Class::Greater,
            b'=' => Class::Equals,
            b'!' => Class::Bang,
            b'|' => Class::Pipe,
            b'(' | b')' | b';' | b'+' | b'*' | b'%' | b',' | b'&' | b'~' => Class::Single,
            _ => Class::Illegal,
        };
        byte += 1;
    }
    classes
};

/// Whether a byte can stand inside a name.
pub(super) const NAME_BYTES: [bool; 256] = {
    let mut name = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        name[byte] = matches!(byte as u8, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80..);
        byte += 1;
    }
    name
};

/// U+FEFF in UTF-8.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

pub(super) enum Step {
    Token(Token),
    Illegal(Span),
    End,
}

pub(super) struct Lexer<'t> {
    /// The text up to the end of the span, so that offsets are those of the text.
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, span: Span) -> Self {
        let end = span.end.min(text.len());
        Self { bytes: text.as_bytes().get(..end).unwrap_or_default(), at: span.start }
    }

    /// The byte at `at`; the end reads as NUL, as it does in SQLite.
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn names(&self, mut at: usize) -> usize {
        while let Some(&byte) = self.bytes.get(at)
            && NAME_BYTES[usize::from(byte)]
        {
            at += 1;
        }
        at
    }

    pub(super) fn step(&mut self) -> Step {
        use TokenKind::{Blob, Mark, Number, Parameter, Quoted, String, Word};
        loop {
            let start = self.at;
            let Some(&first) = self.bytes.get(start) else { return Step::End };
            let next = self.byte(start + 1);
            let (kind, end) = match CLASSES[usize::from(first)] {
                Class::Space => {
                    self.at = self.spaces(start + 1);
                    continue;
                }
                Class::Minus if next == b'-' => {
                    self.at = line_end(self.bytes, start + 2);
                    continue;
                }
                Class::Slash if next == b'*' && start + 2 < self.bytes.len() => {
                    self.at = comment_end(self.bytes, start + 2);
                    continue;
                }
                Class::Bom if self.bytes.get(start..start + 3) == Some(BOM) => {
                    self.at = start + 3;
                    continue;
                }
                Class::Name | Class::Bom => (Word, self.names(start + 1)),
                Class::X if next == b'\'' => match self.blob(start) {
                    Ok(end) => (Blob, end),
                    Err(end) => return self.illegal(end),
                },
                Class::X => (Word, self.names(start + 1)),
                Class::Dot if !next.is_ascii_digit() => (Mark, start + 1),
                Class::Dot | Class::Digit => match self.number(start) {
                    Ok(end) => (Number, end),
                    Err(end) => return self.illegal(end),
                },
                Class::Quote => match self.quoted(start, first) {
                    Ok(end) => (if first == b'\'' { String } else { Quoted }, end),
                    Err(end) => return self.illegal(end),
                },
                Class::Bracket => match self.quoted(start, b']') {
                    Ok(end) => (Quoted, end),
                    Err(end) => return self.illegal(end),
                },
                Class::Question => (Parameter, self.digits(start + 1)),
                Class::Sigil => match self.parameter(start) {
                    Ok(end) => (Parameter, end),
                    Err(end) => return self.illegal(end),
                },
                Class::Minus => {
                    let length = match (next, self.byte(start + 2)) {
                        (b'>', b'>') => 3,
                        (b'>', _) => 2,
                        _ => 1,
                    };
                    (Mark, start + length)
                }
                Class::Less => (Mark, start + 1 + usize::from(matches!(next, b'=' | b'>' | b'<'))),
                Class::Greater => (Mark, start + 1 + usize::from(matches!(next, b'=' | b'>'))),
                Class::Equals => (Mark, start + 1 + usize::from(next == b'=')),
                Class::Pipe => (Mark, start + 1 + usize::from(next == b'|')),
                Class::Bang if next == b'=' => (Mark, start + 2),
                Class::Single | Class::Slash => (Mark, start + 1),
                Class::Bang | Class::Illegal => return self.illegal(start + 1),
            };
            self.at = end;
            let keyword = match kind {
                Word => Keyword::of(self.bytes.get(start..end).unwrap_or_default()),
                _ => Keyword::Name,
            };
            return Step::Token(Token { kind, span: Span::new(start, end), keyword });
        }
    }

    fn illegal(&mut self, end: usize) -> Step {
        let start = self.at;
        self.at = self.bytes.len();
        Step::Illegal(Span::new(start, end))
    }

    fn spaces(&self, mut at: usize) -> usize {
        while matches!(self.bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)) {
            at += 1;
        }
        at
    }

    fn digits(&self, mut at: usize) -> usize {
        while self.byte(at).is_ascii_digit() {
            at += 1;
        }
        at
    }

    /// Digits and the separators between them.
    fn digit_run(&self, mut at: usize, digit: fn(&u8) -> bool) -> usize {
        while digit(&self.byte(at)) || self.byte(at) == b'_' {
            at += 1;
        }
        at
    }

    /// The end of a token that `close` closes, or of the illegal one.
    fn quoted(&self, start: usize, close: u8) -> Result<usize, usize> {
        let mut at = start + 1;
        let mut nul = false;
        while let Some(&byte) = self.bytes.get(at) {
            at += 1;
            if byte == close {
                if close != b']' && self.byte(at) == close {
                    at += 1;
                } else {
                    return if nul { Err(at) } else { Ok(at) };
                }
            }
            nul |= byte == 0;
        }
        Err(at)
    }

    fn blob(&self, start: usize) -> Result<usize, usize> {
        let mut at = start + 2;
        while self.byte(at).is_ascii_hexdigit() {
            at += 1;
        }
        if self.byte(at) == b'\'' && (at - start).is_multiple_of(2) {
            return Ok(at + 1);
        }
        let rest = self.bytes.get(at..).unwrap_or_default();
        Err(rest.iter().position(|&byte| byte == b'\'').map_or(self.bytes.len(), |quote| at + quote + 1))
    }

    fn number(&self, start: usize) -> Result<usize, usize> {
        let mut at = start;
        if self.byte(at) == b'0'
            && matches!(self.byte(at + 1), b'x' | b'X')
            && self.byte(at + 2).is_ascii_hexdigit()
        {
            at = self.digit_run(at + 3, u8::is_ascii_hexdigit);
        } else {
            at = self.digit_run(at, u8::is_ascii_digit);
            if self.byte(at) == b'.' {
                at = self.digit_run(at + 1, u8::is_ascii_digit);
            }
            let exponent = matches!(self.byte(at), b'e' | b'E')
                && (self.byte(at + 1).is_ascii_digit()
                    || (matches!(self.byte(at + 1), b'+' | b'-') && self.byte(at + 2).is_ascii_digit()));
            if exponent {
                at = self.digit_run(at + 2, u8::is_ascii_digit);
            }
        }
        let end = self.names(at);
        if end == at { Ok(at) } else { Err(end) }
    }

    /// `@a`, `:a`, `#1`, and Tcl's `$a::b(c)`.
    fn parameter(&self, start: usize) -> Result<usize, usize> {
        let mut at = start + 1;
        let mut named = false;
        while let Some(&byte) = self.bytes.get(at) {
            if NAME_BYTES[usize::from(byte)] {
                named = true;
                at += 1;
            } else if byte == b':' && self.byte(at + 1) == b':' {
                at += 2;
            } else if byte == b'(' && named {
                let inside = self.bytes.get(at + 1..).unwrap_or_default();
                let stop = inside
                    .iter()
                    .position(|&b| matches!(b, 0 | b')' | b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C));
                return match stop.map(|stop| at + 1 + stop) {
                    Some(stop) if self.byte(stop) == b')' => Ok(stop + 1),
                    Some(stop) => Err(stop),
                    None => Err(self.bytes.len()),
                };
            } else {
                break;
            }
        }
        if named { Ok(at) } else { Err(at) }
    }
}

/// The end of the line that `at` stands in.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |end| at + end)
}

/// The end of the block comment whose inside begins at `at`.
pub(super) fn comment_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(star) = bytes.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == b'*')) {
        at += star + 1;
        if bytes.get(at) == Some(&b'/') {
            return at + 1;
        }
    }
    bytes.len()
}
