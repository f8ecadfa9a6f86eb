//! Policy files that load: the shipped ones, parents, and what `show` prints.

#![expect(clippy::panic, reason = "a helper of a test fails as the test does")]

use std::io;

use seawall::policy::{Level, Policy};

/// Loads from files held in memory.
fn load(name: &str, files: &[(&str, &str)]) -> Result<Policy, String> {
    let read = |wanted: &str| {
        let found = files.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    Policy::load_with(name, read).map_err(|error| error.to_string())
}

fn parse(text: &str) -> Policy {
    Policy::parse("policy.yaml", text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_shipped_policy_loads_and_shows_as_a_policy_of_the_same_hash() {
    for name in Policy::builtin_names() {
        let policy = Policy::builtin(name).unwrap_or_else(|error| panic!("{error}"));
        let shown = policy.show();
        assert_eq!(parse(&shown).show(), shown, "{name}");
        assert_eq!(parse(&shown).hash(), policy.hash(), "{name}");
    }
}

#[test]
fn the_shipped_lists_are_the_reference_s() {
    let base = Policy::builtin("base").unwrap();
    assert_eq!(base.functions.allow.len(), 111);
    let pragmas: std::collections::BTreeSet<_> =
        base.pragmas.iter().filter_map(|rule| rule.what.name.literal().cloned()).collect();
    assert_eq!(pragmas.len(), 19);
}

#[test]
fn a_child_adds_removes_and_overrides_but_reopens_no_deny() {
    let parent = "seawall: 1\nrows:\n  allow: [read on *.*]\n  deny:\n    - rule: read on users(password)\n      reason: it is secret\nlimits: {rows: 5, text: 1KiB}\nadvice: {no-where: warn, bare-name: warn}\n";
    let child = "seawall: 1\nextends: base/parent.yaml\nrows:\n  remove: ['read on *']\n  allow: [\"read on users, notes\"]\n  deny: [read on Users(PASSWORD)]\nlimits: {rows: 7}\nadvice: {no-where: deny}\n";
    let policy =
        load("dir/child.yaml", &[("dir/child.yaml", child), ("dir/base/parent.yaml", parent)]).unwrap();
    let allow: Vec<_> = policy.rows.allow.iter().map(|rule| rule.what.to_string()).collect();
    assert_eq!(allow, ["read on main.notes, main.users"]);
    let [deny] = policy.rows.deny.as_slice() else { panic!("one deny") };
    assert_eq!(deny.what.to_string(), "read on main.users(password)");
    assert_eq!(deny.reason.as_deref(), Some("it is secret"));
    assert_eq!((policy.limits.rows, policy.limits.text), (Some(7), Some(1024)));
    assert_eq!(policy.advice.values().collect::<Vec<_>>(), [&Level::Deny, &Level::Warn]);
}

#[test]
fn what_means_the_same_has_one_hash() {
    let one = parse(
        "seawall: 1\nfunctions: {allow: [ABS, abs, '->']}\nrows:\n  allow:\n    - insert, read, update, replace, delete on \"Notes\", b\n",
    );
    let other = parse(
        "seawall: 1\n# words\ndescription: other\nrows:\n  allow: ['read, write on main.b, main.notes']\nfunctions:\n  allow:\n    - ->\n    - abs\n",
    );
    assert_eq!(one.hash(), other.hash());
    assert_ne!(one.hash(), parse("seawall: 1\nfunctions: {allow: [abs]}\n").hash());
}

#[test]
fn a_policy_built_in_code_is_the_one_of_the_file() {
    let file = parse(
        "seawall: 1\nextends: builtin:setup_sql\nrows:\n  deny:\n    - rule: write on audit_log\n      reason: it is the triggers'\nviews:\n  trust: [call by *]\nfunctions:\n  remove: [random*]\n",
    );
    let built = Policy::builder()
        .extends(Policy::builtin("setup_sql").unwrap())
        .deny_rows("write on audit_log")
        .unwrap()
        .because("it is the triggers'", "")
        .trust_views("call by *")
        .unwrap()
        .remove_functions("random*")
        .build()
        .unwrap();
    assert_eq!(built.hash(), file.hash());
}

#[test]
fn denies_of_an_added_world_move_to_its_schema_and_allows_stay_behind() {
    let root = parse("seawall: 1\nrows:\n  allow: ['read on *.*']\n");
    let added = parse(
        "seawall: 1\nrows:\n  allow: ['write on *.*']\n  deny: ['read on secrets', 'write on *.log']\n",
    );
    let policy = root.with_added(&"payments".into(), &added);
    let rules = |rules: &[seawall::policy::Rule<seawall::policy::RowRule>]| -> Vec<String> {
        rules.iter().map(|rule| rule.what.to_string()).collect()
    };
    assert_eq!(rules(&policy.rows.allow), ["read on *.*"]);
    assert_eq!(
        rules(&policy.rows.deny),
        ["read on payments.secrets", "write on payments.log, payments__*.log"]
    );
}

#[test]
fn show_prints_what_a_shipped_policy_comes_to_and_what_never_opens() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for name in Policy::builtin_names() {
        let shown = Policy::builtin(name).unwrap().show();
        for never in seawall::policy::NEVER {
            assert!(shown.contains(&format!("# never: {}; {}\n", never.what, never.why)), "{name}");
        }
        settings.set_snapshot_suffix(name);
        settings.bind(|| insta::assert_snapshot!("policy-show", shown));
    }
}
