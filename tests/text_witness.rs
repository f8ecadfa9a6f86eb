//! What the text alone is seen to ask, where SQLite's words and the parser's are not the same.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use rusqlite::Connection;
use seawall::engine::catalog;
use seawall::policy::Policy;
use seawall::request::Resource;
use seawall::source::Span;
use seawall::statement::Statement;
use seawall::text_witness;

const SCHEMA: &str = r#"
    CREATE TABLE t(a, b, "end", "oid");
    CREATE TABLE replace(a);
    CREATE TABLE "left"(a, k);
    CREATE TABLE u(a, k);
    CREATE TABLE keyed(id INTEGER PRIMARY KEY, a);
    CREATE TABLE named(id TEXT PRIMARY KEY, a);
"#;

/// The requests that the text of `sql` shows, in the order of their names.
fn asked(sql: &str) -> String {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    connection.prepare(sql).unwrap();
    let policy = Policy::builtin("setup_sql").unwrap();
    let mut whole = catalog::load(&connection, &policy, &catalog::built_in().unwrap()).unwrap();
    catalog::load_rest(&connection, &mut whole).unwrap();
    let statement = Statement::read(sql, Span::new(0, sql.len()));
    let reading = text_witness::read(&statement, &whole.known, Some(&whole));
    assert_eq!(reading.not_understood, None, "{sql}");
    let mut asked: Vec<String> = reading
        .requests
        .iter()
        .map(|request| match &request.resource {
            Resource::Column { table, column, .. } => format!("{} {table}.{column}", request.action.word()),
            Resource::Table { table, .. } => format!("{} {table}", request.action.word()),
            Resource::Function(name) => format!("{} {name}", request.action.word()),
            other => format!("{other:?}"),
        })
        .collect();
    asked.sort();
    asked.join(", ").to_lowercase()
}

#[test]
fn end_is_a_name_where_it_closes_no_case() {
    assert_eq!(asked("SELECT end FROM t"), "read t, read t.end");
    assert_eq!(asked("SELECT CASE end WHEN end THEN end END end FROM t"), "read t, read t.end");
    assert_eq!(asked("SELECT CASE WHEN 1 THEN CASE WHEN 2 THEN a END END FROM t"), "read t, read t.a");
}

#[test]
fn a_string_beside_a_point_is_a_name() {
    assert_eq!(asked("SELECT 't'.'a', t.'b', 'main'.t.a FROM t"), "read t, read t.a, read t.b");
    assert_eq!(
        asked("SELECT CASE 1 WHEN 't'.a THEN ('t'.b) LIKE (a) ESCAPE 'x' END FROM t"),
        "call like, read t, read t.a, read t.b"
    );
}

#[test]
fn a_string_can_name_a_window() {
    let sql = "SELECT sum(a) OVER 'w', sum(b) OVER ('w') FROM t WINDOW 'w' AS (ORDER BY end), v AS ('w')";
    assert_eq!(asked(sql), "call sum, read t, read t.a, read t.b, read t.end");
}

#[test]
fn a_window_can_stand_right_behind_the_results() {
    assert_eq!(asked("SELECT abs(1) OVER_ WINDOW w AS (ORDER BY 1)"), "call abs");
    assert_eq!(asked("SELECT 1 IS DISTINCT FROM 2 WINDOW w AS (ORDER BY 1)"), "");
}

#[test]
fn replace_is_a_name_where_no_statement_begins() {
    assert_eq!(
        asked("UPDATE replace AS x SET a = replace(a, 1, 2)"),
        "call replace, read replace.a, update replace.a"
    );
}

#[test]
fn a_word_before_join_is_a_name_where_a_table_is_due() {
    assert_eq!(
        asked("SELECT 1 FROM left LEFT JOIN t ON left.k = t.a"),
        "read left, read left.k, read t, read t.a"
    );
    assert_eq!(
        asked("SELECT u.k FROM u WHERE EXISTS (SELECT 1 FROM left) AND 1"),
        "read left, read u, read u.k"
    );
    assert_eq!(asked("SELECT b FROM (SELECT 1 FROM left) JOIN t"), "read left, read t, read t.b");
}

#[test]
fn a_table_behind_in_is_read_as_a_whole() {
    assert_eq!(asked("SELECT (1, 2) IN u"), "read u, read u.a, read u.k");
}

#[test]
fn an_update_with_from_reads_its_target() {
    assert_eq!(asked("UPDATE t SET a = 1 FROM u"), "read t, read u, update t.a");
    assert_eq!(
        asked("UPDATE t SET a = 1 FROM u, replace"),
        "read replace, read replace.a, read t, read u, read u.a, read u.k, update t.a"
    );
}

#[test]
fn a_rowid_is_read_under_the_name_of_its_key() {
    assert_eq!(asked("SELECT rowid FROM keyed"), "read keyed, read keyed.id");
    assert_eq!(asked("UPDATE keyed SET a = keyed.oid"), "read keyed.id, update keyed.a");
    assert_eq!(asked("SELECT rowid FROM named"), "read named, read named.rowid");
}
