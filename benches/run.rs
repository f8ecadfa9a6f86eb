//! Setup runs under guard against the same work without it, in interleaved rounds of one process.
//!
//! The machine's speed moves; the ratio of the minima within one run is what can be compared. Prints
//! the table of `docs/performance.md`. `cargo bench --bench run -- 1000 INSERTs` takes more rounds of one work.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints its table and may stop on a fault"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use seawall::rusqlite::Connection;
use seawall::source::Source;
use seawall::{Guard, Policy, setup, statement};

/// A piece of work: what it is called, the setup SQL, and the bound of its ratio.
struct Work {
    name: &'static str,
    sql: String,
    bound: f64,
}

fn main() {
    let rounds = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(200);
    let directory = tempfile::tempdir().unwrap();
    let fixture = directory.path().join("fixture.db");
    build(&fixture);
    let guard = Guard::new(Policy::builtin("setup_sql").unwrap(), "setup_sql");
    println!("| work | without guard, µs (min / median) | under guard | ratio (min / median) | bound |");
    println!("|---|---|---|---|---|");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted =
        |work: &Work| wanted.iter().all(|word| word.parse::<u32>().is_ok() || work.name.contains(word));
    for work in works().into_iter().filter(is_wanted) {
        // Few rounds of what takes long.
        let rounds = if work.bound < 1.1 { rounds / 8 } else { rounds };
        let (mut plain, mut guarded) = (Vec::new(), Vec::new());
        for round in 0..rounds + 5 {
            let pair = [
                timed(&fixture, directory.path(), |connection| run_plain(connection, &work.sql)),
                timed(&fixture, directory.path(), |connection| run_guarded(connection, &guard, &work.sql)),
            ];
            // The first rounds warm caches.
            if round >= 5 {
                plain.push(pair[0]);
                guarded.push(pair[1]);
            }
        }
        let (plain, guarded) = (Figures::of(plain), Figures::of(guarded));
        println!(
            "| {} | {:.0} / {:.0} | {:.0} / {:.0} | {:.2} / {:.2} | {:.2} |",
            work.name,
            plain.least * 1e6,
            plain.median * 1e6,
            guarded.least * 1e6,
            guarded.median * 1e6,
            guarded.least / plain.least,
            guarded.median / plain.median,
            work.bound
        );
    }
}

fn works() -> Vec<Work> {
    let inserts: String = (0..100)
        .map(|i| {
            format!("INSERT INTO labels(id, name, color) VALUES ({}, 'label {i}', '#aabbcc');\n", 100 + i)
        })
        .collect();
    let two = "UPDATE issues SET title = 'Webhook retries' WHERE id = 1;\n\
               INSERT INTO labels(id, name, color) VALUES (90, 'night', '#000000');";
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)\n\
                INSERT INTO note(body) SELECT 'a note with some words, number ' || i FROM n;";
    vec![
        Work { name: "two statements", sql: two.to_owned(), bound: 1.2 },
        Work { name: "100 INSERTs of one shape", sql: inserts, bound: 1.3 },
        Work { name: "10,000 rows through an FTS trigger", sql: rows.to_owned(), bound: 1.05 },
    ]
}

/// The bundled tracker, with one more table whose trigger feeds a full-text index.
fn build(path: &Path) {
    let schema = include_str!("../fixtures/tracker/schema.sql");
    let connection = Connection::open(path).unwrap();
    for span in statement::split(schema) {
        connection.execute_batch(&schema[span.range()]).unwrap();
    }
    connection
        .execute_batch(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT);
             CREATE VIRTUAL TABLE note_fts USING fts5(body, content = 'note', content_rowid = 'id');
             CREATE TRIGGER note_ai AFTER INSERT ON note BEGIN
               INSERT INTO note_fts(rowid, body) VALUES (new.id, new.body);
             END;",
        )
        .unwrap();
}

/// The time from opening a fresh copy to closing it; the copying is left out.
fn timed(fixture: &Path, directory: &Path, work: impl FnOnce(&mut Connection)) -> f64 {
    let copy = directory.join("copy.db");
    std::fs::copy(fixture, &copy).unwrap();
    let begin = Instant::now();
    let mut connection = Connection::open(&copy).unwrap();
    connection.execute_batch("PRAGMA journal_mode = memory; PRAGMA synchronous = off").unwrap();
    work(&mut connection);
    drop(connection);
    Duration::as_secs_f64(&begin.elapsed())
}

fn run_plain(connection: &mut Connection, sql: &str) {
    connection.execute_batch("BEGIN").unwrap();
    for span in statement::split(sql) {
        let mut prepared = connection.prepare(&sql[span.range()]).unwrap();
        let mut rows = prepared.raw_query();
        while rows.next().unwrap().is_some() {}
    }
    connection.execute_batch("COMMIT").unwrap();
}

fn run_guarded(connection: &mut Connection, guard: &Guard, sql: &str) {
    let outcome = setup::run(connection, guard, &Source::new("bench.sql", sql)).unwrap();
    assert!(outcome.is_ok(), "{:?}", outcome.message());
}

struct Figures {
    least: f64,
    median: f64,
}

impl Figures {
    fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        Self { least: seconds[0], median: seconds[seconds.len() / 2] }
    }
}
