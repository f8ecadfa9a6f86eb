//! How a YAML scalar is written in its file.
//!
//! YAML changes spaces and line ends at will and nothing else, but for escapes in double quotes. So the
//! letters of the value stand in the file in the same order; only what lies between them is looked at twice.

use super::map::Map;
use crate::source::Span;
use crate::yaml::{Quotes, TextScalar};

/// The map of `scalar`, which stands in `file`; `None` where the file does not say what the value does.
pub(super) fn map(file: &str, scalar: &TextScalar) -> Option<Map> {
    let mut written = Written { file, at: scalar.span.start, end: scalar.span.end, quotes: scalar.quotes };
    if scalar.quotes != Quotes::None {
        // The quotes themselves.
        written.at += 1;
        written.end = written.end.checked_sub(1)?;
    }
    let mut map = Map::default();
    for (at, c) in scalar.text.char_indices() {
        match written.find(c)? {
            Stands::AsItIs(start) => map.same(at, c.len_utf8(), start),
            Stands::Otherwise(span) => map.escape(at, c.len_utf8(), span),
        }
    }
    Some(map)
}

enum Stands {
    AsItIs(usize),
    Otherwise(Span),
}

/// What is left of a scalar.
struct Written<'f> {
    file: &'f str,
    at: usize,
    end: usize,
    quotes: Quotes,
}

impl Written<'_> {
    /// Where the next `c` of the value stands.
    fn find(&mut self, c: char) -> Option<Stands> {
        loop {
            let start = self.at;
            let nowhere = || is_space(c).then_some(Stands::Otherwise(Span::new(start, start)));
            let Some(written) = self.rest().chars().next() else {
                // A last line end that the file leaves out.
                return nowhere();
            };
            if self.quotes == Quotes::Double && written == '\\' {
                let (value, len) = self.escape()?;
                if value == Some(c) {
                    self.at += len;
                    return Some(Stands::Otherwise(Span::new(start, self.at)));
                }
                if value.is_some_and(|value| !is_space(value)) {
                    return nowhere();
                }
                // A space that another was taken for, or the end of a line.
                self.at += len;
                continue;
            }
            if written == c {
                self.at += c.len_utf8();
                if self.quotes == Quotes::Single && c == '\'' {
                    self.at += 1;
                    return Some(Stands::Otherwise(Span::new(start, self.at)));
                }
                return Some(Stands::AsItIs(start));
            }
            match (is_space(c), is_space(written)) {
                // A line end that became a space, or the reverse.
                (true, true) => {
                    self.at += 1;
                    return Some(Stands::Otherwise(Span::new(start, self.at)));
                }
                (true, false) => return nowhere(),
                (false, true) => self.at += 1,
                (false, false) => return None,
            }
        }
    }

    fn rest(&self) -> &str {
        self.file.get(self.at..self.end).unwrap_or_default()
    }

    /// The character that the escape here stands for, none for the end of a line, and its length.
    fn escape(&self) -> Option<(Option<char>, usize)> {
        let mut chars = self.rest().chars();
        chars.next();
        let kind = chars.next()?;
        let coded = |digits: usize| {
            let digits = self.rest().get(2..2 + digits)?;
            let c = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?;
            Some((Some(c), 2 + digits.len()))
        };
        let c = match kind {
            'x' => return coded(2),
            'u' => return coded(4),
            'U' => return coded(8),
            '\n' | '\r' => return Some((None, 2)),
            '0' => '\0',
            'a' => '\x07',
            'b' => '\x08',
            't' | '\t' => '\t',
            'n' => '\n',
            'v' => '\x0b',
            'f' => '\x0c',
            'r' => '\r',
            'e' => '\x1b',
            'N' => '\u{85}',
            '_' => '\u{a0}',
            'L' => '\u{2028}',
            'P' => '\u{2029}',
            other => other,
        };
        Some((Some(c), 1 + kind.len_utf8()))
    }
}

/// What YAML folds, strips and indents with.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}
