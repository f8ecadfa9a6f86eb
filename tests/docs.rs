//! What the README and the pages about judging show, happens.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic of a helper is the failure of its test")]

#[path = "cases/literate.rs"]
mod literate;
#[expect(dead_code, reason = "the files of cases are read by another test")]
#[path = "cases/runner.rs"]
mod runner;

use std::collections::BTreeSet;
use std::process::Command;

use literate::{Block, Part, parts, suite};
use seawall::Policy;
use seawall::setup::Verdict;

const README: &str = include_str!("../README.md");
const PAGES: [(&str, &str); 2] = [
    ("docs/judgement.md", include_str!("../docs/judgement.md")),
    ("docs/guards.md", include_str!("../docs/guards.md")),
];

/// Pages without statements of their own.
const CHECK: (&str, &str) = ("docs/check.md", include_str!("../docs/check.md"));
const MISTAKES: (&str, &str) = ("docs/mistakes.md", include_str!("../docs/mistakes.md"));

/// Shown to be typed, but not run: the first would run itself, the second writes outside the repository.
const NOT_RUN: [&str; 2] = ["./test", "cargo install --path . --locked"];

fn blocks(text: &str) -> Vec<Block> {
    let only_block = |part| if let Part::Block(block) = part { Some(block) } else { None };
    parts(text).unwrap().into_iter().filter_map(only_block).collect()
}

/// What a command of the README prints, in the repository's folder.
fn output(command: &str) -> String {
    let arguments =
        ["cargo run --release -- ", "seawall "].iter().find_map(|head| command.strip_prefix(head));
    let arguments = arguments.unwrap_or_else(|| panic!("what is {command:?}?"));
    // Words in double quotes are one argument; no command needs more of a shell.
    let words = arguments
        .split('"')
        .enumerate()
        .flat_map(|(i, piece)| if i % 2 == 1 { vec![piece] } else { piece.split_whitespace().collect() });
    let mut seawall = Command::new(env!("CARGO_BIN_EXE_seawall"));
    seawall.args(words).current_dir(env!("CARGO_MANIFEST_DIR"));
    let done = seawall.output().unwrap();
    assert!(done.stderr.is_empty(), "{command}\n{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn every_command_of_the_readme_prints_what_is_shown() {
    let mut ran = 0;
    let mut printed = String::new();
    for block in blocks(README) {
        let told = |what: &str| format!("README.md:{}: {what}", block.line);
        match block.info.as_str() {
            "console" => {
                let (command, shown) = block.text.split_once('\n').unwrap();
                let command = command.strip_prefix("$ ").unwrap_or_else(|| panic!("{}", told(command)));
                if NOT_RUN.contains(&command) {
                    continue;
                }
                ran += 1;
                printed = output(command);
                // One without output is followed by a block that shows it.
                if !shown.is_empty() {
                    assert_eq!(shown, printed, "{}", told(command));
                }
            }
            "json" => {
                let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
                assert_eq!(read(&block.text), read(&printed), "{}", told("printed"));
            }
            "yaml" => {
                Policy::parse("policy.yaml", &block.text)
                    .unwrap_or_else(|error| panic!("{}", told(&error.to_string())));
                assert!(block.text.lines().count() <= 20, "{}", told("a policy is longer than 20 lines"));
            }
            // A test of the crate's documentation.
            "rust" => {}
            other => panic!("{}", told(other)),
        }
    }
    assert!(ran >= 4, "{ran} commands");
    assert!(README.lines().count() < 200);
}

#[test]
fn every_command_of_the_pages_prints_what_is_shown() {
    let mut ran = 0;
    for (name, text) in PAGES {
        for block in blocks(text).iter().filter(|block| block.info == "console") {
            let (command, shown) = block.text.split_once('\n').unwrap();
            ran += 1;
            assert_eq!(shown, output(command.strip_prefix("$ ").unwrap()), "{name}:{}", block.line);
        }
    }
    assert!(ran > 0);
}

#[test]
fn every_command_of_the_page_about_check_prints_what_is_shown() {
    let (name, text) = CHECK;
    assert!(text.lines().count() < 120);
    let mut printed = String::new();
    for block in blocks(text) {
        let told = format!("{name}:{}", block.line);
        match block.info.as_str() {
            "console" => {
                let (command, shown) = block.text.split_once('\n').unwrap();
                printed = output(command.strip_prefix("$ ").unwrap());
                assert!(shown.is_empty() || shown == printed, "{told}\n{printed}");
            }
            "json" => {
                let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
                assert_eq!(read(&block.text), read(&printed), "{told}");
            }
            other => panic!("{told}: {other}"),
        }
    }
    assert!(!printed.is_empty());
}

#[test]
fn each_refused_statement_of_the_tracker_has_a_code_of_its_own() {
    let world = "--schema fixtures/tracker/schema.sql --policy fixtures/tracker/policy.yaml";
    let printed =
        output(&format!("seawall run --format json {world} --sql-file fixtures/tracker/refused.sql"));
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let refusals = printed["refusals"].as_array().unwrap();
    let statements: Vec<u64> =
        refusals.iter().map(|refusal| refusal["statement"].as_u64().unwrap()).collect();
    assert_eq!(statements, (2..=11).collect::<Vec<u64>>());
    let codes: BTreeSet<&str> = refusals.iter().map(|refusal| refusal["code"].as_str().unwrap()).collect();
    assert_eq!(codes.len(), 10, "{codes:?}");
}

#[test]
fn every_statement_of_the_pages_is_judged_as_they_say() {
    let mut wrong = String::new();
    for (name, text) in PAGES {
        let suite = suite(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(suite.cases.len() >= 10, "{}: {} cases", suite.title, suite.cases.len());
        for case in &suite.cases {
            let ran = runner::run_case(case);
            let all: Vec<_> = match &ran.outcome.verdict {
                Verdict::Ok => ran.outcome.advice.iter().map(|n| (Some(n.statement()), n.code())).collect(),
                Verdict::Refused(all) => all.iter().map(|r| (Some(r.statement), r.code)).collect(),
                Verdict::Failed(failure) => vec![(failure.statement, failure.code)],
            };
            let rows = case.query.as_ref().is_none_or(|(_, rows)| *rows == ran.answer);
            let undone = ran.outcome.is_ok() || ran.rows[0] == ran.rows[1];
            if case.outcome != ran.outcome.word() || case.findings != all || !rows || !undone {
                let message = ran.outcome.message().unwrap_or_default();
                wrong.push_str(&format!(
                    "{name}:{}: {} {all:?}\n{:?}\n{message}\n",
                    case.line,
                    ran.outcome.word(),
                    ran.answer
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The files that the pages link to, from the folder of each.
#[test]
fn every_link_of_the_pages_leads_to_a_file() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, text) in PAGES.into_iter().chain([
        ("README.md", README),
        CHECK,
        MISTAKES,
        ("docs/decisions.md", include_str!("../docs/decisions.md")),
    ]) {
        let folder = root.join(name).parent().unwrap().to_owned();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let file = link.split('#').next().unwrap();
            assert!(link.contains("://") || folder.join(file).exists(), "{name}: {link}");
        }
    }
}
