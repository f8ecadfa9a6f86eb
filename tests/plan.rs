//! What a run reports of the rows that it changed, and what a plan shows of those that it would change.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use std::process::{Command, Output};

use seawall::rusqlite::Connection;
use seawall::setup;
use seawall::source::Source;
use seawall::{Guard, Policy};
use serde_json::{Value, json};

/// Statements of the museum in `fixtures/plan`, with what each of them is an example of.
const CASES: [(&str, &str); 25] = [
    ("insert", "INSERT INTO rooms (name, floor) VALUES ('Compasses', 2), ('O''Neil''s room', NULL + 1 IS NULL)"),
    ("update", "UPDATE rooms SET floor = 1, name = lower(name) WHERE floor = 1 OR id = 1"),
    ("delete", "DELETE FROM loans WHERE lender = 'Observatory'"),
    ("replace", "REPLACE INTO rooms (id, name) VALUES (9, 'Maps')"),
    ("replace-in-place", "INSERT OR REPLACE INTO parts (code, weight) VALUES ('spare', 2)"),
    ("upsert", "INSERT INTO rooms VALUES (4, 'Maps', 3), (5, 'Stars', 4) ON CONFLICT (name) DO UPDATE SET floor = 3"),
    ("cascade", "DELETE FROM rooms WHERE id = 2"),
    ("trigger", "UPDATE exhibits SET room_id = 3 WHERE id = 1"),
    ("trigger-or-cascade", "UPDATE parts SET weight = -1 WHERE code = 'ring'; DELETE FROM parts WHERE code = 'frame'"),
    ("instead-of", "INSERT INTO shown VALUES ('Orrery', 'Globes')"),
    (
        "full-text",
        "INSERT INTO guide VALUES ('Clocks', 'Time at sea.');
         UPDATE guide SET body = 'Earth, sky and moon.' WHERE rowid = 2;
         DELETE FROM guide WHERE rowid = 1",
    ),
    ("full-text-without-text", "INSERT INTO words (rowid, word) VALUES (3, 'clock'); DELETE FROM words WHERE rowid = 1"),
    (
        "r-tree",
        "INSERT INTO floor_plan VALUES (3, 1, 2); UPDATE floor_plan SET left = 3 WHERE id = 2;
         DELETE FROM floor_plan WHERE id = 1",
    ),
    ("without-rowid", "UPDATE loans SET until = '2028-01-01' WHERE lender = 'Observatory'"),
    ("key-change", "UPDATE rooms SET id = 20 WHERE id = 2"),
    ("generated", "UPDATE exhibits SET weight = 99, title = 'Globe' WHERE id = 2"),
    (
        "hidden",
        "UPDATE guards SET pin = '9' WHERE id = 1; UPDATE guards SET name = 'Bo', pin = '8' WHERE id = 2;
         INSERT INTO guards (name, pin) VALUES ('Cyd', '77'); INSERT INTO vault (secret) VALUES ('mid')",
    ),
    (
        "net",
        "INSERT INTO journal VALUES (1, 'gone again'); DELETE FROM journal WHERE id = 1;
         UPDATE rooms SET floor = 7 WHERE id = 1; UPDATE rooms SET floor = 0 WHERE id = 1;
         UPDATE rooms SET floor = 7 WHERE id = 3; UPDATE rooms SET name = 'Time' WHERE id = 3;
         DELETE FROM loans WHERE exhibit_id = 4; INSERT INTO loans VALUES (4, 'Harbour office', '2028-01-01')",
    ),
    (
        "values",
        "INSERT INTO samples VALUES (NULL, ''), ('', 'NULL'), (0, 'a' || char(0) || 'b' || char(10) || 'c'), (x'', 0.0),
         (9223372036854775807, -9223372036854775808), (1e300, -0.0), (9e999, 9e999 - 9e999), (x'0102', ''''),
         (CAST(printf('%.*c', 1024, 'b') AS BLOB), printf('%.*c', 1000, 'y'))",
    ),
    (
        "long",
        "UPDATE exhibits SET title = title || ', second state, with the soundings of 1804' WHERE id IN (1, 4);
         UPDATE exhibits SET title = replace(title, '1804', '1805') WHERE id = 1",
    ),
    ("unchanged", "UPDATE exhibits SET weight = 140, insured = insured WHERE id = 2"),
    ("attached", "UPDATE archive.letters SET line = 'Dear Madam' WHERE id = 1"),
    ("no-row", "SELECT count(*) FROM rooms"),
    ("refused", "DELETE FROM rooms WHERE id = 1; DROP TABLE rooms"),
    ("failed-at-commit", "INSERT INTO loans VALUES (77, 'Nobody', NULL)"),
];

fn seawall(command: &str, sql: &str, more: &[&str]) -> Output {
    let world =
        ["--schema", "schema.sql", "--attach-schema", "archive=archive.sql", "--policy", "policy.yaml"];
    let mut seawall = Command::new(env!("CARGO_BIN_EXE_seawall"));
    seawall.arg(command).args(world).args(["--sql", sql]).args(more).env("NO_COLOR", "1");
    seawall.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plan")).output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(command: &str, sql: &str) -> Value {
    let mut told: Value =
        serde_json::from_str(&printed(&seawall(command, sql, &["--format", "json"]))).unwrap();
    if let Some(time) = told.pointer_mut("/report/time_ms") {
        assert!(time.as_f64().unwrap() > 0.0);
        *time = json!("some");
    }
    // The hash of a policy is told by another snapshot.
    if let Some(policy) = told.pointer_mut("/report/policy") {
        *policy = json!("some");
    }
    told
}

/// Keys on lines of their own, and a line for each element of a list of objects.
fn lines(value: &Value, indent: usize, out: &mut String) {
    let Value::Object(object) = value else { return };
    for (key, value) in object {
        let pad = " ".repeat(indent);
        match value {
            Value::Array(list) if list.iter().any(Value::is_object) => {
                out.push_str(&format!("{pad}{key}:\n"));
                for item in list {
                    let nested = ["rows", "refusals"].iter().any(|key| item.get(key).is_some());
                    if nested {
                        out.push_str(&format!("{pad}  -\n"));
                        lines(item, indent + 4, out);
                    } else {
                        out.push_str(&format!("{pad}  {item}\n"));
                    }
                }
            }
            Value::Object(_) if ["report", "plan"].contains(&key.as_str()) => {
                out.push_str(&format!("{pad}{key}:\n"));
                lines(value, indent + 2, out);
            }
            value => out.push_str(&format!("{pad}{key}: {value}\n")),
        }
    }
}

fn both(command: &str, sql: &str) -> String {
    let mut out = printed(&seawall(command, sql, &[]));
    out.push('\n');
    lines(&json(command, sql), 0, &mut out);
    out
}

fn snapshots() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

#[test]
fn every_kind_of_change_is_planned_as_it_is_written_down() {
    snapshots().bind(|| {
        for (name, sql) in CASES {
            insta::assert_snapshot!(format!("plan@{name}"), both("plan", sql));
        }
    });
}

#[test]
fn every_kind_of_change_is_reported_as_it_is_written_down() {
    snapshots().bind(|| {
        for (name, sql) in CASES {
            insta::assert_snapshot!(format!("run@{name}"), both("run", sql));
        }
    });
}

#[test]
fn a_long_plan_is_cut_and_says_what_is_left_out() {
    let sql =
        "INSERT INTO samples WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1205)
               SELECT i, NULL FROM n; DELETE FROM exhibits WHERE true";
    snapshots().bind(|| {
        insta::assert_snapshot!("plan@cut", printed(&seawall("plan", sql, &["--rows", "2"])));
        insta::assert_snapshot!("plan@counts-alone", printed(&seawall("plan", sql, &["--rows", "0"])));
    });
    let whole = printed(&seawall("plan", sql, &["--rows", "5000"]));
    assert_eq!(whole.lines().filter(|line| line.starts_with("  + rowid ")).count(), 1205);
    assert!(!whole.contains('…'), "{whole}");
    let told = json("plan", sql);
    let samples = &told["plan"]["tables"][2];
    assert_eq!((&samples["table"], samples["rows"].as_array().unwrap().len()), (&json!("samples"), 20));
    assert_eq!(samples["more"], json!({"inserted": 1185, "updated": 0, "deleted": 0}));
}

#[test]
fn a_plan_is_readable_at_80_columns() {
    for (name, sql) in CASES {
        let text = printed(&seawall("plan", sql, &[]));
        let rows = text.lines().skip_while(|line| !line.contains("steps;"));
        for line in rows {
            assert!(line.chars().count() <= 80, "{name}: {line}");
            assert!(!line.contains(char::is_control), "{name}: {line:?}");
        }
    }
}

#[test]
fn a_value_that_the_policy_hides_is_in_no_form_of_a_plan() {
    let sql =
        "INSERT INTO guards (name, pin) VALUES ('Cyd', 'moss'); UPDATE guards SET pin = 'fern' WHERE id = 1;
               UPDATE vault SET secret = 'fern' WHERE id = 2; DELETE FROM guards WHERE id = 2";
    let forms = [printed(&seawall("plan", sql, &[])), json("plan", sql)["plan"].to_string()];
    for form in forms {
        let (text, columns) = (["moss", "fern", "1234", "right", "left"], ["secret", "\"pin\"", "hint"]);
        for word in text.iter().chain(&columns) {
            let shown = form.lines().filter(|line| line.starts_with("  ") || form.lines().count() == 1);
            assert!(
                !shown.into_iter().any(|line| line.contains(word) && !line.contains("INSERT INTO")),
                "{word}: {form}"
            );
        }
    }
}

#[test]
fn the_advice_that_no_row_changed_blames_nothing_that_is_not_there() {
    let mut connection = Connection::open_in_memory().unwrap();
    let schema = "CREATE TABLE kept (id INTEGER PRIMARY KEY, n NOT NULL); INSERT INTO kept VALUES (1, 1);
                  CREATE TRIGGER a BEFORE INSERT ON kept BEGIN SELECT RAISE(IGNORE); END;
                  CREATE TRIGGER b BEFORE UPDATE ON kept BEGIN SELECT RAISE(IGNORE); END;";
    connection.execute_batch(schema).unwrap();
    let guard = Guard::new(Policy::builtin("setup_sql").unwrap(), "setup_sql");
    let sql = "INSERT INTO kept VALUES (2, 2); INSERT OR IGNORE INTO kept VALUES (3, NULL);
               UPDATE kept SET n = 2; UPDATE kept SET n = 2 WHERE id = 2";
    let outcome = setup::run(&mut connection, &guard, &Source::new("s.sql", sql)).unwrap();
    let told: Vec<String> = outcome.advice.iter().map(ToString::to_string).collect();
    let of = |way: &str| {
        told.iter().filter(|told| told.contains("it changed no row") && told.contains(way)).count()
    };
    assert_eq!(of("A conflict clause or a trigger left it out"), 2, "{told:#?}");
    assert_eq!(of("Check that there are rows, and that no trigger"), 1, "{told:#?}");
    assert_eq!(of("Check its WHERE clause"), 1, "{told:#?}");
}

/// The plan of `sql` in a world of its own, with some columns closed.
fn planned(schema: &str, closed: &str, sql: &str) -> String {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(schema).unwrap();
    let policy =
        format!("{{seawall: 1, extends: 'builtin:setup_sql', rows: {{deny: ['read on {closed}']}}}}");
    let guard = Guard::new(Policy::parse("p.yaml", &policy).unwrap(), "setup_sql");
    let (outcome, plan) =
        setup::plan(&mut connection, &guard, &Source::new("s.sql", sql), setup::plan::ROWS).unwrap();
    assert!(outcome.is_ok(), "{}", outcome.word());
    plan.unwrap().text()
}

#[test]
fn a_full_text_table_shows_no_text_that_is_closed_where_it_is_kept() {
    let world = |index: &str| {
        format!(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, pin TEXT);
             CREATE VIEW named AS SELECT id, name, pin FROM people;
             CREATE VIRTUAL TABLE found USING {index};
             CREATE TRIGGER kept AFTER INSERT ON people BEGIN
               INSERT INTO found (rowid, name, pin) VALUES (new.id, new.name, new.pin);
             END;"
        )
    };
    let insert = "INSERT INTO people VALUES (1, 'Cyd', 'moss')";
    let indexes = [
        "fts5(name, pin, content=people, content_rowid=id)",
        "fts5(name, pin, CONT = 'people', content_rowid=id)",
        "fts5(name, pin, content=\"people\", content_rowid=id)",
        "fts5(name, pin, content=[named], content_rowid=id)",
        "fts4(name, pin, content=\"people\")",
    ];
    for index in indexes {
        let plan = planned(&world(index), "people(pin)", insert);
        assert!(
            plan.contains("found: 1 inserted (the policy hides") && !plan.contains("moss"),
            "{index}: {plan}"
        );
    }
    let plan = planned(&world(indexes[0]), "nothing(at_all)", insert);
    assert!(plan.contains("found: 1 inserted\n  + rowid 1: name 'Cyd', pin 'moss'"), "{plan}");
}

#[test]
fn a_key_is_named_and_written_as_the_table_has_it() {
    let world = "CREATE TABLE logs (rowid TEXT, n); INSERT INTO logs VALUES ('a', 1);
                 CREATE TABLE marks (at REAL PRIMARY KEY, n) WITHOUT ROWID; INSERT INTO marks VALUES (2.0, 1);";
    let plan =
        planned(world, "nothing(at_all)", "DELETE FROM logs WHERE true; UPDATE marks SET n = 2 WHERE at = 2");
    let wanted = "logs: 1 deleted\n  - _rowid_ 1: rowid 'a', n 1\nmarks: 1 updated\n  ~ at 2.0: n 1 → 2";
    assert_eq!(plan, wanted);
}

#[test]
fn a_failure_at_commit_tells_no_key_that_is_closed() {
    let mut connection = Connection::open_in_memory().unwrap();
    let schema = "CREATE TABLE parts (id INTEGER PRIMARY KEY); INSERT INTO parts VALUES (5);
                  CREATE TABLE codes (pin INTEGER PRIMARY KEY, part REFERENCES parts DEFERRABLE INITIALLY DEFERRED);
                  INSERT INTO codes VALUES (424242, 5);";
    connection.execute_batch(schema).unwrap();
    let policy = "{seawall: 1, extends: 'builtin:setup_sql', rows: {deny: ['read on codes(pin)']}}";
    let guard = Guard::new(Policy::parse("p.yaml", policy).unwrap(), "setup_sql");
    let source = Source::new("s.sql", "DELETE FROM parts WHERE id = 5");
    let told = Value::from(setup::run(&mut connection, &guard, &source).unwrap().json()).to_string();
    assert!(told.contains("a row of codes has part 5, but parts has no such row"), "{told}");
    assert!(!told.contains("424242"), "{told}");
}

#[test]
fn rows_with_a_hidden_key_are_in_no_order_of_it() {
    let world = "CREATE TABLE codes (pin INTEGER PRIMARY KEY, n)";
    let values: Vec<String> = (1..=9).map(|n| format!("({n}, {n})")).collect();
    let plan = planned(world, "codes(pin)", &format!("INSERT INTO codes VALUES {}", values.join(", ")));
    let shown: Vec<&str> = plan.lines().skip(1).collect();
    let mut sorted = shown.clone();
    sorted.sort_unstable();
    assert_eq!(shown.len(), 9, "{plan}");
    assert_ne!(shown, sorted, "{plan}");
}

#[test]
fn a_name_or_a_value_cannot_act_on_the_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let schema = directory.path().join("schema.sql");
    std::fs::write(&schema, "CREATE TABLE \"a\n\u{1b}[31m\"(\"b\u{1b}[0m\");").unwrap();
    let sql = "INSERT INTO \"a\n\u{1b}[31m\" VALUES ('c\u{1b}[1m')";
    let query = "SELECT *, 1 AS n FROM \"a\n\u{1b}[31m\"";
    let commands: [&[&str]; 3] =
        [&["run", "--query", query, "--sql", sql], &["plan", "--sql", sql], &["explain", sql]];
    for command in commands {
        let ran =
            Command::new(env!("CARGO_BIN_EXE_seawall")).args(command).arg("--schema").arg(&schema).output();
        let shown = printed(&ran.unwrap());
        assert!(!shown.contains('\u{1b}') && shown.contains("a\\n\\u{1b}[31m"), "{command:?}: {shown}");
    }
}

#[test]
fn a_plan_ends_as_the_run_would() {
    for (sql, status) in
        [("SELECT 1", 0), ("DROP TABLE rooms", 4), ("INSERT INTO loans VALUES (9, 'x', NULL)", 4)]
    {
        for command in ["plan", "run"] {
            assert_eq!(seawall(command, sql, &[]).status.code(), Some(status), "{command} {sql}");
        }
        let (mut plan, mut run) = (json("plan", sql), json("run", sql));
        for (told, own) in [(&mut plan, vec!["plan", "advice"]), (&mut run, vec!["query"])] {
            own.iter().for_each(|key| assert!(told.as_object_mut().unwrap().remove(*key).is_some(), "{key}"));
        }
        assert_eq!(plan, run, "{sql}");
    }
}

#[test]
fn a_plan_reads_what_the_limits_of_the_policy_would_stop() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch("CREATE TABLE t(a); WITH n(i) AS (VALUES (1)) INSERT INTO t SELECT i FROM n")
        .unwrap();
    let many = "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n";
    connection.execute_batch(many).unwrap();
    let policy =
        "{seawall: 1, extends: 'builtin:setup_sql', limits: {steps: 60000}, advice: {no-where: allow}}";
    let guard = Guard::new(Policy::parse("tight.yaml", policy).unwrap(), "setup_sql");
    let source = Source::new("setup.sql", "UPDATE t SET a = a + 1");
    let (outcome, plan) = setup::plan(&mut connection, &guard, &source, 5).unwrap();
    assert!(outcome.is_ok(), "{outcome:?}");
    let plan = plan.unwrap();
    let table = &plan.tables[0];
    assert_eq!((table.total.updated, table.rows.len(), table.more.updated), (3001, 5, 2996));
}

#[test]
fn a_host_gets_its_connection_back_as_it_was() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE t(a)").unwrap();
    let guard = Guard::new(Policy::builtin("setup_sql").unwrap(), "setup_sql");
    let source = Source::new("setup.sql", "INSERT INTO t VALUES (1)");
    for _ in 0..2 {
        let (_, plan) = setup::plan(&mut connection, &guard, &source, 5).unwrap();
        assert_eq!(plan.unwrap().text(), "t: 1 inserted\n  + rowid 1: a 1");
    }
    assert!(setup::run(&mut connection, &guard, &source).unwrap().is_ok());
    connection.execute_batch("INSERT INTO t VALUES (2)").unwrap();
    assert_eq!(connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)).unwrap(), 2);
}

#[test]
fn every_command_of_the_page_prints_what_is_shown() {
    let page = include_str!("../docs/plan.md");
    let blocks: Vec<&str> =
        page.split("```console\n$ seawall ").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    for block in &blocks {
        let (line, shown) = block.split_once('\n').unwrap();
        // Words in double quotes are one argument.
        let words = line
            .split('"')
            .enumerate()
            .flat_map(|(i, piece)| if i % 2 == 1 { vec![piece] } else { piece.split_whitespace().collect() });
        let mut seawall = Command::new(env!("CARGO_BIN_EXE_seawall"));
        seawall.args(words).current_dir(env!("CARGO_MANIFEST_DIR")).env("NO_COLOR", "1");
        assert_eq!(shown, printed(&seawall.output().unwrap()), "{line}");
    }
    assert!(blocks.len() >= 4, "{} commands", blocks.len());
}
