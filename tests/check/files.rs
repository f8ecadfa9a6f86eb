//! Files: what is read, what cannot be, and what comes of it.

use serde_json::json;

use crate::{Stand, snapshot};

#[test]
fn a_directory_stands_for_its_files_sorted_and_each_once() {
    let stand = Stand::new(&[
        ("d/b.sql", "SELECT 1"),
        ("d/a.jsonl", "{\"setup_sql\":\"BEGIN\"}\n"),
        ("d/deep/c.yml", "x: [{setup_sql: COMMIT}]"),
        ("d/package.json", "{\"name\": \"no scenario\"}"),
        ("d/notes.txt", "DROP TABLE x"),
        ("d/.hidden/x.sql", "DROP TABLE x"),
    ]);
    let all = stand.json(&["d/b.sql", "d", "./d/b.sql"]);
    let files: Vec<_> = all["files"].as_array().unwrap().iter().map(|file| &file["file"]).collect();
    assert_eq!(files, ["d/b.sql", "d/a.jsonl", "d/deep/c.yml"]);
    let totals = json!({"files": 3, "scenarios": 3, "without": 0, "statements": 3, "refused": 2, "failed": 0, "advice": 0, "errors": 0});
    assert_eq!(all["totals"], totals);
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let stand = Stand::new(&[
        ("good.sql", "SELECT 1"),
        ("odd.txt", "SELECT 1"),
        ("none.json", "{\"sql\": \"SELECT 1\"}"),
        (
            "lines.jsonl",
            "{\"setup_sql\": \"SELECT 1\"}\n\n{\"setup_sql\": \"SELECT\n[1] 2\n{\"setup_sql\": {}}\n",
        ),
        ("tab.yaml", "a:\n\tsetup_sql: SELECT 1"),
    ]);
    stand.write("latin.sql", b"SELECT 1;\nSELECT '\xe9'");
    let files = ["gone.sql", "odd.txt", "none.json", "lines.jsonl", "tab.yaml", "latin.sql", "good.sql"];
    let ran = stand.check(&files);
    assert_eq!(ran.status, 1);
    snapshot("unreadable", &ran.stdout);
    let all = stand.json(&files);
    let errors: Vec<_> = all["files"].as_array().unwrap().iter().map(|file| file["errors"].clone()).collect();
    assert_eq!(
        errors.iter().map(|list| list.as_array().unwrap().len()).collect::<Vec<_>>(),
        [1, 1, 1, 3, 1, 1, 0]
    );
    assert_eq!(errors[3][0]["line"], 3);
    stand.write("bad.sql", "BEGIN");
    assert_eq!(stand.check(&["gone.sql", "bad.sql"]).status, 4);
}

#[test]
fn where_nothing_is_checked_nothing_passes() {
    let stand = Stand::new(&[("d/package.json", "{}"), ("d/notes.txt", "DROP TABLE x"), ("e/.keep", "")]);
    for directory in ["d", "e"] {
        let ran = stand.check(&[directory]);
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (1, "0 files, 0 statements: 0 refused, 0 with advice\n")
        );
        assert_eq!(ran.stderr, "seawall: nothing to check: no file has SQL or a value under `setup_sql`\n");
    }
    for (name, status) in [("e.sql", 0), ("e.yaml", 1), ("e.jsonl", 1), ("e.json", 1)] {
        stand.write(name, "");
        assert_eq!(stand.check(&[name]).status, status, "{name}");
    }
}

#[test]
fn a_scenario_without_the_field_beside_others_is_told_of() {
    let stand = Stand::new(&[
        ("a.jsonl", "{\"setup_sql\":\"SELECT 1\"}\n{\"setup_sq\":\"DROP TABLE x\"}\n\n{}\n"),
        (
            "b.yaml",
            "x:\n  list:\n  - a: 1\n    setup_sql: SELECT 1\n  - b: [{}, {setup_sql: SELECT 2}]\n  - setup: x\n",
        ),
        ("c.yaml", "---\nsetup_sql: SELECT 1\n---\na: [{b: 1}]\n---\n"),
        ("d.json", "{\"l\": [{\"setup_sql\": null},\n {\"a\": [{\"setup_sql\": \"SELECT 1\"}, {}]},\n {}]}"),
        // Nothing is missing in these.
        ("e.yaml", "setup_sql: SELECT 1\nsteps: [{a: 1}, {b: 2}]\n"),
        ("f.json", "{\"setup_sql\": [\"SELECT 1\"], \"steps\": [{}, {}]}"),
    ]);
    let files = ["a.jsonl", "b.yaml", "c.yaml", "d.json", "e.yaml", "f.json"];
    let ran = stand.check(&files);
    assert_eq!(ran.status, 0);
    snapshot("without", &ran.stdout);
    let all = stand.json(&files);
    let without: Vec<_> = all["files"].as_array().unwrap().iter().map(|file| &file["without"]).collect();
    assert_eq!(without, [2, 1, 1, 1, 0, 0]);
    assert_eq!((&all["totals"]["without"], &all["totals"]["errors"]), (&json!(5), &json!(0)));
}

