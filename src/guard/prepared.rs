//! A statement that a door has let through, and the rows that it answers.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Row};
use serde_json::{Value as Json, json};

use super::door::{Door, GuardError};
use super::ready::{Ready, StepError};
use crate::diagnostic::Code;
use crate::policy::Limits;
use crate::refusal::{Failure, Refusal};
use crate::source::Source;
use crate::statement;

/// A statement that was judged and allowed.
#[derive(Debug)]
pub struct Prepared<'d, 'c> {
    pub(super) door: &'d mut Door<'c>,
    /// `None` for a text without a statement.
    pub(super) ready: Option<Ready<'c>>,
    pub(super) source: Source,
}

impl Prepared<'_, '_> {
    /// The names of the columns that it answers.
    pub fn columns(&self) -> Vec<String> {
        self.ready.as_ref().map(Ready::columns).unwrap_or_default()
    }

    /// Steps to the end and gives each row to `row`, which may end the run early by answering
    /// false. Answers how many rows the statement changed itself. If it fails,
    /// nothing of it stays; ended early, what it has written does. Rows are handed out as they come,
    /// before what comes after them may be refused.
    pub fn run(self, row: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>) -> Result<u64, GuardError> {
        let Self { door, ready, source } = self;
        let Some(mut ready) = ready else { return Ok(0) };
        let statements = statement::statements(source.text());
        let Some(statement) = statements.first() else { return Ok(0) };
        let connection = door.held.connection;
        let writes = ready.writes();
        let own = connection.is_autocommit();
        if writes {
            connection.execute_batch(if own { "BEGIN" } else { "SAVEPOINT seawall_statement" })?;
        }
        let before = connection.total_changes();
        let stepped = ready.step(row);
        let spent = door.held.budget.spend(ready.prepared());
        let changed = if connection.total_changes() == before { 0 } else { connection.changes() };
        drop(ready);
        let error = match (stepped, spent) {
            (Ok(()), Ok(())) => None,
            (Ok(()), Err(exceeded)) => Some(door.exceeded(exceeded, &source, statement)),
            (Err(StepError::Sqlite(error)), _) => Some(door.failed(&error, &source, statement)),
            (Err(StepError::Refused(findings)), _) => {
                let context = door.context(&source, &statements);
                Some(GuardError::Refused(findings.iter().map(|f| Refusal::new(f, &context)).collect()))
            }
            (Err(changed @ StepError::SchemaChanged), _) => {
                let context = door.failure_context(&source, statement);
                let reason = changed.to_string();
                let failure = Failure::of_statement(Code::SqliteError, reason, String::new(), None, &context);
                Some(GuardError::Failed(Box::new(failure)))
            }
        };
        let Some(error) = error else {
            if writes {
                let end = if own { "COMMIT" } else { "RELEASE seawall_statement" };
                if let Err(error) = connection.execute_batch(end) {
                    undo(connection, own)?;
                    return Err(door.failed(&error, &source, statement));
                }
            }
            return Ok(changed);
        };
        if writes {
            undo(connection, own)?;
        }
        Err(error)
    }
}

/// The rows of one statement, as far as the policy's caps hand them out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// Whether `limits.rows` or `limits.bytes` cut the rest off.
    pub truncated: bool,
}

impl Rows {
    /// As JSON: columns and rows. A blob is `{"blob": hex}`; a number that JSON does not have is null.
    pub fn json(&self) -> Json {
        let rows: Vec<Vec<Json>> = self.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        json!({ "columns": self.columns, "rows": rows })
    }
}

fn cell(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(number) => json!(number),
        Value::Real(number) => json!(number),
        Value::Text(text) => json!(text),
        Value::Blob(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "blob": hex })
        }
    }
}

/// Takes a row in; answers whether there is room for more.
pub(super) fn take(
    row: &Row<'_>,
    rows: &mut Rows,
    bytes: &mut u64,
    limits: &Limits,
) -> rusqlite::Result<bool> {
    let mut values = Vec::with_capacity(rows.columns.len());
    let mut size = 0_u64;
    for i in 0..rows.columns.len() {
        let value = row.get_ref(i)?;
        size += match value {
            ValueRef::Null => 1,
            ValueRef::Integer(_) | ValueRef::Real(_) => 8,
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64,
        };
        values.push(match value {
            // Text that is not UTF-8 is shown, not refused.
            ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
            other => Value::try_from(other).map_err(|error| Error::UserFunctionError(Box::new(error)))?,
        });
    }
    let full = limits.rows.is_some_and(|most| rows.rows.len() as u64 >= most)
        || limits.bytes.is_some_and(|most| *bytes + size > most);
    if full {
        rows.truncated = true;
        return Ok(false);
    }
    *bytes += size;
    rows.rows.push(values);
    Ok(true)
}

/// Undoes the statement alone; a limit or OR ROLLBACK may have undone everything already.
fn undo(connection: &Connection, own: bool) -> rusqlite::Result<()> {
    if connection.is_autocommit() {
        return Ok(());
    }
    connection.execute_batch(if own {
        "ROLLBACK"
    } else {
        "ROLLBACK TO seawall_statement; RELEASE seawall_statement"
    })
}
