//! Cutting a text at its semicolons.

use super::token::{BOM, NAME_BYTES, comment_end, line_end, tokens};
use crate::source::Span;

/// The statements of `text`, as `sqlite3_complete` sees their ends.
///
/// A semicolon inside a literal, a quoted name, a comment or the body of a trigger ends nothing.
/// Each span runs from a statement's first token to its last; the `;`, spaces and comments around
/// it are left out, and so are pieces without a token. A NUL byte counts as a token.
pub fn split(text: &str) -> Vec<Span> {
    let mut splitter = Splitter {
        text,
        bytes: text.as_bytes(),
        unsure: false,
        state: State::Start,
        first: None,
        last: 0,
        pieces: Vec::new(),
    };
    splitter.run();
    splitter.pieces
}

/// How far the statement has come on the way to being a trigger.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    /// Any other statement: the next semicolon ends it.
    Normal,
    Explain,
    Create,
    /// Inside a trigger: only `; END ;` ends it.
    Trigger,
    Semi,
    End,
}

/// The tokens that matter for that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Semi,
    Other,
    Explain,
    Create,
    Temp,
    Trigger,
    End,
}

/// The next state, by state and token, both in the order of their declarations.
const NEXT: [[State; 7]; 7] = {
    use State::{Create, End, Explain, Normal, Semi, Start, Trigger};
    [
        [Start, Normal, Explain, Create, Normal, Normal, Normal],
        [Start, Normal, Normal, Normal, Normal, Normal, Normal],
        [Start, Explain, Normal, Create, Normal, Normal, Normal],
        [Start, Normal, Normal, Normal, Create, Trigger, Normal],
        [Semi, Trigger, Trigger, Trigger, Trigger, Trigger, Trigger],
        [Semi, Trigger, Trigger, Trigger, Trigger, Trigger, End],
        [Start, Trigger, Trigger, Trigger, Trigger, Trigger, Trigger],
    ]
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Semi,
    Name,
    Quote,
    Bracket,
    Slash,
    Minus,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0C => Class::Space,
            b';' => Class::Semi,
            b'\'' | b'"' | b'`' => Class::Quote,
            b'[' => Class::Bracket,
            b'/' => Class::Slash,
            b'-' => Class::Minus,
            _ if NAME_BYTES[byte] => Class::Name,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

struct Splitter<'t> {
    text: &'t str,
    bytes: &'t [u8],
    state: State,
    /// Where the first token of the piece begins.
    first: Option<usize>,
    /// Where its last token so far ends.
    last: usize,
    /// Whether a byte order mark stands where it may or may not belong to a token.
    unsure: bool,
    pieces: Vec<Span>,
}

impl Splitter<'_> {
    fn run(&mut self) {
        let bytes = self.bytes;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let next = bytes.get(at + 1).copied();
            at = match CLASSES[usize::from(byte)] {
                Class::Space => self.spaces(at + 1),
                Class::Name => self.name(at),
                Class::Semi => {
                    self.step(Mark::Semi);
                    if self.state == State::Start {
                        self.close();
                    } else {
                        self.token(at, at + 1);
                    }
                    at + 1
                }
                Class::Quote => self.quoted(at, byte),
                Class::Bracket => self.quoted(at, b']'),
                Class::Minus if next == Some(b'-') => line_end(bytes, at + 2),
                Class::Slash if next == Some(b'*') => {
                    if at + 2 == bytes.len() {
                        // SQLite reads a bare `/*` at the very end as two operators.
                        self.other(at, at + 2);
                    }
                    comment_end(bytes, at + 2)
                }
                Class::Minus | Class::Slash | Class::Other => self.other(at, at + 1),
            };
        }
        self.close();
    }

    fn close(&mut self) {
        let Some(first) = self.first.take() else { return };
        let mut piece = Span::new(first, self.last);
        if std::mem::take(&mut self.unsure)
            && let (tokens, None) = tokens(self.text, piece)
        {
            piece.end = tokens.last().map_or(piece.start, |token| token.span.end);
        }
        if piece.start < piece.end {
            self.pieces.push(piece);
        }
    }

    fn step(&mut self, mark: Mark) {
        self.state = NEXT[self.state as usize][mark as usize];
    }

    fn token(&mut self, start: usize, end: usize) {
        self.first.get_or_insert(start);
        self.last = end;
    }

    fn other(&mut self, start: usize, end: usize) -> usize {
        self.step(Mark::Other);
        self.token(start, end);
        end
    }

    /// A vertical tab after a space is a space to the tokenizer, but not to `sqlite3_complete`.
    fn spaces(&mut self, mut at: usize) -> usize {
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0C => {}
                0x0B => self.step(Mark::Other),
                _ => break,
            }
            at += 1;
        }
        at
    }

    fn quoted(&mut self, start: usize, close: u8) -> usize {
        let rest = self.bytes.get(start + 1..).unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == close).map_or(self.bytes.len(), |at| start + at + 2);
        self.other(start, end)
    }

    fn name(&mut self, start: usize) -> usize {
        let mut end = start + 1;
        while let Some(&byte) = self.bytes.get(end)
            && NAME_BYTES[usize::from(byte)]
        {
            end += 1;
        }
        let word = self.bytes.get(start..end).unwrap_or_default();
        match self.state {
            State::Normal | State::Trigger => {}
            _ => self.step(mark(word)),
        }
        let from = start + self.marks_of_order(start, word);
        if from < end {
            self.token(from, end);
        }
        end
    }

    /// The bytes of the byte order marks that begin `word`: spaces to the tokenizer.
    fn marks_of_order(&mut self, start: usize, word: &[u8]) -> usize {
        let Some(&first) = word.first() else { return 0 };
        if !(first == BOM[0] || first.is_ascii_digit()) {
            return 0;
        }
        let before = start.checked_sub(1).and_then(|at| self.bytes.get(at));
        if matches!(before, Some(b'.' | b'?' | b'@' | b'#' | b':')) {
            // `1.` or `@` takes the mark in, `a.` or `?1` does not: only the tokenizer can tell.
            self.unsure |= word.windows(BOM.len()).any(|bytes| bytes == BOM);
            return 0;
        }
        word.chunks_exact(BOM.len()).take_while(|chunk| *chunk == BOM).count() * BOM.len()
    }
}

fn mark(word: &[u8]) -> Mark {
    let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
    match word.len() {
        3 if is("end") => Mark::End,
        4 if is("temp") => Mark::Temp,
        6 if is("create") => Mark::Create,
        7 if is("explain") => Mark::Explain,
        7 if is("trigger") => Mark::Trigger,
        9 if is("temporary") => Mark::Temp,
        _ => Mark::Other,
    }
}
