//! `seawall explain`: what SQL asks and which rule decided, or what a code means.

use std::path::PathBuf;

use clap::ArgGroup;

use super::given::{BaseArgs, PolicyArgs, Stop, text_of};
use super::{Exit, Format, Output};
use crate::diagnostic::{Code, page};
use crate::guard::Explained;
use crate::source::{Source, nearest};
use crate::statement::{self, Head};

/// Tell what SQL asks, who saw it and which rule decided; or what a code means.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("base").args(["db", "schema"])))]
#[command(group(ArgGroup::new("text").required(true).args(["what", "sql_file"])))]
pub(crate) struct Args {
    /// SQL; `-` reads it from standard input. Or a code, as in `schema-change`; `all` lists every one
    #[arg(value_name = "SQL | CODE")]
    what: Option<String>,
    /// A file with the SQL
    #[arg(long, value_name = "FILE")]
    sql_file: Option<PathBuf>,
    #[command(flatten)]
    base: BaseArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    /// How to print what is explained
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Exit {
    match args.what.as_deref() {
        Some("all") => {
            for code in Code::ALL {
                output.line(format!("{:<28}{}", code.word(), page(*code).lines().nth(2).unwrap_or_default()));
            }
            return Exit::Ok;
        }
        Some(word) if is_word_of_a_code(word) => return explain_code(word, output),
        _ => {}
    }
    match explained(args) {
        Ok(explained) => {
            print(&explained, args.format, output);
            if explained.is_ok() { Exit::Ok } else { Exit::Refused }
        }
        Err(stop) => stop.tell(output),
    }
}

/// Whether it is one word in the letters of a code that begins no SQL.
fn is_word_of_a_code(word: &str) -> bool {
    let letters =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let begins_sql = || statement::statements(word).iter().any(|one| one.head != Head::Unknown);
    Code::from_word(word).is_some() || (word.split('-').all(letters) && !begins_sql())
}

fn explain_code(word: &str, output: &mut Output) -> Exit {
    match Code::from_word(word) {
        Some(code) => {
            output.line(page(code).trim_end());
            Exit::Ok
        }
        None => {
            let near = nearest(word, Code::ALL.iter().map(|code| code.word()));
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            output.complain(format!("there is no code {word:?}{near} `seawall explain all` lists them"));
            Exit::Usage
        }
    }
}

fn explained(args: &Args) -> Result<Explained, Stop> {
    let guard = args.policy.guard()?;
    let source = match args.what.as_deref() {
        Some(sql) if sql != "-" => Source::new(format!("<{}>", args.policy.door), sql),
        _ => text_of(args.sql_file.as_deref())?,
    };
    let Some(databases) = args.base.databases()? else {
        return guard.explain(&source).map_err(Stop::tool);
    };
    let (_directory, mut workspace) = databases.scratch()?;
    let mut door = guard.open(&mut workspace.connection).map_err(Stop::tool)?;
    door.explain(&source).map_err(Stop::tool)
}

fn print(explained: &Explained, format: Format, output: &mut Output) {
    match format {
        Format::Json => output.line(explained.json().to_string()),
        Format::Text => {
            output.put(explained.text());
            let diagnostics = explained.diagnostics();
            if !diagnostics.is_empty() {
                output.line("");
            }
            output.diagnostics(&diagnostics, format);
        }
        Format::Github => output.diagnostics(&explained.diagnostics(), format),
    }
}
