//! Two parsers find the same names: `sqlparser`, behind the text witness, and `turso_parser`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use seawall::catalog::Known;
use seawall::engine::catalog;
use seawall::request::Resource;
use seawall::source::{Name, Span};
use seawall::statement::Statement;
use seawall::text_witness;

use crate::cases;
use crate::generator;
use crate::second_parser::{self, Kind, Names};
use crate::tape::Tape;
use crate::worlds::World;

/// Names that one parser finds and the other does not, counted.
#[derive(Debug, Default)]
struct Tally {
    both: u64,
    not_parsed: u64,
    not_understood: u64,
    /// How often, with the shortest example.
    differences: BTreeMap<String, (u64, String)>,
}

impl Tally {
    fn add(&mut self, sql: &str, dropped: &BTreeSet<Name>, known: &Known) {
        let statement = Statement::read(sql, Span::new(0, sql.len()));
        if !statement.head.is_row() {
            return;
        }
        let reading = text_witness::read(&statement, known, None);
        if reading.not_understood.is_some() {
            self.not_understood += 1;
            return;
        }
        let Some(second) = second_parser::names(sql, known) else {
            self.not_parsed += 1;
            return;
        };
        self.both += 1;
        let first = reading.requests.iter().filter_map(|request| named(&request.resource)).collect::<Names>();
        let mut differ = |class: String| {
            let entry = self.differences.entry(class).or_insert((0, sql.to_owned()));
            entry.0 += 1;
            if sql.len() < entry.1.len() {
                sql.clone_into(&mut entry.1);
            }
        };
        for (kind, name) in first.difference(&second) {
            differ(if dropped.contains(name) {
                "only sqlparser finds what stands before `IN ()`, which turso_parser drops".to_owned()
            } else {
                format!("only sqlparser finds the {kind:?} {name}")
            });
        }
        for (kind, name) in second.difference(&first) {
            differ(format!("only turso_parser finds the {kind:?} {name}"));
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} statements parsed by both, {} not by turso_parser, {} not by sqlparser\n",
            self.both, self.not_parsed, self.not_understood
        );
        for (difference, (count, example)) in &self.differences {
            writeln!(text, "{count} {difference}\n    {example}").unwrap();
        }
        text
    }
}

fn named(resource: &Resource) -> Option<(Kind, Name)> {
    match resource {
        Resource::Function(name) => Some((Kind::Function, name.clone())),
        Resource::Table { table, .. } | Resource::Column { table, .. } | Resource::Command { table, .. } => {
            Some((Kind::Table, table.clone()))
        }
        Resource::Pragma { .. } | Resource::Statement(_) => None,
    }
}

#[test]
fn two_parsers_find_the_same_names_in_generated_statements() {
    let known = catalog::built_in().unwrap();
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(7), ..Config::default() });
    let mut tally = Tally::default();
    for _ in 0..100 {
        let case = cases().new_tree(&mut runner).unwrap().current();
        let world = World::new(&mut Tape::new(&case.world));
        for bytes in &case.statements {
            let generated = generator::statement(&world, bytes);
            tally.add(&generated.sql, &generated.notes.silent, &known);
        }
    }
    insta::with_settings!({ snapshot_path => "../../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("second_parser", tally.text());
    });
}

/// The corpus is not part of the repository: without it there is nothing to do.
#[test]
fn two_parsers_find_the_same_names_in_the_corpus() {
    let Some(shared) = std::env::var_os("SEAWALL_SHARED") else { return };
    let corpus = std::path::Path::new(&shared).join("corpus/sqlite-tests.jsonl.gz");
    if !corpus.exists() {
        return;
    }
    let unpacked = std::process::Command::new("gzip").arg("-dc").arg(corpus).output().unwrap();
    let known = catalog::built_in().unwrap();
    let mut tally = Tally::default();
    for line in String::from_utf8(unpacked.stdout).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(sql) = line["sql"].as_str() else { continue };
        for statement in seawall::statement::statements(sql) {
            tally.add(statement.sql(), &BTreeSet::new(), &known);
        }
    }
    assert!(tally.differences.is_empty(), "{}", tally.text());
    assert!(tally.both > 100 * (tally.not_parsed + tally.not_understood), "{}", tally.text());
}
