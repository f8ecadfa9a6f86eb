//! Ways past a policy that were open once, and what was refused or hung by mistake.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use std::process::Command;

use rusqlite::Connection;
use seawall::Guard;
use seawall::policy::{Policy, PolicyBuilder};
use seawall::setup::{self, Verdict};
use seawall::source::Source;

const WORLD: &str = "
    CREATE TABLE t(a, b);
    CREATE TABLE got(x);
    CREATE VIEW closed AS SELECT a, b FROM t;
    CREATE VIEW counted AS SELECT count(*) AS n FROM closed;
    CREATE VIEW alike AS SELECT a AS closed FROM t;
    CREATE TABLE wr(open, hid, PRIMARY KEY(hid, open)) WITHOUT ROWID;
    CREATE VIRTUAL TABLE ft USING fts5(body, title);
    CREATE VIRTUAL TABLE \"words (of ft)\" USING fts5vocab(ft, row);
    CREATE VIRTUAL TABLE f4 USING fts4(body);
    CREATE VIRTUAL TABLE f4words USING fts4aux(f4);
    INSERT INTO t VALUES (1, 2);
    INSERT INTO wr VALUES (1, 2);
    INSERT INTO ft VALUES ('alpha', 'beta');
    INSERT INTO f4 VALUES ('gamma');";

fn closing(rules: &[&str]) -> PolicyBuilder {
    let policy = Policy::builder().extends(Policy::builtin("setup_sql").unwrap());
    rules.iter().fold(policy, |policy, rule| policy.deny_rows(rule).unwrap())
}

/// The code of what came of it, or `ok`.
fn verdict(policy: PolicyBuilder, sql: &str) -> String {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(WORLD).unwrap();
    let guard = Guard::new(policy.build().unwrap(), "setup_sql");
    let outcome = setup::run(&mut connection, &guard, &Source::new("setup.sql", sql)).unwrap();
    match outcome.verdict {
        Verdict::Ok => "ok".to_owned(),
        Verdict::Refused(refusals) => refusals.first().unwrap().code.word().to_owned(),
        Verdict::Failed(failure) => failure.code.word().to_owned(),
    }
}

fn each(rules: &[&str], expected: &str, statements: &[&str]) {
    for sql in statements {
        assert_eq!(verdict(closing(rules), sql), expected, "{sql}");
    }
}

#[test]
fn a_closed_view_stays_closed_beside_a_cte_of_its_name() {
    let closed = ["read on closed"];
    each(
        &closed,
        "read-denied",
        &[
            "WITH closed AS (SELECT count(*) AS n FROM main.closed) INSERT INTO got SELECT n FROM closed",
            "WITH q AS (WITH closed AS (SELECT 1 AS n) SELECT n FROM closed)
             INSERT INTO got SELECT (SELECT count(*) FROM closed) FROM q",
            "INSERT INTO got WITH closed AS (SELECT 1 AS n) SELECT n FROM closed
             RETURNING (SELECT count(*) FROM closed)",
        ],
    );
    each(
        &closed,
        "ok",
        &[
            "WITH closed AS (SELECT 1 AS n) INSERT INTO got SELECT count(*) FROM closed",
            "WITH q AS (WITH closed AS (SELECT 1 AS n) SELECT count(*) AS n FROM closed)
             INSERT INTO got SELECT n FROM q",
            "INSERT INTO got WITH closed AS (SELECT 1 AS n) SELECT count(*) FROM closed",
        ],
    );
}

#[test]
fn a_vocabulary_table_is_closed_with_the_full_text_table_whose_words_it_tells() {
    let tells = [
        "INSERT INTO got SELECT term FROM \"words (of ft)\"",
        "INSERT INTO got SELECT count(*) FROM \"words (of ft)\"",
        "INSERT INTO got SELECT count(*) FROM (SELECT 'alpha' AS term) JOIN \"words (of ft)\" USING (term)",
        "INSERT INTO got SELECT count(*) FROM (SELECT 'alpha' AS term) NATURAL JOIN \"words (of ft)\"",
    ];
    each(&["read on ft"], "read-denied", &tells);
    each(&["read on ft(body)"], "read-denied", &tells);
    each(&["read on t"], "ok", &tells[..2]);
    each(&["read on f4"], "read-denied", &["INSERT INTO got SELECT term FROM f4words"]);
}

