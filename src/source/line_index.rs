//! Byte offsets to lines and columns.

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// The starts of the lines of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Reads the line ends of `text`; `\r\n` ends a line once.
    pub fn new(text: &str) -> Self {
        let after_ends = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i + 1);
        Self { starts: std::iter::once(0).chain(after_ends).collect() }
    }

    /// The position of `offset` in `text`, the text this index was made from.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = super::floor(text, offset);
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = text.get(start..offset).map_or(0, |head| head.chars().count()) + 1;
        Position { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_crlf_ends_one_line() {
        let text = "é = 1\r\nsecond\n";
        let index = LineIndex::new(text);
        assert_eq!(index.position(text, 3), Position { line: 1, column: 3 });
        assert_eq!(index.position(text, 8), Position { line: 2, column: 1 });
        assert_eq!(index.position(text, 999), Position { line: 3, column: 1 });
    }
}
