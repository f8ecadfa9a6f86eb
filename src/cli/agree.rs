//! `seawall agree`: two readers of every statement of a corpus, held against each other.

mod corpus;
mod print;
mod tally;

use std::path::PathBuf;

use clap::ValueEnum;
use indicatif::ProgressBar;

use super::given::{PolicyArgs, Stop};
use super::order::{in_order, jobs};
use super::{Exit, Output};
use crate::guard::Guard;
use crate::guard::agreement::Trial;

use corpus::{Corpus, Round};
use tally::{Example, Tally};

/// Hold what the text witness says against what SQLite's own witnesses say
///
/// What builds a schema is run on an empty database in memory, beyond which it reaches nothing; statements on
/// rows are compared and never run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// SQL files, each on an empty database, or corpora: `.jsonl`, `.jsonl.gz`
    #[arg(required = true, value_name = "CORPUS")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Threads that compare [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// How to print what is found
    #[arg(long, value_enum, default_value_t)]
    format: Form,
}

/// How the counts are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Exit {
    match agree(args) {
        Ok(tally) if tally.statements == 0 => {
            output.complain(
                "there is no statement on rows in it that SQLite prepares, so nothing was compared",
            );
            Exit::Tool
        }
        Ok(tally) => {
            match args.format {
                Form::Text => output.put(print::text(&tally)),
                Form::Json => output.line(print::json(&tally).to_string()),
            }
            if tally.is_closed() { Exit::Ok } else { Exit::Refused }
        }
        Err(stop) => stop.tell(output),
    }
}

fn agree(args: &Args) -> Result<Tally, Stop> {
    let guard = args.policy.guard()?;
    let corpus = Corpus::new(&args.files);
    // Draws nothing where standard error is no terminal.
    let progress = ProgressBar::new(corpus.bytes());
    let mut total = Ok(Tally::default());
    in_order(
        vec![(); jobs(args.jobs)],
        corpus.rounds(),
        |(), rounds, done| {
            rounds.for_each(|(number, round)| done(number, round.and_then(|r| compare(&guard, &r))))
        },
        |round: Result<Tally, String>| {
            if let (Ok(all), Ok(tally)) = (&mut total, &round) {
                progress.inc(tally.bytes);
                all.add(tally);
            } else if total.is_ok() {
                total = round;
            }
        },
    )
    .map_err(|error| Stop::tool(format!("a thread: {error}")))?;
    progress.finish_and_clear();
    total.map_err(Stop::Tool)
}

/// Compares the statements of one round, on a database of its own.
fn compare(guard: &Guard, round: &Round) -> Result<Tally, String> {
    let sqlite = |error| format!("SQLite: {error}");
    let mut tally = Tally { bytes: round.bytes, ..Tally::default() };
    let mut trial = Trial::new().map_err(sqlite)?;
    for block in &round.blocks {
        let ran = trial.run(guard, &block.sql, &mut |statement, agreement| {
            tally.count(&agreement, &|| Example::of(block, statement));
        });
        if ran.is_err() {
            tally.unreadable += 1;
        }
    }
    Ok(tally)
}
