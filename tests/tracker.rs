//! The tracker fixture is sound SQL before any policy judges it.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use rusqlite::Connection;

const SCHEMA: &str = include_str!("../fixtures/tracker/schema.sql");
const GOOD: &str = include_str!("../fixtures/tracker/good.sql");

fn tracker() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch("PRAGMA foreign_keys = on").unwrap();
    conn.execute_batch(SCHEMA).unwrap();
    conn
}

fn count(conn: &Connection, sql: &str) -> i64 {
    conn.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn the_schema_loads_with_rows_that_keep_its_own_rules() {
    let conn = tracker();
    assert_eq!(count(&conn, "SELECT count(*) FROM issues"), 4);
    assert_eq!(count(&conn, "SELECT count(*) FROM open_issues"), 3);
    assert_eq!(count(&conn, "SELECT count(*) FROM audit_log"), 4);
    assert_eq!(count(&conn, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_eq!(count(&conn, "SELECT count(*) FROM issues_fts WHERE issues_fts MATCH 'clock'"), 1);
    conn.execute_batch("INSERT INTO issues_fts (issues_fts, rank) VALUES ('integrity-check', 1)").unwrap();
}

#[test]
fn the_good_setup_runs_and_its_deferred_key_holds_at_commit() {
    let conn = tracker();
    conn.execute_batch(&format!("BEGIN; {GOOD} COMMIT;")).unwrap();
    assert_eq!(
        count(&conn, "SELECT count(*) FROM open_issues WHERE ref = 'lighthouse#1' AND assignee = 'noor'"),
        1
    );
    assert_eq!(count(&conn, "SELECT count(*) FROM audit_log WHERE what = 'changed' AND issue_id = 2"), 1);
    assert_eq!(count(&conn, "SELECT count(*) FROM issue_labels WHERE issue_id = 3"), 0);
    assert_eq!(count(&conn, "SELECT max(id) FROM issues"), 5);
    conn.execute_batch("INSERT INTO issues_fts (issues_fts, rank) VALUES ('integrity-check', 1)").unwrap();
}

#[test]
fn without_the_user_the_good_setup_fails_at_commit_only() {
    let conn = tracker();
    let (project, _) = GOOD.split_once("INSERT INTO users").unwrap();
    conn.execute_batch(&format!("BEGIN; {project}")).unwrap();
    let error = conn.execute_batch("COMMIT").unwrap_err();
    assert!(error.to_string().contains("FOREIGN KEY constraint failed"), "{error}");
}
