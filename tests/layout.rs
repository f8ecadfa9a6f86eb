//! The source tree keeps to its layers.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use std::path::{Path, PathBuf};

/// The folders of `src/`, top first: each may use only those before it.
const ORDER: [&str; 18] = [
    "source",
    "diagnostic",
    "request",
    "catalog",
    "yaml",
    "scenario",
    "policy",
    "ruleset",
    "statement",
    "text_witness",
    "engine",
    "refusal",
    "guard",
    "lint",
    "setup",
    "world",
    "serve",
    "cli",
];

/// Who may name a crate. `cli` prints the values of a query and gives a connection to the lint.
const CRATES: [(&str, &[&str]); 4] = [
    ("rusqlite", &["engine", "guard", "setup", "world", "cli/policy.rs"]),
    ("sqlparser", &["text_witness"]),
    ("serde_yaml", &["yaml"]),
    ("libsqlite3_sys", &[]),
];

/// A file of `src/`: its path below it, and its lines without comments and text.
struct File {
    path: String,
    lines: Vec<String>,
}

impl File {
    /// The first folder, or the file's own name at the top.
    fn folder(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap()
    }
}

fn files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut directories = vec![root.clone()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                found.push(File { path, lines: text.lines().map(code).collect() });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// A line without its comment and without what stands in double quotes.
fn code(line: &str) -> String {
    let line = line.split("//").next().unwrap();
    line.split('"').step_by(2).collect()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// The folders that a line names after `crate::`, braces included.
fn used(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for piece in line.split("crate::").skip(1) {
        match piece.strip_prefix('{') {
            Some(list) => found.extend(
                list.split([',', '}']).filter_map(|path| words(path.trim()).find(|word| !word.is_empty())),
            ),
            None => found.extend(words(piece).find(|word| !word.is_empty())),
        }
    }
    found
}

#[test]
fn a_folder_uses_only_folders_above_it() {
    let place = |folder: &str| ORDER.iter().position(|name| *name == folder);
    let mut wrong = Vec::new();
    for file in files().iter().filter(|file| !["lib", "main"].contains(&file.folder())) {
        let own = place(file.folder()).unwrap_or_else(|| panic!("{} has no place in the order", file.path));
        for (number, line) in file.lines.iter().enumerate() {
            for folder in used(line) {
                if place(folder).is_some_and(|other| other > own) {
                    wrong.push(format!("src/{}:{} uses {folder}", file.path, number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_crate_is_named_only_where_it_belongs() {
    let mut wrong = Vec::new();
    for (name, homes) in CRATES {
        for file in files().iter().filter(|file| file.path != "lib.rs") {
            let at_home = homes.iter().any(|home| *home == file.folder() || *home == file.path);
            let named = file.lines.iter().position(|line| words(line).any(|word| word == name));
            if let Some(number) = named.filter(|_| !at_home) {
                wrong.push(format!("src/{}:{} names {name}", file.path, number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_engine_is_unsafe() {
    for file in files() {
        let at = file.lines.iter().position(|line| words(line).any(|word| word == "unsafe"));
        assert!(at.is_none() || file.folder() == "engine", "src/{}", file.path);
    }
}

#[test]
fn no_file_is_longer_than_six_hundred_lines_and_none_is_called_mod() {
    for file in files() {
        assert!(file.lines.len() <= 600, "src/{} has {} lines", file.path, file.lines.len());
        assert!(!file.path.ends_with("mod.rs"), "src/{}", file.path);
    }
}

#[test]
fn the_reading_of_uses_sees_braces_and_skips_comments() {
    assert_eq!(used("use crate::{guard::Guard, policy::{A, B}};"), ["guard", "policy", "B"]);
    assert_eq!(used(&code("let x = crate::guard::f(\"crate::cli\"); // crate::setup")), ["guard"]);
}
