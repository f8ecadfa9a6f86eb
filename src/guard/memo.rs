//! Statements of one shape are judged once.

use std::collections::HashMap;

use crate::engine::event::Event;

/// Shapes kept at most; beyond that nothing more is remembered, and everything still judged.
const MOST: usize = 1_024;

/// What a shape was judged to ask. The armed authorizer must see the same again.
#[derive(Debug, Default)]
pub(super) struct Memo {
    shapes: HashMap<Vec<u8>, Vec<Event>>,
    hits: u64,
}

impl Memo {
    /// Whether `events` are those that a statement of this shape was allowed.
    pub(super) fn knows(&mut self, shape: &[u8], events: &[Event]) -> bool {
        let known = self.shapes.get(shape).is_some_and(|seen| seen == events);
        self.hits += u64::from(known);
        known
    }

    pub(super) fn learn(&mut self, shape: Vec<u8>, events: &[Event]) {
        if self.shapes.len() < MOST {
            self.shapes.insert(shape, events.to_vec());
        }
    }

    /// How many statements were not judged anew.
    pub(super) fn hits(&self) -> u64 {
        self.hits
    }
}
