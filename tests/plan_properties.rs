//! A plan is the difference of all rows before and after, and a report adds up to it, whatever runs.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use seawall::rusqlite::Connection;
use seawall::setup::plan::{Cell, Change, Plan};
use seawall::setup::report::Report;
use seawall::setup::{self, Outcome};
use seawall::source::Source;
use seawall::{Guard, Policy};

const SCHEMA: &str = "
    PRAGMA foreign_keys = ON;
    CREATE TABLE a (id INTEGER PRIMARY KEY, x UNIQUE, y REAL, twice AS (y * 2));
    CREATE TABLE b (k TEXT, v, j INT, a_id INTEGER REFERENCES a ON DELETE CASCADE ON UPDATE SET NULL, PRIMARY KEY (j, k)) WITHOUT ROWID;
    CREATE TABLE c (u TEXT PRIMARY KEY COLLATE NOCASE, v, parent TEXT REFERENCES c ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE d (x, y);
    CREATE VIRTUAL TABLE f USING fts5 (t, n);
    CREATE TRIGGER a_new AFTER INSERT ON a BEGIN INSERT INTO d VALUES (new.id, new.x); END;
    CREATE TRIGGER a_gone BEFORE DELETE ON a BEGIN DELETE FROM d WHERE x = old.id; DELETE FROM f WHERE rowid = old.id; END;
    CREATE TRIGGER b_changed AFTER UPDATE OF v ON b BEGIN UPDATE OR IGNORE a SET x = new.v WHERE id = new.j; END;
    CREATE TRIGGER d_new AFTER INSERT ON d WHEN new.x = 2 BEGIN INSERT OR REPLACE INTO f (rowid, t, n) VALUES (2, new.y, new.x); END;
    INSERT INTO a (id, x, y) VALUES (1, 'one', 1), (2, 'two', 2.5), (3, NULL, NULL);
    INSERT INTO b (k, v, j, a_id) VALUES ('k', 1, 1, 1), ('k', x'00', 2, 2), ('l', NULL, 1, 3);
    INSERT INTO c VALUES ('p', 0, NULL), ('q', '', 'p'), ('r', 1.5, 'q'), (NULL, 'no key', NULL);
    INSERT INTO f (rowid, t, n) VALUES (1, 'apple', 1), (5, 'pear', NULL);";

/// The tables with what identifies a row, its columns, and a statement's guess of a column to change.
const TABLES: [(&str, &[&str], &[&str]); 5] = [
    ("a", &["id"], &["id", "x", "y", "twice"]),
    ("b", &["j", "k"], &["k", "v", "j", "a_id"]),
    ("c", &["u"], &["u", "v", "parent"]),
    ("d", &[], &["x", "y"]),
    ("f", &[], &["t", "n"]),
];

fn value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "NULL", "0", "1", "2", "3", "1.0", "2.5", "''", "'one'", "'k'", "'p'", "'P'", "'q'", "'pear'", "x''",
        "x'00'", "-1e300",
    ])
}

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["1", "2", "3", "4", "5"])
}

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["'k'", "'l'", "'p'", "'P'", "'q'", "'r'", "NULL"])
}

fn statement() -> impl Strategy<Value = String> {
    let or = || prop::sample::select(vec!["", "OR REPLACE ", "OR IGNORE "]);
    prop_oneof![
        (or(), key(), value(), value())
            .prop_map(|(or, id, x, y)| format!("INSERT {or}INTO a (id, x, y) VALUES ({id}, {x}, {y})")),
        (or(), word(), value(), key(), key())
            .prop_map(|(or, k, v, j, a)| format!("INSERT {or}INTO b VALUES ({k}, {v}, {j}, {a})")),
        (or(), word(), value(), word())
            .prop_map(|(or, u, v, p)| format!("INSERT {or}INTO c VALUES ({u}, {v}, {p})")),
        (value(), value()).prop_map(|(x, y)| format!("INSERT INTO d VALUES ({x}, {y}), ({y}, {x})")),
        (or(), key(), value())
            .prop_map(|(or, id, t)| format!("INSERT {or}INTO f (rowid, t) VALUES ({id}, {t})")),
        (key(), value()).prop_map(|(id, x)| format!(
            "INSERT INTO a (id, x) VALUES ({id}, {x}) ON CONFLICT DO UPDATE SET y = y + 1"
        )),
        (or(), key(), value(), key())
            .prop_map(|(or, id, x, old)| format!("UPDATE {or}a SET id = {id}, x = {x} WHERE id = {old}")),
        (value(), key()).prop_map(|(y, id)| format!("UPDATE a SET y = {y} WHERE id <= {id}")),
        (or(), word(), value(), key())
            .prop_map(|(or, k, v, j)| format!("UPDATE {or}b SET k = {k}, v = {v} WHERE j = {j}")),
        (or(), word(), word()).prop_map(|(or, u, old)| format!("UPDATE {or}c SET u = {u} WHERE u IS {old}")),
        (value(), value()).prop_map(|(x, y)| format!("UPDATE d SET x = {x} WHERE y IS NOT {y}")),
        (value(), key(), key())
            .prop_map(|(t, id, old)| format!("UPDATE f SET t = {t}, rowid = {id} WHERE rowid = {old}")),
        (value(), key()).prop_map(|(t, id)| format!("UPDATE f SET t = {t} WHERE rowid = {id}")),
        key().prop_map(|id| format!("DELETE FROM a WHERE id = {id}")),
        key().prop_map(|j| format!("DELETE FROM b WHERE j = {j}")),
        word().prop_map(|u| format!("DELETE FROM c WHERE u IS {u}")),
        Just("DELETE FROM d".to_owned()),
        key().prop_map(|id| format!("DELETE FROM f WHERE rowid = {id}")),
    ]
}

