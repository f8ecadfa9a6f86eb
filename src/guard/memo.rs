//! Statements of one shape are judged once.
//!
//! The shape of a statement is its tokens with literals folded. Its text verdict is that of its
//! shape, and so is its full judgement, as long as the armed authorizer sees the same requests
//! again. What took the full way is never remembered, nor what writes a virtual table, whose
//! strings can be commands, nor what there is advice on.

use std::collections::HashMap;

use super::live::Module;
use crate::engine::event::Event;

/// Shapes kept at most; beyond that nothing more is remembered, and everything still judged.
const MOST: usize = 1_024;

/// What statements of a shape ask, and the virtual tables that they use for it.
#[derive(Clone, Debug)]
struct Asked {
    events: Vec<Event>,
    modules: Vec<Module>,
}

/// The number of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShapeId(usize);

/// The shapes of the statements that a judge has seen.
#[derive(Debug, Default)]
pub(super) struct Memo {
    numbers: HashMap<Vec<u8>, ShapeId>,
    /// What each was judged to ask; `None` where it was not, or not by the first pass alone.
    asked: Vec<Option<Asked>>,
    hits: u64,
}

impl Memo {
    /// The number of a shape that was seen before.
    pub(super) fn find(&self, shape: &[u8]) -> Option<ShapeId> {
        self.numbers.get(shape).copied()
    }

    /// Gives a shape a number, while there is room.
    pub(super) fn add(&mut self, shape: Vec<u8>) -> Option<ShapeId> {
        if self.asked.len() >= MOST {
            return None;
        }
        let id = ShapeId(self.asked.len());
        self.asked.push(None);
        self.numbers.insert(shape, id);
        Some(id)
    }

    /// Remembers what statements of a shape ask.
    pub(super) fn learn(&mut self, id: ShapeId, events: &[Event], modules: &[Module]) {
        if let Some(asked) = self.asked.get_mut(id.0) {
            *asked = Some(Asked { events: events.to_vec(), modules: modules.to_vec() });
        }
    }

    /// Whether it is remembered what statements of this shape ask.
    pub(super) fn knows(&self, id: ShapeId) -> bool {
        self.asked.get(id.0).is_some_and(Option::is_some)
    }

    /// The virtual tables of a statement of this shape, if it asked what those before it did.
    pub(super) fn confirms(&mut self, id: ShapeId, events: &[Event]) -> Option<Vec<Module>> {
        let asked = self.asked.get(id.0)?.as_ref().filter(|asked| asked.events == events)?;
        self.hits += 1;
        Some(asked.modules.clone())
    }

    /// How many statements were not judged anew.
    pub(super) fn hits(&self) -> u64 {
        self.hits
    }
}
