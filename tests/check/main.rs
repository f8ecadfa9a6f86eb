//! `seawall check` as a process: every code under the words that it is about, in every kind of file.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic of a helper is the failure of its test")]

mod codes;
mod files;
mod forms;
mod places;
mod stacks;

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Compares with the snapshot `check-NAME`.
fn snapshot(name: &str, shown: &str) {
    insta::with_settings!({
        snapshot_path => "../../snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(format!("check-{name}"), shown);
    });
}

/// A directory, and the command at work there.
struct Stand {
    directory: TempDir,
}

/// What the command said.
struct Ran {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Stand {
    fn new(files: &[(&str, &str)]) -> Self {
        let stand = Self { directory: tempfile::tempdir().unwrap() };
        files.iter().for_each(|(name, text)| stand.write(name, text));
        stand
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn seawall(&self, args: &[&str]) -> Ran {
        self.ran(args, Stdio::null())
    }

    fn ran(&self, args: &[&str], input: Stdio) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seawall"));
        let command = command.current_dir(self.directory.path()).args(args).stdin(input);
        let output = command.env_remove("NO_COLOR").output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran {
            status: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// With `input` on standard input.
    fn piped(&self, args: &[&str], input: &[u8]) -> Ran {
        self.write("input", input);
        let input = std::fs::File::open(self.path().join("input")).unwrap();
        self.ran(args, input.into())
    }

    fn check(&self, args: &[&str]) -> Ran {
        self.seawall(&[&["check"], args].concat())
    }

    fn json(&self, args: &[&str]) -> Value {
        self.check(&[args, &["--format", "json"]].concat()).json()
    }
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: status {}, {}{}", self.status, self.stdout, self.stderr))
    }

    /// The codes in the order in which they are told, each with the words that are underlined.
    fn underlined(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        let mut line: Vec<char> = Vec::new();
        for printed in self.stdout.lines() {
            if let Some(rest) = printed.strip_prefix("error[").or(printed.strip_prefix("warning[")) {
                all.push((rest.split(']').next().unwrap().to_owned(), String::new()));
                continue;
            }
            let Some((gutter, shown)) = printed.split_once('|') else { continue };
            if gutter.trim().parse::<usize>().is_ok() {
                line = shown.chars().collect();
            } else if gutter.trim().is_empty() && shown.contains('^') {
                let marked = shown.chars().enumerate().filter(|(_, c)| *c == '^');
                all.last_mut().unwrap().1.extend(marked.filter_map(|(at, _)| line.get(at)));
            }
        }
        all
    }
}
