//! `seawall check`: every statement of SQL files and scenario sets, judged and not run.

mod files;
mod found;
mod print;

use clap::ArgGroup;

use super::given::{BaseArgs, PolicyArgs, Stop};
use super::{Exit, Format, Output};
use crate::guard::{Checked, Checker, Door, Guard, GuardError};
use crate::setup::workspace::Workspace;
use crate::source::Source;

use files::{Input, Works, inputs};
use found::Form;
use print::Printer;

/// Judge the statements of SQL files and scenario sets without running them.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("base").args(["db", "schema"])))]
pub(crate) struct Args {
    /// SQL files, YAML or JSON scenarios, directories of them; `-` reads SQL from standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The field of a scenario that holds its setup SQL
    #[arg(long, default_value = "setup_sql", value_name = "NAME")]
    field: String,
    #[command(flatten)]
    base: BaseArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Threads that judge [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// How to print what is found
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Exit {
    match check(args, output) {
        Ok(exit) => exit,
        Err(stop) => stop.tell(output),
    }
}

fn check(args: &Args, output: &mut Output) -> Result<Exit, Stop> {
    let guard = args.policy.guard()?;
    let inputs = inputs(&args.files);
    let jobs = super::order::jobs(args.jobs);
    // A file that is no list of scenarios is one piece of work.
    let lists = inputs.iter().any(Input::is_list);
    let jobs = if lists { jobs } else { jobs.min(inputs.len()).max(1) };
    let benches = benches(args, jobs)?;
    let form = Form { format: args.format, style: output.style(), field: &args.field };
    let mut printer = Printer::new(&inputs, form, output);
    let mut stopped = None;
    super::order::in_order(
        benches,
        Works::new(&inputs),
        |bench, works, done| {
            let mut bench = bench;
            let mut judge = bench.judge(&guard);
            for (number, work) in works {
                let found = match &mut judge {
                    Ok(judge) => found::look(judge, form, work),
                    Err(stop) => Err(Stop::tool(stop.as_str())),
                };
                done(number, found);
            }
        },
        |found| match found {
            Ok(found) if stopped.is_none() => printer.add(found),
            Ok(_) => {}
            Err(stop) => stopped = stopped.take().or(Some(stop)),
        },
    )
    .map_err(|error| Stop::tool(format!("a thread: {error}")))?;
    match stopped {
        Some(stop) => Err(stop),
        None => Ok(printer.finish()),
    }
}

/// What a thread works on: with a schema, a copy of its own.
struct Bench {
    workspace: Option<Workspace>,
    /// Where the copy is; removed with it.
    _directory: Option<tempfile::TempDir>,
}

fn benches(args: &Args, jobs: usize) -> Result<Vec<Bench>, Stop> {
    let Some(databases) = args.base.databases()? else {
        return Ok((0..jobs).map(|_| Bench { workspace: None, _directory: None }).collect());
    };
    let bench = |_| {
        let (directory, workspace) = databases.scratch()?;
        Ok(Bench { workspace: Some(workspace), _directory: Some(directory) })
    };
    (0..jobs).map(bench).collect()
}

impl Bench {
    fn judge(&mut self, guard: &Guard) -> Result<Judge<'_>, String> {
        let judge = match &mut self.workspace {
            Some(workspace) => {
                guard.open(&mut workspace.connection).map(|door| Judge::Connection(Box::new(door)))
            }
            None => guard.checker().map(|checker| Judge::Text(Box::new(checker))),
        };
        judge.map_err(|error| error.to_string())
    }
}

/// By the text alone, or on a connection.
enum Judge<'b> {
    Text(Box<Checker>),
    Connection(Box<Door<'b>>),
}

impl Judge<'_> {
    fn check(&mut self, source: &Source) -> Result<Checked, GuardError> {
        match self {
            Self::Text(checker) => Ok(checker.check(source)),
            Self::Connection(door) => door.check(source),
        }
    }
}
