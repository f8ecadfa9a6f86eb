//! Where commands print. Text and JSON are the contract; both go to standard output.

use std::io::{IsTerminal, Write};

use clap::ValueEnum;

use crate::diagnostic::{self, Diagnostic, Style};

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
    /// Annotations of a GitHub workflow
    Github,
}

/// Standard output and standard error of the process, or what stands for them in a test.
pub(crate) struct Output {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    style: Style,
    broken: bool,
}

impl Output {
    /// The process's own.
    pub(crate) fn of_process() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let style = if std::io::stdout().is_terminal() && !plain { Style::Colour } else { Style::Plain };
        Self {
            out: Box::new(std::io::BufWriter::new(std::io::stdout())),
            err: Box::new(std::io::stderr()),
            style,
            broken: false,
        }
    }

    /// One line of the answer.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.broken |= writeln!(self.out, "{}", text.as_ref()).is_err();
    }

    /// A part of the answer, as it is.
    pub(crate) fn put(&mut self, bytes: impl AsRef<[u8]>) {
        self.broken |= self.out.write_all(bytes.as_ref()).is_err();
    }

    /// How the terminal form looks here.
    pub(crate) const fn style(&self) -> Style {
        self.style
    }

    /// One line about the tool itself.
    pub(crate) fn complain(&mut self, text: impl AsRef<str>) {
        // Nowhere is left to say that standard error is gone.
        let _ = writeln!(self.err, "seawall: {}", text.as_ref());
    }

    /// Findings about what the command was given, such as its policy; the answer itself stays empty.
    pub(crate) fn complain_of(&mut self, diagnostics: &[Diagnostic]) {
        let _ = write!(self.err, "{}", diagnostic::text(diagnostics, self.style));
    }

    /// Findings in the terminal form or as annotations.
    pub(crate) fn diagnostics(&mut self, diagnostics: &[Diagnostic], format: Format) {
        if diagnostics.is_empty() {
            return;
        }
        let text = match format {
            Format::Github => diagnostic::github(diagnostics),
            Format::Text | Format::Json => diagnostic::text(diagnostics, self.style),
        };
        self.line(text.trim_end());
    }

    /// Whether everything was written. A reader that went away early is no fault.
    pub(crate) fn flush(&mut self) -> bool {
        match self.out.flush() {
            Ok(()) => !self.broken,
            Err(error) => error.kind() == std::io::ErrorKind::BrokenPipe,
        }
    }
}
