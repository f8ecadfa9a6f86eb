//! The codes: each has a case, a snapshot of its words, and a page whose examples are true.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic of a helper is the failure of its test")]

#[path = "cases/literate.rs"]
#[expect(dead_code, reason = "the cases themselves use more of it")]
mod literate;
#[path = "cases/runner.rs"]
#[expect(dead_code, reason = "the cases themselves use more of it")]
mod runner;

use std::io;

use literate::{Case, Part, World, parts};
use runner::{Ran, run, run_case, suites};
use seawall::diagnostic::{self, Code, Outcome as Of, Style, page};
use seawall::setup::Verdict;
use seawall::{Outcome, Policy};
use serde_json::Value;

/// The codes that are said of a run.
fn codes() -> impl Iterator<Item = Code> {
    let of_runs = |code: &Code| matches!(code.outcome(), Of::Refused | Of::Failed | Of::Advice);
    Code::ALL.iter().copied().filter(of_runs)
}

/// The codes of what was found, in order.
fn found(outcome: &Outcome) -> Vec<Code> {
    match &outcome.verdict {
        Verdict::Ok => outcome.advice.iter().map(|note| note.code()).collect(),
        Verdict::Refused(all) => all.iter().map(|refusal| refusal.code).collect(),
        Verdict::Failed(failure) => vec![failure.code],
    }
}

fn every_case() -> Vec<Case> {
    suites().into_iter().flat_map(|(_, suite)| suite.cases).collect()
}

/// The first case of `code`; for advice, the first that runs.
fn representative(cases: &[Case], code: Code) -> &Case {
    let outcome = match code.outcome() {
        Of::Advice => "ok",
        Of::Failed => "failed",
        _ => "refused",
    };
    let is = |case: &&Case| case.outcome == outcome && case.findings.iter().any(|(_, found)| *found == code);
    cases.iter().find(is).unwrap_or_else(|| panic!("no case of fixtures/cases/ has the code {code}"))
}

/// The message and the JSON of the first finding of `code`.
fn told(ran: &Ran, code: Code) -> (String, Value) {
    match &ran.outcome.verdict {
        Verdict::Ok => {
            let note = ran.outcome.advice.iter().find(|note| note.code() == code).unwrap();
            (note.to_string(), note.json())
        }
        Verdict::Refused(all) => {
            let refusal = all.iter().find(|refusal| refusal.code == code).unwrap();
            (refusal.to_string(), refusal.json())
        }
        Verdict::Failed(failure) => (failure.to_string(), Value::Object(ran.outcome.json())),
    }
}

#[test]
fn the_words_of_every_code_are_written_down() {
    let cases = every_case();
    for code in codes() {
        let case = representative(&cases, code);
        let ran = run_case(case);
        let (message, json) = told(&ran, code);
        let diagnostics: Vec<_> = ran
            .outcome
            .diagnostics()
            .into_iter()
            .filter(|diagnostic| diagnostic.code == code)
            .take(1)
            .collect();
        let form = diagnostic::text(&diagnostics, Style::Plain);
        let json = serde_json::to_string_pretty(&json).unwrap();
        let shown = format!("{}\n\n{message}\n\n{form}\n{json}\n", case.name);
        insta::with_settings!({
            snapshot_path => "../snapshots/codes",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(code.word(), shown);
        });
    }
}

#[test]
fn no_snapshot_is_of_a_code_that_is_gone() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/codes");
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let word = name.split('.').next().unwrap();
        assert!(Code::from_word(word).is_some(), "{name} is of no code");
    }
}

#[test]
fn the_pages_have_the_codes_in_the_order_of_the_registry_each_with_a_first_sentence() {
    for (file, of) in [("refused", Of::Refused), ("failed", Of::Failed), ("advice", Of::Advice)] {
        let headings: Vec<String> = parts(&page_file(file))
            .unwrap()
            .into_iter()
            .filter_map(|part| match part {
                Part::Heading(2, text) => Some(text),
                _ => None,
            })
            .collect();
        let words: Vec<&str> = codes().filter(|code| code.outcome() == of).map(Code::word).collect();
        assert_eq!(headings, words, "docs/codes/{file}.md");
    }
    for code in codes() {
        let first = page(code).lines().nth(2).unwrap_or_default();
        assert!(first.len() > 20 && first.ends_with('.'), "{code}: {first:?} is no sentence");
        assert!(first.len() <= 100, "{code}: the first sentence is {} characters long", first.len());
    }
}

