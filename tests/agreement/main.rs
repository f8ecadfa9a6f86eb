//! The text witness and SQLite's witnesses see the same in random statements on random schemas.
//!
//! `SEAWALL_AGREEMENT` sets how many statements are made, `SEAWALL_AGREEMENT_SEED` from which seed.
//! `SEAWALL_AGREEMENT_LIST` collects differences of no class instead of failing with the first, which is
//! shrunk; `SEAWALL_AGREEMENT_ERRORS` adds why SQLite did not prepare the others.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic of a helper is the failure of its test")]

mod changes;
mod classes;
mod expressions;
mod generator;
mod parsers;
mod policies;
mod queries;
mod second_parser;
mod stand;
mod tape;
mod worlds;
mod writer;

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};

use crate::stand::Counts;

/// Statements on one schema under one policy.
const A_CASE: usize = 100;

#[derive(Clone, Debug)]
struct Case {
    world: Vec<u8>,
    policy: Vec<u8>,
    statements: Vec<Vec<u8>>,
}

fn cases() -> impl Strategy<Value = Case> {
    let tape = |length| vec(any::<u8>(), 0..length);
    (vec(any::<u8>(), 64), tape(32), vec(tape(160), A_CASE)).prop_map(|(world, policy, statements)| Case {
        world,
        policy,
        statements,
    })
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn the_text_asks_what_sqlite_asks() {
    let wanted = setting("SEAWALL_AGREEMENT", 100_000);
    let seed = setting("SEAWALL_AGREEMENT_SEED", 1);
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64).min(8);
    let counts = Arc::new(Counts::default());
    let worker = |number: u64| {
        let counts = Arc::clone(&counts);
        std::thread::spawn(move || {
            let cases_each = wanted.div_ceil(A_CASE as u64 * threads);
            let mut runner = TestRunner::new(Config {
                cases: u32::try_from(cases_each).unwrap(),
                rng_seed: RngSeed::Fixed(seed * 1_000 + number),
                failure_persistence: None,
                max_shrink_iters: 4_000,
                ..Config::default()
            });
            runner.run(&cases(), |case| {
                stand::agree(&case.world, &case.policy, &case.statements, &counts)
                    .map_err(TestCaseError::fail)
            })
        })
    };
    let workers: Vec<_> = (0..threads).map(worker).collect();
    let failures: Vec<String> = workers
        .into_iter()
        .filter_map(|worker| match worker.join().unwrap() {
            Ok(()) => None,
            Err(TestError::Fail(reason, _)) => Some(reason.to_string()),
            Err(TestError::Abort(reason)) => Some(reason.to_string()),
        })
        .collect();
    println!("{counts}");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let (compared, unclear) = counts.share(classes::NOT_UNDERSTOOD);
    assert!(unclear * 1_000 <= compared, "{unclear} of {compared} statements were not understood");
}
