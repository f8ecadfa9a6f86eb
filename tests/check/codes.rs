//! One statement of each code.

use rusqlite::Connection;
use seawall::diagnostic::{Code, Outcome};
use seawall::source::Source;
use seawall::{Guard, Policy, Refusal};
use serde_json::{Value, json};

use crate::Stand;

const SCHEMA: &str = "CREATE TABLE issues(id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, n INTEGER);
CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, password_hash TEXT);
CREATE TABLE audit_log(entry TEXT);
CREATE TABLE labels(name TEXT);
CREATE VIRTUAL TABLE docs USING fts5(body);
CREATE VIEW counts AS SELECT total_changes() AS n;
CREATE TRIGGER labels_seen AFTER INSERT ON labels BEGIN UPDATE issues SET n = changes(); END;
";

const POLICY: &str = "seawall: 1
extends: builtin:setup_sql
rows:
  deny:
    - write on audit_log
    - read on users(password_hash)
    - replace on issues
triggers:
  remove: ['*']
";

/// A code, a statement, the words that are underlined, and whether the text alone shows it.
const CASES: [(&str, &str, &str, bool); 22] = [
    ("nul-byte", "INSERT INTO issues(title) VALUES ('a\0b')", "␀", true),
    ("bind-parameter", "INSERT INTO issues(title) VALUES (:title)", ":title", true),
    ("schema-change", "create  temp table scratch(x)", "create  temp", true),
    ("schema-change", "ALTER TABLE issues ADD COLUMN x", "ALTER TABLE", true),
    ("transaction-control", "COMMIT", "COMMIT", true),
    ("transaction-control", "SAVEPOINT s", "SAVEPOINT s", true),
    ("attach-detach", "ATTACH 'x.db' AS y", "ATTACH 'x.db'", true),
    ("maintenance", "VACUUM INTO 'copy.db'", "VACUUM INTO", true),
    ("pragma-not-reporting", "PRAGMA foreign_keys = off", "foreign_keys = off", true),
    ("pragma-not-reporting", "PRAGMA main.user_version(7)", "user_version(7", true),
    ("function-not-allowed", "SELECT last_insert_rowid()", "last_insert_rowid", true),
    ("function-not-allowed", "UPDATE issues SET n = 1 WHERE \"changes\"() > 0", "\"changes\"", true),
    ("internal-table", "DELETE FROM main . sqlite_sequence WHERE true", "main . sqlite_sequence", true),
    ("internal-table", "SELECT name FROM sqlite_master", "sqlite_master", true),
    ("internal-table", "SELECT name FROM dbstat", "dbstat", true),
    ("read-denied", "SELECT name, password_hash FROM users", "password_hash", true),
    ("write-denied", "INSERT INTO audit_log VALUES ('x')", "audit_log", true),
    ("replace-denied", "INSERT OR REPLACE INTO issues(id) VALUES (1)", "OR REPLACE", true),
    ("shadow-table", "SELECT id FROM docs_data", "docs_data", false),
    ("virtual-table-command", "INSERT INTO docs(docs) VALUES ('delete-all')", "'delete-all'", false),
    ("trigger-not-trusted", "INSERT INTO labels VALUES ('x')", "INSERT INTO labels VALUES ('x')", false),
    ("view-not-trusted", "SELECT n FROM counts", "SELECT n FROM counts", false),
];

fn stand() -> Stand {
    Stand::new(&[("schema.sql", SCHEMA), ("policy.yaml", POLICY)])
}

const RULES: [&str; 2] = ["--policy", "policy.yaml"];
const WORLD: [&str; 2] = ["--schema", "schema.sql"];

/// Every code of a refusal has its statement here, but for that of a SQLite which asks for something unknown.
#[test]
fn no_code_is_left_out() {
    let of_refusals = Code::ALL.iter().filter(|code| code.outcome() == Outcome::Refused);
    for code in of_refusals.filter(|code| **code != Code::UnknownAction) {
        assert!(CASES.iter().any(|(case, ..)| *case == code.word()), "{code}");
    }
}

/// The same text in every kind of file.
fn files(stand: &Stand, text: &str) -> [&'static str; 4] {
    let value = json!({ "id": 1, "setup": { "setup_sql": text } });
    stand.write("text.sql", text);
    stand.write("text.json", serde_json::to_string_pretty(&value).unwrap());
    stand.write("text.jsonl", format!("{{}}\n{value}\n"));
    // JSON is YAML; its escapes are those of double quotes.
    stand.write("text.yaml", format!("- setup_sql: {}\n", json!(text)));
    ["text.sql", "text.json", "text.jsonl", "text.yaml"]
}

