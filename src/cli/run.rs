//! `seawall run`: setup SQL on private copies.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::given::{RunArgs, Stop};
use super::{Exit, Format, Output};
use crate::guard::{Guard, GuardError};
use crate::policy::{Limits, Policy};
use crate::setup::workspace::Workspace;
use crate::setup::{self, Outcome};
use crate::source::plain;

/// Run setup SQL on a copy of a database or on a blank schema.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArgs,
    /// A query to run afterwards, after a refusal too, under the inspect policy
    #[arg(long, value_name = "SQL", allow_hyphen_values = true)]
    query: Option<String>,
    /// Keep the copies in this directory, as main.db and NAME.db
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Exit {
    match outcome(args) {
        Ok((outcome, query)) => {
            print(&outcome, query.as_ref(), args.run.format, output);
            if outcome.is_ok() { Exit::Ok } else { Exit::Refused }
        }
        Err(stop) => stop.tell(output),
    }
}

fn outcome(args: &Args) -> Result<(Outcome, Option<Value>), Stop> {
    let (guard, source) = args.run.guard_and_source()?;
    let (_directory, mut workspace) = args.run.workspace(args.out.as_deref())?;
    let outcome = setup::run(&mut workspace.connection, &guard, &source).map_err(Stop::tool)?;
    let query = match &args.query {
        Some(sql) => Some(query(&mut workspace, sql)?),
        None => None,
    };
    Ok((outcome, query))
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
    if format == Format::Text {
        summary(outcome, "the rows were kept", output);
        if let Some(table) = outcome.report.text().filter(|_| outcome.is_ok()) {
            output.line(table);
        }
    }
    if let Some(query) = query {
        print_query(query, output);
    }
}

/// The line that says how it ended.
pub(super) fn summary(outcome: &Outcome, kept: &str, output: &mut Output) {
    let count = match outcome.statements {
        1 => "1 statement".to_owned(),
        count => format!("{count} statements"),
    };
    let kept = if outcome.is_ok() { kept } else { "no row was changed" };
    output.line(format!("{}: {count}, {} steps; {kept}", outcome.word(), outcome.steps));
}

fn print_query(query: &Value, output: &mut Output) {
    if let Some(error) = query.get("error").and_then(Value::as_str) {
        output.line(error);
        return;
    }
    let texts = |list: Option<&Value>| -> Vec<String> {
        let cells = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let text = |cell: &Value| match cell.as_str() {
            Some(text) => plain(text).into_owned(),
            None => cell.to_string(),
        };
        cells.iter().map(text).collect()
    };
    output.line(texts(query.get("columns")).join("\t"));
    for row in query.get("rows").and_then(Value::as_array).into_iter().flatten() {
        output.line(texts(Some(row)).join("\t"));
    }
}
