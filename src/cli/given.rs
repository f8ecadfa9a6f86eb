//! What several commands are given: a database or a schema, a policy and its door, files.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use clap::ArgGroup;
use tempfile::TempDir;

use super::Format;
use crate::engine::clock::{Clock, parse_instant};
use crate::engine::streams::Seed;
use crate::guard::Guard;
use crate::policy::{Policy, PolicyError};
use crate::setup::workspace::{Attached, Base, Workspace};
use crate::source::Source;

/// What stops a command before there is an outcome.
pub(crate) enum Stop {
    /// The tool failed, or what it was given cannot be read.
    Tool(String),
    /// The policy file is wrong.
    Policy(PolicyError),
}

impl Stop {
    pub(crate) fn tool(error: impl std::fmt::Display) -> Self {
        Self::Tool(error.to_string())
    }

    /// Says it on standard error.
    pub(crate) fn tell(self, output: &mut super::Output) -> super::Exit {
        match self {
            Self::Tool(text) => {
                output.complain(text);
                super::Exit::Tool
            }
            Self::Policy(error) => {
                output.complain_of(error.diagnostics());
                super::Exit::Policy
            }
        }
    }
}

/// The database that a command works on; always a copy.
#[derive(Debug, clap::Args)]
pub(crate) struct BaseArgs {
    /// A database; the command works on a copy of it
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// The world's own DDL; the command works on a blank database built from it
    #[arg(long, value_name = "FILE.sql")]
    schema: Option<PathBuf>,
    /// Attach a copy of a database under a schema name
    #[arg(long, value_name = "NAME=FILE", value_parser = pair)]
    attach: Vec<(String, PathBuf)>,
    /// Attach a blank database built from DDL under a schema name
    #[arg(long, value_name = "NAME=FILE.sql", value_parser = pair)]
    attach_schema: Vec<(String, PathBuf)>,
}

fn pair(text: &str) -> Result<(String, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("NAME=FILE is expected")?;
    Ok((name.to_owned(), PathBuf::from(file)))
}

impl BaseArgs {
    /// The databases that a command works on if it is given some.
    pub(crate) fn databases(&self) -> Result<Option<Databases>, Stop> {
        let attached = self.attached()?;
        match self.base()? {
            Some(base) => Ok(Some(Databases { base, attached })),
            None if attached.is_empty() => Ok(None),
            None => Err(Stop::tool("a database is attached to another: give --db or --schema too")),
        }
    }

