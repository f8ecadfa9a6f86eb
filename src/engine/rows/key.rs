//! What tells one row of a table from the others.

use std::cmp::Ordering;

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// Integers up to here are told exactly by a floating-point number.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The key of a row: its primary key, or its rowid where it has none or one with a NULL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// The rowid.
    Rowid(i64),
    /// The values of the primary key's columns, in its order.
    Columns(Vec<KeyValue>),
}

/// One value of a primary key. Equal are values that SQLite's `BINARY` takes for equal, whatever the
/// collation of the column; they are ordered as SQLite orders them.
#[derive(Clone, Debug)]
pub enum KeyValue {
    /// An integer, or a real number that is one.
    Integer(i64),
    /// Any other real number.
    Real(f64),
    /// Text, as the bytes of its encoding.
    Text(Vec<u8>),
    /// A blob.
    Blob(Vec<u8>),
}

impl KeyValue {
    /// The key's form of a value; `None` for NULL, which is no key.
    pub fn of(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(Self::Integer(number)),
            #[expect(clippy::cast_possible_truncation, reason = "it is a whole number within the bounds")]
            ValueRef::Real(number) if number.trunc() == number && number.abs() < EXACT => {
                Some(Self::Integer(number as i64))
            }
            ValueRef::Real(number) => Some(Self::Real(number)),
            ValueRef::Text(text) => Some(Self::Text(text.to_vec())),
            ValueRef::Blob(bytes) => Some(Self::Blob(bytes.to_vec())),
        }
    }

    const fn class(&self) -> u8 {
        match self {
            Self::Integer(_) | Self::Real(_) => 0,
            Self::Text(_) => 1,
            Self::Blob(_) => 2,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "only an order; equal ones are told apart after it")]
    const fn number(&self) -> f64 {
        match self {
            Self::Integer(number) => *number as f64,
            Self::Real(number) => *number,
            Self::Text(_) | Self::Blob(_) => 0.0,
        }
    }
}

impl Ord for KeyValue {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) | (Self::Blob(a), Self::Blob(b)) => a.cmp(b),
            (a, b) => {
                let kind = |value: &Self| matches!(value, Self::Real(_));
                (a.class().cmp(&b.class()))
                    .then(a.number().total_cmp(&b.number()))
                    .then(kind(a).cmp(&kind(b)))
            }
        }
    }
}

impl PartialOrd for KeyValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for KeyValue {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for KeyValue {}

impl ToSql for KeyValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_as_sqlite_orders_values() {
        let of = |value| KeyValue::of(value).unwrap();
        let mut values = [
            of(ValueRef::Blob(b"")),
            of(ValueRef::Text(b"10")),
            of(ValueRef::Integer(10)),
            of(ValueRef::Real(9.5)),
            of(ValueRef::Real(-1e300)),
            of(ValueRef::Integer(i64::MAX)),
            of(ValueRef::Integer(i64::MIN)),
        ];
        values.sort();
        let shown: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
        let wanted = [
            "Real(-1e300)",
            "Integer(-9223372036854775808)",
            "Real(9.5)",
            "Integer(10)",
            "Integer(9223372036854775807)",
            "Text([49, 48])",
            "Blob([])",
        ];
        assert_eq!(shown, wanted);
        assert_eq!(of(ValueRef::Real(3.0)), of(ValueRef::Integer(3)));
        assert_eq!(KeyValue::of(ValueRef::Null), None);
    }
}
