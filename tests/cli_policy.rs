//! `seawall policy` as a process: what it prints and how it ends.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use std::process::{Command, Output};

use serde_json::Value;

/// Runs `seawall policy` in the folder of the fixtures.
fn policy(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_seawall"))
        .arg("policy")
        .args(args)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn check_ends_with_0_where_all_is_well() {
    let output =
        policy(&["check", "builtin:setup_sql", "tracker/policy.yaml", "--schema", "tracker/schema.sql"]);
    assert_eq!((output.status.code(), printed(&output).as_str()), (Some(0), "2 files: no fault\n"));
}

#[test]
fn check_tells_every_fault_of_every_file_and_ends_with_3() {
    let output = policy(&["check", "bad-policies/verb-unknown.yaml", "bad-policies/many.yaml", "gone.yaml"]);
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(3));
    assert!(text.contains("--> bad-policies/verb-unknown.yaml:5:7"), "{text}");
    assert!(text.contains("error[policy-file]: gone.yaml: there is no such file"), "{text}");
    assert!(text.ends_with("\n\n3 files: 15 faults\n"), "{text}");
}

#[test]
fn warnings_end_with_0_unless_they_are_denied() {
    let check = ["check", "lint/policy.yaml", "--schema", "lint/schema.sql"];
    let output = policy(&check);
    assert_eq!(output.status.code(), Some(0));
    assert!(printed(&output).contains("warning[lint-trigger-writes-closed]"), "{}", printed(&output));
    assert_eq!(policy(&[&check[..], &["--deny-warnings"]].concat()).status.code(), Some(3));
}

#[test]
fn json_is_one_document_with_every_file() {
    let output = policy(&["check", "bad-policies/octal-number.yaml", "builtin:base", "--format", "json"]);
    let value: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!((output.status.code(), &value["errors"], &value["warnings"]), (Some(3), &1.into(), &0.into()));
    assert_eq!(value["files"][0]["hash"], Value::Null);
    assert_eq!(value["files"][0]["diagnostics"][0]["code"], "policy-wrong-value");
    assert_eq!(value["files"][1]["hash"].as_str().map(str::len), Some(64));
}

#[test]
fn github_gets_one_annotation_a_line() {
    let output = policy(&["check", "bad-policies/verb-unknown.yaml", "--format", "github"]);
    let text = printed(&output);
    assert!(text.starts_with("::error file=bad-policies/verb-unknown.yaml,line=5,col=7,"), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn show_prints_a_policy_that_check_takes() {
    let output = policy(&["show", "builtin:run_sql"]);
    let shown = printed(&output);
    assert_eq!(output.status.code(), Some(0));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shown.yaml");
    std::fs::write(&file, &shown).unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(printed(&policy(&["show", file])), shown);
    assert_eq!(policy(&["check", file]).status.code(), Some(0));
    let none = policy(&["show", "builtin:setupsql"]);
    assert_eq!(none.status.code(), Some(3));
    assert!(printed(&none).contains("Did you mean `builtin:setup_sql`?"));
}

#[test]
fn schema_prints_the_committed_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/policy/seawall.schema.json");
    let committed = std::fs::read_to_string(file).unwrap();
    assert_eq!(printed(&policy(&["schema"])), committed);
}

#[test]
fn a_schema_that_does_not_build_is_the_tool_s_fault_and_no_file_is_a_wrong_command_line() {
    let output = policy(&["check", "builtin:base", "--schema", "tracker/refused.sql"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("seawall: tracker/refused.sql:"), "{said}");
    assert_eq!(policy(&["check"]).status.code(), Some(2));
}
