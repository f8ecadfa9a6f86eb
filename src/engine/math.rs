//! SQLite's math functions, for a SQLite that was built without them.
//!
//! A policy allows them by name, and a world must not lose them because a program that embeds us was
//! built without our compile options.

#![expect(
    unsafe_code,
    reason = "three functions of the C library, which SQLite calls and Rust computes anew"
)]

use std::collections::BTreeSet;
use std::f64::consts::PI;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};

use super::build_info;

unsafe extern "C" {
    safe fn acosh(x: f64) -> f64;
    safe fn asinh(x: f64) -> f64;
    safe fn atanh(x: f64) -> f64;
}

type Unary = fn(f64) -> f64;
type Binary = fn(f64, f64) -> f64;

/// These keep an integer an integer.
const ROUNDING: [(&str, Unary); 4] =
    [("ceil", f64::ceil), ("ceiling", f64::ceil), ("floor", f64::floor), ("trunc", f64::trunc)];

const UNARY: [(&str, Unary); 16] = [
    ("acos", f64::acos),
    ("acosh", |x| acosh(x)),
    ("asin", f64::asin),
    ("asinh", |x| asinh(x)),
    ("atan", f64::atan),
    ("atanh", |x| atanh(x)),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("degrees", |x| x * (180.0 / PI)),
    ("exp", f64::exp),
    ("radians", |x| x * (PI / 180.0)),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
];

/// Of a number that is not positive they are NULL.
const LOGARITHMS: [(&str, Unary); 4] =
    [("ln", f64::ln), ("log", f64::log10), ("log10", f64::log10), ("log2", f64::log2)];

const BINARY: [(&str, Binary); 4] =
    [("atan2", f64::atan2), ("mod", |x, y| x % y), ("pow", f64::powf), ("power", f64::powf)];

/// Registers the math functions that this connection lacks; nothing where SQLite has its own.
///
/// # Errors
///
/// SQLite's, when a statement is running or an authorizer denies the list of functions.
pub fn install_missing(conn: &Connection) -> Result<()> {
    if build_info::has_math() {
        return Ok(());
    }
    let mut list = conn.prepare("SELECT name, narg FROM pragma_function_list")?;
    let present: BTreeSet<(String, i32)> =
        list.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_>>()?;
    drop(list);
    register(conn, "", |name, arguments| !present.contains(&(name.to_owned(), arguments)))
}

fn register(conn: &Connection, prefix: &str, wanted: impl Fn(&str, i32) -> bool) -> Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let full = |name: &str| format!("{prefix}{name}");
    for (name, function) in ROUNDING.into_iter().filter(|(name, _)| wanted(name, 1)) {
        conn.create_scalar_function(full(name).as_str(), 1, flags, move |context| {
            Ok(rounded(context, function))
        })?;
    }
    for (name, function) in UNARY.into_iter().filter(|(name, _)| wanted(name, 1)) {
        conn.create_scalar_function(full(name).as_str(), 1, flags, move |context| {
            Ok(numeric(context.get_raw(0)).map(|x| function(x.real())))
        })?;
    }
    for (name, function) in LOGARITHMS.into_iter().filter(|(name, _)| wanted(name, 1)) {
        conn.create_scalar_function(full(name).as_str(), 1, flags, move |context| {
            Ok(numeric(context.get_raw(0)).map(Number::real).filter(|x| *x > 0.0).map(function))
        })?;
    }
    for (name, function) in BINARY.into_iter().filter(|(name, _)| wanted(name, 2)) {
        conn.create_scalar_function(full(name).as_str(), 2, flags, move |context| {
            let arguments = numeric(context.get_raw(0)).zip(numeric(context.get_raw(1)));
            Ok(arguments.map(|(x, y)| function(x.real(), y.real())))
        })?;
    }
    if wanted("log", 2) {
        conn.create_scalar_function(full("log").as_str(), 2, flags, |context| Ok(log_to_base(context)))?;
    }
    if wanted("pi", 0) {
        conn.create_scalar_function(full("pi").as_str(), 0, flags, |_| Ok(PI))?;
    }
    Ok(())
}

fn rounded(context: &Context<'_>, function: Unary) -> Value {
    match numeric(context.get_raw(0)) {
        Some(Number::Integer(value)) => Value::Integer(value),
        Some(Number::Real(value)) => Value::Real(function(value)),
        None => Value::Null,
    }
}

/// `log(base, x)`. SQLite asks only the base to be a number and takes what `x` starts with.
fn log_to_base(context: &Context<'_>) -> Option<f64> {
    let base = numeric(context.get_raw(0)).map(Number::real).filter(|base| *base > 0.0)?.ln();
    let x = match context.get_raw(1) {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Prefix::read(bytes).number.real(),
        other => numeric(other)?.real(),
    };
    (base > 0.0 && x > 0.0).then(|| x.ln() / base)
}

#[derive(Clone, Copy)]
enum Number {
    Integer(i64),
    Real(f64),
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Real(value) => value,
        }
    }
}

