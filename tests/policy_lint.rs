//! A policy held against a schema.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use rusqlite::Connection;
use seawall::catalog::Catalog;
use seawall::diagnostic::{Code, Diagnostic, Style, text};
use seawall::engine::catalog::{built_in, load, load_rest};
use seawall::lint::lint;
use seawall::policy::Policy;

const SCHEMA: &str = include_str!("../fixtures/lint/schema.sql");

fn catalog(schema: &str, policy: &Policy) -> Catalog {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(schema).unwrap();
    let mut catalog = load(&connection, policy, &built_in().unwrap()).unwrap();
    load_rest(&connection, &mut catalog).unwrap();
    catalog
}

/// What is said of a policy, which goes on from `seawall: 1`.
fn said(policy: &str, schema: &str) -> Vec<Diagnostic> {
    let policy = Policy::parse("policy.yaml", &format!("seawall: 1\n{policy}")).unwrap();
    lint(&policy, &catalog(schema, &policy))
}

fn codes(found: &[Diagnostic]) -> Vec<(Code, &str)> {
    found.iter().map(|found| (found.code, found.place.as_ref().map_or("", |place| place.text()))).collect()
}

fn snapshot(name: &str, policy: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_suffix(name);
    let said = text(&said(policy, SCHEMA), Style::Plain);
    settings.bind(|| insta::assert_snapshot!("lint", said));
}

#[test]
fn the_shipped_policies_fit_an_empty_schema_and_the_tracker_s() {
    for name in Policy::builtin_names() {
        let policy = Policy::builtin(name).unwrap();
        assert_eq!(lint(&policy, &catalog("", &policy)), [], "{name}");
    }
    let tracker = include_str!("../fixtures/tracker/policy.yaml").replace("seawall: 1\n", "");
    assert_eq!(said(&tracker, include_str!("../fixtures/tracker/schema.sql")), []);
}

#[test]
fn names_that_match_nothing_are_told_with_the_nearest() {
    snapshot(
        "names",
        "extends: builtin:setup_sql\nrows:\n  allow:\n    - read on isues, \"sqlite_sequence\", *.notes\n    - read on payments.charges\n    - read on issues(titel, title, rowid)\n  deny:\n    - write on archive_*\nfunctions:\n  allow: [json_eech, my_*]\npragmas:\n  allow: [user_versoin]\ntriggers:\n  trust:\n    - insert on audit by issues_changed\n    - call by nobody_*\nviews:\n  trust: [call by open_isues]\n",
    );
}

#[test]
fn rules_that_never_decide_are_told_with_the_one_that_does() {
    snapshot(
        "never-decides",
        "rows:\n  allow:\n    - read, write on *.*\n    - read on issues\n    - read on issues(title)\n    - update on audit\n    - read on *.sqlite_schema\n  deny:\n    - write on audit\n    - delete on main.a*\n    - delete on main.audit\n    - rule: insert on audit\n      reason: it has words of its own\nfunctions:\n  allow: [json_*, json_each, random, ran?om]\n  deny: [random]\npragmas:\n  allow: [table_info(table), \"table_info(table?)\", optimize, user_version(integer)]\ntriggers:\n  trust: [call by *, call by issues_changes, insert on audit by *, insert on audit by issues_changes]\n",
    );
}

#[test]
fn a_world_that_the_policy_stops_is_told_before_it_happens() {
    snapshot(
        "world",
        "extends: builtin:base\nrows:\n  allow: ['read, write on *.*']\n  deny:\n    - rule: write on audit\n      reason: it is the triggers'\n    - replace on labels, tags\n",
    );
}

#[test]
fn trust_settles_what_a_trigger_or_view_may_do() {
    let trust = "rows:\n  allow: ['read, write on *.*']\n  deny: [write on audit, 'replace, delete on labels']\ntriggers:\n  trust: ['insert, call by issues_changes', 'replace, delete on labels by tagged', call by *]\nviews:\n  trust: [call by *]\n";
    // What is left is about the schema, not about trust.
    assert_eq!(
        codes(&said(trust, SCHEMA)),
        [
            (Code::LintReplaceClause, "ON CONFLICT REPLACE"),
            (Code::LintSharedName, ""),
            (Code::LintReplaceClause, "OR REPLACE"),
        ]
    );
}

#[test]
fn a_read_only_door_says_nothing_of_replace_clauses() {
    let schema = "CREATE TABLE t(a UNIQUE ON CONFLICT REPLACE)";
    assert_eq!(codes(&said("extends: builtin:run_sql\n", schema)), []);
}

#[test]
fn odd_names_and_bodies_are_read_as_sqlite_reads_them() {
    let schema = "CREATE TABLE begin(a, [end]); CREATE TABLE \"insert\"(a);
        CREATE TRIGGER \"delete\" AFTER UPDATE OF a ON begin FOR EACH ROW WHEN (CASE WHEN changes() THEN 1 END)
        BEGIN SELECT CASE WHEN 1 THEN 2 END; -- a; b
          INSERT INTO \"insert\" SELECT ';' || max(1, 2); DELETE FROM \"insert\"; END;";
    let found =
        said("rows: {allow: [\"insert, update, delete on begin\"]}\nfunctions: {allow: [max]}\n", schema);
    assert_eq!(
        codes(&found),
        [
            (Code::LintTriggerWritesClosed, "\"insert\""),
            (Code::LintTriggerWritesClosed, "\"insert\""),
            (Code::LintUnlistedCall, "changes"),
        ]
    );
}