    /// The root database, where one is given.
    fn base(&self) -> Result<Option<Base>, Stop> {
        match (&self.db, &self.schema) {
            (Some(file), _) => Ok(Some(Base::File(file.clone()))),
            (None, Some(file)) => schema(file).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// The databases beside it.
    fn attached(&self) -> Result<Vec<Attached>, Stop> {
        let files = self.attach.iter();
        let files =
            files.map(|(name, file)| Ok(Attached { name: name.clone(), base: Base::File(file.clone()) }));
        let blank = self.attach_schema.iter();
        let blank = blank.map(|(name, file)| Ok(Attached { name: name.clone(), base: schema(file)? }));
        files.chain(blank).collect()
    }
}

/// What the databases of a command are copied or built from.
pub(crate) struct Databases {
    base: Base,
    attached: Vec<Attached>,
}

impl Databases {
    /// Copies for statements that are not run, so that clock and seed do not matter; gone with the directory.
    pub(crate) fn scratch(&self) -> Result<(TempDir, Workspace), Stop> {
        let directory = scratch()?;
        let seed = Seed::new("seawall", None);
        let workspace = Workspace::create(directory.path(), &self.base, &self.attached, Clock::Host, &seed);
        Ok((directory, workspace.map_err(Stop::tool)?))
    }
}

fn scratch() -> Result<TempDir, Stop> {
    tempfile::tempdir().map_err(|error| Stop::tool(format!("a temporary directory: {}", error.kind())))
}

fn schema(file: &Path) -> Result<Base, Stop> {
    Ok(Base::Schema(utf8(file.display().to_string(), read(file)?)?))
}

/// Setup SQL.
#[derive(Debug, clap::Args)]
#[group(id = "text", required = true, multiple = false)]
pub(crate) struct TextArgs {
    /// The setup SQL
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    sql: Option<String>,
    /// A file with the setup SQL
    #[arg(long, value_name = "FILE")]
    sql_file: Option<PathBuf>,
    /// `-` reads the setup SQL from standard input
    #[arg(value_name = "-", value_parser = ["-"])]
    stdin: Option<String>,
}

impl TextArgs {
    /// The text, under a name that people know it by.
    pub(crate) fn source(&self, door: &str) -> Result<Source, Stop> {
        if let Some(sql) = &self.sql {
            return Ok(Source::new(format!("<{door}>"), sql.as_str()));
        }
        text_of(self.sql_file.as_deref())
    }
}

/// The text of a file, else of standard input.
pub(crate) fn text_of(file: Option<&Path>) -> Result<Source, Stop> {
    let (name, bytes) = match file {
        Some(file) => (file.display().to_string(), read(file)?),
        None => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().read_to_end(&mut bytes);
            read.map_err(|error| Stop::tool(format!("standard input: {error}")))?;
            ("<stdin>".to_owned(), bytes)
        }
    };
    utf8(name, bytes)
}

/// The rules that a command judges by.
#[derive(Debug, clap::Args)]
pub(crate) struct PolicyArgs {
    /// A policy file, or `builtin:NAME` [default: the door's shipped policy]
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,
    /// The door's name, the first word of every message
    #[arg(long, default_value = "setup_sql", value_name = "DOOR")]
    pub(crate) door: String,
}

impl PolicyArgs {
    /// The guard of the door.
    pub(crate) fn guard(&self) -> Result<Guard, Stop> {
        let shipped = || format!("builtin:{}", self.door);
        let policy = Policy::named(&self.policy.clone().unwrap_or_else(shipped)).map_err(Stop::Policy)?;
        Ok(Guard::new(policy, &self.door))
    }
}

/// What a run of setup SQL needs.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("base").required(true).args(["db", "schema"])))]
pub(crate) struct RunArgs {
    #[command(flatten)]
    base: BaseArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Seed of random() and randomblob() [default: a fixed stream]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// What clock functions read, as in 2026-06-01T09:00:00Z [default: the host's clock]
    #[arg(long, value_name = "ISO", value_parser = parse_instant)]
    now: Option<i64>,
    /// How to print the outcome
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

impl RunArgs {
    /// The guard of the door, and the text that it is to judge.
    pub(crate) fn guard_and_source(&self) -> Result<(Guard, Source), Stop> {
        Ok((self.policy.guard()?, self.text.source(&self.policy.door)?))
    }

    /// The copies: in `directory`, else in one of their own that goes when the first is dropped.
    pub(crate) fn workspace(&self, directory: Option<&Path>) -> Result<(Option<TempDir>, Workspace), Stop> {
        let scratch = match directory {
            Some(directory) => {
                std::fs::create_dir_all(directory)
                    .map_err(|error| Stop::tool(format!("{}: {error}", directory.display())))?;
                None
            }
            None => Some(scratch()?),
        };
        let place = directory.or_else(|| scratch.as_ref().map(TempDir::path));
        let place = place.ok_or_else(|| Stop::tool("a directory is needed"))?;
        let base = self.base.base()?.ok_or_else(|| Stop::tool("a database or a schema is needed"))?;
        let seed = Seed::new("seawall", self.seed);
        let clock = self.now.map_or(Clock::Host, Clock::Fixed);
        let workspace = Workspace::create(place, &base, &self.base.attached()?, clock, &seed);
        Ok((scratch, workspace.map_err(Stop::tool)?))
    }
}

/// The bytes of a file.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Stop> {
    std::fs::read(file).map_err(|error| Stop::tool(format!("{}: {error}", file.display())))
}

/// SQL that is not UTF-8 would reach the rows as something else than was written.
pub(crate) fn utf8(name: String, bytes: Vec<u8>) -> Result<Source, Stop> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let line = line_of(&error);
            Err(Stop::tool(format!("{name}:{line}: the file is not UTF-8 (byte {valid}); save it as UTF-8")))
        }
    }
}

/// The line of the first byte that is not UTF-8, from 1.
pub(crate) fn line_of(error: &FromUtf8Error) -> usize {
    let before = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
    before.filter(|byte| **byte == b'\n').count() + 1
}
