//! Why a policy cannot be used.

use std::fmt;

use crate::diagnostic::{Diagnostic, Style, text};

/// More than anyone mends in one go; the rest is left for the next look.
const MOST: usize = 100;

/// A policy that cannot be used, with every fault of its files.
///
/// Shown, it is the same text that `seawall policy check` prints without colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    diagnostics: Vec<Diagnostic>,
}

impl PolicyError {
    /// The faults in the order of the files and the places in them.
    pub(super) fn new(mut diagnostics: Vec<Diagnostic>) -> Self {
        let mut files: Vec<String> = Vec::new();
        diagnostics.sort_by_cached_key(|diagnostic| {
            let Some(place) = &diagnostic.place else { return (usize::MAX, 0, diagnostic.code) };
            let name = place.source.name();
            let file = files.iter().position(|file| file == name).unwrap_or_else(|| {
                files.push(name.to_owned());
                files.len() - 1
            });
            (file, place.span.start, diagnostic.code)
        });
        diagnostics.dedup();
        diagnostics.truncate(MOST);
        Self { diagnostics }
    }

    /// Every fault, in the order of the files and of the places in them.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(text(&self.diagnostics, Style::Plain).trim_end())
    }
}

impl std::error::Error for PolicyError {}
