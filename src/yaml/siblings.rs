//! Which of the values that stand beside each other hold a field.

/// Values beside each other, such as the entries of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Siblings {
    some_hold_it: bool,
    without: Without,
}

/// Values that do not hold the field although others beside them do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// How many.
    pub count: usize,
    /// Where the first begins, as a byte of the file.
    pub first: Option<usize>,
}

impl Siblings {
    /// One more, which begins at `start`.
    pub(crate) fn add(&mut self, start: usize, holds_it: bool) {
        self.some_hold_it |= holds_it;
        if !holds_it {
            self.without.add(Without { count: 1, first: Some(start) });
        }
    }

    /// Those without the field; where none holds it, they are no set of scenarios.
    pub(crate) fn without(self) -> Without {
        if self.some_hold_it { self.without } else { Without::default() }
    }
}

impl Without {
    /// These and more of them.
    pub(crate) fn add(&mut self, more: Self) {
        self.count += more.count;
        self.first = self.first.or(more.first);
    }
}