fn page_file(name: &str) -> String {
    std::fs::read_to_string(format!("{}/docs/codes/{name}.md", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// One section of a page.
#[derive(Default)]
struct Section {
    /// A policy that stands before its examples.
    under: Option<String>,
    /// A schema of its own.
    schema: Option<String>,
    examples: Vec<String>,
    /// What to add to the policy so that the first example runs.
    opens: Option<String>,
}

fn section(code: Code) -> Section {
    let mut section = Section::default();
    for part in parts(page(code)).unwrap() {
        let Part::Block(block) = part else { continue };
        match block.info.as_str() {
            "sql" => section.examples.push(block.text.replace("<NUL>", "\0")),
            "sql schema" => section.schema = Some(block.text),
            "yaml" if section.examples.is_empty() => section.under = Some(block.text),
            "yaml" => section.opens = Some(block.text),
            other => panic!("{code}, line {}: what is {other:?}?", block.line),
        }
    }
    section
}

/// The schemas and the policy before the first code of a page.
fn world_of(file: &str) -> World {
    let mut world = World::default();
    for part in parts(&page_file(file)).unwrap() {
        match part {
            Part::Heading(2, _) => break,
            Part::Block(block) => match block.info.strip_prefix("sql schema") {
                Some(name) => {
                    let name = Some(name.trim()).filter(|name| !name.is_empty());
                    world.schemas.push((name.map(str::to_owned), block.text));
                }
                None => world.policy = Some(block.text),
            },
            Part::Heading(..) | Part::Prose(_) => {}
        }
    }
    world
}

const SHIPPED: &str = "seawall: 1\nextends: builtin:setup_sql\n";

/// The policy `parent` with `more` added.
fn with(parent: &str, more: &str) -> Policy {
    let child = format!("seawall: 1\nextends: parent.yaml\n{more}");
    let read = |name: &str| match name {
        "child.yaml" => Ok(child.clone()),
        "parent.yaml" => Ok(parent.to_owned()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    Policy::load_with("child.yaml", read).unwrap_or_else(|error| panic!("{more}\n{error}"))
}

#[test]
fn every_example_of_the_pages_does_what_its_page_says() {
    for code in codes() {
        let file = match code.outcome() {
            Of::Refused => "refused",
            Of::Failed => "failed",
            _ => "advice",
        };
        let mut world = world_of(file);
        let section = section(code);
        if let Some(ddl) = &section.schema {
            world.schemas = vec![(None, ddl.clone())];
        }
        let parent = world.policy.clone().unwrap_or_else(|| SHIPPED.to_owned());
        let policy = || with(&parent, section.under.as_deref().unwrap_or_default());
        let first = section.examples.first().unwrap_or_else(|| panic!("{code} has no example"));
        let ran = run(&world, policy(), first, None);
        assert!(found(&ran.outcome).contains(&code), "{code}: the example gives {:?}", ran.outcome.message());
        assert_eq!(ran.outcome.is_ok(), code.outcome() == Of::Advice, "{code}");
        for instead in section.examples.iter().skip(1) {
            let ran = run(&world, policy(), instead, None);
            assert!(ran.outcome.is_ok(), "{code}: {:?}", ran.outcome.message());
            assert!(found(&ran.outcome).is_empty(), "{code}: {:?}", found(&ran.outcome));
        }
        if let Some(opens) = &section.opens {
            let opened = with(&parent, opens);
            let ran = run(&world, opened, first, None);
            assert!(ran.outcome.is_ok(), "{code}: {:?}", ran.outcome.message());
            assert!(!found(&ran.outcome).contains(&code), "{code}: {:?}", found(&ran.outcome));
        }
    }
}

/// The lists and lines that `fix` asks to add to the policy.
fn additions(fix: &str) -> Vec<(&str, &str)> {
    let mut added = Vec::new();
    for piece in fix.split("add `").skip(1) {
        let (line, rest) = piece.split_once("` to ").unwrap();
        added.push((rest.split(' ').next().unwrap(), line));
    }
    added
}

#[test]
fn a_line_that_a_fix_asks_to_add_opens_what_was_refused() {
    let mut tried = 0;
    for case in every_case() {
        let ran = run_case(&case);
        let Verdict::Refused(refusals) = &ran.outcome.verdict else { continue };
        let parent = case.world.policy.clone().unwrap_or_else(|| SHIPPED.to_owned());
        for refusal in refusals {
            for (list, line) in additions(&refusal.fix) {
                let (section, key) = list.split_once('.').unwrap();
                let policy = with(&parent, &format!("{section}:\n  {key}:\n    - {line}\n"));
                let again = run(&case.world, policy, &case.sql, None);
                tried += 1;
                let Verdict::Refused(left) = &again.outcome.verdict else { continue };
                let still = left
                    .iter()
                    .any(|other| other.statement == refusal.statement && other.reason == refusal.reason);
                assert!(!still, "{}\n{refusal}", case.name);
            }
        }
    }
    assert!(tried > 20, "only {tried} lines were tried");
}

#[test]
fn a_subselect_that_a_fix_asks_to_paste_runs_in_place_of_the_call() {
    let mut tried = 0;
    for case in every_case() {
        let ran = run_case(&case);
        let Verdict::Refused(refusals) = &ran.outcome.verdict else { continue };
        for refusal in refusals {
            let Some(rest) = refusal.fix.strip_prefix("Use (SELECT rowid") else { continue };
            let paste = format!("(SELECT rowid{}", rest.split(". To allow").next().unwrap());
            let policy = case.world.policy.as_deref().unwrap_or(SHIPPED);
            let again =
                run(&case.world, with(policy, ""), &case.sql.replace("last_insert_rowid()", &paste), None);
            assert!(again.outcome.is_ok(), "{}\n{paste}\n{:?}", case.name, again.outcome.message());
            tried += 1;
        }
    }
    assert!(tried > 0, "no such fix was found");
}

#[test]
fn every_message_is_one_line_and_its_statement_and_leaves_no_template_behind() {
    for case in every_case() {
        let ran = run_case(&case);
        let Some(message) = ran.outcome.message() else { continue };
        let mut lines = message.lines();
        let first = lines.next().unwrap();
        assert!(first.starts_with("setup_sql "), "{first}");
        assert!(first.ends_with(['.', '?']), "{first}");
        assert!(!first.contains(['{', '}']) && !first.contains("  "), "{first}");
        assert!(lines.next().is_none_or(|excerpt| excerpt.starts_with("  ")), "{message}");
        assert!(lines.next().is_none(), "{message}");
    }
}
