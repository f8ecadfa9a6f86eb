//! `seawall run`: setup SQL on private copies.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgGroup;
use serde_json::{Value, json};

use super::{Exit, Format, Output};
use crate::engine::clock::{Clock, parse_instant};
use crate::engine::streams::Seed;
use crate::guard::{Guard, GuardError};
use crate::policy::{Limits, Policy, PolicyError};
use crate::setup::workspace::{Attached, Base, Workspace};
use crate::setup::{self, Outcome};
use crate::source::Source;

/// Run setup SQL on a copy of a database or on a blank schema.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("base").required(true)), group(ArgGroup::new("text").required(true)))]
pub(crate) struct Args {
    /// A database; the run is on a copy of it
    #[arg(long, group = "base", value_name = "FILE")]
    db: Option<PathBuf>,
    /// The world's own DDL; the run is on a blank database built from it
    #[arg(long, group = "base", value_name = "FILE.sql")]
    schema: Option<PathBuf>,
    /// Attach a copy of a database under a schema name
    #[arg(long, value_name = "NAME=FILE", value_parser = pair)]
    attach: Vec<(String, PathBuf)>,
    /// Attach a blank database built from DDL under a schema name
    #[arg(long, value_name = "NAME=FILE.sql", value_parser = pair)]
    attach_schema: Vec<(String, PathBuf)>,
    /// The setup SQL
    #[arg(long, group = "text", value_name = "TEXT", allow_hyphen_values = true)]
    sql: Option<String>,
    /// A file with the setup SQL
    #[arg(long, group = "text", value_name = "FILE")]
    sql_file: Option<PathBuf>,
    /// `-` reads the setup SQL from standard input
    #[arg(group = "text", value_name = "-", value_parser = ["-"])]
    stdin: Option<String>,
    /// A policy file, or `builtin:NAME` [default: the door's shipped policy]
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,
    /// The door's name, the first word of every message
    #[arg(long, default_value = "setup_sql", value_name = "DOOR")]
    door: String,
    /// Seed of random() and randomblob() [default: a fixed stream]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// What clock functions read, as in 2026-06-01T09:00:00Z [default: the host's clock]
    #[arg(long, value_name = "ISO", value_parser = parse_instant)]
    now: Option<i64>,
    /// A query to run afterwards, after a refusal too, under the inspect policy
    #[arg(long, value_name = "SQL", allow_hyphen_values = true)]
    query: Option<String>,
    /// Keep the copies in this directory, as main.db and NAME.db
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How to print the outcome
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn pair(text: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("NAME=FILE is expected")?;
    Ok((name.to_owned(), PathBuf::from(file)))
}

/// What stops a command before there is an outcome.
enum Stop {
    Tool(String),
    Policy(PolicyError),
}

impl Stop {
    fn tool(error: impl std::fmt::Display) -> Self {
        Self::Tool(error.to_string())
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Exit {
    match outcome(args) {
        Ok((outcome, query)) => {
            print(&outcome, query.as_ref(), args.format, output);
            if outcome.is_ok() { Exit::Ok } else { Exit::Refused }
        }
        Err(Stop::Tool(text)) => {
            output.complain(text);
            Exit::Tool
        }
        Err(Stop::Policy(error)) => {
            output.complain_of(error.diagnostics());
            Exit::Policy
        }
    }
}

fn outcome(args: &Args) -> Result<(Outcome, Option<Value>), Stop> {
    let guard = Guard::new(policy(args)?, &args.door);
    let source = text(args)?;
    let seed = Seed::new("seawall", args.seed);
    let clock = args.now.map_or(Clock::Host, Clock::Fixed);
    let scratch;
    let directory = match &args.out {
        Some(directory) => {
            std::fs::create_dir_all(directory)
                .map_err(|error| Stop::tool(format!("{}: {error}", directory.display())))?;
            directory.as_path()
        }
        None => {
            scratch = tempfile::tempdir()
                .map_err(|error| Stop::tool(format!("a temporary directory: {}", error.kind())))?;
            scratch.path()
        }
    };
    let mut workspace =
        Workspace::create(directory, &base(args)?, &attached(args)?, clock, &seed).map_err(Stop::tool)?;
    let outcome = setup::run(&mut workspace.connection, &guard, &source).map_err(Stop::tool)?;
    let query = match &args.query {
        Some(sql) => Some(query(&mut workspace, sql)?),
        None => None,
    };
    Ok((outcome, query))
}

fn policy(args: &Args) -> Result<Policy, Stop> {
    let shipped = || format!("builtin:{}", args.door);
    Policy::named(&args.policy.clone().unwrap_or_else(shipped)).map_err(Stop::Policy)
}

fn text(args: &Args) -> Result<Source, Stop> {
    if let Some(sql) = &args.sql {
        return Ok(Source::new(format!("<{}>", args.door), sql.as_str()));
    }
    let (name, bytes) = match &args.sql_file {
        Some(file) => (file.display().to_string(), read(file)?),
        None => {
            let mut bytes = Vec::new();
            std::io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|error| Stop::tool(format!("standard input: {error}")))?;
            ("<stdin>".to_owned(), bytes)
        }
    };
    utf8(name, bytes)
}

fn read(file: &Path) -> Result<Vec<u8>, Stop> {
    std::fs::read(file).map_err(|error| Stop::tool(format!("{}: {error}", file.display())))
}

/// SQL that is not UTF-8 would reach the rows as something else than was written.
fn utf8(name: String, bytes: Vec<u8>) -> Result<Source, Stop> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes().iter().take(valid).filter(|byte| **byte == b'\n').count() + 1;
            Err(Stop::tool(format!("{name}:{line}: the file is not UTF-8 (byte {valid}); save it as UTF-8")))
        }
    }
}