#[test]
fn a_hidden_key_of_a_table_without_rowid_stays_hidden_whatever_the_table_is_called() {
    each(
        &["read on wr(hid)"],
        "read-denied",
        &[
            "INSERT INTO got SELECT count(*) FROM (SELECT 2 AS hid) JOIN wr USING (hid)",
            "INSERT INTO got SELECT count(*) FROM (SELECT 2 AS hid) NATURAL JOIN wr",
        ],
    );
}

#[test]
fn an_integrity_check_may_connect_the_virtual_tables_that_it_checks() {
    each(&[], "ok", &["PRAGMA integrity_check", "PRAGMA quick_check"]);
}

#[test]
fn thousands_of_double_quoted_strings_are_told_of_in_a_moment() {
    let words: Vec<String> = (0..20_000).map(|i| format!("(\"word {i}\")")).collect();
    let sql = format!("INSERT INTO got VALUES {}", words.join(", "));
    let begun = std::time::Instant::now();
    assert_eq!(verdict(closing(&[]), &sql), "ok");
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn a_failure_quotes_no_more_of_a_text_than_an_excerpt_does() {
    let mut connection = Connection::open_in_memory().unwrap();
    let guard = Guard::new(closing(&[]).build().unwrap(), "setup_sql");
    let sql = "'".repeat(100_001);
    let outcome = setup::run(&mut connection, &guard, &Source::new("setup.sql", &*sql)).unwrap();
    let length = match &outcome.verdict {
        Verdict::Failed(failure) => failure.to_string().len(),
        _ => usize::MAX,
    };
    assert!(length < 1_000, "{length}");
}

#[test]
fn a_query_without_an_end_is_stopped_and_the_report_stands() {
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let directory = tempfile::tempdir().unwrap();
    let schema = directory.path().join("schema.sql");
    std::fs::write(&schema, "CREATE TABLE t(a);").unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_seawall"))
        .args(["run", "--format", "json", "--sql", "INSERT INTO t VALUES (1)", "--query", sql, "--schema"])
        .arg(&schema)
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["outcome"], "ok");
    let error = report["query"]["error"].as_str().unwrap();
    assert!(error.contains("steps") || error.contains("30s"), "{error}");
}

#[test]
fn a_view_whose_text_is_no_utf8_does_not_open_what_other_views_join_by_name() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE TABLE t(a); CREATE TABLE hidden(a); CREATE TABLE got(x);
             CREATE VIEW joined AS SELECT 1 AS n FROM t NATURAL JOIN hidden;
             CREATE VIEW odd AS SELECT 'e' AS n;
             PRAGMA writable_schema = on;
             UPDATE sqlite_schema SET sql = replace(sql, 'e'' ', CAST(x'e92720' AS TEXT)) WHERE name = 'odd';
             PRAGMA writable_schema = reset;",
        )
        .unwrap();
    let guard = Guard::new(closing(&["read on hidden"]).build().unwrap(), "setup_sql");
    let source = Source::new("setup.sql", "INSERT INTO got SELECT count(*) FROM joined");
    let outcome = setup::run(&mut connection, &guard, &source).unwrap();
    assert!(matches!(outcome.verdict, Verdict::Refused(_)), "{:?}", outcome.verdict);
}

#[test]
fn a_closed_view_stays_closed_behind_an_open_one() {
    let closed = ["read on closed"];
    let counts = ["INSERT INTO got SELECT n FROM counted", "INSERT INTO got SELECT count(*) FROM counted"];
    each(&closed, "read-denied", &counts);
    each(&closed, "ok", &["INSERT INTO got SELECT closed FROM alike"]);
}
