//! What a policy hides has no influence on anything that an allowed statement answers or writes.
//!
//! Two databases differ in the rows of the tables named `secret` alone. Every statement that is
//! allowed runs on both; then all other tables, and every row that was answered, must be equal. This
//! knows nothing of how the guard works, so it finds reads that every witness missed.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::types::Value;
use seawall::engine::open::Hardened;
use seawall::guard::{Judged, Judging};
use seawall::source::Span;
use seawall::statement::Statement;

use crate::one_in;
use crate::policies::{Entry, build};
use crate::stand::{Rows, open, ruleset, snapshot, verdict};
use crate::statements::statements;
use crate::worlds::{World, worlds};

/// A run on one database: what it answered, and the rows that are not hidden.
struct Seen {
    verdicts: Vec<String>,
    answers: Vec<Vec<Vec<Value>>>,
    rows: Rows,
    /// Whether SQLite failed on the way; errors are a side channel that the guard does not close.
    failed: bool,
}

fn run(world: &World, salt: i64, rules: &[Entry], sqls: &[String]) -> Seen {
    let mut connection = open(world, salt);
    let policy = Arc::new(build(rules).unwrap());
    let mut seen = Seen { verdicts: Vec::new(), answers: Vec::new(), rows: Rows::new(), failed: false };
    let held = Hardened::new(&mut connection, &policy.limits).unwrap();
    let ruleset = ruleset(held.connection, &policy);
    let mut judging = Judging::new(held.connection, held.recorder.clone(), ruleset).unwrap();
    for sql in sqls {
        let statement = Statement::read(sql, Span::new(0, sql.len()));
        let judged = judging.judge(&statement);
        seen.verdicts.push(verdict(&judged));
        let Judged::Ready(mut ready) = judged else { continue };
        let width = ready.columns().len();
        let mut answer = Vec::new();
        let explained = statement.explain.is_some();
        let stepped = ready.step(|row| {
            if !explained {
                answer.push((0..width).map(|i| row.get(i)).collect::<rusqlite::Result<Vec<Value>>>()?);
            }
            Ok(true)
        });
        if stepped.is_err() {
            seen.failed = true;
            break;
        }
        seen.answers.push(answer);
    }
    drop(judging);
    drop(held);
    seen.rows = snapshot(&connection);
    seen.rows.retain(|name, _| !name.contains("secret"));
    seen
}

/// What closes `secret`; no trigger is trusted to read it.
const CLOSED: &[&[&str]] = &[
    &["read, write on *.secret"],
    &["read, write on secret", "read, write on aux.secret"],
    &["read, write on *.secret", "read on log"],
    &["read, write on *.secret", "read on *.*(g)"],
    &["write on *.secret", "read on *.secret(*)"],
];

proptest! {
    #![proptest_config(one_in(1))]

    #[test]
    fn what_is_hidden_influences_no_answer_and_no_other_row(
        world in worlds(),
        closed in select(CLOSED),
        trusted in any::<bool>(),
        every_function in any::<bool>(),
        sqls in prop::collection::vec(statements(), 1..8),
    ) {
        let mut rules: Vec<Entry> = closed.iter().map(|rule| Entry::DenyRows((*rule).to_owned())).collect();
        rules.push(Entry::AllowRows("read, write on *.*".to_owned()));
        if trusted {
            rules.push(Entry::TrustTrigger("call by *".to_owned()));
        }
        if every_function {
            rules.push(Entry::AllowFunction("*".to_owned()));
            // These count rows that cascades changed; a documented side channel.
            rules.push(Entry::DenyFunction("total_changes".to_owned()));
        }
        // Which rows cascade is told by the world's own trigger; no statement asks for it.
        prop_assume!(!(world.main.contains("ON DELETE CASCADE, k") && world.main.contains("secret_log")));
        let one = run(&world, 0, &rules, &sqls);
        let two = run(&world, 1, &rules, &sqls);
        prop_assert_eq!(&one.verdicts[..], &two.verdicts[..one.verdicts.len().min(two.verdicts.len())]);
        if one.failed || two.failed {
            return Ok(());
        }
        prop_assert_eq!(one.answers, two.answers);
        for (table, rows) in &one.rows {
            prop_assert_eq!(Some(rows), two.rows.get(table), "{}", table);
        }
    }
}
