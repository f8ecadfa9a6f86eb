//! Double-quoted words that SQLite reads as text.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error};

use super::switches::WorldCodeOff;
use crate::source::Span;
use crate::statement::{Statement, unquote};

/// Words told of in one statement at most: each takes another prepare of the whole.
const MOST: usize = 50;

/// Bytes prepared for it at most, so that a long statement is told of one word alone.
const BYTES: usize = 1 << 20;

/// Those of `quoted`, spans of double-quoted words, that SQLite reads as text.
///
/// With the fallback off, SQLite complains of them one by one; each is then written as the string
/// that it is, until nothing more is said or 50 are found. Expires the prepared statements of `connection`.
pub fn double_quoted(connection: &Connection, statement: &Statement<'_>, quoted: &[Span]) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    let Ok(before) = connection.db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML) else { return found };
    let Ok(_off) = WorldCodeOff::new(connection) else { return found };
    let _restore = Fallback { connection, before };
    if connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false).is_err() {
        return found;
    }
    let most = (BYTES / statement.sql().len().max(1)).clamp(1, MOST);
    while found.len() < quoted.len().min(most) {
        let Err(Error::SqlInputError { msg, .. }) = connection.prepare(&rewritten(statement, &found)) else {
            break;
        };
        let Some(rest) = msg.strip_prefix("no such column: ") else { break };
        let named = |span: &&Span| {
            let text = statement.text.get(span.range()).unwrap_or_default();
            !found.contains(span) && rest.starts_with(&format!("\"{}\"", unquote(text)))
        };
        match quoted.iter().find(named) {
            Some(span) => found.push(*span),
            None => break,
        }
    }
    found.sort();
    found
}

struct Fallback<'c> {
    connection: &'c Connection,
    before: bool,
}

impl Drop for Fallback<'_> {
    fn drop(&mut self) {
        let _ = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, self.before);
    }
}

/// The statement's own text with the words at `strings` in single quotes.
fn rewritten(statement: &Statement<'_>, strings: &[Span]) -> String {
    let mut strings = strings.to_vec();
    strings.sort();
    let mut sql = String::new();
    let mut from = statement.span.start;
    for span in strings {
        let word = statement.text.get(span.range()).unwrap_or_default();
        sql.push_str(statement.text.get(from..span.start).unwrap_or_default());
        sql.push_str(&format!("'{}'", unquote(word).replace('\'', "''")));
        from = span.end;
    }
    sql.push_str(statement.text.get(from..statement.span.end).unwrap_or_default());
    sql
}
