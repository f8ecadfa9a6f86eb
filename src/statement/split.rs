//! Cutting a text at its semicolons.

use crate::source::Span;

/// The statements of `text`, as `sqlite3_complete` sees their ends.
pub fn split(text: &str) -> Vec<Span> {
    vec![Span::new(0, text.len())]
}
