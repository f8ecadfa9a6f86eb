//! The command line: one file a command.

mod agree;
mod check;
mod exit;
mod explain;
mod given;
mod order;
mod output;
mod plan;
mod policy;
mod run;

pub(crate) use exit::Exit;
pub(crate) use output::{Format, Output};

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs setup SQL under a policy: rows may change, nothing else, and every refusal says why.
#[derive(Debug, Parser)]
#[command(name = "seawall", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run setup SQL on a copy of a database or on a blank schema
    Run(Box<run::Args>),
    /// Show row by row what setup SQL would change; nothing is kept
    Plan(Box<plan::Args>),
    /// Judge the statements of SQL files and scenario sets without running them
    Check(Box<check::Args>),
    /// Check, show or describe policy files
    Policy(policy::Args),
    /// Tell what SQL asks, who saw it and which rule decided; or what a code means
    Explain(Box<explain::Args>),
    /// Hold what the text witness says against what SQLite's own witnesses say
    Agree(agree::Args),
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not faults.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            return if error.print().is_ok() { exit.into() } else { Exit::Tool.into() };
        }
    };
    let mut output = Output::of_process();
    let exit = match cli.command {
        Command::Run(args) => run::run(&args, &mut output),
        Command::Plan(args) => plan::run(&args, &mut output),
        Command::Check(args) => check::run(&args, &mut output),
        Command::Policy(args) => policy::run(&args, &mut output),
        Command::Explain(args) => explain::run(&args, &mut output),
        Command::Agree(args) => agree::run(&args, &mut output),
    };
    if output.flush() { exit.into() } else { Exit::Tool.into() }
}
