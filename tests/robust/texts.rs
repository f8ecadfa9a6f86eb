//! Texts that break readers.

use seawall::policy::{Limits, Policy};
use seawall::setup;
use seawall::source::Source;
use seawall::{Guard, Outcome};
use serde_json::json;

use crate::{Stand, code, message};

const TABLE: &str = "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'one')";
const COUNT: [&str; 2] = ["--query", "SELECT count(*) FROM t"];

#[test]
fn a_nul_byte_is_refused_where_it_stands() {
    let stand = Stand::new(TABLE);
    stand.write("setup.sql", b"INSERT INTO t(a) VALUES (1);\nINSERT INTO t(a) VALUES ('a\0b');");
    let outcome = stand
        .run(&["--db", "given.db", "--sql-file", "setup.sql", "--format", "json", COUNT[0], COUNT[1]])
        .json();
    assert_eq!(code(&outcome), "nul-byte");
    assert_eq!((&outcome["statement"], &outcome["refusals"][0]["line"]), (&json!(2), &json!(2)));
    assert_eq!(outcome["query"]["rows"], json!([[1]]));
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_statement() {
    let stand = Stand::new(TABLE);
    stand.write("setup.sql", "\u{feff}INSERT INTO t(a) VALUES (2); DROP TABLE t;");
    let outcome = stand.run(&["--db", "given.db", "--sql-file", "setup.sql", "--format", "json"]).json();
    assert_eq!((code(&outcome), &outcome["statement"]), ("schema-change", &json!(2)));
    stand.write("setup.sql", "\u{feff}INSERT INTO t(a) VALUES (2)");
    let outcome = stand.run(&["--db", "given.db", "--sql-file", "setup.sql", "--format", "json"]).json();
    assert_eq!(outcome["outcome"], "ok");
    stand.write("setup.sql", "\u{feff}DROP TABLE t");
    let outcome = stand.run(&["--db", "given.db", "--sql-file", "setup.sql", "--format", "json"]).json();
    assert_eq!(code(&outcome), "schema-change");
}

#[test]
fn a_file_that_is_not_utf8_is_named_with_the_line() {
    let stand = Stand::new(TABLE);
    stand.write("setup.sql", b"INSERT INTO t(a)\nVALUES ('\xe9t\xe9');");
    stand
        .run(&["--db", "given.db", "--sql-file", "setup.sql"])
        .tool_failed("setup.sql:2: the file is not UTF-8");
}

#[test]
fn lines_that_end_in_cr_lf_are_counted_once() {
    let stand = Stand::new(TABLE);
    let sql = "INSERT INTO t(a) VALUES (2);\r\n\r\n  DROP TABLE t;\r\n";
    let outcome = stand.sql(sql, &[]);
    let refusal = &outcome["refusals"][0];
    assert_eq!(
        (&refusal["line"], &refusal["column"], &refusal["statement"]),
        (&json!(3), &json!(3), &json!(2))
    );
    let span = (refusal["span"][0].as_u64().unwrap() as usize, refusal["span"][1].as_u64().unwrap() as usize);
    assert_eq!(&sql[span.0..span.1], "DROP TABLE");
}

#[test]
fn what_is_not_closed_fails_and_leaves_the_rows() {
    let stand = Stand::new(TABLE);
    for (sql, codes) in [
        ("INSERT INTO t(a) VALUES (2); INSERT INTO t(a) VALUES ('open", "sqlite-syntax"),
        ("INSERT INTO t(a) VALUES (2); INSERT INTO \"t(a) VALUES (3)", "sqlite-syntax"),
        ("INSERT INTO t(a) VALUES (2); SELECT [a FROM t", "sqlite-syntax"),
        ("INSERT INTO t(a) VALUES (2); INSERT INTO t(a) VALUES (3 /* open", "sqlite-syntax"),
    ] {
        let outcome = stand.sql(sql, &COUNT);
        assert_eq!((outcome["outcome"].as_str().unwrap(), code(&outcome)), ("failed", codes), "{sql}");
        assert_eq!(outcome["statement"], 2, "{sql}");
        assert_eq!(outcome["query"]["rows"], json!([[1]]), "{sql}");
    }
    // SQLite lets a comment run to the end of the text.
    let outcome = stand.sql("INSERT INTO t(a) VALUES (2); /* open ; DROP TABLE t", &COUNT);
    assert_eq!((&outcome["outcome"], &outcome["query"]["rows"]), (&json!("ok"), &json!([[2]])));
}

#[test]
fn a_text_without_a_statement_is_fine() {
    let stand = Stand::new(TABLE);
    for sql in ["", " \r\n\t", ";;; ;", "-- nothing", "/* nothing */ ;", "\u{feff}"] {
        let outcome = stand.sql(sql, &[]);
        assert_eq!((&outcome["outcome"], &outcome["statements"]), (&json!("ok"), &json!(0)), "{sql:?}");
    }
}

/// A run in this process, on a table in memory.
fn in_memory(sql: String, limits: Limits) -> (Outcome, i64) {
    let mut connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE t(a, b)").unwrap();
    let policy =
        Policy::builder().extends(Policy::builtin("setup_sql").unwrap()).limits(limits).build().unwrap();
    let guard = Guard::new(policy, "setup_sql");
    let outcome = setup::run(&mut connection, &guard, &Source::new("setup.sql", sql)).unwrap();
    let rows = connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
    (outcome, rows)
}

#[test]
fn a_text_of_sixteen_mebibytes_runs_and_one_byte_more_is_beyond_the_limit() {
    let row = "INSERT INTO t(b) VALUES ('";
    let end = "');";
    let at_bound = |extra: usize| {
        let fill = 16 * 1024 * 1024 - row.len() - end.len() + extra;
        format!("{row}{}{end}", "x".repeat(fill))
    };
    let (outcome, rows) = in_memory(at_bound(0), Limits::default());
    assert_eq!((outcome.message(), rows), (None, 1));
    let (outcome, rows) = in_memory(at_bound(1), Limits::default());
    assert_eq!((outcome.code().unwrap().word(), rows), ("limit-text", 0));
    assert!(outcome.message().unwrap().contains("16 MiB") || outcome.message().unwrap().contains("16MiB"));
}

#[test]
fn a_hundred_thousand_statements_run_where_the_policy_allows_as_many() {
    let limits = Limits { statements: Some(100_000), ..Limits::default() };
    let (outcome, rows) = in_memory("INSERT INTO t(a) VALUES (1);\n".repeat(100_000), limits.clone());
    assert_eq!((outcome.message(), outcome.statements, rows), (None, 100_000, 100_000));
    let (outcome, rows) = in_memory("INSERT INTO t(a) VALUES (1);".repeat(100_001), limits);
    assert_eq!((outcome.code().unwrap().word(), rows), ("limit-statements", 0));
}

#[test]
fn a_million_semicolons_in_one_literal_split_nothing() {
    let text = |quote: &str| format!("INSERT INTO t(a) VALUES ({quote}{}{quote})", ";".repeat(1_000_000));
    let (outcome, rows) = in_memory(text("'"), Limits::default());
    assert_eq!((outcome.message(), outcome.statements, rows), (None, 1, 1));
    let (outcome, rows) = in_memory(format!("/*{}*/ SELECT 1", ";".repeat(1_000_000)), Limits::default());
    assert_eq!((outcome.message(), outcome.statements, rows), (None, 1, 0));
    let (outcome, _) = in_memory(";".repeat(1_000_000), Limits::default());
    assert_eq!((outcome.message(), outcome.statements), (None, 0));
}

#[test]
fn deep_nesting_is_judged_by_sqlite_alone() {
    let nested =
        |depth: usize| format!("INSERT INTO t(a) VALUES ({}1{})", "(".repeat(depth), ")".repeat(depth));
    let (outcome, rows) = in_memory(nested(500), Limits::default());
    assert_eq!((outcome.message(), rows), (None, 1));
    let (outcome, rows) = in_memory(nested(1_200), Limits::default());
    let code = outcome.code().map_or("ok", seawall::diagnostic::Code::word);
    assert!(matches!((code, rows), ("ok", 1) | ("sqlite-error", 0)), "{:?}", outcome.message());
    let (outcome, _) = in_memory(format!("SELECT {}1", "NOT ".repeat(100_000)), Limits::default());
    assert!(!outcome.is_ok());
    let (outcome, _) = in_memory(format!("SELECT 1{}", " + 1".repeat(100_000)), Limits::default());
    assert!(!outcome.is_ok());
    let selects = format!("{}SELECT 1{}", "SELECT (".repeat(1_200), ")".repeat(1_200));
    assert!(!in_memory(selects, Limits::default()).0.is_ok());
}

#[test]
fn a_refusal_of_a_long_statement_shows_its_beginning() {
    let stand = Stand::new(TABLE);
    let outcome = stand.sql(&format!("CREATE TABLE x({}z)", "a,\n  b, ".repeat(2_000)), &[]);
    assert_eq!(code(&outcome), "schema-change");
    assert!(message(&outcome).len() < 700, "{}", message(&outcome));
}
