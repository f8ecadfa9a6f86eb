//! A COMMIT that fails: which row refers to what is not there.

use std::collections::BTreeSet;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, ffi};

use crate::catalog::Catalog;
use crate::diagnostic::Code;
use crate::engine::catalog::quote;
use crate::refusal::{Failure, counted, named};
use crate::request::{Action, Resource};
use crate::ruleset::Ruleset;
use crate::source::Name;
use crate::statement::written;

/// A failed COMMIT before it is rolled back.
pub(super) struct Pending {
    door: String,
    statements: usize,
    code: Code,
    reason: String,
    violations: Vec<(Violation, String)>,
    schemas: Vec<Name>,
}

/// One row that `PRAGMA foreign_key_check` names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    schema: Name,
    table: Name,
    rowid: Option<i64>,
    parent: Name,
    key: i64,
}

impl Pending {
    /// What is known while the transaction is still open.
    pub(super) fn new(
        connection: &Connection,
        ruleset: &Ruleset,
        door: &str,
        statements: usize,
        error: &Error,
    ) -> Self {
        let foreign = matches!(error, Error::SqliteFailure(e, _) if e.extended_code == ffi::SQLITE_CONSTRAINT_FOREIGNKEY);
        let empty = Catalog::default();
        let catalog = ruleset.catalog().map_or(&empty, AsRef::as_ref);
        let schemas: Vec<Name> = catalog.schemas.iter().map(|schema| schema.name.clone()).collect();
        let violations = if foreign { check(connection, &schemas) } else { BTreeSet::new() };
        let told = violations.into_iter().map(|violation| {
            let words = describe(connection, ruleset, &violation);
            (violation, words)
        });
        Self {
            door: door.to_owned(),
            statements,
            code: if foreign { Code::CommitForeignKey } else { Code::SqliteError },
            reason: error.to_string(),
            violations: told.collect(),
            schemas,
        }
    }

    /// The failure, once the rows are back: what was broken before is not the author's.
    pub(super) fn told(self, connection: &Connection) -> Failure {
        let old = if self.violations.is_empty() { BTreeSet::new() } else { check(connection, &self.schemas) };
        let new: Vec<&String> = self
            .violations
            .iter()
            .filter(|(violation, _)| !old.contains(violation))
            .map(|(_, words)| words)
            .collect();
        let (reason, fix) = match new.as_slice() {
            [] => (self.reason, String::new()),
            [one] => ((*one).clone(), FIX.to_owned()),
            [first, rest @ ..] => {
                (format!("{first} (and {} like it)", counted(rest.len() as u64, "more row")), FIX.to_owned())
            }
        };
        Failure {
            door: self.door,
            statement: None,
            statements: self.statements,
            code: self.code,
            reason,
            fix,
            span: None,
            place: None,
            excerpt: String::new(),
        }
    }
}

const FIX: &str = "Write the row that it refers to, or change the reference.";

fn check(connection: &Connection, schemas: &[Name]) -> BTreeSet<Violation> {
    let mut found = BTreeSet::new();
    for schema in schemas {
        let listed = (|| -> rusqlite::Result<Vec<Violation>> {
            let mut list =
                connection.prepare(&format!("PRAGMA {}.foreign_key_check", quote(schema.as_str())))?;
            let rows = list.query_map([], |row| {
                Ok(Violation {
                    schema: schema.clone(),
                    table: Name::from(row.get::<_, String>(0)?),
                    rowid: row.get(1)?,
                    parent: Name::from(row.get::<_, String>(2)?),
                    key: row.get(3)?,
                })
            })?;
            rows.collect()
        })();
        // A schema that cannot be checked adds no detail; the failure itself stands.
        found.extend(listed.unwrap_or_default());
    }
    found
}

/// `row 3 of agents has manager_id 77, but agents has no such row`; a value that the policy closes
/// is left out.
fn describe(connection: &Connection, ruleset: &Ruleset, violation: &Violation) -> String {
    let table = named(&Resource::table(violation.schema.clone(), violation.table.clone()));
    // The rowid may be a column's value.
    let rowid = violation.rowid.filter(|_| may_tell_key(connection, ruleset, violation));
    let row = rowid.map_or_else(|| format!("a row of {table}"), |id| format!("row {id} of {table}"));
    let values = values(connection, ruleset, violation).unwrap_or_default();
    let parent = named(&Resource::table(violation.schema.clone(), violation.parent.clone()));
    if values.is_empty() {
        format!("{row} refers to a row that {parent} does not have")
    } else {
        format!("{row} has {}, but {parent} has no such row", values.join(" and "))
    }
}

fn may_read(ruleset: &Ruleset, violation: &Violation, columns: &[String]) -> bool {
    columns.iter().all(|column| {
        let (schema, table) = (violation.schema.clone(), violation.table.clone());
        ruleset.allows(Action::Read, Resource::column(schema, table, column.as_str()))
    })
}

fn may_tell_key(connection: &Connection, ruleset: &Ruleset, violation: &Violation) -> bool {
    let key = || -> rusqlite::Result<Vec<String>> {
        let mut list = connection.prepare("SELECT name FROM pragma_table_info(?1, ?2) WHERE pk > 0")?;
        let names =
            list.query_map((violation.table.as_str(), violation.schema.as_str()), |row| row.get(0))?;
        names.collect()
    };
    key().is_ok_and(|key| may_read(ruleset, violation, &key))
}

fn values(
    connection: &Connection,
    ruleset: &Ruleset,
    violation: &Violation,
) -> rusqlite::Result<Vec<String>> {
    let mut list =
        connection.prepare("SELECT \"from\" FROM pragma_foreign_key_list(?1, ?2) WHERE id = ?3")?;
    let columns: Vec<String> = list
        .query_map((violation.table.as_str(), violation.schema.as_str(), violation.key), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if violation.rowid.is_none() || !may_read(ruleset, violation, &columns) {
        return Ok(Vec::new());
    }
    let selected: Vec<String> = columns.iter().map(|column| quote(column)).collect();
    let (schema, table) = (quote(violation.schema.as_str()), quote(violation.table.as_str()));
    let sql = format!("SELECT {} FROM {schema}.{table} WHERE rowid = ?1", selected.join(", "));
    connection.query_row(&sql, [violation.rowid], |row| {
        columns
            .iter()
            .enumerate()
            .map(|(i, column)| Ok(format!("{} {}", written(column), shown(row.get_ref(i)?))))
            .collect()
    })
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => {
            let text: String = String::from_utf8_lossy(text).chars().take(60).collect();
            format!("'{}'", text.replace('\'', "''"))
        }
        ValueRef::Blob(bytes) => format!("a blob of {} bytes", bytes.len()),
    }
}
