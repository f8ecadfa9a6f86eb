//! Databases of every kind that SQLite writes, and files that are none.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use crate::{Stand, code};

/// Every file of a directory with its bytes.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let with_bytes = entries.filter(|entry| entry.path().is_file()).map(|entry| {
        (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).unwrap())
    });
    with_bytes.collect()
}

#[test]
fn the_given_files_are_never_written() {
    let stand = Stand::new("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    stand.database("other.db", "CREATE TABLE x(a)");
    let before = files(stand.directory.path());
    let attach =
        ["--attach", "other=other.db", "--query", "SELECT (SELECT count(*) FROM t), count(*) FROM x"];
    let outcome = stand.sql("INSERT INTO t VALUES (2); INSERT INTO other.x VALUES (3)", &attach);
    assert_eq!(outcome["query"]["rows"], json!([[2, 1]]));
    stand.sql("INSERT INTO t VALUES (2); DROP TABLE t", &attach);
    stand.sql("INSERT INTO t VALUES (2); INSERT INTO nothing VALUES (1)", &attach);
    assert_eq!(files(stand.directory.path()), before);
}

#[test]
fn utf16_databases_are_read_and_written() {
    for encoding in ["UTF-16le", "UTF-16be"] {
        let stand = Stand::new(&format!(
            "PRAGMA encoding = '{encoding}'; CREATE TABLE größe(wert); INSERT INTO größe VALUES ('älter');
             CREATE TRIGGER lauf AFTER UPDATE ON größe BEGIN INSERT INTO größe SELECT 'ü' WHERE changes() < 9; END;"
        ));
        let sql = "UPDATE größe SET wert = upper(wert) || '表'; DELETE FROM größe WHERE wert = 'zzz'";
        let outcome = stand.sql(sql, &["--query", "SELECT wert FROM größe"]);
        assert_eq!(
            (&outcome["outcome"], &outcome["query"]["rows"]),
            (&json!("ok"), &json!([["äLTER表"], ["ü"]]))
        );
        assert_eq!(code(&stand.sql("DROP TABLE größe", &[])), "schema-change");
    }
}

#[test]
fn a_database_in_wal_mode_is_read_with_what_is_still_in_its_log() {
    let stand = Stand::empty();
    let writer = Connection::open(stand.path("given.db")).unwrap();
    writer
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(a);
             PRAGMA wal_checkpoint; INSERT INTO t VALUES (1), (2);",
        )
        .unwrap();
    assert!(stand.path("given.db-wal").metadata().unwrap().len() > 0);
    // The author's program may be running still, or have crashed: the log lies beside the file.
    let before = files(stand.directory.path());
    let outcome =
        stand.sql("INSERT INTO t VALUES (3)", &["--query", "SELECT count(*) FROM t", "--out", "out"]);
    assert_eq!((&outcome["outcome"], &outcome["query"]["rows"]), (&json!("ok"), &json!([[3]])));
    assert_eq!(files(stand.directory.path()), before);
    let kept = Connection::open(stand.path("out/main.db")).unwrap();
    let count = |sql: &str| kept.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM t"), 3);
    drop(writer);
}

#[test]
fn a_closed_database_in_wal_mode_gets_no_files_beside_it() {
    let stand = Stand::new("PRAGMA journal_mode = wal; CREATE TABLE t(a)");
    let before = files(stand.directory.path());
    assert_eq!(before.keys().collect::<Vec<_>>(), ["given.db"]);
    let refused = stand.sql("INSERT INTO t VALUES (1); DROP TABLE t", &["--query", "SELECT count(*) FROM t"]);
    assert_eq!(refused["query"]["rows"], json!([[0]]));
    assert_eq!(files(stand.directory.path()), before);
}

#[test]
fn a_file_that_is_no_database_is_named() {
    let stand = Stand::empty();
    stand.write(
        "given.db",
        "this is a text, not a database, and long enough to be told apart from one".repeat(20),
    );
    let run = |args: &[&str]| stand.run(&[&["--sql", "SELECT 1"][..], args].concat());
    run(&["--db", "given.db"]).tool_failed("given.db: file is not a database");
    stand.database("good.db", "CREATE TABLE t(a)");
    run(&["--db", "good.db", "--attach", "a=given.db"]).tool_failed("given.db: file is not a database");
    let whole = std::fs::read(stand.path("good.db")).unwrap();
    stand.write("cut.db", &whole[..60]);
    run(&["--db", "cut.db"]).tool_failed("cut.db: database disk image is malformed");
    // Damage beyond the schema shows where a statement meets it.
    let (sound, rows) = whole.split_at(whole.len() / 2);
    stand.write("given.db", [sound, &vec![0xff; rows.len()]].concat());
    let outcome = stand.sql("INSERT INTO t VALUES (1)", &[]);
    assert_eq!((code(&outcome), &outcome["statement"]), ("sqlite-error", &json!(1)));
}

#[test]
fn an_empty_file_is_an_empty_database() {
    let stand = Stand::empty();
    stand.write("given.db", "");
    let outcome = stand.sql("SELECT 1", &["--query", "SELECT count(*) FROM sqlite_schema"]);
    assert_eq!((&outcome["outcome"], &outcome["query"]["rows"]), (&json!("ok"), &json!([[0]])));
}

#[test]
fn a_missing_file_is_named_as_it_was_given() {
    let stand = Stand::new("CREATE TABLE t(a)");
    let sql = ["--sql", "SELECT 1"];
    for args in [
        &["--db", "no.db"][..],
        &["--schema", "no.sql"],
        &["--db", "given.db", "--attach", "a=no.db"],
        &["--db", "given.db", "--attach-schema", "a=no.sql"],
    ] {
        stand.run(&[args, &sql].concat()).tool_failed("no.");
    }
    stand.run(&["--db", "given.db", "--sql-file", "no.sql"]).tool_failed("no.sql");
    let ran = stand.run(&[&["--db", "given.db", "--policy", "no.yaml"][..], &sql].concat());
    assert_eq!(ran.status, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("no.yaml"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_directory_is_no_database() {
    let stand = Stand::empty();
    std::fs::create_dir(stand.path("given.db")).unwrap();
    stand.run(&["--db", "given.db", "--sql", "SELECT 1"]).tool_failed("given.db");
}

#[test]
fn a_schema_that_fails_is_named_with_its_line() {
    let stand = Stand::empty();
    stand.write("schema.sql", "CREATE TABLE t(a);\n\nCREATE TABLE t(b);\n");
    stand
        .run(&["--schema", "schema.sql", "--sql", "SELECT 1"])
        .tool_failed("schema.sql:3: table t already exists");
    stand.write(
        "schema.sql",
        "CREATE TABLE p(id INTEGER PRIMARY KEY);\nCREATE TABLE t(a DEFAULT (random()));",
    );
    let args =
        ["--schema", "schema.sql", "--sql", "INSERT INTO t DEFAULT VALUES", "--query", "SELECT a FROM t"];
    let run = || {
        let mut told = stand.run(&[&args[..], &["--seed", "7", "--format", "json"]].concat()).json();
        // Nothing else may differ.
        assert!(told["report"].as_object_mut().unwrap().remove("time_ms").is_some());
        told
    };
    assert_eq!(run(), run());
}
