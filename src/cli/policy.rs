//! `seawall policy`: the policy file itself.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Exit, Format, Output};
use crate::diagnostic::{self, Diagnostic, Severity};
use crate::engine::catalog::{built_in, load, load_rest};
use crate::lint::lint;
use crate::policy::Policy;
use crate::source::Source;
use crate::statement;

/// Check, show or describe policy files.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Look for faults in policy files, all of them at once
    Check(Check),
    /// Print the effective policy: parents merged in, what never opens, its hash
    Show(Show),
    /// Print the JSON Schema of the policy file, for editors
    Schema,
}

#[derive(Debug, clap::Args)]
struct Check {
    /// Policy files, or `builtin:NAME`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The world's own DDL; the policies are also held against it
    #[arg(long, value_name = "FILE.sql")]
    schema: Option<PathBuf>,
    /// Exit with 3 where there are warnings too
    #[arg(long)]
    deny_warnings: bool,
    /// How to print what is found
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, clap::Args)]
struct Show {
    /// A policy file, or `builtin:NAME`
    #[arg(value_name = "FILE")]
    policy: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Exit {
    match &args.command {
        Command::Check(check) => check_files(check, output),
        Command::Show(show) => match Policy::named(&show.policy) {
            Ok(policy) => {
                output.line(policy.show().trim_end());
                Exit::Ok
            }
            Err(error) => {
                output.diagnostics(error.diagnostics(), Format::Text);
                Exit::Policy
            }
        },
        Command::Schema => {
            output.line(Policy::json_schema().trim_end());
            Exit::Ok
        }
    }
}

fn check_files(args: &Check, output: &mut Output) -> Exit {
    let world = match args.schema.as_deref().map(world).transpose() {
        Ok(world) => world,
        Err(text) => {
            output.complain(text);
            return Exit::Tool;
        }
    };
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut files = Vec::new();
    for name in &args.files {
        let (hash, diagnostics) = match Policy::named(name) {
            Ok(policy) => match world.as_ref().map(|world| held_against(&policy, world)).transpose() {
                Ok(warnings) => (Some(policy.hash()), warnings.unwrap_or_default()),
                Err(error) => {
                    output.complain(format!("the schema cannot be read: {error}"));
                    return Exit::Tool;
                }
            },
            Err(error) => (None, error.diagnostics().to_vec()),
        };
        files.push(json!({ "file": name, "hash": hash, "diagnostics": diagnostic::json(&diagnostics) }));
        // A parent of two files is told once.
        found.extend(diagnostics.into_iter().filter(|new| !found.contains(new)).collect::<Vec<_>>());
    }
    print(args, &found, files, output);
    let bad = |found: &Diagnostic| found.severity == Severity::Error || args.deny_warnings;
    if found.iter().any(bad) { Exit::Policy } else { Exit::Ok }
}

fn print(args: &Check, found: &[Diagnostic], files: Vec<Value>, output: &mut Output) {
    let count = |severity| found.iter().filter(|found| found.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if args.format == Format::Json {
        output.line(json!({ "errors": errors, "warnings": warnings, "files": files }).to_string());
        return;
    }
    output.diagnostics(found, args.format);
    if args.format == Format::Text {
        let files = counted(args.files.len(), "file");
        let told = match (errors, warnings) {
            (0, 0) => "no fault".to_owned(),
            (0, warnings) => counted(warnings, "warning"),
            (errors, 0) => counted(errors, "fault"),
            (errors, warnings) => format!("{}, {}", counted(errors, "fault"), counted(warnings, "warning")),
        };
        let gap = if found.is_empty() { "" } else { "\n" };
        output.line(format!("{gap}{files}: {told}"));
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A blank database of the world's DDL, and nothing of it on disk.
fn world(file: &Path) -> Result<Connection, String> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{name}: {}", error.kind()))?;
    let source = Source::new(name, text);
    let connection = Connection::open_in_memory().map_err(|error| error.to_string())?;
    for span in statement::split(source.text()) {
        connection.execute_batch(source.slice(span)).map_err(|error| {
            let line = source.position(span.start).line;
            format!("{}:{line}: {error}", source.name())
        })?;
    }
    Ok(connection)
}

fn held_against(policy: &Policy, world: &Connection) -> rusqlite::Result<Vec<Diagnostic>> {
    let mut catalog = load(world, policy, &built_in()?)?;
    load_rest(world, &mut catalog)?;
    Ok(lint(policy, &catalog))
}