#[test]
fn every_value_of_the_field_is_judged_however_it_is_written() {
    let stand = Stand::new(&[
        ("tags.yaml", "setup_sql: !!str BEGIN\nx: !foo {setup_sql: VACUUM}\n<<: {setup_sql: COMMIT}\n"),
        ("twice.yaml", "setup_sql: BEGIN\nsetup_sql: VACUUM\nx: {setup_sql: COMMIT}\n"),
        ("twice.json", "{\"setup_sql\":\"BEGIN\",\"setup_sql\":[\"VACUUM\",\"COMMIT\"]}"),
        ("key.yaml", "\"setup\\u005fsql\": BEGIN\n'setup_sql': VACUUM\n? setup_sql\n: COMMIT\n"),
        ("key.json", "{\"setup\\u005fsql\":\"BEGIN\", \"x\":{\"setup_sql\":[\"VACUUM\", \"COMMIT\"]}}"),
        (
            "documents.yaml",
            "%YAML 1.2\n---\nsetup_sql: BEGIN\n...\n%YAML 1.1\n---\nsetup_sql: [VACUUM, COMMIT]\n",
        ),
    ]);
    for file in ["tags.yaml", "twice.yaml", "twice.json", "key.yaml", "key.json", "documents.yaml"] {
        let ran = stand.check(&[file]);
        let words: Vec<String> = ran.underlined().into_iter().map(|(_, words)| words).collect();
        assert_eq!(words, ["BEGIN", "VACUUM", "COMMIT"], "{file}\n{}", ran.stdout);
    }
}

#[test]
fn a_path_that_is_not_there_is_told_as_such_whatever_its_name() {
    let stand = Stand::new(&[]);
    for name in ["gone", "gone.txt", "gone.jsonl", "gone/"] {
        let ran = stand.check(&[name]);
        let wanted = format!("error[scenario-file]: there is no such file\n --> {name}\n");
        assert!(ran.stdout.starts_with(&wanted), "{}", ran.stdout);
        assert_eq!(ran.status, 1);
    }
}

#[test]
fn standard_input_is_sql() {
    let stand = Stand::new(&[]);
    let ran = stand.piped(&["check", "-", "-"], b"\xef\xbb\xbfDROP TABLE x;\r\n");
    assert_eq!(
        (ran.status, ran.underlined()),
        (4, vec![("schema-change".to_owned(), "DROP TABLE".to_owned())])
    );
    assert!(ran.stdout.contains(" --> <stdin>:1:1\n"), "{}", ran.stdout);
    assert_eq!(stand.piped(&["check", "-"], b"SELECT '\xff'").status, 1);
}

