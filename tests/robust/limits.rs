//! Limits, conflict clauses and constraints that end a transaction: all or nothing.

use serde_json::{Value, json};

use crate::{Stand, code, message};

const WORLD: &str = "CREATE TABLE p(id INTEGER PRIMARY KEY, a UNIQUE);
    CREATE TABLE c(id INTEGER PRIMARY KEY, p_id REFERENCES p DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE d(id INTEGER PRIMARY KEY, p_id REFERENCES p);
    CREATE TABLE nokey(a PRIMARY KEY, p_id REFERENCES p DEFERRABLE INITIALLY DEFERRED) WITHOUT ROWID;
    CREATE TRIGGER p_back BEFORE INSERT ON p WHEN new.a = 'back' BEGIN SELECT raise(ROLLBACK, 'not back'); END;
    CREATE TRIGGER p_fail BEFORE INSERT ON p WHEN new.a = 'stop' BEGIN SELECT raise(ABORT, 'not stop'); END;
    INSERT INTO p VALUES (1, 'one');";

const COUNT: [&str; 2] =
    ["--query", "SELECT (SELECT count(*) FROM p), (SELECT count(*) FROM c), count(*) FROM d"];

/// The outcome of a run that must leave every row.
fn fails(stand: &Stand, sql: &str, more: &[&str]) -> Value {
    let outcome = stand.sql(sql, &[more, &COUNT[..]].concat());
    assert_eq!(outcome["outcome"], "failed", "{sql}: {outcome}");
    assert_eq!(outcome["query"]["rows"], json!([[1, 0, 0]]), "{sql}: {outcome}");
    outcome
}

#[test]
fn a_clause_or_trigger_that_rolls_back_undoes_the_whole_run() {
    let stand = Stand::new(WORLD);
    for (sql, wanted) in [
        ("INSERT INTO p VALUES (2, 'two'); INSERT OR ROLLBACK INTO p VALUES (1, 'x')", "sqlite-constraint"),
        (
            "INSERT INTO p VALUES (2, 'two'); INSERT INTO p VALUES (3, 'back'); INSERT INTO p VALUES (4, 4)",
            "sqlite-raise",
        ),
        ("INSERT INTO p VALUES (2, 'two'); INSERT INTO p VALUES (3, 'stop')", "sqlite-raise"),
        ("INSERT INTO p VALUES (2, 'two'); INSERT OR FAIL INTO p VALUES (3, 3), (1, 1)", "sqlite-constraint"),
        ("INSERT INTO p VALUES (2, 'two'); INSERT INTO d VALUES (1, 77)", "sqlite-constraint"),
        ("INSERT INTO p VALUES (2, 'two'); UPDATE OR ROLLBACK p SET a = 'one'", "sqlite-constraint"),
    ] {
        let outcome = fails(&stand, sql, &[]);
        assert_eq!((code(&outcome), &outcome["statement"]), (wanted, &json!(2)), "{sql}");
    }
}

#[test]
fn a_limit_undoes_the_whole_run_and_is_named() {
    let stand = Stand::new(WORLD);
    let endless =
        "INSERT INTO p VALUES (2, 2); WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n)
        INSERT INTO p SELECT i, i FROM n";
    let large = "INSERT INTO p VALUES (2, 2); INSERT INTO p VALUES (3, hex(randomblob(2000)))";
    for (limit, sql, wanted) in [
        ("steps: 100000", endless, "limit-steps"),
        ("time: 50ms", endless, "limit-time"),
        ("value: 1000", large, "limit-value"),
    ] {
        stand.write("policy.yaml", format!("seawall: 1\nextends: builtin:setup_sql\nlimits: {{{limit}}}\n"));
        let outcome = fails(&stand, sql, &["--policy", "policy.yaml"]);
        assert_eq!((code(&outcome), &outcome["statement"]), (wanted, &json!(2)), "{outcome}");
    }
    for (limit, wanted) in [("statements: 1", "limit-statements"), ("text: 20", "limit-text")] {
        stand.write("policy.yaml", format!("seawall: 1\nextends: builtin:setup_sql\nlimits: {{{limit}}}\n"));
        let outcome = fails(&stand, "INSERT INTO p VALUES (2, 2); SELECT 1", &["--policy", "policy.yaml"]);
        assert_eq!((code(&outcome), &outcome["statement"]), (wanted, &Value::Null), "{outcome}");
    }
}

#[test]
fn many_short_statements_reach_the_limit_of_steps_together() {
    let stand = Stand::new(WORLD);
    stand.write("policy.yaml", "seawall: 1\nextends: builtin:setup_sql\nlimits: {steps: 2000}\n");
    let sql: Vec<String> = (2..400).map(|i| format!("INSERT INTO p VALUES ({i}, {i})")).collect();
    let run = || fails(&stand, &sql.join(";"), &["--policy", "policy.yaml"]);
    let outcome = run();
    assert_eq!(code(&outcome), "limit-steps");
    assert!(outcome["statement"].as_u64().unwrap() > 20, "{outcome}");
    assert_eq!(run()["statement"], outcome["statement"], "the count repeats exactly");
}

#[test]
fn a_commit_that_fails_names_table_row_and_parent() {
    let stand = Stand::new(WORLD);
    let outcome = fails(&stand, "INSERT INTO p VALUES (2, 2); INSERT INTO c VALUES (5, 77); SELECT 1", &[]);
    assert_eq!((code(&outcome), &outcome["statement"]), ("commit-foreign-key", &Value::Null));
    assert!(
        message(&outcome)
            .starts_with("setup_sql failed at commit: row 5 of c has p_id 77, but p has no such row.")
    );
    let outcome = fails(&stand, "INSERT INTO nokey VALUES ('k', 77)", &[]);
    assert!(message(&outcome).contains("a row of nokey refers to a row that p does not have"), "{outcome}");
    // A reference that is mended before the commit is no fault.
    let outcome = stand.sql("INSERT INTO c VALUES (5, 77); INSERT INTO p VALUES (77, 7)", &COUNT);
    assert_eq!((&outcome["outcome"], &outcome["query"]["rows"]), (&json!("ok"), &json!([[2, 1, 0]])));
}

#[test]
fn old_damage_is_not_blamed_on_the_author() {
    let stand = Stand::new(&format!("PRAGMA foreign_keys = off; {WORLD} INSERT INTO c VALUES (1, 99)"));
    let outcome = stand.sql("INSERT INTO p VALUES (2, 2)", &[]);
    assert_eq!(outcome["outcome"], "ok", "{outcome}");
    let outcome = stand.sql("INSERT INTO c VALUES (6, 77)", &[]);
    assert_eq!(code(&outcome), "commit-foreign-key");
    assert!(
        message(&outcome).contains("row 6 of c") && !message(&outcome).contains("99"),
        "{}",
        message(&outcome)
    );
}

#[test]
fn deferred_foreign_keys_are_checked_once_at_commit() {
    let stand = Stand::new(WORLD);
    stand.write("policy.yaml", "seawall: 1\nextends: builtin:setup_sql\nforeign_keys: deferred\n");
    let policy = ["--policy", "policy.yaml"];
    let outcome = stand.sql("INSERT INTO d VALUES (1, 77); INSERT INTO p VALUES (77, 7)", &policy);
    assert_eq!(outcome["outcome"], "ok", "{outcome}");
    let outcome = fails(&stand, "INSERT INTO d VALUES (1, 77); INSERT INTO p VALUES (78, 7)", &policy);
    assert_eq!((code(&outcome), &outcome["statement"]), ("commit-foreign-key", &Value::Null));
    assert!(message(&outcome).contains("row 1 of d has p_id 77"), "{}", message(&outcome));
}

#[test]
fn a_closed_key_is_not_told_by_the_failure_at_commit() {
    let stand = Stand::new(WORLD);
    stand.write("policy.yaml", "seawall: 1\nextends: builtin:setup_sql\nrows:\n  deny: [read on c(p_id)]\n");
    let outcome = fails(&stand, "INSERT INTO c VALUES (5, 77)", &["--policy", "policy.yaml"]);
    assert!(
        message(&outcome).contains("row 5 of c refers to a row that p does not have"),
        "{}",
        message(&outcome)
    );
}