#[test]
fn each_code_underlines_the_offending_words_alone() {
    let stand = stand();
    for (code, sql, words, by_text) in CASES {
        let text = format!("SELECT 1;\n  {sql} ;\nSELECT 2");
        for file in files(&stand, &text) {
            // In JSON a quote, a line end and a NUL byte are escapes.
            let escaped = json!(words.replace('␀', "\0")).to_string();
            let words = if file == "text.sql" { words } else { &escaped[1..escaped.len() - 1] };
            let wanted = vec![(code.to_owned(), words.to_owned())];
            let full = stand.check(&[&[file], &RULES[..], &WORLD[..]].concat());
            assert_eq!(full.underlined(), wanted, "{file}: {sql}\n{}", full.stdout);
            assert_eq!(full.status, 4);
            let alone = stand.check(&[&[file], &RULES[..]].concat());
            if by_text {
                assert_eq!(alone.underlined(), wanted, "{file}: {sql}\n{}", alone.stdout);
                assert_eq!(alone.status, 4);
            }
        }
    }
}

/// A NUL byte has no place in these.
#[test]
fn each_code_underlines_the_same_words_in_every_style_of_yaml_and_in_escapes() {
    let stand = stand();
    for (code, sql, words, _) in CASES.into_iter().filter(|(code, ..)| *code != "nul-byte") {
        let wanted = |words: &str| vec![(code.to_owned(), words.to_owned())];
        let single = |text: &str| text.replace('\'', "''");
        let unicode =
            |text: &str| text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
        for (name, file, words) in [
            (
                "literal.yaml",
                format!("a:\n- setup_sql: |\n    SELECT 1;\n      {sql};\n  b: 1\n"),
                words.to_owned(),
            ),
            (
                "folded.yaml",
                format!("a:\n- setup_sql: >-\n    SELECT 1;\n\n    {sql};\n    SELECT 2\n"),
                words.to_owned(),
            ),
            (
                "single.yaml",
                format!("a: [{{setup_sql: 'SELECT 1; {}', b: 1}}]\n", single(sql)),
                single(words),
            ),
            (
                "anchor.yaml",
                format!("x: &x |\n  SELECT 1;\n  {sql}\na: {{setup_sql: *x}}\nb: {{setup_sql: *x}}\n"),
                words.to_owned(),
            ),
            ("second.yaml", format!("--- 1\n---\nsetup_sql: |\n  {sql}\n"), words.to_owned()),
            ("u.jsonl", format!("{{\"setup_sql\": \"SELECT 1;\\n{}\"}}\n", unicode(sql)), unicode(words)),
            ("u.yaml", format!("setup_sql: \"SELECT 1;\\n{}\"\n", unicode(sql)), unicode(words)),
        ] {
            stand.write(name, &file);
            let ran = stand.check(&[&[name], &RULES[..], &WORLD[..]].concat());
            assert_eq!(ran.underlined(), wanted(&words), "{name}\n{file}\n{}", ran.stdout);
        }
        // Without quotes YAML itself reads `: `, ` #` and a quote at the beginning.
        let plain = format!("setup_sql: {sql}\n");
        if !sql.contains(": ") {
            stand.write("plain.yaml", &plain);
            let ran = stand.check(&[&["plain.yaml"], &RULES[..], &WORLD[..]].concat());
            assert_eq!(ran.underlined(), wanted(words), "{plain}\n{}", ran.stdout);
        }
    }
}

#[test]
fn check_and_run_say_the_same_of_a_statement() {
    let stand = stand();
    for (code, sql, _, by_text) in CASES {
        let text = format!("SELECT 1;\n  {sql} ;\nSELECT 2");
        files(&stand, &text);
        let run = [&["run", "--sql-file", "text.sql", "--format", "json"], &RULES[..], &WORLD[..]].concat();
        let run = stand.seawall(&run).json();
        assert_eq!(run["code"], code, "{sql}");
        let full = stand.json(&[&["text.sql"], &RULES[..], &WORLD[..]].concat());
        assert_eq!(full["files"][0]["refusals"], run["refusals"], "{sql}");
        if by_text {
            let alone = stand.json(&[&["text.sql"], &RULES[..]].concat());
            assert_eq!(alone["files"][0]["refusals"], run["refusals"], "{sql}");
        }
    }
}

#[test]
fn the_library_says_what_the_command_says() {
    let stand = stand();
    let policy = Policy::parse("policy.yaml", POLICY).unwrap();
    let guard = Guard::new(policy, "setup_sql");
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    for (_, sql, _, _) in CASES {
        let text = format!("SELECT 1;\n  {sql} ;\nSELECT 2");
        stand.write("text.sql", &text);
        let source = Source::new("text.sql", text);
        let alone = guard.check(&source).unwrap();
        let full = guard.open(&mut connection).unwrap().check(&source).unwrap();
        for (checked, args) in [(alone, &RULES[..]), (full, &[RULES, WORLD].concat())] {
            let told = stand.json(&[&["text.sql"], args].concat());
            let ours: Vec<Value> = checked.refusals.iter().map(Refusal::json).collect();
            assert_eq!(told["files"][0]["refusals"], json!(ours), "{sql}");
            assert_eq!(told["totals"]["statements"], checked.statements, "{sql}");
        }
    }
}

