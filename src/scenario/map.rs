//! Bytes of a text to bytes of the file it stands in.

use crate::source::Span;

/// Which bytes of a file hold which bytes of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    pieces: Vec<Piece>,
}

/// A run of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// Its first byte in the text.
    at: usize,
    /// Its bytes in the file.
    file: Span,
    /// Whether it stands there byte by byte; else as a whole, as an escape does.
    same: bool,
}

impl Piece {
    /// Where byte `at` of the text begins in the file, or the one before it ends.
    fn offset(&self, at: usize) -> usize {
        (self.file.start + (at - self.at)).min(self.file.end)
    }
}

impl Map {
    /// A text that stands in `file` as a whole, nobody knows how.
    pub(super) fn whole(len: usize, file: Span) -> Self {
        let mut map = Self::default();
        map.escape(0, len, file);
        map
    }

    /// The text goes on at `at` with `len` bytes that stand in the file, from `start`, as they are.
    pub(super) fn same(&mut self, at: usize, len: usize, start: usize) {
        if let Some(last) = self.pieces.last_mut()
            && last.same
            && last.file.end == start
            && at - last.at == last.file.end - last.file.start
        {
            last.file.end += len;
            return;
        }
        self.pieces.push(Piece { at, file: Span::new(start, start + len), same: true });
    }

    /// The text goes on at `at` with `len` bytes that the file writes otherwise.
    pub(super) fn escape(&mut self, at: usize, len: usize, file: Span) {
        if len > 0 {
            self.pieces.push(Piece { at, file, same: false });
        }
    }

    /// Where the file holds the bytes of `span`; what the file adds at either end is left out.
    pub fn place(&self, span: Span) -> Span {
        let start = self
            .piece(span.start)
            .map_or(0, |piece| if piece.same { piece.offset(span.start) } else { piece.file.start });
        let last = span.end.checked_sub(1).filter(|last| *last >= span.start);
        let end = last
            .and_then(|last| self.piece(last))
            .map_or(start, |piece| if piece.same { piece.offset(span.end) } else { piece.file.end });
        Span::new(start, end.max(start))
    }

    /// The piece that byte `at` of the text is in; the last for one beyond.
    fn piece(&self, at: usize) -> Option<&Piece> {
        let next = self.pieces.partition_point(|piece| piece.at <= at);
        self.pieces.get(next.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_where_its_last_byte_does() {
        let mut map = Map::default();
        map.same(0, 3, 10);
        map.escape(3, 1, Span::new(13, 19));
        map.same(4, 2, 19);
        map.same(6, 2, 21);
        assert_eq!(map.place(Span::new(0, 3)), Span::new(10, 13));
        assert_eq!(map.place(Span::new(2, 4)), Span::new(12, 19));
        assert_eq!(map.place(Span::new(4, 8)), Span::new(19, 23));
        assert_eq!(map.place(Span::new(4, 4)), Span::new(19, 19));
        assert_eq!(map.place(Span::new(90, 99)), Span::new(23, 23));
        assert_eq!(Map::default().place(Span::new(0, 1)), Span::new(0, 0));
    }
}
