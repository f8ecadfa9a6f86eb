//! Generated statements under both witnesses.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;
use seawall::engine::catalog;
use seawall::engine::open::Hardened;
use seawall::guard::Judging;
use seawall::guard::agreement::{Agreement, Compared};
use seawall::ruleset::Ruleset;
use seawall::source::Span;
use seawall::statement::Statement;

use crate::classes;
use crate::generator::{self, Generated};
use crate::policies;
use crate::tape::Tape;
use crate::worlds::World;

/// What was tried, over all threads.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    generated: AtomicU64,
    prepared: AtomicU64,
    equal: AtomicU64,
    refusals: AtomicU64,
    classes: Mutex<BTreeMap<&'static str, u64>>,
    /// Differences of no class, with the shortest example, where they are collected.
    unlisted: Mutex<BTreeMap<String, (u64, String)>>,
    /// Why SQLite did not take a statement.
    errors: Mutex<BTreeMap<String, (u64, String)>>,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        writeln!(
            f,
            "{} statements generated, {} prepared and compared, {} equal in all; {} refused in sight by the engine",
            of(&self.generated),
            of(&self.prepared),
            of(&self.equal),
            of(&self.refusals)
        )?;
        for (class, count) in self.classes.lock().unwrap().iter() {
            writeln!(f, "{count:>9} {class}")?;
        }
        if std::env::var_os("SEAWALL_AGREEMENT_ERRORS").is_some() {
            for (error, (count, example)) in self.errors.lock().unwrap().iter() {
                writeln!(f, "{count:>9} {error}: {example}")?;
            }
        }
        for (error, (count, example)) in self.unlisted.lock().unwrap().iter() {
            writeln!(f, "{count:>9} UNLISTED {error}: {example}")?;
        }
        Ok(())
    }
}

impl Counts {
    /// How many statements were compared, and how many of them are of `class`.
    pub(crate) fn share(&self, class: &str) -> (u64, u64) {
        let of = self.classes.lock().unwrap().get(class).copied().unwrap_or_default();
        (self.prepared.load(Ordering::Relaxed), of)
    }
}

/// A connection to `world`.
fn open(world: &World) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("ATTACH ':memory:' AS aux").unwrap();
    connection.execute_batch(&world.script).unwrap_or_else(|error| panic!("{error}\n{}", world.script));
    connection
}

/// Compares what both witnesses see of each statement; `Err` tells the first difference that is not
/// of a class.
pub(crate) fn agree(
    world: &[u8],
    rules: &[u8],
    statements: &[Vec<u8>],
    counts: &Counts,
) -> Result<(), String> {
    let world = World::new(&mut Tape::new(world));
    let rules = policies::rules(&mut Tape::new(rules), &world);
    let policy = std::sync::Arc::new(policies::build(&rules).map_err(|error| format!("{error}\n{rules:?}"))?);
    let mut connection = open(&world);
    let known = catalog::known_to(&connection).unwrap();
    let held = Hardened::new(&mut connection, &policy.limits).unwrap();
    let mut whole = catalog::load(held.connection, &policy, &known).unwrap();
    catalog::load_rest(held.connection, &mut whole).unwrap();
    let whole = std::sync::Arc::new(whole);
    let ruleset = std::sync::Arc::new(Ruleset::compile(policy, Some(std::sync::Arc::clone(&whole))));
    let mut judging =
        Judging::new(held.connection, held.recorder.clone(), std::sync::Arc::clone(&ruleset)).unwrap();
    for bytes in statements {
        let generated = generator::statement(&world, bytes);
        counts.generated.fetch_add(1, Ordering::Relaxed);
        let statement = Statement::read(&generated.sql, Span::new(0, generated.sql.len()));
        let seen = match judging.examine_by_engine(&statement) {
            Ok(seen) => seen,
            Err(error) => {
                let error = error.to_string();
                let kind: String = error.split(':').next().unwrap_or_default().to_owned();
                let mut errors = counts.errors.lock().unwrap();
                errors.entry(kind).or_insert((0, format!("{error} {}", generated.sql))).0 += 1;
                continue;
            }
        };
        counts.prepared.fetch_add(1, Ordering::Relaxed);
        let compared = Agreement::of(&statement, &ruleset, &whole, &seen).with_schema;
        counts.refusals.fetch_add(u64::from(compared.engine_refuses), Ordering::Relaxed);
        judge(&world, &generated, &compared, counts, &rules).map_err(|differences| {
            format!(
                "{differences}\n\n{}\n\n{}\n{rules:?}\n{:?}",
                generated.sql, world.script, generated.notes
            )
        })?;
    }
    Ok(())
}

fn judge(
    world: &World,
    generated: &Generated,
    compared: &Compared,
    counts: &Counts,
    rules: &[(&'static str, String)],
) -> Result<(), String> {
    let tally = |class| *counts.classes.lock().unwrap().entry(class).or_default() += 1;
    if compared.not_understood.is_some() {
        tally(classes::NOT_UNDERSTOOD);
        return Ok(());
    }
    if compared.differences.is_empty() {
        counts.equal.fetch_add(1, Ordering::Relaxed);
    }
    for difference in &compared.differences {
        match classes::class(difference, world, &generated.notes) {
            Some(class) => tally(class),
            None if std::env::var_os("SEAWALL_AGREEMENT_LIST").is_some() => {
                let mut unlisted = counts.unlisted.lock().unwrap();
                let text = format!("{difference:?}");
                let key = format!("{:?} {}", difference.side, difference.asked.action.word());
                let example = format!("{text}: {}   -- {} {rules:?}", generated.sql, world.script);
                let entry = unlisted.entry(key).or_insert((0, example.clone()));
                entry.0 += 1;
                if example.len() < entry.1.len() {
                    entry.1 = example;
                }
            }
            None => return Err(format!("{difference:?}")),
        }
    }
    Ok(())
}
