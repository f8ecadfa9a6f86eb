//! Codes, diagnostics and their renderings. The one registry of every code stands in [`code`].

pub mod code;
mod github;
mod json;
mod page;
mod text;

pub use code::{Code, Outcome};
pub use github::github;
pub use json::json;
pub use page::page;
pub use text::{Style, text};

use crate::source::Place;

/// How much a diagnostic weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; changes nothing.
    Note,
    /// Probably a mistake.
    Warning,
    /// The file or the statement cannot be used as it is.
    Error,
}

impl Severity {
    /// The word for it in every format.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One finding, with the places it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which kind of finding.
    pub code: Code,
    /// How much it weighs.
    pub severity: Severity,
    /// If only one thing can be shown, this is it.
    pub message: String,
    /// The words it is about.
    pub place: Option<Place>,
    /// What to say at those words.
    pub label: String,
    /// Other places that explain it: the rule that decided, the first of two equal keys.
    pub related: Vec<(Place, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error of `code` at `place`.
    pub fn error(code: Code, message: impl Into<String>, place: Option<Place>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            place,
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }

    /// The same with another weight.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The same with words at the underlined place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The same with one more place that explains it.
    #[must_use]
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related.push((place, label.into()));
        self
    }

    /// The same with a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
