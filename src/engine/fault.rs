//! SQLite's errors, told apart.

use rusqlite::{Error, ErrorCode, ffi};

use crate::diagnostic::Code;

/// An error of SQLite's: its text, its kind, and where in the statement it points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What SQLite says.
    pub text: String,
    /// Which kind.
    pub code: Code,
    /// Bytes into the statement, where SQLite tells.
    pub offset: Option<usize>,
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        let text = message(error);
        let offset = match error {
            Error::SqlInputError { offset, .. } => usize::try_from(*offset).ok(),
            _ => None,
        };
        Self { code: classify(error, &text), text, offset }
    }
}

fn message(error: &Error) -> String {
    match error {
        Error::SqlInputError { msg, .. } => msg.clone(),
        Error::SqliteFailure(_, Some(text)) => text.clone(),
        Error::SqliteFailure(code, None) => code.to_string(),
        other => other.to_string(),
    }
}

fn classify(error: &Error, text: &str) -> Code {
    let extended = match error {
        Error::SqlInputError { error, .. } | Error::SqliteFailure(error, _) => error.extended_code,
        _ => 0,
    };
    if extended == ffi::SQLITE_CONSTRAINT_TRIGGER {
        return Code::Raise;
    }
    if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) {
        return Code::Constraint;
    }
    if error.sqlite_error_code() == Some(ErrorCode::TooBig) {
        return Code::LimitValue;
    }
    let begins = |start: &str| text.starts_with(start);
    if begins("no such table: ") {
        Code::NoSuchTable
    } else if begins("no such column: ") || text.contains(" has no column named ") {
        Code::NoSuchColumn
    } else if begins("no such function: ") {
        Code::NoSuchFunction
    } else if begins("unknown database ") {
        Code::UnknownDatabase
    } else if begins("cannot modify ") && text.ends_with("because it is a view") {
        Code::View
    } else if text.contains("generated column") {
        Code::GeneratedColumn
    } else if text.ends_with(": syntax error") || begins("unrecognized token: ") || begins("incomplete input")
    {
        Code::Syntax
    } else {
        Code::SqliteError
    }
}
