//! Nested texts on small stacks.

use std::thread;

use seawall::source::Source;
use seawall::{Guard, Policy};

/// What nests with few tokens: what opens a level, and what closes it.
const NESTS: [(&str, &str); 8] = [
    ("(", ")"),
    ("NOT ", ""),
    ("- ", ""),
    ("~", ""),
    ("abs(", ")"),
    ("EXISTS (SELECT ", ")"),
    ("CASE ", " WHEN 1 THEN 2 END"),
    ("(SELECT x FROM (SELECT ", "))"),
];

/// An overflow would abort this process.
#[test]
fn a_nested_text_is_read_on_a_stack_of_any_size() {
    let guard = Guard::new(Policy::builtin("setup_sql").unwrap(), "setup_sql");
    for kibibytes in [192, 512, 2048] {
        let guard = guard.clone();
        let body = move || {
            for (open, close) in NESTS {
                for depth in (0..80).step_by(3).chain([1_000, 20_000]) {
                    let sql = format!("SELECT {}1{}", open.repeat(depth), close.repeat(depth));
                    assert!(guard.check(&Source::new("setup.sql", sql)).unwrap().is_ok());
                }
                // One operator behind the other is a tree as deep as it is long.
                let run = format!("SELECT 1{}", " || x".repeat(2_000));
                assert!(guard.check(&Source::new("setup.sql", run)).unwrap().is_ok());
            }
        };
        thread::Builder::new().stack_size(kibibytes << 10).spawn(body).unwrap().join().unwrap();
    }
}
