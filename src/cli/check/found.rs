//! What a piece of work finds, ready to be printed.

use std::collections::BTreeSet;
use std::io::{self, Read};

use serde_json::Value;

use super::files::{Input, Part, Work};
use super::{Format, Judge};
use crate::cli::given::{Stop, line_of};
use crate::diagnostic::{self, Code, Diagnostic, Severity, Style};
use crate::guard::Checked;
use crate::refusal::{AdviceNote, Failure, Refusal};
use crate::scenario::{self, Kind};
use crate::source::{Place, Source, Span};

/// How things are looked for and printed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form<'a> {
    pub(super) format: Format,
    pub(super) style: Style,
    pub(super) field: &'a str,
}

/// How much was found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Texts of setup SQL; a `.sql` file is one.
    pub(super) scenarios: usize,
    pub(super) statements: usize,
    /// Statements that are refused, that fail, that there is advice on.
    pub(super) refused: usize,
    pub(super) failed: usize,
    pub(super) advice: usize,
    /// Scenarios without the field beside some with it.
    pub(super) without: usize,
    /// What keeps files, or lines of them, from being read.
    pub(super) errors: usize,
}

impl Counts {
    pub(super) fn add(&mut self, more: Self) {
        self.scenarios += more.scenarios;
        self.statements += more.statements;
        self.refused += more.refused;
        self.failed += more.failed;
        self.advice += more.advice;
        self.without += more.without;
        self.errors += more.errors;
    }
}

/// What a file holds, or a part of it. Printed where it was found, so that threads share that work too.
#[derive(Debug)]
pub(super) struct Found<'i> {
    pub(super) input: &'i Input,
    pub(super) last: bool,
    pub(super) bytes: u64,
    pub(super) counts: Counts,
    pub(super) has_field: bool,
    /// The line of the first scenario without the field.
    pub(super) first_without: Option<usize>,
    /// For people or for annotations.
    pub(super) text: String,
    /// JSON values, a comma before each but the first: refusals, failures, advice, errors.
    pub(super) json: [String; 4],
    form: Format,
    style: Style,
}

/// Does a piece of work.
pub(super) fn look<'i>(judge: &mut Judge<'_>, form: Form<'_>, work: Work<'i>) -> Result<Found<'i>, Stop> {
    let mut found = Found {
        input: work.input,
        last: work.last,
        bytes: 0,
        counts: Counts::default(),
        has_field: false,
        first_without: None,
        text: String::new(),
        json: Default::default(),
        form: form.format,
        style: form.style,
    };
    match work.part {
        Ok(Part::Whole) => found.whole(judge, form.field)?,
        Ok(Part::Lines { first, bytes }) => found.lines(judge, form.field, first, &bytes)?,
        Err(error) => found.unreadable(&error),
    }
    Ok(found)
}

