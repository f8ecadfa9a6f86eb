//! The choices of a generator, read from bytes that proptest makes and shrinks.

/// Bytes that are read once. When none is left every choice is the first, so that the first of a list
/// is the simplest, and a shorter tape makes a shorter statement.
#[derive(Debug)]
pub(crate) struct Tape<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Tape<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// A number below `bound`, which is not above 256.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % bound
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// True once in `share`; false when the tape is at its end.
    pub(crate) fn one_in(&mut self, share: usize) -> bool {
        self.below(share) == share - 1
    }

    /// Takes `count` of `list`, each once.
    pub(crate) fn take<T: Copy>(&mut self, list: &[T], count: usize) -> Vec<T> {
        let mut left = list.to_vec();
        (0..count.min(list.len())).map(|_| left.remove(self.below(left.len()))).collect()
    }
}
