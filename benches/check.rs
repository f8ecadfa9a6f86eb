//! `seawall check` by the text alone: one statement at a time, and 100,000 scenarios through the command.
//!
//! Prints the table of `docs/performance.md`.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its table and may stop on a fault"
)]

use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

use seawall::source::Source;
use seawall::{Guard, Policy};

/// Rounds a row.
const ROUNDS: usize = 2_000;

const SCENARIOS: usize = 100_000;

const ORDINARY: [(&str, &str); 4] = [
    (
        "an INSERT of 130 bytes",
        "INSERT INTO issues(project_id, number, title, status, assignee_id) \
         VALUES ((SELECT id FROM projects WHERE key = 'harbour'), 17, 'Late', 'open', 2)",
    ),
    ("an UPDATE", "UPDATE issues SET status = 'done', closed_at = datetime('now') WHERE number = 4"),
    (
        "a DELETE with a subselect",
        "DELETE FROM comments WHERE issue_id IN (SELECT id FROM issues WHERE status = 'done')",
    ),
    (
        "a query with WITH and a window",
        "WITH r AS (SELECT id, row_number() OVER (PARTITION BY status ORDER BY id) AS n FROM issues) \
         UPDATE issues SET rank = (SELECT n FROM r WHERE r.id = issues.id) WHERE status <> 'done'",
    ),
];

fn main() {
    let guard = Guard::new(Policy::builtin("setup_sql").unwrap(), "setup_sql");
    println!("| statement | cold, µs (min / median) | by memo |");
    println!("|---|---|---|");
    for (name, sql) in ORDINARY {
        let source = Source::new("setup.sql", sql);
        let cold = timed(|| {
            let mut checker = guard.checker().unwrap();
            let begin = Instant::now();
            assert!(checker.check(&source).is_ok());
            begin.elapsed().as_secs_f64()
        });
        let mut checker = guard.checker().unwrap();
        checker.check(&source);
        let again = timed(|| {
            let begin = Instant::now();
            assert!(checker.check(&source).is_ok());
            begin.elapsed().as_secs_f64()
        });
        println!("| {name} | {:.1} / {:.1} | {:.2} / {:.2} |", cold.0, cold.1, again.0, again.1);
    }
    println!();
    scenarios();
}

/// The fastest and the median of some rounds, in microseconds.
fn timed(mut round: impl FnMut() -> f64) -> (f64, f64) {
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| round() * 1e6).collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[ROUNDS / 2])
}

/// Every scenario has two statements of its own; each thousandth is refused.
fn scenarios() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("scenarios.jsonl");
    let mut text = String::new();
    for i in 0..SCENARIOS {
        let last = if i % 1000 == 0 {
            "DROP TABLE issues".to_owned()
        } else {
            format!("DELETE FROM labels WHERE id = {i}")
        };
        writeln!(
            text,
            "{{\"id\":\"s{i}\",\"prompt\":\"Close the issue and tell ines why.\",\
             \"setup_sql\":\"INSERT INTO issues(number, title) VALUES ({i}, 'Issue \\\"{i}\\\"');\\n{last};\"}}"
        )
        .unwrap();
    }
    std::fs::write(&file, &text).unwrap();
    println!("| form | scenarios a second | refused |");
    println!("|---|---|---|");
    for form in ["text", "json", "github"] {
        let mut best = 0_f64;
        let mut refused = 0;
        for _ in 0..5 {
            let begin = Instant::now();
            let done = Command::new(env!("CARGO_BIN_EXE_seawall"))
                .args(["check", "--format", form])
                .arg(&file)
                .output()
                .unwrap();
            best = best.max(SCENARIOS as f64 / begin.elapsed().as_secs_f64());
            assert_eq!(done.status.code(), Some(4));
            refused = String::from_utf8(done.stdout).unwrap().matches("schema-change").count();
        }
        println!("| {form} | {best:.0} | {refused} |");
    }
}
