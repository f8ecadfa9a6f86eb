//! Strict reading of JSON, with a place for every byte of the texts that are looked for.

use std::borrow::Cow;

use super::{Fault, Found, Map, Text};
use crate::source::{Span, floor};
use crate::yaml::Siblings;

/// How deep values may nest, as in most readers of JSON.
const DEEPEST: usize = 128;

/// The texts under `field` in the one value of `text`.
pub(super) fn texts(text: &str, field: &str) -> Found {
    let mut reader = Reader { text, at: 0, field, keys: 0, lists: 0, found: Found::default() };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let mut read = reader.value(Wanted::No, 0);
    if read.is_ok() && reader.peek().is_some() {
        read = Err(reader.unexpected("the end"));
    }
    reader.found.faults.extend(read.err());
    reader.found.has_field = reader.keys > 0;
    reader.found
}

/// What a value is to the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    No,
    /// It stands under the key.
    Value,
    /// It is an entry of a list that does.
    Item,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    field: &'t str,
    /// How often the key was there.
    keys: usize,
    /// Lists that are open.
    lists: usize,
    found: Found,
}

type Read<T = ()> = Result<T, Fault>;

impl Reader<'_> {
    fn value(&mut self, wanted: Wanted, depth: usize) -> Read {
        if depth > DEEPEST {
            let message = format!("this is nested deeper than {DEEPEST} levels");
            return Err(Fault::syntax(message, Span::new(self.at, self.at + 1)));
        }
        let next = self.peek();
        let start = self.at;
        match next {
            Some(b'{') => {
                self.odd(wanted != Wanted::No, "an object", start);
                self.object(depth)
            }
            Some(b'[') => {
                self.odd(wanted == Wanted::Item, "a list in a list", start);
                self.list(if wanted == Wanted::Value { Wanted::Item } else { Wanted::No }, depth)
            }
            Some(b'"') => {
                let inner = self.string()?;
                if wanted != Wanted::No {
                    let text = decode(self.text, inner);
                    self.found.texts.push(text);
                }
                Ok(())
            }
            Some(b't') => self.word("true", wanted, "a truth value"),
            Some(b'f') => self.word("false", wanted, "a truth value"),
            Some(b'n') => self.word("null", Wanted::No, ""),
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                self.odd(wanted != Wanted::No, "a number", start);
                Ok(())
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    /// Tells that a value which is looked for is no text.
    fn odd(&mut self, is_odd: bool, what: &str, start: usize) {
        if is_odd {
            let end = self.at.max(start + 1);
            self.found.faults.push(Fault::no_text(self.field, what, Span::new(start, end)));
        }
    }

    fn object(&mut self, depth: usize) -> Read {
        self.at += 1;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let inner = self.string()?;
            let written = self.text.get(inner.range()).unwrap_or_default();
            let key = if written.contains('\\') {
                Cow::Owned(decode(self.text, inner).sql)
            } else {
                Cow::Borrowed(written)
            };
            let wanted = if key == self.field { Wanted::Value } else { Wanted::No };
            self.keys += usize::from(wanted == Wanted::Value);
            if self.peek() != Some(b':') {
                return Err(self.unexpected("`:`"));
            }
            self.at += 1;
            self.value(wanted, depth + 1)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break self.at += 1,
                _ => return Err(self.unexpected("`,` or `}`")),
            }
        }
        Ok(())
    }

    fn list(&mut self, wanted: Wanted, depth: usize) -> Read {
        self.at += 1;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        self.lists += 1;
        let mut entries = Siblings::default();
        loop {
            let is_object = self.peek() == Some(b'{');
            let (start, keys) = (self.at, self.keys);
            self.value(wanted, depth + 1)?;
            if is_object {
                entries.add(start, self.keys > keys);
            }
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break self.at += 1,
                _ => return Err(self.unexpected("`,` or `]`")),
            }
        }
        self.lists -= 1;
        if self.lists == 0 {
            self.found.without.add(entries.without());
        }
        Ok(())
    }

    /// Reads a string to its end; answers what lies between its quotes.
    fn string(&mut self) -> Read<Span> {
        let bytes = self.text.as_bytes();
        let open = self.at;
        let start = open + 1;
        let mut at = start;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at += self.escape(at)?,
                Some(0..=0x1f) => {
                    let message = "a control character stands in a string as it is";
                    return Err(Fault::syntax(message, Span::new(at, at + 1)));
                }
                Some(_) => at += 1,
                None => {
                    let message = "this string does not end";
                    return Err(Fault::syntax(message, Span::new(open, open + 1)));
                }
            }
        }
        self.at = at + 1;
        Ok(Span::new(start, at))
    }

    /// The length of the escape at `at`, where it is one.
    fn escape(&self, at: usize) -> Read<usize> {
        let wrong = |len| {
            let span = Span::new(at, floor(self.text, at + len).max(at + 1));
            Fault::syntax("this is no escape of JSON", span)
        };
        match self.text.as_bytes().get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
            Some(b'u') => match unit(self.text, at) {
                None => Err(wrong(6)),
                Some(0xd800..=0xdbff) => match unit(self.text, at + 6) {
                    Some(0xdc00..=0xdfff) => Ok(12),
                    _ => Err(wrong(6)),
                },
                Some(0xdc00..=0xdfff) => Err(wrong(6)),
                Some(_) => Ok(6),
            },
            _ => Err(wrong(2)),
        }
    }

    fn word(&mut self, word: &str, wanted: Wanted, what: &str) -> Read {
        let start = self.at;
        let rest = self.text.get(start..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.unexpected("a value"));
        }
        self.at += word.len();
        self.odd(wanted != Wanted::No, what, start);
        Ok(())
    }

    fn number(&mut self) -> Read {
        self.skip(b"-");
        let leading_zero = self.next_is(b"0");
        let digits = self.digits();
        let whole = digits > 0 && !(leading_zero && digits > 1);
        let fraction = !self.skip(b".") || self.digits() > 0;
        let exponent = !self.skip(b"eE") || {
            self.skip(b"+-");
            self.digits() > 0
        };
        if whole && fraction && exponent {
            Ok(())
        } else {
            Err(self.unexpected("a number as JSON writes it"))
        }
    }

    fn next_is(&self, one_of: &[u8]) -> bool {
        self.text.as_bytes().get(self.at).is_some_and(|byte| one_of.contains(byte))
    }

    fn skip(&mut self, one_of: &[u8]) -> bool {
        let is = self.next_is(one_of);
        self.at += usize::from(is);
        is
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.skip(b"0123456789") {}
        self.at - start
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        while self.skip(b" \t\n\r") {}
        self.text.as_bytes().get(self.at).copied()
    }

    fn unexpected(&self, due: &str) -> Fault {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match rest.chars().next().filter(|c| *c != '\n') {
            Some(c) => {
                let span = Span::new(self.at, self.at + c.len_utf8());
                Fault::syntax(format!("this is not valid JSON: {due} is due"), span)
            }
            None => {
                let message = format!("this is not valid JSON: it ends where {due} is due");
                Fault::syntax(message, Span::new(self.at, self.at))
            }
        }
    }
}

