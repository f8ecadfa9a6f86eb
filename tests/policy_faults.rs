//! Policy files that must not load: what is said of each, and which words are underlined.
//!
//! A fixture's first line names the underlined words in their order, ` | ` between them.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use seawall::diagnostic::{Code, Diagnostic, Outcome, Style, github, json, text};
use seawall::policy::Policy;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/bad-policies")
}

/// The faults of a fixture, which goes by its file name.
fn faults(name: &str) -> Vec<Diagnostic> {
    match Policy::load_with(name, |name| std::fs::read_to_string(folder().join(name))) {
        Ok(_) => panic!("{name} loads"),
        Err(error) => error.diagnostics().to_vec(),
    }
}

fn fixtures() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    files.filter(|path| path.extension().is_some_and(|ending| ending == "yaml")).map(name).collect()
}

fn settings(suffix: &str) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_suffix(suffix);
    settings
}

#[test]
fn every_fault_is_told_with_its_words_underlined() {
    let mut other = String::new();
    insta::glob!("../fixtures/bad-policies", "*.yaml", |path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let faults = faults(name);
        let suffix = path.file_stem().unwrap().to_str().unwrap();
        settings(suffix).bind(|| insta::assert_snapshot!("policy", text(&faults, Style::Plain)));
        let under = |fault: &Diagnostic| fault.place.as_ref().map_or("", |place| place.text()).to_owned();
        let found: Vec<String> = faults.iter().map(under).collect();
        let written = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let first = written.lines().next().unwrap_or_default();
        let due = first.strip_prefix("# underlines:").unwrap_or_default().trim().replace("\\t", "\t");
        if found.join(" | ") != due {
            other.push_str(&format!("{name}: {}\n", found.join(" | ")));
        }
    });
    assert_eq!(other, "", "underlined, and not as the fixtures say");
}

#[test]
fn every_code_of_a_policy_has_a_fixture() {
    let said: BTreeSet<Code> =
        fixtures().iter().flat_map(|name| faults(name)).map(|fault| fault.code).collect();
    let due: BTreeSet<Code> =
        Code::ALL.iter().copied().filter(|code| code.outcome() == Outcome::Policy).collect();
    assert_eq!(said, due);
}

#[test]
fn all_faults_of_a_file_come_in_one_report_in_the_order_of_their_places() {
    let faults = faults("many.yaml");
    let places: Vec<usize> = faults.iter().filter_map(|f| f.place.as_ref()).map(|p| p.span.start).collect();
    assert!(places.is_sorted());
    assert_eq!(places.len(), 13, "{places:?}");
}

#[test]
fn no_message_names_a_path_of_this_machine() {
    let here = env!("CARGO_MANIFEST_DIR");
    for name in fixtures() {
        assert!(!text(&faults(&name), Style::Plain).contains(here), "{name}");
    }
}

#[test]
fn json_says_the_same_with_every_key() {
    let faults = faults("duplicate-key.yaml");
    settings("duplicate-key").bind(|| insta::assert_json_snapshot!("policy-json", json(&faults)));
    let missing = Policy::load_with("gone.yaml", |_| Err(std::io::ErrorKind::NotFound.into())).unwrap_err();
    settings("no-file").bind(|| insta::assert_json_snapshot!("policy-json", json(missing.diagnostics())));
}

#[test]
fn github_shows_each_fault_at_its_line() {
    let faults = faults("many.yaml");
    settings("many").bind(|| insta::assert_snapshot!("policy-github", github(&faults)));
}
