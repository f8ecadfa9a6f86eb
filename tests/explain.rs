//! What is explained of a statement: who asks what, who saw it, and on what ground it was decided.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic of a helper is the failure of its test")]

#[path = "cases/literate.rs"]
#[expect(dead_code, reason = "the cases themselves use more of it")]
mod literate;
#[path = "cases/runner.rs"]
#[expect(dead_code, reason = "the cases themselves use more of it")]
mod runner;

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use seawall::Guard;
use seawall::diagnostic::{Code, Outcome as Of};
use seawall::engine::catalog;
use seawall::engine::open::Hardened;
use seawall::guard::{Explained, Judged, Judgement, Judging};
use seawall::request::Origin;
use seawall::ruleset::Ruleset;
use seawall::setup::Verdict;
use seawall::source::Source;
use seawall::statement::statements;
use serde_json::{Map, Value};

/// Statements of the world in `fixtures/explain`, with what each of them is an example of.
const STATEMENTS: [(&str, &str); 21] = [
    ("caller", "INSERT INTO labels (name) VALUES (upper('web'))"),
    ("trigger", "UPDATE teams SET name = 'Web' WHERE id = 1"),
    ("view", "SELECT n FROM tallies"),
    ("expression", "INSERT INTO teams (name) SELECT name FROM labels"),
    ("foreign-key", "DELETE FROM teams WHERE id = 1"),
    ("module", "INSERT INTO notes (body) VALUES ('the tide table')"),
    ("closed-in-part", "UPDATE users SET handle = 'ada' WHERE pin = '0000'"),
    ("closed", "SELECT secret FROM vault"),
    ("closed-behind-a-view", "SELECT handle FROM handles"),
    ("kept", "SELECT count(*) FROM sqlite_schema"),
    ("not-prepared", "DELETE FROM notes_data"),
    ("table-function", "SELECT value FROM json_each('[1]')"),
    ("unlisted-call", "SELECT name FROM labels WHERE id = total_changes()"),
    ("or-replace-over-triggers", "UPDATE OR REPLACE teams SET name = 'Web'"),
    ("trigger-not-trusted", "UPDATE labels SET name = 'web'"),
    ("joined-by-name", "SELECT a.handle FROM users AS a JOIN users AS b USING (pin)"),
    ("never", "CREATE TABLE scratch (n)"),
    ("pragma", "PRAGMA table_info(teams)"),
    ("pragma-that-sets", "PRAGMA user_version = 7"),
    ("no-request", "SELECT 1"),
    ("several", "UPDATE labels SET id = ?; SELECT nope FROM labels;\nSELECT name FROM labels"),
];

/// Runs `seawall` in the folder of the fixtures, with `text` as its standard input.
fn seawall(args: &[&str], text: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seawall"));
    command.args(args).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures")).env("NO_COLOR", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn explain(args: &[&str]) -> Output {
    let world = ["explain", "--schema", "explain/schema.sql", "--policy", "explain/policy.yaml"];
    seawall(&[&world, args].concat(), "")
}

fn printed(output: &Output) -> String {
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&printed(&explain(&[args, &["--format", "json"]].concat()))).unwrap()
}

/// Each statement's keys on lines of their own, and a line for each of its requests.
fn lines(explained: &Value) -> String {
    let mut out = String::new();
    for statement in explained["statements"].as_array().unwrap() {
        for (key, value) in statement.as_object().unwrap() {
            match value.as_array().filter(|list| !list.is_empty()) {
                Some(list) => {
                    out.push_str(&format!("{key}:\n"));
                    list.iter().for_each(|item| out.push_str(&format!("  {item}\n")));
                }
                None => out.push_str(&format!("{key}: {value}\n")),
            }
        }
    }
    out
}

macro_rules! shown {
    ($name:expr, $text:expr) => {
        insta::with_settings!({
            snapshot_path => "../snapshots",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!($name, $text);
        });
    };
}

#[test]
fn each_origin_ground_and_way_is_told_as_text_and_as_json() {
    for (name, sql) in STATEMENTS {
        let output = explain(&[sql]);
        let told = json(&[sql]);
        let refused = told["statements"].as_array().unwrap().iter().any(|one| one["outcome"] != "allowed");
        assert_eq!(output.status.code(), Some(if refused { 4 } else { 0 }), "{sql}");
        shown!(format!("explain@{name}"), format!("$ {sql}\n\n{}\n{}", printed(&output), lines(&told)));
    }
}