/// The code unit of the `\uXXXX` at `at`.
fn unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// The text of a string that was read, whose inner bytes are `inner`.
fn decode(text: &str, inner: Span) -> Text {
    let mut sql = String::with_capacity(inner.end - inner.start);
    let mut map = Map::default();
    let mut at = inner.start;
    while at < inner.end {
        let rest = text.get(at..inner.end).unwrap_or_default();
        let plain = rest.find('\\').unwrap_or(rest.len());
        if plain > 0 {
            map.same(sql.len(), plain, at);
            sql.push_str(rest.get(..plain).unwrap_or_default());
            at += plain;
            continue;
        }
        let (c, len) = escaped(text, at);
        map.escape(sql.len(), c.len_utf8(), Span::new(at, at + len));
        sql.push(c);
        at += len;
    }
    Text { sql, map }
}

/// The character of the valid escape at `at`, and its length.
fn escaped(text: &str, at: usize) -> (char, usize) {
    let c = match text.as_bytes().get(at + 1) {
        Some(b'b') => '\x08',
        Some(b'f') => '\x0c',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let first = unit(text, at).unwrap_or_default();
            return match unit(text, at + 6) {
                Some(second @ 0xdc00..=0xdfff) if (0xd800..=0xdbff).contains(&first) => {
                    let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
                }
                _ => (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            };
        }
        Some(byte) => char::from(*byte),
        None => '\\',
    };
    (c, 2)
}
