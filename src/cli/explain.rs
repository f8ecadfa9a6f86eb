//! `seawall explain CODE`: what a code means.

use super::{Exit, Output};
use crate::diagnostic::{Code, page};
use crate::source::nearest;

/// Print what a code means and what to do about it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A code, as in `schema-change`; `all` lists every one
    code: String,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Exit {
    if args.code == "all" {
        for code in Code::ALL {
            output.line(format!("{:<28}{}", code.word(), page(*code).lines().nth(2).unwrap_or_default()));
        }
        return Exit::Ok;
    }
    match Code::from_word(&args.code) {
        Some(code) => {
            output.line(page(code).trim_end());
            Exit::Ok
        }
        None => {
            let near = nearest(&args.code, Code::ALL.iter().map(|code| code.word()));
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            output
                .complain(format!("there is no code {:?}{near} `seawall explain all` lists them", args.code));
            Exit::Usage
        }
    }
}