#[test]
fn the_statements_have_every_origin_ground_and_way() {
    let mut found: [BTreeSet<String>; 3] = Default::default();
    for (_, sql) in STATEMENTS {
        for statement in json(&[sql])["statements"].as_array().unwrap() {
            found[2].insert(statement["way"].as_str().unwrap().to_owned());
            for request in statement["requests"].as_array().unwrap() {
                let origin = request["origin"].as_str().unwrap();
                found[0].insert(origin.split(' ').next().unwrap().to_owned());
                found[1].insert(request["ground"].as_str().unwrap().to_owned());
            }
        }
    }
    let [origins, grounds, ways] = found.map(|set| set.into_iter().collect::<Vec<_>>().join(" "));
    assert_eq!(origins, "caller expression foreign trigger view");
    assert_eq!(grounds, "default never rule world");
    assert_eq!(ways, "full short text");
}

#[test]
fn every_key_of_the_json_is_always_there() {
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    let mut requests = 0;
    for (_, sql) in STATEMENTS {
        for arguments in [vec!["explain", "--format", "json", sql], {
            let world = ["explain", "--schema", "explain/schema.sql", "--format", "json"];
            [&world[..], &[sql]].concat()
        }] {
            let told: Value = serde_json::from_str(&printed(&seawall(&arguments, ""))).unwrap();
            assert_eq!(keys(&told), "database statements error");
            for statement in told["statements"].as_array().unwrap() {
                let expected =
                    "statement kind outcome way why not_understood requests modules refusals error";
                assert_eq!(keys(statement), expected);
                for request in statement["requests"].as_array().unwrap() {
                    requests += 1;
                    let expected = "action resource schema table column name argument origin witnesses allowed \
                                    code ground rule span position";
                    assert_eq!(keys(request), expected);
                }
            }
        }
    }
    assert!(requests > 50, "{requests}");
}

#[test]
fn without_a_database_the_text_alone_is_explained() {
    let sql = "INSERT INTO teams (name) VALUES (upper('web'), changes()); VACUUM; SELECT 1";
    let output = seawall(&["explain", sql], "");
    assert_eq!(output.status.code(), Some(4));
    shown!("explain@without-a-database", format!("$ {sql}\n\n{}", printed(&output)));
}

#[test]
fn sql_comes_from_a_file_and_from_standard_input_too() {
    let sql = "SELECT title FROM issues WHERE id = changes();\n";
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("setup.sql");
    std::fs::write(&file, sql).unwrap();
    let schema = ["--schema", "tracker/schema.sql", "--format", "json"];
    let read = |args: &[&str], text: &str| {
        let output = seawall(&[&["explain"], &schema[..], args].concat(), text);
        serde_json::from_str::<Value>(&printed(&output)).unwrap()
    };
    let given = read(&[sql], "");
    assert_eq!(given["statements"][0]["outcome"], "refused");
    assert_eq!(read(&["-"], sql), given);
    assert_eq!(read(&["--sql-file", file.to_str().unwrap()], ""), given);
}

#[test]
fn a_code_is_explained_by_its_page_and_an_unknown_one_by_the_nearest() {
    let page = seawall(&["explain", "schema-change"], "");
    assert_eq!(page.status.code(), Some(0));
    assert!(printed(&page).starts_with("## schema-change\n"), "{}", printed(&page));
    assert!(printed(&seawall(&["explain", "all"], "")).lines().count() > 30);
    let unknown = seawall(&["explain", "schema-chang"], "");
    let told = String::from_utf8(unknown.stderr).unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(told.contains("did you mean schema-change?"), "{told}");
    // One word can be SQL as well.
    assert!(printed(&seawall(&["explain", "vacuum"], "")).contains("maintenance vacuum"));
    assert_eq!(seawall(&["explain"], "").status.code(), Some(2));
    assert_eq!(seawall(&["explain", "SELECT 1", "--attach", "aux=aux.db"], "").status.code(), Some(1));
}

#[test]
fn the_given_database_is_not_touched_and_nothing_is_run() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("world.db");
    let connection = seawall::rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch("CREATE TABLE teams (name TEXT); INSERT INTO teams VALUES ('Core')").unwrap();
    drop(connection);
    let before = std::fs::read(&file).unwrap();
    let output = seawall(&["explain", "--db", file.to_str().unwrap(), "DELETE FROM teams"], "");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_bound_that_the_text_exceeds_is_told_and_no_statement_is_looked_at() {
    let directory = tempfile::tempdir().unwrap();
    let policy = directory.path().join("policy.yaml");
    std::fs::write(&policy, "{seawall: 1, extends: 'builtin:setup_sql', limits: {statements: 1}}").unwrap();
    let policy = policy.to_str().unwrap();
    let output = seawall(&["explain", "--policy", policy, "--format", "json", "SELECT 1; SELECT 2"], "");
    let told: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(
        (&told["error"]["code"], &told["statements"]),
        (&"limit-statements".into(), &Value::Array(vec![]))
    );
}