/// The number that `sqlite3_value_numeric_type` sees: a text counts when all of it is one.
fn numeric(value: ValueRef<'_>) -> Option<Number> {
    match value {
        ValueRef::Integer(value) => Some(Number::Integer(value)),
        ValueRef::Real(value) => Some(Number::Real(value)),
        ValueRef::Text(bytes) => {
            let prefix = Prefix::read(bytes);
            prefix.is_all.then_some(prefix.number)
        }
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

/// The number that a text starts with.
struct Prefix {
    number: Number,
    /// Nothing but blanks stands around it.
    is_all: bool,
}

impl Prefix {
    fn read(bytes: &[u8]) -> Self {
        let text = skip(bytes, is_blank);
        let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        let after_digits = skip(unsigned, |byte| byte.is_ascii_digit());
        let after_point = match after_digits.strip_prefix(b".") {
            Some(rest) => skip(rest, |byte| byte.is_ascii_digit()),
            None => after_digits,
        };
        let has_digits = unsigned[..unsigned.len() - after_point.len()].iter().any(u8::is_ascii_digit);
        let rest = if has_digits { after_exponent(after_point) } else { text };
        let literal = std::str::from_utf8(&text[..text.len() - rest.len()]).unwrap_or_default();
        let integer = if rest.len() == after_digits.len() { literal.parse().ok() } else { None };
        Self {
            number: match integer {
                Some(value) => Number::Integer(value),
                None => Number::Real(literal.parse().unwrap_or(0.0)),
            },
            is_all: has_digits && skip(rest, is_blank).is_empty(),
        }
    }
}

fn after_exponent(text: &[u8]) -> &[u8] {
    let [b'e' | b'E', rest @ ..] = text else { return text };
    let digits = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"+")).unwrap_or(rest);
    let rest = skip(digits, |byte| byte.is_ascii_digit());
    if rest.len() < digits.len() { rest } else { text }
}

fn skip(text: &[u8], what: impl Fn(u8) -> bool) -> &[u8] {
    let end = text.iter().position(|byte| !what(*byte)).unwrap_or(text.len());
    &text[end..]
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ours beside SQLite's own; without our compile options there is nothing to compare with.
    fn with_both() -> Option<Connection> {
        let conn = Connection::open_in_memory().unwrap();
        register(&conn, "own_", |_, _| true).unwrap();
        build_info::has_math().then_some(conn)
    }

    fn value(conn: &Connection, call: &str) -> String {
        conn.query_row(&format!("SELECT {call}"), [], |row| {
            Ok(match row.get_ref(0)? {
                ValueRef::Real(value) => format!("real {value:e} {:x}", value.to_bits()),
                other => format!("{other:?}"),
            })
        })
        .unwrap()
    }

    const ARGUMENTS: &[&str] = &[
        "NULL",
        "0",
        "1",
        "-1",
        "2",
        "10",
        "100",
        "9223372036854775807",
        "0.0",
        "-0.0",
        "0.5",
        "-0.5",
        "1.5",
        "-2.5",
        "2.718281828459045",
        "1e-300",
        "1e300",
        "9e999",
        "-9e999",
        "710",
        "'12'",
        "' 12 '",
        "'1.5'",
        "'-1e2'",
        "'1e'",
        "'1.'",
        "'.5'",
        "'.'",
        "'+'",
        "'12abc'",
        "'abc'",
        "''",
        "' '",
        "'0x10'",
        "'inf'",
        "'99999999999999999999'",
        "x'3132'",
        "x''",
        "'8 x'",
    ];

    #[test]
    fn every_function_answers_as_sqlites_own() {
        let Some(conn) = with_both() else { return };
        let unary = ROUNDING.iter().chain(&UNARY).chain(&LOGARITHMS);
        for (name, _) in unary {
            for x in ARGUMENTS {
                let call = format!("{name}({x})");
                assert_eq!(value(&conn, &format!("own_{call}")), value(&conn, &call), "{call}");
            }
        }
        for name in BINARY.iter().map(|(name, _)| *name).chain(["log"]) {
            for x in ARGUMENTS {
                for y in ARGUMENTS {
                    let call = format!("{name}({x}, {y})");
                    assert_eq!(value(&conn, &format!("own_{call}")), value(&conn, &call), "{call}");
                }
            }
        }
        assert_eq!(value(&conn, "own_pi()"), value(&conn, "pi()"));
    }

    #[test]
    fn ours_are_sqlites_own_names_and_no_others() {
        let Some(conn) = with_both() else { return };
        let names = |filter: &str| -> BTreeSet<(String, i32)> {
            let sql = format!("SELECT DISTINCT name, narg FROM pragma_function_list WHERE {filter}");
            let mut list = conn.prepare(&sql).unwrap();
            let rows = list.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let ours: BTreeSet<(String, i32)> = names("name LIKE 'own\\_%' ESCAPE '\\'")
            .into_iter()
            .map(|(name, n)| (name[4..].to_owned(), n))
            .collect();
        assert_eq!(ours.len(), 30);
        assert!(ours.is_subset(&names("builtin")));
    }

    #[test]
    fn after_installing_a_connection_has_them_all() {
        let conn = Connection::open_in_memory().unwrap();
        install_missing(&conn).unwrap();
        assert_eq!(value(&conn, "ceil(7)"), "Integer(7)");
        assert!(value(&conn, "log(2, 8) + sqrt(16) + pi()").starts_with("real 1.01415926"));
    }
}
