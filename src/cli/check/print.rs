//! Printing what was found, file by file, in memory that does not grow with it.

use std::io::{self, Read, Seek, Write};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use tempfile::SpooledTempFile;

use super::files::Input;
use super::found::{Counts, Form, Found, in_file};
use crate::cli::{Exit, Format, Output};
use crate::diagnostic::{Code, Diagnostic, Severity};

/// Bytes of a list of JSON values that are kept in memory; more wait in a temporary file.
const KEPT: usize = 1 << 20;

/// The lists of a file in JSON, in their order.
const LISTS: [&str; 4] = ["refusals", "failures", "advice", "errors"];

/// Prints as results come.
pub(super) struct Printer<'a> {
    output: &'a mut Output,
    form: Form<'a>,
    totals: Counts,
    /// Files that hold setup SQL or were named.
    files: usize,
    /// Of the file whose results are coming.
    file: Counts,
    has_field: bool,
    first_without: Option<usize>,
    lists: [SpooledTempFile; 4],
    progress: ProgressBar,
    /// The first fault of a temporary file.
    broken: Option<io::Error>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(inputs: &[Input], form: Form<'a>, output: &'a mut Output) -> Self {
        // Draws nothing where standard error is no terminal.
        let progress = ProgressBar::new(inputs.iter().map(Input::size).sum());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {msg}") {
            progress.set_style(style);
        }
        if form.format == Format::Json {
            output.put("{\"files\":[");
        }
        Self {
            output,
            form,
            totals: Counts::default(),
            files: 0,
            file: Counts::default(),
            has_field: false,
            first_without: None,
            lists: std::array::from_fn(|_| SpooledTempFile::new(KEPT)),
            progress,
            broken: None,
        }
    }

    /// Takes the next part of a file.
    pub(super) fn add(&mut self, mut found: Found<'_>) {
        self.has_field |= found.has_field;
        let input = found.input;
        let nothing = found.last && !self.has_field && self.file.errors + found.counts.errors == 0;
        if nothing && !input.found {
            found.tell(&no_field(&input.name, self.form.field));
        }
        self.file.add(found.counts);
        self.first_without = self.first_without.or(found.first_without);
        if found.last && !self.has_field {
            // That is told of the file as a whole.
            self.file.without = 0;
        } else if let Some(line) =
            self.first_without.filter(|_| found.last && self.form.format != Format::Json)
        {
            found.tell(&without(&input.name, line, self.file.without, self.form.field));
        }
        let (text, output) = (&found.text, &mut *self.output);
        if !text.is_empty() {
            self.progress.suspend(|| output.put(text));
        }
        if self.form.format == Format::Json {
            self.keep(&found.json);
        }
        self.progress.inc(found.bytes);
        if found.last {
            // In a directory a file without the field is no scenario.
            if !(nothing && input.found) {
                self.end(&input.name);
            }
            self.file = Counts::default();
            self.has_field = false;
            self.first_without = None;
        }
    }

    fn keep(&mut self, json: &[String; 4]) {
        for (list, json) in self.lists.iter_mut().zip(json).filter(|(_, json)| !json.is_empty()) {
            let written = list.stream_position().and_then(|at| {
                let comma = if at > 0 { "," } else { "" };
                list.write_all(comma.as_bytes()).and_then(|()| list.write_all(json.as_bytes()))
            });
            if let Err(error) = written {
                self.broken.get_or_insert(error);
            }
        }
    }

    fn end(&mut self, name: &str) {
        self.totals.add(self.file);
        self.files += 1;
        if self.form.format != Format::Json {
            return;
        }
        let comma = if self.files > 1 { "," } else { "" };
        let Counts { scenarios, without, statements, .. } = self.file;
        let head =
            json!({ "file": name, "scenarios": scenarios, "without": without, "statements": statements });
        let head = head.to_string();
        self.output.put(format!("{comma}{}", head.trim_end_matches('}')));
        for (name, list) in LISTS.into_iter().zip(&mut self.lists) {
            self.output.put(format!(",\"{name}\":["));
            let full = std::mem::replace(list, SpooledTempFile::new(KEPT));
            if let Err(error) = copy(full, self.output) {
                self.broken.get_or_insert(error);
            }
            self.output.put("]");
        }
        self.output.put("}");
    }

    /// Prints the end, and says how the command does.
    pub(super) fn finish(self) -> Exit {
        self.progress.finish_and_clear();
        let Counts { scenarios, without, statements, refused, failed, advice, errors } = self.totals;
        match self.form.format {
            Format::Json => {
                let totals = json!({
                    "files": self.files,
                    "scenarios": scenarios,
                    "without": without,
                    "statements": statements,
                    "refused": refused,
                    "failed": failed,
                    "advice": advice,
                    "errors": errors,
                });
                self.output.line(format!("],\"totals\":{totals}}}"));
            }
            Format::Text => {
                let mut line = format!(
                    "{}, {}: {refused} refused, ",
                    counted(self.files, "file"),
                    counted(statements, "statement"),
                );
                if failed > 0 {
                    line.push_str(&format!("{failed} failed, "));
                }
                line.push_str(&format!("{advice} with advice"));
                if errors > 0 {
                    line.push_str(&format!("; {} in the files themselves", counted(errors, "fault")));
                }
                self.output.line(line);
            }
            Format::Github => {}
        }
        if let Some(error) = self.broken {
            self.output.complain(format!("a temporary file: {}", error.kind()));
            return Exit::Tool;
        }
        // A wrong path must not pass for files in which all is well.
        if self.files == 0 {
            self.output.complain(format!(
                "nothing to check: no file has SQL or a value under `{}`",
                self.form.field
            ));
            return Exit::Tool;
        }
        match (refused + failed, errors) {
            (0, 0) => Exit::Ok,
            (0, _) => Exit::Tool,
            _ => Exit::Refused,
        }
    }
}

fn no_field(name: &str, field: &str) -> Diagnostic {
    let message = format!("no value of the file stands under `{field}`");
    Diagnostic::error(Code::ScenarioField, message, Some(in_file(name, 1)))
        .help("`--field NAME` looks for another name.")
}

/// Some scenarios of a set may have nothing to set up, or their author mistyped the field.
fn without(name: &str, line: usize, count: usize, field: &str) -> Diagnostic {
    let message = match count {
        1 => format!("this scenario has no `{field}`"),
        _ => format!("{count} scenarios have no `{field}`, this is the first"),
    };
    Diagnostic::error(Code::ScenarioField, message, Some(in_file(name, line))).severity(Severity::Note)
}

fn copy(mut from: SpooledTempFile, output: &mut Output) -> io::Result<()> {
    from.rewind()?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            read => output.put(buffer.get(..read).unwrap_or_default()),
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    crate::refusal::counted(count as u64, what)
}