impl Found<'_> {
    fn whole(&mut self, judge: &mut Judge<'_>, field: &str) -> Result<(), Stop> {
        let name = &self.input.name;
        let Some(kind) = self.input.kind else {
            if let Some(Err(error)) = self.input.path.as_deref().map(std::fs::metadata) {
                self.unreadable(&error);
                return Ok(());
            }
            let message = "the name does not say what the file holds";
            let help = "SQL is in .sql, scenarios are in .yaml, .yml, .json, .jsonl and .ndjson.";
            self.tell(&of_file(name, 1, message).help(help));
            return Ok(());
        };
        let bytes = match read(self.input) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.unreadable(&error);
                return Ok(());
            }
        };
        self.bytes = bytes.len() as u64;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                self.tell(&not_utf8(name, line_of(&error)));
                return Ok(());
            }
        };
        let source = Source::new(name.as_str(), text);
        let texts = match kind {
            Kind::Sql => {
                self.has_field = true;
                self.counts.scenarios += 1;
                let checked = judge.check(&source).map_err(Stop::tool)?;
                self.checked(&checked.placed(|span| Place { source: source.clone(), span }));
                return Ok(());
            }
            Kind::Yaml => scenario::in_yaml(source.text(), field),
            Kind::Json | Kind::JsonLines => scenario::in_json(source.text(), field),
        };
        if let Some(first) = texts.without.first {
            self.counts.without = texts.without.count;
            self.first_without = Some(source.position(first).line);
        }
        self.scenario(judge, texts, || source.clone())
    }

    fn lines(&mut self, judge: &mut Judge<'_>, field: &str, first: usize, bytes: &[u8]) -> Result<(), Stop> {
        self.bytes = bytes.len() as u64;
        let name = &self.input.name;
        for (number, line) in (first..).zip(bytes.split(|byte| *byte == b'\n')) {
            let line = match std::str::from_utf8(line) {
                Ok(line) => line.strip_suffix('\r').unwrap_or(line),
                Err(_) => {
                    self.tell(&not_utf8(name, number));
                    continue;
                }
            };
            if line.trim_start_matches('\u{feff}').trim().is_empty() {
                continue;
            }
            let texts = scenario::in_json(line, field);
            if !texts.has_field && texts.faults.is_empty() {
                self.counts.without += 1;
                self.first_without = self.first_without.or(Some(number));
            }
            self.scenario(judge, texts, || Source::part(name.as_str(), line, number))?;
        }
        Ok(())
    }

    /// Judges the texts of a scenario; `source` is the file, or the part of it, that they were found in.
    fn scenario(
        &mut self,
        judge: &mut Judge<'_>,
        texts: scenario::Found,
        source: impl Fn() -> Source,
    ) -> Result<(), Stop> {
        self.has_field |= texts.has_field;
        for fault in texts.faults {
            self.tell(&fault.diagnostic(&source()));
        }
        for text in texts.texts {
            self.counts.scenarios += 1;
            let checked =
                judge.check(&Source::new(self.input.name.as_str(), text.sql)).map_err(Stop::tool)?;
            if checked.is_ok() && checked.advice.is_empty() {
                self.counts.statements += checked.statements;
                continue;
            }
            let source = source();
            let place = |span| Place { source: source.clone(), span: text.map.place(span) };
            self.checked(&checked.placed(place));
        }
        Ok(())
    }

    fn checked(&mut self, checked: &Checked) {
        let Checked { statements, refusals, failures, advice } = checked;
        let distinct = |numbers: &mut dyn Iterator<Item = usize>| numbers.collect::<BTreeSet<_>>().len();
        self.counts.add(Counts {
            statements: *statements,
            refused: distinct(&mut refusals.iter().map(|refusal| refusal.statement)),
            failed: failures.len(),
            advice: distinct(&mut advice.iter().map(AdviceNote::statement)),
            ..Counts::default()
        });
        if self.form == Format::Json {
            self.json(0, refusals.iter().map(Refusal::json));
            self.json(1, failures.iter().map(Failure::json));
            self.json(2, advice.iter().map(AdviceNote::json));
            return;
        }
        let refusals = refusals.iter().map(|refusal| (refusal.statement, refusal.diagnostic()));
        let failures = failures.iter().map(|failure| (failure.statement.unwrap_or(0), failure.diagnostic()));
        let advice = advice.iter().map(|note| (note.statement(), note.diagnostic()));
        let mut all: Vec<_> = refusals.chain(failures).chain(advice).collect();
        // By statement, and of one statement first what stops it.
        all.sort_by_key(|(statement, _)| *statement);
        all.iter().for_each(|(_, diagnostic)| self.print(diagnostic));
    }

    fn unreadable(&mut self, error: &io::Error) {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            kind => kind.to_string(),
        };
        self.tell(&of_file(&self.input.name, 1, why));
    }

    /// Something about the file itself.
    pub(super) fn tell(&mut self, diagnostic: &Diagnostic) {
        self.counts.errors += usize::from(diagnostic.severity == Severity::Error);
        if self.form == Format::Json {
            let told = diagnostic::json(std::slice::from_ref(diagnostic));
            self.json(3, told.as_array().into_iter().flatten().cloned());
        } else {
            self.print(diagnostic);
        }
    }

    fn json(&mut self, list: usize, values: impl Iterator<Item = Value>) {
        let Some(into) = self.json.get_mut(list) else { return };
        for value in values {
            if !into.is_empty() {
                into.push(',');
            }
            into.push_str(&value.to_string());
        }
    }

    fn print(&mut self, diagnostic: &Diagnostic) {
        let one = std::slice::from_ref(diagnostic);
        if self.form == Format::Github {
            self.text.push_str(&diagnostic::github(one));
        } else {
            self.text.push_str(&diagnostic::text(one, self.style));
            self.text.push('\n');
        }
    }
}

/// A file that cannot be read.
fn of_file(name: &str, line: usize, why: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::ScenarioFile, why, Some(in_file(name, line)))
}

/// A line of a file of which no text is shown.
pub(super) fn in_file(name: &str, line: usize) -> Place {
    Place { source: Source::part(name, "", line), span: Span::new(0, 0) }
}

fn not_utf8(name: &str, line: usize) -> Diagnostic {
    of_file(name, line, "this line is not UTF-8").help("Save the file as UTF-8.")
}

fn read(input: &Input) -> io::Result<Vec<u8>> {
    match &input.path {
        Some(path) => std::fs::read(path),
        None => {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes)?;
            Ok(bytes)
        }
    }
}
