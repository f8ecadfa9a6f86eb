//! `seawall agree`: two readers of one text, and the closed list of where they differ.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use seawall::guard::agreement::{Class, Trial};
use seawall::{Guard, Policy};

/// A policy that closes something of every kind.
const POLICY: &str = "\
seawall: 1
extends: builtin:setup_sql
rows:
  deny:
    - read on secrets, users(password)
    - replace on *.*
    - write on ledger
functions:
  deny: [upper]
";

/// Statements that differ in every way that a short corpus can show.
const CORPUS: &str = "\
CREATE TABLE users(id INTEGER PRIMARY KEY, name, password);
CREATE TABLE secrets(id, value);
CREATE TABLE ledger(id INTEGER PRIMARY KEY, user_id);
CREATE VIEW names AS SELECT name FROM users;
SELECT name FROM users WHERE id = 1;
SELECT upper(name), password FROM users;
SELECT password FROM users, ledger;
SELECT name FROM names;
REPLACE INTO users(id, name) VALUES (1, 'Ada');
INSERT INTO ledger(user_id) VALUES (1);
SELECT name FROM users WHERE id IN () AND id IN (SELECT id FROM secrets);
";

fn agree(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_seawall"))
        .current_dir(directory)
        .arg("agree")
        .args(args)
        .output()
        .unwrap()
}

fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("policy.yaml"), POLICY).unwrap();
    std::fs::write(directory.path().join("corpus.sql"), CORPUS).unwrap();
    directory
}

fn snapshot(name: &str, shown: &str) {
    insta::with_settings!({
        snapshot_path => "../snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(format!("agree-{name}"), shown);
    });
}

#[test]
fn the_counts_are_shown_as_text() {
    let directory = directory();
    let ran = agree(directory.path(), &["--policy", "policy.yaml", "corpus.sql"]);
    snapshot("text", &String::from_utf8(ran.stdout).unwrap());
    assert_eq!(ran.status.code(), Some(0));
}

#[test]
fn the_counts_are_shown_as_json() {
    let directory = directory();
    let ran = agree(directory.path(), &["--policy", "policy.yaml", "corpus.sql", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    snapshot("json", &serde_json::to_string_pretty(&json).unwrap());
    assert_eq!(ran.status.code(), Some(0));
}

#[test]
fn a_corpus_of_lines_begins_anew_at_each_reset_packed_or_not() {
    use std::io::Write;
    let lines = concat!(
        r#"{"kind": "sql", "sql": "CREATE TABLE t(a); SELECT a FROM t"}"#,
        "\n",
        r#"{"kind": "reset", "file": "second"}"#,
        "\n\n",
        r#"{"kind": "sql", "sql": "SELECT a FROM t"}"#,
        "\n",
        r#"{"kind": "sql", "sql": "SELECT 1"}"#,
        "\n",
    );
    let directory = directory();
    std::fs::write(directory.path().join("corpus.jsonl"), lines).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(lines.as_bytes()).unwrap();
    std::fs::write(directory.path().join("corpus.jsonl.gz"), packed.finish().unwrap()).unwrap();
    for file in ["corpus.jsonl", "corpus.jsonl.gz"] {
        let ran = agree(directory.path(), &[file, "--format", "json", "--jobs", "2"]);
        let json: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(json["statements"], 2, "{file}");
        assert_eq!(ran.status.code(), Some(0), "{file}");
    }
}

#[test]
fn a_corpus_that_cannot_be_read_stops_the_command_at_its_line() {
    let directory = directory();
    std::fs::write(directory.path().join("broken.jsonl"), "{\"kind\": \"reset\"}\n{\"kind\": 1}\n").unwrap();
    std::fs::write(directory.path().join("bytes.jsonl"), b"{\"kind\": \"reset\"}\n\xff\n").unwrap();
    let said = [
        ("broken.jsonl", "broken.jsonl:2: no line of a corpus"),
        ("bytes.jsonl", "bytes.jsonl:2: stream"),
        ("none.sql", "none.sql: "),
        ("none.jsonl", "none.jsonl: "),
    ];
    for (file, said) in said {
        let ran = agree(directory.path(), &["corpus.sql", file]);
        let stderr = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(said), "{stderr}");
        assert!(ran.stdout.is_empty());
    }
}

/// What a text alone cannot tell: a comment, a name and an EXPLAIN hide it, a table function asks it.
#[test]
fn a_corpus_writes_no_file_and_sets_nothing_of_the_process() {
    let directory = directory();
    let outside = [
        "ATTACH 'a:memory:.db' AS a; CREATE TABLE a.t(x)",
        "ATTACH 'b.db' /* :memory: */ AS b; CREATE TABLE b.t(x)",
        "ATTACH 'c' || '.db' AS [:memory:]; CREATE TABLE [:memory:].t(x)",
        "CREATE TABLE t(x); VACUUM INTO 'd.db'; EXPLAIN VACUUM INTO 'e.db'",
        "EXPLAIN PRAGMA hard_heap_limit = 1000",
        "CREATE TABLE t AS SELECT * FROM pragma_hard_heap_limit(1000)",
        "PRAGMA main.temp_store = FILE; PRAGMA \"temp_store_directory\" = 'none'",
        "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x FROM c",
    ];
    let inside = "; ATTACH ':memory:' AS m; CREATE TABLE m.kept(a); SELECT a FROM kept";
    let corpus: Vec<String> = outside
        .iter()
        .flat_map(|sql| {
            let line = serde_json::json!({ "kind": "sql", "sql": format!("{sql}{inside}") });
            [line.to_string(), r#"{"kind": "reset"}"#.to_owned()]
        })
        .collect();
    let corpus = format!("\u{feff}{}", corpus.join("\n"));
    std::fs::write(directory.path().join("outside.jsonl"), corpus).unwrap();
    let files = || std::fs::read_dir(directory.path()).unwrap().count();
    let before = files();
    let ran = agree(directory.path(), &["outside.jsonl", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(json["statements"], outside.len(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(files(), before);
}

#[test]
fn a_corpus_without_a_statement_on_rows_is_no_success() {
    let directory = directory();
    std::fs::write(directory.path().join("empty.sql"), "CREATE TABLE t(a); SELECT b FROM t;").unwrap();
    let ran = agree(directory.path(), &["empty.sql"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8(ran.stderr).unwrap().contains("nothing was compared"));
}

#[test]
fn the_example_of_each_class_shows_it() {
    let directory = directory();
    let policy = Policy::named(&directory.path().join("policy.yaml").display().to_string()).unwrap();
    let guard = Guard::new(policy, "setup_sql");
    let mut failed = Vec::new();
    for class in Class::ALL {
        let mut last = BTreeSet::new();
        let mut trial = Trial::new().unwrap();
        trial
            .run(&guard, class.example(), &mut |_, agreement| {
                let differences = agreement.readings().into_iter().flat_map(|one| &one.differences);
                last = differences.map(|difference| difference.class).collect();
            })
            .unwrap();
        if !last.contains(&Some(*class)) || last.contains(&None) {
            failed.push(format!("{}: {last:?}: {}", class.word(), class.example()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn the_page_lists_every_class_with_its_reason_and_example() {
    let page = include_str!("../docs/agreement.md");
    let mut rows = String::new();
    for class in Class::ALL {
        let (word, side) = (class.word(), class.side().word());
        writeln!(rows, "- **{word}** ({side}). {}\n  `{}`", class.reason(), class.example()).unwrap();
    }
    assert!(page.contains(&rows), "docs/agreement.md should hold:\n{rows}");
}