type Row = Vec<(String, Cell)>;

/// A table's rows by their keys.
fn rows(connection: &Connection, table: &str, key: &[&str], columns: &[&str]) -> BTreeMap<String, Row> {
    let rowid = if table == "b" { "NULL" } else { "rowid" };
    let sql = format!("SELECT {rowid}, {} FROM {table}", columns.join(", "));
    let mut list = connection.prepare(&sql).unwrap();
    let mut rows = list.query([]).unwrap();
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next().unwrap() {
        let rowid = Cell::from(row.get_ref(0).unwrap());
        let cells: Row = columns
            .iter()
            .enumerate()
            .map(|(i, name)| ((*name).to_owned(), Cell::from(row.get_ref(i + 1).unwrap())))
            .collect();
        let keys: Row =
            key.iter().map(|name| cells.iter().find(|(n, _)| n == name).unwrap().clone()).collect();
        let whole = !keys.is_empty() && keys.iter().all(|(_, cell)| *cell != Cell::Null);
        let key = if whole { keys } else { vec![("rowid".to_owned(), rowid)] };
        assert!(found.insert(format!("{key:?}"), cells).is_none());
    }
    found
}

fn all(connection: &Connection) -> Vec<BTreeMap<String, Row>> {
    TABLES.iter().map(|(table, key, columns)| rows(connection, table, key, columns)).collect()
}

/// What changed between two states of one table, in the form of a plan's rows.
fn difference(
    before: &BTreeMap<String, Row>,
    after: &BTreeMap<String, Row>,
) -> BTreeMap<String, (Change, Option<Row>, Option<Row>)> {
    let mut found = BTreeMap::new();
    for (key, old) in before {
        match after.get(key) {
            None => {
                found.insert(key.clone(), (Change::Delete, Some(old.clone()), None));
            }
            Some(new) if new != old => {
                let changed = |row: &Row| -> Row {
                    let differs = old.iter().zip(new).map(|(a, b)| a != b);
                    row.iter()
                        .zip(differs)
                        .filter(|(_, differs)| *differs)
                        .map(|(cell, _)| cell.clone())
                        .collect()
                };
                found.insert(key.clone(), (Change::Update, Some(changed(old)), Some(changed(new))));
            }
            Some(_) => {}
        }
    }
    for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
        found.insert(key.clone(), (Change::Insert, None, Some(new.clone())));
    }
    found
}

fn planned(plan: &Plan, table: &str) -> BTreeMap<String, (Change, Option<Row>, Option<Row>)> {
    let Some(found) = plan.tables.iter().find(|found| found.table == *table) else { return BTreeMap::new() };
    assert_eq!((found.more.sum(), found.beyond, found.total.sum()), (0, 0, found.rows.len() as u64));
    let told = found.rows.iter();
    told.map(|row| {
        (format!("{:?}", row.key.as_ref().unwrap()), (row.change, row.before.clone(), row.after.clone()))
    })
    .collect()
}

/// Rows inserted less rows deleted, by the report.
fn grown(report: &Report, table: &str) -> i64 {
    let tables = report.tables();
    let of_table = tables.iter().filter(|rows| rows.table == *table);
    of_table
        .map(|rows| {
            i64::try_from(rows.counts.inserted.unwrap()).unwrap()
                - i64::try_from(rows.counts.deleted.unwrap()).unwrap()
        })
        .sum()
}

fn world() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    connection
}

fn check(statements: &[String]) -> Outcome {
    let guard = Guard::new(Policy::builtin("setup_sql").unwrap(), "setup_sql");
    let source = Source::new("setup.sql", statements.join(";\n"));
    let (mut kept, mut undone) = (world(), world());
    let before = all(&kept);
    let outcome = setup::run(&mut kept, &guard, &source).unwrap();
    let (again, plan) = setup::plan(&mut undone, &guard, &source, 10_000).unwrap();
    assert_eq!(outcome, again);
    assert_eq!(all(&undone), before, "a plan keeps nothing");
    let after = all(&kept);
    let Some(plan) = plan else {
        assert!(!outcome.is_ok() && after == before);
        return outcome;
    };
    for ((table, ..), (before, after)) in TABLES.iter().zip(before.iter().zip(&after)) {
        assert_eq!(planned(&plan, table), difference(before, after), "{table}\n{}", source.text());
        assert_eq!(
            grown(&outcome.report, table),
            after.len() as i64 - before.len() as i64,
            "{table}\n{}",
            source.text()
        );
    }
    outcome
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_is_the_difference_of_all_rows_and_a_report_adds_up_to_it(
        statements in prop::collection::vec(statement(), 1..7)
    ) {
        check(&statements);
    }
}

#[test]
fn most_of_such_texts_run() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let texts = prop::collection::vec(statement(), 1..4);
    let ok = (0..60).filter(|_| check(&texts.new_tree(&mut runner).unwrap().current()).is_ok()).count();
    assert!(ok > 20, "{ok} of 60");
}
