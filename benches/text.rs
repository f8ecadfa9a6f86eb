//! `seawall check` by the text alone: one statement at a time, and 100,000 scenarios through the command.
//!
//! Prints the tables of `docs/performance.md`.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its table and may stop on a fault"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use seawall::source::Source;
use seawall::{Guard, Policy};

/// Rounds a row.
const ROUNDS: usize = 2_000;

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
        "an UPDATE with WITH and a window",
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

/// A set of scenarios of two statements each: what it is called, and the second statement of number `i`.
struct Set {
    name: &'static str,
    last: fn(usize) -> String,
}

const SETS: [Set; 2] = [
    Set { name: "of the same shapes", last: |i| format!("DELETE FROM labels WHERE id = {i}") },
    // Judged anew each time: no memory of shapes helps.
    Set { name: "each of a shape of its own", last: |i| format!("DELETE FROM labels WHERE c{i} = {i}") },
];

/// The sizes whose peak memory is compared.
const SIZES: [usize; 2] = [10_000, 100_000];

/// Each thousandth scenario is refused.
fn scenarios() {
    let directory = tempfile::tempdir().unwrap();
    println!("| scenarios | form | a second | peak memory at 10,000 / 100,000, MiB |");
    println!("|---|---|---|---|");
    for set in SETS {
        let files = SIZES.map(|size| {
            let file = directory.path().join(format!("{size}.jsonl"));
            std::fs::write(&file, text(&set, size)).unwrap();
            file
        });
        for form in ["text", "json", "github"] {
            let runs = std::array::from_fn::<_, 2, _>(|at| check(&files[at], form, SIZES[at]));
            let [(_, small), (speed, large)] = runs;
            println!("| {} | {form} | {speed:.0} | {small:.1} / {large:.1} |", set.name);
        }
    }
}

fn text(set: &Set, size: usize) -> String {
    let mut text = String::new();
    for i in 0..size {
        let last = if i % 1000 == 0 { "DROP TABLE issues".to_owned() } else { (set.last)(i) };
        writeln!(
            text,
            "{{\"id\":\"s{i}\",\"prompt\":\"Close the issue and tell ines why.\",\
             \"setup_sql\":\"INSERT INTO issues(number, title) VALUES ({i}, 'Issue \\\"{i}\\\"');\\n{last};\"}}"
        )
        .unwrap();
    }
    text
}

/// The best of some runs of the command: scenarios a second, and the peak of its memory in MiB.
fn check(file: &Path, form: &str, size: usize) -> (f64, f64) {
    let printed = file.with_extension("printed");
    let (mut speed, mut peak) = (0_f64, f64::MAX);
    for _ in 0..5 {
        let begin = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_seawall"))
            .args(["check", "--format", form])
            .arg(file)
            .stdout(std::fs::File::create(&printed).unwrap())
            .spawn()
            .unwrap();
        let mut seen = 0_f64;
        let status = loop {
            // The high water mark is gone with the process.
            seen = seen.max(high_water(child.id()));
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_micros(500)),
            }
        };
        speed = speed.max(size as f64 / begin.elapsed().as_secs_f64());
        peak = peak.min(seen);
        assert_eq!(status.code(), Some(4));
        let told = std::fs::read_to_string(&printed).unwrap().matches("schema-change").count();
        assert_eq!(told, size / 1000);
    }
    (speed, peak)
}

/// VmHWM of a process, in MiB; 0 where there is no `/proc`.
fn high_water(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kibibytes.map_or(0.0, |kibibytes: f64| kibibytes / 1024.0)
}
