//! What can be wrong with a YAML file whatever it is for.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Place, Source, Span};

/// The kinds of faults that a reader of the file may want to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// There is nothing in the file.
    Empty,
    /// It is no YAML, or more of YAML than is used here.
    Syntax,
    /// A key stands twice.
    DuplicateKey,
}

/// One fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Which kind.
    pub(crate) kind: FaultKind,
    /// What is wrong.
    message: String,
    /// Where.
    span: Span,
    /// What to say there.
    label: String,
    /// Another place that explains it.
    related: Option<(Span, String)>,
    /// The way out.
    help: Option<String>,
}

impl Fault {
    pub(super) fn new(kind: FaultKind, message: impl Into<String>, span: Span) -> Self {
        Self { kind, message: message.into(), span, label: String::new(), related: None, help: None }
    }

    pub(super) fn syntax(message: impl Into<String>, span: Span) -> Self {
        Self::new(FaultKind::Syntax, message, span)
    }

    pub(super) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub(super) fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related = Some((span, label.into()));
        self
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The fault as a diagnostic of the file's own kind.
    pub(crate) fn diagnostic(self, source: &Source, code: Code) -> Diagnostic {
        let place = |span| Place { source: source.clone(), span };
        let mut diagnostic = Diagnostic::error(code, self.message, Some(place(self.span))).label(self.label);
        if let Some((span, label)) = self.related {
            diagnostic = diagnostic.related(place(span), label);
        }
        diagnostic.help = self.help;
        diagnostic
    }
}
