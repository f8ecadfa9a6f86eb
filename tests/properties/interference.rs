//! What a policy hides has no influence on anything that an allowed statement answers or writes.
//!
//! Two databases differ in the rows of the tables named `secret` alone. Every statement that is
//! allowed runs on both; then all other tables, and every row that was answered, must be equal. This
//! knows nothing of how the guard works, so it finds reads that every witness missed.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use rusqlite::types::Value;
use seawall::engine::open::Hardened;
use seawall::guard::{Judged, Judging};
use seawall::source::Span;
use seawall::statement::Statement;

use crate::one_in;
use crate::policies::{Entry, build};
use crate::stand::{Rows, ruleset, salted, snapshot, verdict};
use crate::statements::statements;
use crate::worlds::worlds;

/// A run on one database: what it answered, and the rows that are not hidden.
struct Seen {
    verdicts: Vec<String>,
    answers: Vec<Vec<Vec<Value>>>,
    rows: Rows,
    /// Whether SQLite failed on the way; errors are a side channel that the guard does not close.
    failed: bool,
}

fn run(mut connection: Connection, rules: &[Entry], sqls: &[String]) -> Seen {
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
    seen
}

/// What closes `secret`; no trigger is trusted to read it.
const CLOSED: &[&[&str]] = &[
    &["read, write on *.secret"],
    &["read, write on secret", "read, write on aux.secret"],
    &["read, write on *.secret", "read on log"],
    &["read, write on *.secret", "read on *.*(g)"],
    &["write on *.secret", "read on *.secret(*)"],
    &["write on *.secret", "read on *.secret(k)", "read on *.secret(id)", "read on *.secret(a)"],
];

/// What every policy here opens beside.
fn opened(closed: &[&str], trusted: bool, every_function: bool) -> Vec<Entry> {
    let mut rules: Vec<Entry> = closed.iter().map(|rule| Entry::DenyRows((*rule).to_owned())).collect();
    rules.push(Entry::AllowRows("read, write on *.*".to_owned()));
    if trusted {
        rules.push(Entry::TrustTrigger("call by *".to_owned()));
    }
    if every_function {
        rules.push(Entry::AllowFunction("*".to_owned()));
        // It counts rows that cascades changed, whatever they were.
        rules.push(Entry::DenyFunction("total_changes".to_owned()));
    }
    rules
}

/// Both runs were judged alike and, unless SQLite failed in one, show the same.
fn alike(mut one: Seen, mut two: Seen, shown: impl Fn(&mut Rows)) -> Result<(), TestCaseError> {
    let judged = one.verdicts.len().min(two.verdicts.len());
    prop_assert_eq!(&one.verdicts[..judged], &two.verdicts[..judged]);
    if one.failed || two.failed {
        return Ok(());
    }
    prop_assert_eq!(one.answers, two.answers);
    shown(&mut one.rows);
    shown(&mut two.rows);
    for (table, rows) in &one.rows {
        prop_assert_eq!(Some(rows), two.rows.get(table), "{}", table);
    }
    Ok(())
}

proptest! {
    #![proptest_config(one_in(2))]

    #[test]
    fn a_hidden_table_influences_no_answer_and_no_other_row(
        world in worlds(),
        closed in select(CLOSED),
        trusted in any::<bool>(),
        every_function in any::<bool>(),
        sqls in prop::collection::vec(statements(), 1..8),
    ) {
        // Which rows cascade, the world's own trigger tells, and the count of rows where that is open;
        // no statement asks for it.
        let told = world.main.contains("secret_log") || closed.iter().any(|rule| rule.contains("secret("));
        prop_assume!(!(world.main.contains("ON DELETE CASCADE, k") && told));
        let rules = opened(closed, trusted, every_function);
        let run = |salt| run(salted(&world, salt, 0), &rules, &sqls);
        alike(run(0), run(1), |rows| rows.retain(|name, _| !name.contains("secret")))?;
    }

    #[test]
    fn a_hidden_column_influences_no_answer_and_no_other_value(
        world in worlds(),
        every_function in any::<bool>(),
        sqls in prop::collection::vec(statements(), 1..8),
    ) {
        let rules = opened(&["read on t(a)", "read on ft"], false, every_function);
        let run = |column| run(salted(&world, 0, column), &rules, &sqls);
        alike(run(0), run(1), |rows| {
            // The world's own triggers copy the column into the full-text table.
            rows.retain(|name, _| !name.starts_with("main.ft"));
            // Beside it, the columns that are generated from it.
            rows.get_mut("main.t").into_iter().flatten().for_each(|row| row.truncate(2));
        })?;
    }
}
