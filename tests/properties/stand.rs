//! A database of a generated world, judged and run.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::Value;
use seawall::engine::catalog;
use seawall::engine::open::Hardened;
use seawall::guard::{Judged, Judging, Piece};
use seawall::policy::Policy;
use seawall::ruleset::Ruleset;
use seawall::source::Span;
use seawall::statement::Statement;

use crate::worlds::{World, rows};

/// A connection to the world, filled.
pub(crate) fn open(world: &World) -> Connection {
    salted(world, 0, 0)
}

/// The same; `salt` changes what `secret` holds, `column` what the column `a` of `t` does.
pub(crate) fn salted(world: &World, salt: i64, column: i64) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("PRAGMA foreign_keys = off; ATTACH ':memory:' AS aux").unwrap();
    connection.execute_batch(&world.main).unwrap();
    connection.execute_batch(&world.aux).unwrap();
    // The rows are the world's own; what its triggers refuse or copy is no matter here.
    for sql in rows(salt, column).split_inclusive(';') {
        let _ = connection.execute_batch(sql);
    }
    connection.execute_batch("DELETE FROM log; PRAGMA foreign_keys = on").unwrap();
    connection
}

/// What a judgement comes to: `ready`, `failed`, or the codes of the refusals in their order.
pub(crate) fn verdict(judged: &Judged<'_>) -> String {
    match judged {
        Judged::Ready(_) => "ready".to_owned(),
        Judged::Refused(findings) => {
            let mut codes: Vec<&str> = findings.iter().map(|finding| finding.code.word()).collect();
            codes.sort_unstable();
            format!("refused: {}", codes.join(" "))
        }
        Judged::Failed(_) => "failed".to_owned(),
    }
}

/// The rules of `policy` for the schema of `connection`.
pub(crate) fn ruleset(connection: &Connection, policy: &Arc<Policy>) -> Arc<Ruleset> {
    let known = catalog::built_in().unwrap();
    let catalog = catalog::load(connection, policy, &known).unwrap();
    Arc::new(Ruleset::compile(Arc::clone(policy), Some(Arc::new(catalog))))
}

/// The verdict on one text under each of `policies`, judged as always and by the full way.
pub(crate) fn verdicts(
    connection: &mut Connection,
    policies: &[&Policy],
    sql: &str,
) -> Vec<(String, String)> {
    let held = Hardened::new(connection, &policies[0].limits).unwrap();
    let statement = Statement::read(sql, Span::new(0, sql.len()));
    let judge = |policy: &Arc<Policy>, full: bool| {
        let ruleset = ruleset(held.connection, policy);
        let judging = Judging::new(held.connection, held.recorder.clone(), ruleset).unwrap();
        let mut judging = if full { judging.always_full_way() } else { judging };
        verdict(&judging.judge(&statement))
    };
    let policies = policies.iter().map(|policy| Arc::new((*policy).clone()));
    policies.map(|policy| (judge(&policy, false), judge(&policy, true))).collect()
}

/// The verdict on each of `sqls`, judged in one list where shapes are remembered, and judged anew.
pub(crate) fn remembered(
    connection: &mut Connection,
    policy: &Policy,
    sqls: &[String],
) -> Vec<(String, String)> {
    let policy = Arc::new(policy.clone());
    let held = Hardened::new(connection, &policy.limits).unwrap();
    let judge = || {
        let ruleset = ruleset(held.connection, &policy);
        Judging::new(held.connection, held.recorder.clone(), ruleset).unwrap()
    };
    let mut list = judge();
    let mut found = Vec::new();
    for sql in sqls {
        let span = Span::new(0, sql.len());
        let statement = Statement::read(sql, span);
        let judged = match list.read(sql, span, true) {
            Piece::Known(id) => match list.judge_known(id, sql) {
                Some(ready) => Judged::Ready(ready),
                None => list.judge_by_engine(&statement),
            },
            Piece::Read { id, findings, .. } if findings.is_empty() => list.judge_shaped(&statement, id),
            Piece::Read { .. } => list.judge(&statement),
        };
        let remembered = verdict(&judged);
        drop(judged);
        found.push((remembered, verdict(&judge().judge(&statement))));
    }
    found
}

/// Every row of every table of every database, shadow tables and the schema among them.
pub(crate) type Rows = BTreeMap<String, Vec<Vec<Value>>>;

pub(crate) fn snapshot(connection: &Connection) -> Rows {
    let mut rows = Rows::new();
    for schema in ["main", "aux", "temp"] {
        let list = format!("SELECT name FROM {schema}.sqlite_schema WHERE type = 'table'");
        let mut tables = column(connection, &list);
        tables.push("sqlite_schema".to_owned());
        for table in tables {
            let sql = format!("SELECT * FROM {schema}.\"{table}\"");
            rows.insert(format!("{schema}.{table}"), all(connection, &sql));
        }
        let version = all(connection, &format!("PRAGMA {schema}.user_version"));
        rows.insert(format!("{schema} version"), version);
    }
    rows
}

fn column(connection: &Connection, sql: &str) -> Vec<String> {
    let mut list = connection.prepare(sql).unwrap();
    list.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Every row that `sql` answers.
pub(crate) fn all(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut prepared = connection.prepare(sql).unwrap();
    let width = prepared.column_count();
    let rows = prepared.query_map([], |row| (0..width).map(|i| row.get(i)).collect()).unwrap();
    rows.map(Result::unwrap).collect()
}