#[test]
fn a_span_is_of_the_given_text_and_a_line_is_of_the_file() {
    let stand = stand();
    for (_, sql, _, _) in CASES {
        let text = format!("SELECT 1;\n  {sql} ;\nSELECT 2");
        let told: Vec<Value> = files(&stand, &text)
            .into_iter()
            .map(|file| {
                let all = stand.json(&[&[file], &RULES[..], &WORLD[..]].concat());
                all["files"][0]["refusals"][0].clone()
            })
            .collect();
        for other in &told[1..] {
            assert_eq!(other["span"], told[0]["span"], "{sql}");
            assert_eq!(other["message"], told[0]["message"], "{sql}");
        }
        let lines: Vec<_> = told.iter().map(|one| one["line"].as_u64().unwrap()).collect();
        assert_eq!(lines, [2, 4, 2, 1], "{sql}");
    }
}

#[test]
fn what_sqlite_does_not_prepare_is_told_as_a_run_tells_it() {
    let stand = stand();
    for (sql, words) in [
        ("INSERT INTO isues(title) VALUES (1)", "isues"),
        ("UPDATE issues SET titel = 1 WHERE id = 1", "titel"),
        ("SELECT lenght('x')", "lenght"),
        ("SELEC 1", "SELEC"),
        ("INSERT INTO issues VALUES (1, 2", "INSERT INTO issues VALUES (1, 2"),
    ] {
        stand.write("text.sql", sql);
        let run = [&["run", "--sql-file", "text.sql", "--format", "json"], &RULES[..], &WORLD[..]].concat();
        let run = stand.seawall(&run).json();
        let args = [&["text.sql"], &RULES[..], &WORLD[..]].concat();
        let check = stand.json(&args);
        let failure = &check["files"][0]["failures"][0];
        assert_eq!((&failure["code"], &failure["message"]), (&run["code"], &run["message"]));
        let shown = stand.check(&args);
        assert_eq!(shown.underlined()[0].1, words, "{}", shown.stdout);
        assert_eq!(shown.status, 4);
        // Without a schema nobody can know; SQLite alone decides syntax.
        assert_eq!(stand.check(&["text.sql"]).status, 0);
    }
}

#[test]
fn everything_is_told_of_every_statement() {
    let stand = stand();
    stand.write(
        "text.sql",
        "DROP TABLE a; DELETE FROM issues; SELECT ?, changes(), ?2; EXPLAIN SELECT 1; BEGIN",
    );
    let all = stand.check(&["text.sql"]);
    let codes: Vec<String> = all.underlined().into_iter().map(|(code, _)| code).collect();
    let wanted = [
        "schema-change",
        "no-where",
        "bind-parameter",
        "bind-parameter",
        "function-not-allowed",
        "explain-only",
        "transaction-control",
    ];
    assert_eq!(codes, wanted);
    assert!(all.stdout.ends_with("\n\n1 file, 5 statements: 3 refused, 2 with advice\n"), "{}", all.stdout);
    let totals = &stand.json(&["text.sql"])["totals"];
    assert_eq!((&totals["refused"], &totals["advice"]), (&json!(3), &json!(2)));
}

#[test]
fn a_name_in_quotes_is_no_value_to_the_memory_of_shapes() {
    let stand = stand();
    let text = "INSERT INTO 'issues' VALUES (1, 'a', 1); INSERT INTO 'sqlite_sequence' VALUES ('a', 1);
        SELECT * FROM 'issues'; SELECT * FROM 'sqlite_master';
        INSERT INTO 'audit_log' VALUES ('a')";
    stand.write("text.sql", text);
    let told = stand.check(&[&["text.sql"], &RULES[..]].concat()).underlined();
    let words: Vec<&str> = told.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(words[..2], ["'sqlite_sequence'", "'sqlite_master'"]);
}

#[test]
fn a_table_that_is_not_there_is_underlined_where_its_schema_is_named_with_it() {
    let stand = stand();
    for (sql, words) in [
        ("SELECT 1 FROM main.users, nope.users", "nope.users"),
        ("SELECT 1 FROM users AS a, main . users, \"no\"\"pe\" . [Users]", "\"no\"\"pe\" . [Users]"),
        ("DELETE FROM users WHERE id IN (SELECT id FROM temp.users)", "temp.users"),
    ] {
        stand.write("text.sql", sql);
        let ran = stand.check(&[&["text.sql"], &WORLD[..]].concat());
        assert_eq!(ran.underlined(), [("sqlite-no-such-table".to_owned(), words.to_owned())], "{sql}");
    }
}
