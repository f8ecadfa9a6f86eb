//! Text with a name, places in it, and SQLite's idea of a name.

mod line_index;
mod name;
mod nearest;
mod plain;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use line_index::MARK;
pub use line_index::{LineIndex, Position};
pub use name::Name;
pub(crate) use nearest::nearest;
pub(crate) use plain::{acts, plain};

/// A text and the name by which people know it: a file name as it was given, or `<setup_sql>`.
///
/// Cloning is cheap; the text is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    inner: Arc<Inner>,
}

#[derive(Debug, PartialEq, Eq)]
struct Inner {
    name: String,
    text: String,
    lines: LineIndex,
    /// The lines of the whole text that come before this part of it.
    before: usize,
}

impl Source {
    /// A source named `name`; the name is shown as it is, so it should not be a machine path.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::part(name, text, 1)
    }

    /// A part of a longer text, which begins with line `first_line` of it.
    pub fn part(name: impl Into<String>, text: impl Into<String>, first_line: usize) -> Self {
        let text = text.into();
        let lines = LineIndex::new(&text);
        let before = first_line.saturating_sub(1);
        Self { inner: Arc::new(Inner { name: name.into(), text, lines, before }) }
    }

    /// The name shown to people.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// The text under `span`; empty where the span does not lie on characters of the text.
    pub fn slice(&self, span: Span) -> &str {
        self.inner.text.get(span.range()).unwrap_or_default()
    }

    /// Line and column of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let Position { line, column } = self.inner.lines.position(&self.inner.text, offset);
        Position { line: line + self.inner.before, column }
    }
}

/// The start of the character of `text` that `offset` lies in; the end of `text` for one beyond it.
pub(crate) fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// A range of bytes of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to, not including, `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// As a range for slicing.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// The same words in a text that begins `by` bytes earlier.
    #[must_use]
    pub const fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }
}

/// Where something stands: a span of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The text it stands in.
    pub source: Source,
    /// Which bytes of it.
    pub span: Span,
}

impl Place {
    /// The words at this place.
    pub fn text(&self) -> &str {
        self.source.slice(self.span)
    }

    /// Line and column of the first byte.
    pub fn position(&self) -> Position {
        self.source.position(self.span.start)
    }
}
