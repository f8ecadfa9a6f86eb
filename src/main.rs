//! The `seawall` command: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    seawall::cli::main()
}
