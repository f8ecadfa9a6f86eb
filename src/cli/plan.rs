//! `seawall plan`: the same run, rolled back, as a row diff.

use serde_json::{Value, json};

use super::given::{RunArgs, Stop};
use super::{Exit, Format, Output};
use crate::setup::plan::{Plan, ROWS};
use crate::setup::{self, Outcome};

/// Show row by row what setup SQL would change; nothing is kept.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArgs,
    /// Show at most this many rows of a table
    #[arg(long, value_name = "N", default_value_t = ROWS)]
    rows: usize,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Exit {
    match outcome(args) {
        Ok((outcome, plan)) => {
            print(&outcome, plan.as_ref(), args.run.format, output);
            if outcome.is_ok() { Exit::Ok } else { Exit::Refused }
        }
        Err(stop) => stop.tell(output),
    }
}

fn outcome(args: &Args) -> Result<(Outcome, Option<Plan>), Stop> {
    let (guard, source) = args.run.guard_and_source()?;
    let (_directory, mut workspace) = args.run.workspace(None)?;
    setup::plan(&mut workspace.connection, &guard, &source, args.rows).map_err(Stop::tool)
}

fn print(outcome: &Outcome, plan: Option<&Plan>, format: Format, output: &mut Output) {
    if format == Format::Json {
        let mut object = outcome.json();
        let report = object.remove("report");
        object.insert("advice".into(), outcome.advice_json());
        object.insert("report".into(), json!(report));
        object.insert("plan".into(), json!(plan.map(Plan::json)));
        output.line(Value::Object(object).to_string());
        return;
    }
    output.diagnostics(&outcome.diagnostics(), format);
    if format == Format::Text {
        super::run::summary(outcome, "the rows were put back", output);
        if let Some(plan) = plan {
            output.line(plan.text());
        }
    }
}
