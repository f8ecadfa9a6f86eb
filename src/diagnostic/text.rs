//! The terminal form.

use super::Diagnostic;

/// How the terminal form looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plain text, the same everywhere.
    Plain,
    /// With colours.
    Colour,
}

/// Excerpts with the offending words underlined.
pub fn text(_diagnostics: &[Diagnostic], _style: Style) -> String {
    String::new()
}
