//! The JSON object and the exit statuses.

use serde_json::{Value, json};

use crate::{Stand, code, message};

const KEYS: [&str; 8] =
    ["outcome", "statement", "statements", "code", "message", "refusals", "report", "query"];
const REFUSAL: [&str; 11] =
    ["statement", "code", "message", "reason", "fix", "span", "line", "column", "origin", "ground", "rule"];

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn every_key_is_always_there() {
    let stand =
        Stand::new("CREATE TABLE t(id INTEGER PRIMARY KEY REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED)");
    for (sql, outcome, statement) in [
        ("INSERT INTO t VALUES (1)", "ok", json!(null)),
        ("SELECT 1; DROP TABLE t", "refused", json!(2)),
        ("SELECT 1; SELECT nothing", "failed", json!(2)),
        ("", "ok", json!(null)),
    ] {
        let answer = stand.sql(sql, &[]);
        assert_eq!(keys(&answer), KEYS, "{sql}");
        assert_eq!((&answer["outcome"], &answer["statement"]), (&json!(outcome), &statement), "{sql}");
        assert_eq!(answer["query"], Value::Null);
        assert_eq!(answer["report"].is_null(), outcome != "ok", "{sql}");
        assert!(answer["refusals"].is_array());
        for refusal in answer["refusals"].as_array().unwrap() {
            assert_eq!(keys(refusal), REFUSAL);
        }
    }
}

#[test]
fn the_first_refusal_is_repeated_at_the_top_and_all_are_told() {
    let stand = Stand::new("CREATE TABLE t(a)");
    let answer =
        stand.sql("SELECT 1; VACUUM; BEGIN; INSERT INTO t VALUES (?1); SELECT sqlite_version()", &[]);
    let refusals = answer["refusals"].as_array().unwrap();
    let told: Vec<_> =
        refusals.iter().map(|r| (r["statement"].clone(), r["code"].as_str().unwrap())).collect();
    assert_eq!(
        told,
        [
            (json!(2), "maintenance"),
            (json!(3), "transaction-control"),
            (json!(4), "bind-parameter"),
            (json!(5), "function-not-allowed"),
        ]
    );
    for key in ["statement", "code", "message"] {
        assert_eq!(answer[key], refusals[0][key], "{key}");
    }
    assert_eq!(answer["statements"], 5);
    assert!(message(&answer).starts_with("setup_sql statement 2 of 5 was refused: "), "{}", message(&answer));
}

#[test]
fn a_rule_is_named_by_its_file_as_given_and_its_line() {
    let stand = Stand::new("CREATE TABLE t(a)");
    std::fs::create_dir(stand.path("rules")).unwrap();
    let yaml = "seawall: 1\nextends: builtin:setup_sql\nrows:\n  deny:\n    - rule: insert on t\n      reason: it is closed\n      fix: leave it\n";
    stand.write("rules/policy.yaml", yaml);
    let answer = stand.sql("INSERT INTO t VALUES (1)", &["--policy", "rules/policy.yaml"]);
    let refusal = &answer["refusals"][0];
    assert_eq!((&refusal["ground"], &refusal["origin"]), (&json!("rule"), &json!("caller")));
    assert_eq!(
        (&refusal["rule"]["file"], &refusal["rule"]["line"]),
        (&json!("rules/policy.yaml"), &json!(5))
    );
    assert!(message(&answer).contains("it is closed"), "{}", message(&answer));
}

#[test]
fn a_query_that_is_refused_or_fails_answers_an_error_and_leaves_the_status() {
    let stand = Stand::new("CREATE TABLE t(a)");
    let run = |sql: &str, query: &str| {
        stand.run(&["--db", "given.db", "--sql", sql, "--query", query, "--format", "json"])
    };
    for query in [
        "DELETE FROM t",
        "SELECT nothing",
        "SELECT 1; SELECT 2",
        "DROP TABLE t",
        "SELECT load_extension('x')",
    ] {
        let ran = run("INSERT INTO t VALUES (1)", query);
        let answer = ran.json();
        assert_eq!((ran.status, &answer["outcome"]), (0, &json!("ok")), "{query}");
        assert_eq!(keys(&answer["query"]), ["error"], "{query}");
    }
    let ran = run("DROP TABLE t", "SELECT count(*) AS n FROM t");
    assert_eq!((ran.status, &ran.json()["query"]), (4, &json!({"columns": ["n"], "rows": [[0]]})));
}

#[test]
fn the_exit_status_says_what_happened() {
    let stand = Stand::new("CREATE TABLE t(a)");
    let run = |args: &[&str]| stand.run(args).status;
    let db = ["--db", "given.db"];
    let with = |more: &[&str]| run(&[&db[..], more].concat());
    assert_eq!(with(&["--sql", "INSERT INTO t VALUES (1)"]), 0);
    assert_eq!(run(&["--db", "missing.db", "--sql", "SELECT 1"]), 1);
    assert_eq!(with(&[]), 2, "no text");
    assert_eq!(run(&["--sql", "SELECT 1"]), 2, "no database");
    assert_eq!(with(&["--sql", "SELECT 1", "--sql-file", "x.sql"]), 2, "two texts");
    assert_eq!(with(&["--sql", "SELECT 1", "--now", "yesterday"]), 2);
    assert_eq!(with(&["--sql", "SELECT 1", "--seed", "x"]), 2);
    assert_eq!(with(&["--sql", "SELECT 1", "--format", "xml"]), 2);
    stand.write("policy.yaml", "seawall: 1\nrows: {allow: [reed on t]}\n");
    assert_eq!(with(&["--sql", "SELECT 1", "--policy", "policy.yaml"]), 3);
    assert_eq!(with(&["--sql", "SELECT 1", "--policy", "builtin:nothing"]), 3);
    assert_eq!(with(&["--sql", "DROP TABLE t"]), 4);
    assert_eq!(with(&["--sql", "SELECT nothing"]), 4);
}

#[test]
fn the_text_may_come_from_standard_input() {
    use std::io::Write;
    let stand = Stand::new("CREATE TABLE t(a)");
    let mut command =
        stand.command(&["--db", "given.db", "-", "--format", "json", "--query", "SELECT a FROM t"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"INSERT INTO t VALUES ('from stdin')").unwrap();
    let ran = crate::Ran::of(&child.wait_with_output().unwrap(), stand.directory.path());
    assert_eq!(ran.json()["query"]["rows"], json!([["from stdin"]]));
}

#[test]
fn values_that_json_lacks_have_a_form() {
    let stand = Stand::new("CREATE TABLE t(a)");
    let query = "SELECT NULL, 1, 1.5, 9e999, 'x', x'00ff', CAST(x'ff' AS TEXT)";
    let answer = stand.sql("SELECT 1", &["--query", query]);
    assert_eq!(answer["query"]["rows"], json!([[null, 1, 1.5, null, "x", {"blob": "00ff"}, "\u{fffd}"]]));
    assert_eq!(code(&answer), "ok");
}

#[test]
fn the_clock_is_what_now_says() {
    let stand = Stand::new("CREATE TABLE t(a DEFAULT CURRENT_TIMESTAMP)");
    let more = ["--now", "2026-06-01T09:00:00Z", "--query", "SELECT a, date('now') FROM t"];
    let answer = stand.sql("INSERT INTO t DEFAULT VALUES", &more);
    assert_eq!(answer["query"]["rows"], json!([["2026-06-01 09:00:00", "2026-06-01"]]));
}
