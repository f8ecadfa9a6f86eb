//! The cases of `fixtures/cases/`: what setup SQL does, and every word that is said about it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic of a helper is the failure of its test")]

#[path = "cases/literate.rs"]
mod literate;
#[path = "cases/runner.rs"]
mod runner;

use std::fmt::Write;

use literate::Case;
use runner::{Ran, run_case, suites};
use seawall::diagnostic::Code;
use seawall::setup::Verdict;

type Found = Vec<(Option<usize>, Code)>;

/// Statement and code of all that was found: refusals, the failure, or advice.
fn found(ran: &Ran) -> Found {
    match &ran.outcome.verdict {
        Verdict::Ok => ran.outcome.advice.iter().map(|note| (Some(note.statement()), note.code())).collect(),
        Verdict::Refused(all) => all.iter().map(|refusal| (Some(refusal.statement), refusal.code)).collect(),
        Verdict::Failed(failure) => vec![(failure.statement, failure.code)],
    }
}

/// Every message of a run, in full.
fn messages(ran: &Ran) -> Vec<String> {
    match &ran.outcome.verdict {
        Verdict::Ok => ran.outcome.advice.iter().map(ToString::to_string).collect(),
        Verdict::Refused(all) => all.iter().map(ToString::to_string).collect(),
        Verdict::Failed(failure) => vec![failure.to_string()],
    }
}

fn shown(outcome: &str, found: &Found) -> String {
    let one = |(statement, code): &(Option<usize>, Code)| match statement {
        Some(statement) => format!("{statement} {code}"),
        None => code.to_string(),
    };
    let all: Vec<String> = found.iter().map(one).collect();
    format!("{outcome} {}", all.join(", ")).trim_end().to_owned()
}

/// What differs from the case's expectation.
fn differences(case: &Case, ran: &Ran) -> Vec<String> {
    let mut differences = Vec::new();
    let mut compare = |what: &str, expected: String, got: String| {
        if expected != got {
            differences.push(format!("{what}: expected {expected}, got {got}"));
        }
    };
    compare("outcome", shown(&case.outcome, &case.findings), shown(ran.outcome.word(), &found(ran)));
    if let Some((_, rows)) = &case.query {
        compare("rows", format!("{rows:?}"), format!("{:?}", ran.answer));
    }
    if !ran.outcome.is_ok() {
        let [before, after] = &ran.rows;
        compare("rows after", format!("{before:?}"), format!("{after:?}"));
    }
    if !differences.is_empty() {
        differences.extend(messages(ran));
    }
    differences
}

#[test]
fn every_case_has_the_outcome_and_the_words_that_are_written_down() {
    let mut wrong = String::new();
    let mut words = String::new();
    for (file, suite) in suites() {
        writeln!(words, "# {file}: {}\n", suite.title).unwrap();
        for case in &suite.cases {
            let ran = run_case(case);
            for difference in differences(case, &ran) {
                writeln!(wrong, "fixtures/cases/{file}.md:{}: {}\n  {difference}", case.line, case.name)
                    .unwrap();
            }
            let messages = messages(&ran);
            if !messages.is_empty() {
                writeln!(words, "{}\n  = {}", case.name, shown(ran.outcome.word(), &found(&ran))).unwrap();
                for message in messages {
                    writeln!(words, "  {}", message.replace('\n', "\n  ")).unwrap();
                }
                words.push('\n');
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("cases", words);
    });
}

#[test]
fn the_cases_cover_what_they_should() {
    let cases: usize = suites().iter().map(|(_, suite)| suite.cases.len()).sum();
    assert!(cases >= 180, "{cases} cases");
}

#[test]
fn what_the_parser_does_not_understand_is_an_error() {
    let case = |block: &str| literate::suite(&format!("# Title\n\nA sentence.\n\n{block}\n")).unwrap_err();
    for (block, why) in [
        ("```sql fine\nSELECT 1\n```", "is no expectation"),
        ("```sql refused\nSELECT 1\n```", "is no expectation"),
        ("```sql refused 1 no-such-code\nSELECT 1\n```", "is no code"),
        ("```sql refused one schema-change\nSELECT 1\n```", "is no number"),
        ("```sh\nls\n```", "what is"),
        ("```sql ok\nSELECT 1\n", "never closes"),
        ("```sql ok\nSELECT 1\n-- query: SELECT 1\nSELECT 2\n```", "stands after a query"),
        ("```sql ok\nSELECT 1\n```\n\n```sql ok\nSELECT 1\n```", "needs a sentence"),
        ("```sql ok\nSELECT 1\n```\n\nA sentence.\n\n```sql ok\nSELECT 1\n```", "there is another case"),
        ("### Deep", "a heading is"),
    ] {
        let error = case(block);
        assert!(error.contains(why), "{block}: {error}");
    }
    assert!(literate::suite("No heading.\n").is_err());
}