/// Every case, explained in its world.
fn explained(look: impl Fn(&literate::Case, &Explained)) {
    for (_, suite) in runner::suites() {
        for case in &suite.cases {
            let directory = tempfile::tempdir().unwrap();
            let mut workspace = runner::workspace(&case.world, directory.path());
            let guard = Guard::new(runner::policy(case), "setup_sql");
            let mut door = guard.open(&mut workspace.connection).unwrap();
            look(case, &door.explain(&Source::new("setup.sql", case.sql.as_str())).unwrap());
        }
    }
}

#[test]
fn what_is_explained_is_what_a_run_says() {
    let of_run = |refusal: &seawall::Refusal| {
        !matches!(refusal.origin, Origin::Module(_))
            && !matches!(refusal.code, Code::NoRowChanged | Code::ReplaceDeletedRows)
    };
    explained(|case, explained| {
        let ran = runner::run_case(case);
        let refusals: Vec<String> =
            explained.statements.iter().flat_map(|one| &one.refusals).map(ToString::to_string).collect();
        match &ran.outcome.verdict {
            // What shows while a statement runs is not seen here.
            Verdict::Refused(all) if all.iter().all(of_run) => {
                let told: Vec<String> = all.iter().map(ToString::to_string).collect();
                assert_eq!(refusals, told, "{}", case.name);
            }
            Verdict::Refused(_) => {}
            Verdict::Ok | Verdict::Failed(_) => assert_eq!(refusals, [""; 0], "{}", case.name),
        }
    });
}

#[test]
fn a_statement_is_refused_where_a_request_is_denied_and_only_there() {
    explained(|case, explained| {
        for one in &explained.statements {
            let denied = one.requests.iter().filter(|request| !request.seen.decision.allowed).count();
            let of_requests = one.refusals.iter().filter(|refusal| is_of_a_request(refusal)).count();
            assert_eq!(denied > 0, of_requests > 0, "{}\n{}", case.name, explained.text());
            let refused = one.outcome == Judgement::Refused;
            assert_eq!(refused, !one.refusals.is_empty(), "{}", case.name);
        }
    });
}

#[test]
fn the_engine_alone_denies_nothing_that_a_judgement_allows_and_most_of_what_it_refuses() {
    let (mut refused, mut denied) = (0, 0);
    for (_, suite) in runner::suites() {
        for case in &suite.cases {
            let directory = tempfile::tempdir().unwrap();
            let mut workspace = runner::workspace(&case.world, directory.path());
            let policy = Arc::new(runner::policy(case));
            let held = Hardened::new(&mut workspace.connection, &policy.limits).unwrap();
            let known = catalog::known_to(held.connection).unwrap();
            let loaded = catalog::load(held.connection, &policy, &known).unwrap();
            let ruleset = Arc::new(Ruleset::compile(Arc::clone(&policy), Some(Arc::new(loaded))));
            let mut judging = Judging::new(held.connection, held.recorder.clone(), ruleset).unwrap();
            for statement in statements(&case.sql) {
                let Ok(seen) = judging.examine_by_engine(&statement) else { continue };
                let denies = seen.iter().any(|seen| !seen.decision.allowed);
                let of_requests = match judging.judge(&statement) {
                    Judged::Refused(findings) => findings.iter().any(|finding| finding.request.is_some()),
                    Judged::Ready(_) => {
                        assert!(!denies, "{}\n{}\n{seen:#?}", case.name, statement.sql());
                        continue;
                    }
                    Judged::Failed(_) => continue,
                };
                refused += usize::from(of_requests);
                denied += usize::from(of_requests && denies);
            }
        }
    }
    // What the text alone shows: REPLACE, commands of full-text tables, functions that SQLite inlines.
    assert!(refused > 100 && denied * 10 >= refused * 8, "{denied} of {refused}");
}

/// Whether a refusal is of a request, not of the text itself or of denied advice.
fn is_of_a_request(refusal: &seawall::Refusal) -> bool {
    refusal.code.outcome() == Of::Refused && ![Code::NulByte, Code::BindParameter].contains(&refusal.code)
}

#[test]
fn no_line_of_a_tree_is_longer_than_a_hundred_characters_unless_its_words_are() {
    let mut long = Map::new();
    for (name, sql) in STATEMENTS {
        let text = printed(&explain(&[sql]));
        for line in text.lines().filter(|line| line.contains("─ ") && line.chars().count() > 100) {
            long.insert(name.to_owned(), line.into());
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}
