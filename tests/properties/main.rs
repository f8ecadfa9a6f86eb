//! What holds for every schema, policy and statement that the generators make.
//!
//! `PROPTEST_CASES` sets how many are tried; what once failed is kept in `proptest-regressions`.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

mod decisions;
mod interference;
mod policies;
mod rows;
mod stand;
mod statements;
mod verdicts;
mod worlds;

use proptest::test_runner::Config;

/// A share of the cases that are asked for, for a property whose single case is slow.
fn one_in(share: u32) -> Config {
    let all = Config::default();
    Config { cases: (all.cases / share).max(1), ..all }
}
