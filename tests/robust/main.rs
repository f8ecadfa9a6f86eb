//! The command and the library on hostile texts, odd files and full disks.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic of a helper is the failure of its test")]

mod contract;
mod databases;
mod files;
mod limits;
mod names;
mod texts;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

/// A directory with a small database in it, and the command at work there.
struct Stand {
    directory: TempDir,
}

impl Stand {
    fn new(ddl: &str) -> Self {
        let stand = Self::empty();
        stand.database("given.db", ddl);
        stand
    }

    fn empty() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn database(&self, name: &str, ddl: &str) {
        Connection::open(self.path(name)).unwrap().execute_batch(ddl).unwrap();
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// `seawall run` from within the directory, so that every name is as it was given.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seawall"));
        command.current_dir(self.directory.path()).arg("run").args(args);
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&self.command(args).output().unwrap(), self.directory.path())
    }

    /// A run of `sql` on `given.db`, as JSON.
    fn sql(&self, sql: &str, more: &[&str]) -> Value {
        let mut args = vec!["--db", "given.db", "--sql", sql, "--format", "json"];
        args.extend(more);
        self.run(&args).json()
    }
}

/// What the command said.
struct Ran {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    /// Every word that the command says is looked through for paths of this machine.
    fn of(output: &Output, directory: &Path) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let ran = Self {
            status: output.status.code().unwrap(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        };
        let temporary = std::env::temp_dir();
        for path in [directory, &temporary] {
            let path = path.to_str().unwrap();
            assert!(!ran.stdout.contains(path), "a machine path in {}", ran.stdout);
            assert!(!ran.stderr.contains(path), "a machine path in {}", ran.stderr);
        }
        ran
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: status {}, {}{}", self.status, self.stdout, self.stderr))
    }

    /// The tool itself failed, and said why on one line.
    fn tool_failed(&self, why: &str) {
        assert_eq!(self.status, 1, "{}{}", self.stdout, self.stderr);
        assert!(self.stderr.contains(why), "{}", self.stderr);
        assert_eq!(self.stdout, "");
    }
}

fn code(outcome: &Value) -> &str {
    outcome["code"].as_str().unwrap_or("ok")
}

fn message(outcome: &Value) -> &str {
    outcome["message"].as_str().unwrap()
}