fn schema(file: &Path) -> Result<Base, Stop> {
    Ok(Base::Schema(utf8(file.display().to_string(), read(file)?)?))
}

fn base(args: &Args) -> Result<Base, Stop> {
    match (&args.db, &args.schema) {
        (Some(file), _) => Ok(Base::File(file.clone())),
        (None, Some(file)) => schema(file),
        (None, None) => Err(Stop::tool("a database or a schema is needed")),
    }
}

fn attached(args: &Args) -> Result<Vec<Attached>, Stop> {
    let files = args
        .attach
        .iter()
        .map(|(name, file)| Ok(Attached { name: name.clone(), base: Base::File(file.clone()) }));
    let blank = args
        .attach_schema
        .iter()
        .map(|(name, file)| Ok(Attached { name: name.clone(), base: schema(file)? }));
    files.chain(blank).collect()
}

/// The rows of a query under the shipped inspect policy; what goes wrong with it is its answer.
fn query(workspace: &mut Workspace, sql: &str) -> Result<Value, Stop> {
    let shipped = Policy::builtin("inspect").map_err(Stop::Policy)?;
    // The policy bounds nothing; a loop without an end must not take the report of the run with it.
    let limits = Limits {
        steps: shipped.limits.steps.or(Some(500_000_000)),
        time: shipped.limits.time.or(Some(Duration::from_secs(30))),
        bytes: shipped.limits.bytes.or(Some(256 << 20)),
        ..shipped.limits.clone()
    };
    let bounded = Policy::builder().extends(shipped).limits(limits).build().map_err(Stop::Policy)?;
    let guard = Guard::new(bounded, "inspect");
    let mut door = guard.open(&mut workspace.connection).map_err(Stop::tool)?;
    match door.query(sql) {
        Ok(rows) if rows.truncated => {
            Ok(json!({ "error": "inspect failed: the rows take more than 256 MiB. Ask for fewer." }))
        }
        Ok(rows) => Ok(rows.json()),
        Err(error @ (GuardError::Refused(_) | GuardError::Failed(_))) => {
            Ok(json!({ "error": error.to_string() }))
        }
        Err(error) => Err(Stop::tool(error)),
    }
}

fn print(outcome: &Outcome, query: Option<&Value>, format: Format, output: &mut Output) {
    if format == Format::Json {
        let mut object = outcome.json();
        object.insert("query".into(), json!(query));
        output.line(Value::Object(object).to_string());
        return;
    }
    output.diagnostics(&outcome.diagnostics(), format);
    let count = match outcome.statements {
        1 => "1 statement".to_owned(),
        count => format!("{count} statements"),
    };
    let kept = if outcome.is_ok() { "the rows were kept" } else { "no row was changed" };
    if format == Format::Text {
        output.line(format!("{}: {count}, {} steps; {kept}", outcome.word(), outcome.steps));
    }
    if let Some(query) = query {
        print_query(query, output);
    }
}

fn print_query(query: &Value, output: &mut Output) {
    if let Some(error) = query.get("error").and_then(Value::as_str) {
        output.line(error);
        return;
    }
    let texts = |list: Option<&Value>| -> Vec<String> {
        let cells = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        cells.iter().map(|cell| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned)).collect()
    };
    output.line(texts(query.get("columns")).join("\t"));
    for row in query.get("rows").and_then(Value::as_array).into_iter().flatten() {
        output.line(texts(Some(row)).join("\t"));
    }
}
