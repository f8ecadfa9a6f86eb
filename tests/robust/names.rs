//! Names with everything in them that a name can hold.

use rusqlite::Connection;
use serde_json::json;

use crate::{Stand, code, message};

const NAMES: &[&str] = &[
    "quo\"te",
    "it's",
    "a.b",
    "two words",
    "select",
    "größe",
    "表",
    "semi;colon",
    "[bracket",
    "back`tick",
    "-- dash",
    "/* c",
    "100%",
    "new\nline",
    "*",
    "?",
    "trigger",
    "main",
];

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[test]
fn tables_columns_and_triggers_of_any_name_are_written_and_closed() {
    for name in NAMES {
        let stand = Stand::empty();
        let q = quoted(name);
        let table = quoted(&format!("{name} t"));
        stand.database(
            "given.db",
            &format!(
                "CREATE TABLE {q}({q} PRIMARY KEY, b); CREATE TABLE {table}(a REFERENCES {q} ON DELETE CASCADE);
                 CREATE TRIGGER {} AFTER INSERT ON {q} BEGIN INSERT INTO {table} SELECT new.{q} WHERE changes() < 9; END;",
                quoted(&format!("{name} trg")),
            ),
        );
        let insert = format!("INSERT INTO {q}({q}, b) VALUES (1, 2); UPDATE {q} SET b = 3 WHERE {q} = 1;");
        let query = format!("SELECT (SELECT b FROM {q}), count(*) FROM {table}");
        let outcome = stand.sql(&insert, &["--query", &query]);
        assert_eq!(
            (&outcome["outcome"], &outcome["query"]["rows"]),
            (&json!("ok"), &json!([[3, 1]])),
            "{outcome}"
        );
        let yaml = serde_json::to_string(&format!("read, update on {q}({q})")).unwrap();
        stand.write(
            "policy.yaml",
            format!("seawall: 1\nextends: builtin:setup_sql\nrows:\n  deny: [{yaml}]\n"),
        );
        let policy = ["--policy", "policy.yaml"];
        let hidden = stand.sql(&format!("INSERT INTO {table} SELECT {q} FROM {q}"), &policy);
        assert_eq!(code(&hidden), "read-denied", "{name}: {hidden}");
        let closed = stand.sql(&format!("UPDATE {q} SET {q} = 3"), &policy);
        assert_eq!(code(&closed), "write-denied", "{name}: {closed}");
        let open = stand.sql(&format!("UPDATE {q} SET b = 3"), &policy);
        assert_eq!(open["outcome"], "ok", "{name}: {open}");
    }
}

#[test]
fn a_database_is_attached_under_any_name_that_can_be_a_files() {
    let stand = Stand::new("CREATE TABLE t(a)");
    stand.database("other.db", "CREATE TABLE x(a); INSERT INTO x VALUES (1)");
    for name in NAMES.iter().filter(|name| !["main", "/* c"].contains(name)) {
        let attach = format!("--attach={name}=other.db");
        let q = quoted(name);
        let sql = format!("INSERT INTO {q}.x VALUES (2); INSERT INTO t SELECT count(*) FROM {q}.x");
        let outcome = stand.sql(&sql, &[&attach, "--query", "SELECT a FROM t"]);
        assert_eq!(
            (&outcome["outcome"], &outcome["query"]["rows"]),
            (&json!("ok"), &json!([[2]])),
            "{outcome}"
        );
        let outcome = stand.sql(&format!("DROP TABLE {q}.x"), &[&attach]);
        assert_eq!(code(&outcome), "schema-change", "{name}");
    }
}

#[test]
fn a_name_that_cannot_be_attached_is_said_and_nothing_is_left() {
    let stand = Stand::new("CREATE TABLE t(a)");
    for name in ["", "main", "TEMP", "../up", "a/b", "..", ".hidden"] {
        let attach = format!("{name}=given.db");
        let args = ["--db", "given.db", "--sql", "SELECT 1", "--attach", &attach, "--out", "out"];
        stand.run(&args).tool_failed("cannot attach a database as");
        let left: Vec<_> = std::fs::read_dir(stand.path("out")).unwrap().collect();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
    let twice = ["--attach", "a=given.db", "--attach", "A=given.db"];
    let args = [&["--db", "given.db", "--sql", "SELECT 1"][..], &twice].concat();
    stand.run(&args).tool_failed("cannot attach a database as");
    assert_eq!(stand.run(&["--db", "given.db", "--sql", "SELECT 1", "--attach", "nofile"]).status, 2);
}

#[test]
fn a_misspelt_name_is_answered_with_the_nearest_one() {
    let stand = Stand::new("CREATE TABLE \"größen tabelle\"(wert)");
    let outcome = stand.sql("INSERT INTO \"größen tabele\" VALUES (1)", &[]);
    assert_eq!(code(&outcome), "sqlite-no-such-table");
    assert!(message(&outcome).contains("größen tabelle"), "{}", message(&outcome));
}

#[test]
fn only_ascii_letters_fold() {
    let stand = Stand::empty();
    Connection::open(stand.path("given.db"))
        .unwrap()
        .execute_batch("CREATE TABLE Öl(a); CREATE TABLE öl(a); CREATE TABLE Gas(a)")
        .unwrap();
    stand.write(
        "policy.yaml",
        "seawall: 1\nextends: builtin:setup_sql\nrows:\n  deny: [write on Öl, write on GAS]\n",
    );
    let run = |sql: &str| stand.sql(sql, &["--policy", "policy.yaml"]);
    assert_eq!(run("INSERT INTO öl VALUES (1)")["outcome"], "ok");
    assert_eq!(code(&run("INSERT INTO Öl VALUES (1)")), "write-denied");
    assert_eq!(code(&run("INSERT INTO gAs VALUES (1)")), "write-denied");
}
