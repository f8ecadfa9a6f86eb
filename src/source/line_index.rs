//! Byte offsets to lines and columns.

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// The byte order mark that some editors begin a file with.
pub(crate) const MARK: char = '\u{feff}';

/// Bytes whose characters are counted together, so that a place far along a line costs no walk of it all.
const BLOCK: usize = 4096;

/// The starts of the lines of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
    /// The characters that begin before each block of the text but the first.
    before: Vec<usize>,
}

impl LineIndex {
    /// Reads the line ends of `text`; `\r\n` ends a line once.
    pub fn new(text: &str) -> Self {
        let after_ends = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i + 1);
        let blocks = text.as_bytes().chunks_exact(BLOCK).scan(0, |before, block| {
            *before += characters(block);
            Some(*before)
        });
        Self { starts: std::iter::once(0).chain(after_ends).collect(), before: blocks.collect() }
    }

    /// The position of `offset` in `text`, the text this index was made from.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = super::floor(text, offset);
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        // Editors show no column for a byte order mark.
        let mark = usize::from(line == 1 && text.starts_with(MARK) && offset >= MARK.len_utf8());
        Position {
            line,
            column: self.characters_before(text, offset) - self.characters_before(text, start) + 1 - mark,
        }
    }

    fn characters_before(&self, text: &str, offset: usize) -> usize {
        let block = offset / BLOCK;
        let counted = block.checked_sub(1).and_then(|last| self.before.get(last)).copied().unwrap_or(0);
        counted + text.as_bytes().get(block * BLOCK..offset).map_or(0, characters)
    }
}

/// The characters that begin in `bytes`.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0b1100_0000 != 0b1000_0000).count()
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

    #[test]
    fn a_byte_order_mark_has_no_column() {
        let text = "\u{feff}ab\n\u{feff}c";
        let index = LineIndex::new(text);
        let column = |offset| index.position(text, offset).column;
        assert_eq!((column(0), column(3), column(4), column(9)), (1, 1, 2, 2));
    }

    #[test]
    fn columns_of_a_long_line_are_counted_as_those_of_a_short_one() {
        let text = format!("one\n{}\nlast", "aé".repeat(9_000));
        let index = LineIndex::new(&text);
        for offset in (4..text.len()).step_by(613).filter(|&offset| text.is_char_boundary(offset)) {
            let before = &text[..offset];
            let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
            assert_eq!(index.position(&text, offset).column, column);
        }
    }
}