#[test]
fn a_byte_order_mark_and_carriage_returns_move_nothing() {
    let stand = Stand::new(&[
        ("a.sql", "\u{feff}DROP TABLE x;\r\n  VACUUM;\r\n"),
        ("b.yaml", "\u{feff}setup_sql: |\r\n  DROP TABLE x;\r\n  VACUUM\r\n"),
        ("c.jsonl", "\u{feff}{\"setup_sql\":\"DROP TABLE x\"}\r\n{\"setup_sql\":\"VACUUM\"}\r\n"),
        ("d.json", "\u{feff}{\"setup_sql\":\r\n\"DROP TABLE x;\\r\\nVACUUM\"}"),
    ]);
    let all = stand.json(&["a.sql", "b.yaml", "c.jsonl", "d.json"]);
    let place = |refusal: &serde_json::Value| {
        let number = |key: &str| refusal[key].as_u64().unwrap();
        (number("line"), number("column"))
    };
    let places: Vec<Vec<_>> = all["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["refusals"].as_array().unwrap().iter().map(place).collect())
        .collect();
    assert_eq!(places, [[(1, 1), (2, 3)], [(2, 3), (3, 3)], [(1, 15), (2, 15)], [(2, 2), (2, 19)]]);
    let shown = stand.check(&["a.sql", "b.yaml", "c.jsonl", "d.json"]).underlined();
    let words: Vec<_> = shown.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(words, ["DROP TABLE", "VACUUM"].repeat(4));
}

#[test]
fn another_field_and_a_list_of_texts_are_read() {
    let stand =
        Stand::new(&[("s.yaml", "sql: [SELECT 1, 'BEGIN', null]\nsetup_sql: DROP TABLE x\n--- \nsql: ~\n")]);
    let all = stand.json(&["s.yaml", "--field", "sql"]);
    assert_eq!((&all["totals"]["scenarios"], &all["totals"]["refused"]), (&json!(2), &json!(1)));
    let refusal = &all["files"][0]["refusals"][0];
    assert_eq!(
        (&refusal["statements"], &refusal["line"], &refusal["column"]),
        (&json!(null), &json!(1), &json!(18))
    );
}

#[test]
fn an_alias_is_told_of_where_its_text_stands_and_once() {
    let text = "base: &b |\n  BEGIN;\nlist: &l [COMMIT, SELECT 1]\na: {setup_sql: *b}\nb: {setup_sql: *b}\nc: {setup_sql: *l}\n";
    let all = Stand::new(&[("s.yaml", text)]).json(&["s.yaml"]);
    let lines: Vec<_> = all["files"][0]["refusals"].as_array().unwrap().iter().map(|r| &r["line"]).collect();
    assert_eq!(lines, [2, 3]);
}

#[test]
fn limits_are_told_as_failures_where_the_text_begins() {
    let policy = "seawall: 1\nextends: builtin:setup_sql\nlimits: {statements: 2, text: 1KiB}\n";
    let long = format!("{{}}\n{{\"setup_sql\": \"SELECT '{}'\"}}\n", "x".repeat(2000));
    let stand = Stand::new(&[("p.yaml", policy), ("a.sql", "SELECT 1;SELECT 2;BEGIN"), ("b.jsonl", &long)]);
    let all = stand.json(&["a.sql", "b.jsonl", "--policy", "p.yaml"]);
    let told = |at: usize| {
        let failure = &all["files"][at]["failures"][0];
        (failure["code"].clone(), failure["line"].clone(), failure["column"].clone())
    };
    assert_eq!(told(0), (json!("limit-statements"), json!(1), json!(1)));
    assert_eq!(told(1), (json!("limit-text"), json!(2), json!(16)));
    assert_eq!(all["totals"]["statements"], 3);
    assert_eq!(stand.check(&["a.sql", "--policy", "p.yaml"]).status, 4);
}

#[test]
fn a_wrong_command_line_a_wrong_policy_and_a_wrong_schema_have_their_own_ends() {
    let stand =
        Stand::new(&[("a.sql", "SELECT 1"), ("p.yaml", "seawall: 2\n"), ("s.sql", "CREATE TABLE t(;")]);
    assert_eq!(stand.check(&[]).status, 2);
    assert_eq!(stand.check(&["a.sql", "--db", "x.db", "--schema", "s.sql"]).status, 2);
    assert_eq!(stand.check(&["a.sql", "--policy", "p.yaml"]).status, 3);
    let ran = stand.check(&["a.sql", "--schema", "s.sql"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("seawall: s.sql:1: "), "{}", ran.stderr);
    let ran = stand.check(&["a.sql", "--attach", "x=x.db"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("--db or --schema"), "{}", ran.stderr);
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let stand = Stand::new(&[("z.sql", "BEGIN")]);
    let mut lines = String::new();
    for i in 0..5_000 {
        let sql = if i % 7 == 0 { "DROP TABLE x" } else { "DELETE FROM t WHERE a = 1" };
        lines.push_str(&format!("{{\"id\": {i}, \"setup_sql\": \"SELECT {i}; {sql}\"}}\n"));
    }
    stand.write("a.jsonl", lines);
    for format in ["text", "json", "github"] {
        let one = stand.check(&["a.jsonl", "z.sql", "--format", format, "--jobs", "1"]).stdout;
        let four = stand.check(&["a.jsonl", "z.sql", "--format", format, "--jobs", "4"]).stdout;
        assert!(one == four, "{format} differs");
    }
    let all = stand.json(&["a.jsonl"]);
    let refusals = all["files"][0]["refusals"].as_array().unwrap();
    let lines: Vec<u64> = refusals.iter().map(|refusal| refusal["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, (1..=5_000).step_by(7).collect::<Vec<u64>>());
    assert!(refusals.iter().all(|refusal| refusal["statement"] == 2));
}

#[test]
fn each_thread_has_a_copy_and_the_given_database_is_left_alone() {
    let stand = Stand::new(&[("a.jsonl", ""), ("b.sql", "DELETE FROM t WHERE a = 1")]);
    let database = stand.path().join("given.db");
    rusqlite::Connection::open(&database)
        .unwrap()
        .execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        .unwrap();
    let before = std::fs::read(&database).unwrap();
    stand.write(
        "a.jsonl",
        "{\"setup_sql\": \"DELETE FROM t WHERE a = 1; DELETE FROM u WHERE a = 1\"}\n".repeat(500),
    );
    let all = stand.json(&["a.jsonl", "b.sql", "--db", "given.db", "--jobs", "3"]);
    assert_eq!((&all["totals"]["failed"], &all["totals"]["statements"]), (&json!(500), &json!(1_001)));
    assert_eq!(std::fs::read(&database).unwrap(), before);
}

#[test]
fn a_hundred_thousand_statements_on_one_line_are_told_of_in_bounded_time() {
    let policy = "seawall: 1\nextends: builtin:setup_sql\nlimits: {statements: 200000}\n";
    let stand = Stand::new(&[("p.yaml", policy), ("a.sql", &"DROP TABLE x; ".repeat(100_000))]);
    let all = stand.json(&["a.sql", "--policy", "p.yaml"]);
    let last = &all["files"][0]["refusals"][99_999];
    assert_eq!((&last["column"], &all["totals"]["refused"]), (&json!(1_399_987), &json!(100_000)));
}
