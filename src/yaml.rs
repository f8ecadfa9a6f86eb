//! Strict reading of YAML, with a place for every value.
//!
//! Two readers look at each file. `granit-parser` gives the places and sees what a value no longer shows
//! (anchors, tags, the style of a list); `serde_yaml` gives the value. A file that they read differently is
//! refused, so that nobody has to know which of them is right. Nothing outside this module uses either.

mod agree;
mod fault;
mod siblings;
mod texts;
mod tree;
mod word;

pub(crate) use fault::{Fault, FaultKind};
pub(crate) use siblings::Siblings;
pub use siblings::Without;
pub(crate) use texts::{Quotes, TextScalar, texts};
pub(crate) use word::{Look, write_word};

use crate::source::{Source, Span};

/// The largest file that is read.
pub(crate) const LARGEST: usize = 4 << 20;
/// How deep values may nest; `serde_yaml` itself stops at 128.
const DEEPEST: usize = 64;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its bytes; empty where a key has no value.
    pub(crate) span: Span,
    /// What it is.
    pub(crate) value: Value,
}

/// A YAML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A word, number, text or nothing at all.
    Scalar(Scalar),
    /// A list.
    Sequence {
        /// Whether it is written in `[ ]`.
        flow: bool,
        /// Its entries.
        items: Vec<Node>,
    },
    /// Keys with values.
    Mapping {
        /// Whether it is written in `{ }`.
        flow: bool,
        /// The keys in their order; no two are equal.
        entries: Vec<Entry>,
    },
    /// Something that is not used here, such as an alias; a fault says so already.
    Unreadable,
}

/// A scalar as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    /// Its text, without quotes and escapes.
    pub(crate) text: String,
    /// Whether it stands in quotes or in a block of text, so that it can be nothing but text.
    pub(crate) quoted: bool,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: Scalar,
    /// Where the key stands.
    pub(crate) span: Span,
    /// The value.
    pub(crate) value: Node,
}

/// Reads one document. Where faults are found the tree holds what could be read beside them, so that
/// further faults can be looked for; a file is good only where there is a tree and no fault.
pub(crate) fn read(source: &Source) -> (Option<Node>, Vec<Fault>) {
    let text = source.text();
    if text.len() > LARGEST {
        let message = format!("the file is larger than {} MiB", LARGEST >> 20);
        return (None, vec![Fault::new(FaultKind::Syntax, message, Span::new(0, 0))]);
    }
    let (tree, mut faults) = tree::build(text);
    if let Some(tree) = &tree
        && faults.is_empty()
    {
        faults.extend(agree::check(text, tree));
    }
    (tree, faults)
}

#[cfg(test)]
mod tests;
