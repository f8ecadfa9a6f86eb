//! Runs setup SQL in a world that is built for it alone.

use std::path::Path;

use seawall::engine::clock::{Clock, parse_instant};
use seawall::engine::streams::Seed;
use seawall::rusqlite::{Connection, types::Value};
use seawall::setup::workspace::{Attached, Base, Workspace};
use seawall::source::Source;
use seawall::{Guard, Outcome, Policy, setup};

use crate::literate::{Case, Suite, World, suite};

/// What became of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What the run answered.
    pub(crate) outcome: Outcome,
    /// Every row of every table before it, and after.
    pub(crate) rows: [Vec<String>; 2],
    /// The rows of the query that was asked afterwards.
    pub(crate) answer: Vec<String>,
}

/// Every file of cases by its name, in order.
pub(crate) fn suites() -> Vec<(String, Suite)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = files.into_iter().map(|file| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let suite = suite(&text).unwrap_or_else(|error| panic!("fixtures/cases/{name}.md: {error}"));
        (name, suite)
    });
    read.collect()
}

/// Runs a case.
pub(crate) fn run_case(case: &Case) -> Ran {
    run(&case.world, policy(case), &case.sql, case.query.as_ref().map(|(query, _)| query.as_str()))
}

/// The policy of a case.
pub(crate) fn policy(case: &Case) -> Policy {
    match &case.world.policy {
        Some(text) => Policy::parse("policy.yaml", text).unwrap_or_else(|error| panic!("{error}")),
        None => Policy::builtin("setup_sql").unwrap(),
    }
}

/// Runs `sql` under `policy` in files built for it, at a fixed hour, with the default seed.
pub(crate) fn run(world: &World, policy: Policy, sql: &str, query: Option<&str>) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    let mut workspace = workspace(world, directory.path());
    let connection = &mut workspace.connection;
    let before = dump(connection);
    let guard = Guard::new(policy, "setup_sql");
    let outcome = setup::run(connection, &guard, &Source::new("setup.sql", sql)).unwrap();
    assert!(connection.is_autocommit(), "the run left its transaction open");
    let after = dump(connection);
    let answer = query.map(|query| rows(connection, query)).unwrap_or_default();
    Ran { outcome, rows: [before, after], answer }
}

/// The databases of `world`, built in `directory`.
pub(crate) fn workspace(world: &World, directory: &Path) -> Workspace {
    let base = |name: &str, ddl: &str| Base::Schema(Source::new(format!("{name}.sql"), ddl));
    let mut main = base("main", "");
    let mut attached = Vec::new();
    for (name, ddl) in &world.schemas {
        match name {
            None => main = base("main", ddl),
            Some(name) => attached.push(Attached { name: name.clone(), base: base(name, ddl) }),
        }
    }
    let clock = Clock::Fixed(parse_instant("2026-06-01T09:00:00Z").unwrap());
    let made = Workspace::create(directory, &main, &attached, clock, &Seed::new("seawall", None));
    made.unwrap_or_else(|error| panic!("{error}"))
}

/// Every row of every table in every schema, shadow tables and SQLite's own included.
fn dump(connection: &Connection) -> Vec<String> {
    let mut tables = Vec::new();
    for schema in rows(connection, "SELECT name FROM pragma_database_list ORDER BY seq") {
        let listed = format!("SELECT name FROM \"{schema}\".sqlite_schema WHERE type = 'table'");
        tables.push((schema.clone(), "sqlite_schema".to_owned()));
        tables.extend(rows(connection, &listed).into_iter().map(|table| (schema.clone(), table)));
    }
    let mut dumped = Vec::new();
    for (schema, table) in tables {
        let all = rows(connection, &format!("SELECT * FROM \"{schema}\".\"{}\"", table.replace('"', "\"\"")));
        dumped.extend(all.into_iter().map(|row| format!("{schema}.{table}: {row}")));
    }
    dumped
}

/// The rows of `query`, or the error as the only row.
fn rows(connection: &Connection, query: &str) -> Vec<String> {
    let all = || -> seawall::rusqlite::Result<Vec<String>> {
        let mut prepared = connection.prepare(query)?;
        let columns = prepared.column_count();
        let mut rows = prepared.query([])?;
        let mut shown = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = (0..columns).map(|column| Ok(cell(&row.get(column)?)));
            shown.push(cells.collect::<seawall::rusqlite::Result<Vec<_>>>()?.join(" | "));
        }
        Ok(shown)
    };
    all().unwrap_or_else(|error| vec![error.to_string()])
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
