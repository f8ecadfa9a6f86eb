//! A value of a row, in a few words.

use std::hash::{Hash, Hasher};

use rusqlite::types::ValueRef;
use serde_json::{Value, json};

use crate::engine::rows::KeyValue;
use crate::setup::report::grouped;
use crate::source::acts;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// Text; the bytes need not be UTF-8.
    Text(Vec<u8>),
    /// A blob.
    Blob(Vec<u8>),
}

impl From<ValueRef<'_>> for Cell {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(text.to_vec()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

impl From<&KeyValue> for Cell {
    fn from(value: &KeyValue) -> Self {
        match value {
            KeyValue::Integer(number) => Self::Integer(*number),
            KeyValue::Real(number) => Self::Real(*number),
            KeyValue::Text(text) => Self::Text(text.clone()),
            KeyValue::Blob(bytes) => Self::Blob(bytes.clone()),
        }
    }
}

impl Hash for Cell {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Null => {}
            Self::Integer(number) => number.hash(state),
            Self::Real(number) => number.to_bits().hash(state),
            Self::Text(bytes) | Self::Blob(bytes) => bytes.hash(state),
        }
    }
}

impl Cell {
    /// Its bytes, about.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Null | Self::Integer(_) | Self::Real(_) => 16,
            Self::Text(bytes) | Self::Blob(bytes) => 16 + bytes.len(),
        }
    }

    /// As a query's rows have it: a blob is an object with its digits.
    pub fn json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Integer(number) => json!(number),
            Self::Real(number) => json!(number),
            Self::Text(bytes) => json!(String::from_utf8_lossy(bytes)),
            Self::Blob(bytes) => json!({ "blob": digits(bytes) }),
        }
    }

    /// As SQL writes it, cut to `most` characters or a few more; text from its character `from` on.
    pub(super) fn shown(&self, most: usize, from: usize) -> String {
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Integer(number) => number.to_string(),
            // As large as no number can be; SQL has no other word for it.
            Self::Real(number) if number.is_infinite() => {
                format!("{}9e999", if *number < 0.0 { "-" } else { "" })
            }
            Self::Real(number) => format!("{number:?}"),
            Self::Text(bytes) => quoted(&String::from_utf8_lossy(bytes), most, from),
            Self::Blob(bytes) => {
                let size = if bytes.len() == 1 { "byte".to_owned() } else { "bytes".to_owned() };
                let size = format!(" ({} {size})", grouped(bytes.len() as u64));
                let room = most.saturating_sub(3) / 2;
                if bytes.len() <= room {
                    return format!("x'{}'", digits(bytes));
                }
                let room = most.saturating_sub(4 + size.len()) / 2;
                let start = bytes.get(..room.min(bytes.len())).unwrap_or_default();
                format!("x'{}…'{size}", digits(start))
            }
        }
    }

    /// How many characters two texts have in common at their beginning.
    pub(super) fn common(&self, other: &Self) -> usize {
        let (Self::Text(a), Self::Text(b)) = (self, other) else { return 0 };
        let (a, b) = (String::from_utf8_lossy(a), String::from_utf8_lossy(b));
        a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Text in single quotes. What a terminal would act on is written as an escape.
fn quoted(text: &str, most: usize, from: usize) -> String {
    let room = most.saturating_sub(2);
    let mut shown = String::from("'");
    if from > 0 {
        shown.push('…');
    }
    let mut width = usize::from(from > 0);
    let escapes = text.contains(acts);
    let mut letters = text.chars().skip(from).peekable();
    while let Some(letter) = letters.next() {
        let piece = match letter {
            '\'' => "''".to_owned(),
            letter if acts(letter) || (escapes && letter == '\\') => letter.escape_default().to_string(),
            letter => letter.to_string(),
        };
        let wide = piece.chars().count();
        // Room for the sign that more follows.
        if width + wide + usize::from(letters.peek().is_some()) > room {
            shown.push('…');
            break;
        }
        width += wide;
        shown.push_str(&piece);
    }
    shown.push('\'');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_form_of_its_own() {
        let text = |text: &str| Cell::Text(text.as_bytes().to_vec()).shown(20, 0);
        assert_eq!(Cell::Null.shown(20, 0), "NULL");
        assert_eq!(text(""), "''");
        assert_eq!(text("O'Neil"), "'O''Neil'");
        assert_eq!(text("NULL"), "'NULL'");
        assert_eq!(text("a\nb\0c\u{1b}[0m"), r"'a\nb\u{0}c\u{1b}[…'");
        assert_eq!(text(r"a\b"), r"'a\b'");
        assert_eq!(text("a\\\t"), r"'a\\\t'", "with an escape in it, a backslash is one too");
        assert_eq!(text("exactly 18 letters"), "'exactly 18 letters'");
        assert_eq!(text("exactly 19 letters."), "'exactly 19 letter…'");
        assert_eq!(Cell::Integer(i64::MIN).shown(20, 0), "-9223372036854775808");
        assert_eq!(Cell::Real(1e300).shown(20, 0), "1e300");
        assert_eq!(Cell::Real(f64::NEG_INFINITY).shown(20, 0), "-9e999");
        assert_eq!(Cell::Real(-0.0).shown(20, 0), "-0.0");
        assert_eq!(Cell::Real(3.0).shown(20, 0), "3.0");
        assert_eq!(Cell::Blob(Vec::new()).shown(20, 0), "x''");
        assert_eq!(Cell::Blob(vec![0, 255]).shown(20, 0), "x'00ff'");
        assert_eq!(Cell::Blob(vec![1; 1024]).shown(24, 0), "x'010101…' (1,024 bytes)");
        assert_eq!(Cell::Text(vec![0x61, 0xff]).shown(20, 0), "'a\u{fffd}'");
    }
}
