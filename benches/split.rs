//! How fast texts are cut, lexed and read; every setup pays this before SQLite sees a byte.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use seawall::source::Span;
use seawall::statement::{Statement, split, tokens};

fn main() {
    divan::main();
}

/// A seeding script: 100,000 lines, 8 MB.
fn inserts() -> String {
    (0..100_000)
        .map(|id| {
            format!("INSERT INTO issues (id, title, state) VALUES ({id:06}, 'Issue no. {id:06}', 'open');\n")
        })
        .collect()
}

fn semicolons() -> String {
    format!("SELECT '{}'", ";".repeat(1_000_000))
}

/// An INSERT of about 120 bytes.
const INSERT: &str = "INSERT INTO issues (id, project, title, state, created) \
    VALUES (1042, 7, 'Clock drifts after resume', 'open', '2026-05-01')";

#[divan::bench(args = ["inserts", "semicolons"])]
fn cut(bencher: Bencher<'_, '_>, text: &str) {
    let text = if text == "inserts" { inserts() } else { semicolons() };
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| split(&text));
}

#[divan::bench]
fn lex(bencher: Bencher<'_, '_>) {
    let text = inserts();
    let pieces = split(&text);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| pieces.iter().map(|&piece| tokens(&text, piece).0.len()).sum::<usize>());
}

#[divan::bench(sample_size = 1000)]
fn lex_one_insert(bencher: Bencher<'_, '_>) {
    let span = Span::new(0, INSERT.len());
    bencher
        .counter(BytesCount::of_str(INSERT))
        .bench_local(|| tokens(divan::black_box(INSERT), span).0.len());
}

#[divan::bench(sample_size = 1000)]
fn read_one_insert(bencher: Bencher<'_, '_>) {
    let span = Span::new(0, INSERT.len());
    // Dropping belongs to it: the judge drops one statement before it reads the next.
    bencher
        .counter(BytesCount::of_str(INSERT))
        .bench_local(|| Statement::read(divan::black_box(INSERT), span).tokens.len());
}

#[divan::bench]
fn read_a_script(bencher: Bencher<'_, '_>) {
    let text = inserts();
    let pieces = split(&text);
    bencher.counter(ItemsCount::new(pieces.len())).bench_local(|| {
        pieces.iter().map(|&piece| Statement::read(&text, piece).tokens.len()).sum::<usize>()
    });
}
