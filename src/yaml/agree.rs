//! Whether `serde_yaml` reads the same tree.

use serde_yaml::Value as Other;

use super::tree::syntax_at;
use super::{Entry, Fault, Look, Node, Scalar, Value};
use crate::source::{Span, floor};

/// Reads `text` once more and compares. The other reader's value counts, so a difference is a fault.
pub(super) fn check(text: &str, tree: &Node) -> Option<Fault> {
    // The other reader takes what follows a byte order mark for a second document.
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_yaml::from_str::<Other>(body) {
        Ok(other) => difference(tree, &other).map(|span| {
            Fault::syntax("two readers of YAML read this differently", span)
                .label("one of them sees another value here")
                .help("Write it more plainly, for instance in double quotes.")
        }),
        Err(error) => {
            let (offset, whole) = (error.location().map_or(0, |at| at.index()), error.to_string());
            let offset = floor(text, offset + text.len() - body.len());
            let info = whole.split(" at line ").next().unwrap_or_default();
            Some(syntax_at(text, offset, info))
        }
    }
}

/// The first place where the two differ. The tree's depth is bounded.
fn difference(node: &Node, other: &Other) -> Option<Span> {
    match (&node.value, other) {
        (Value::Sequence { items, .. }, Other::Sequence(others)) if items.len() == others.len() => {
            items.iter().zip(others).find_map(|(item, other)| difference(item, other))
        }
        (Value::Mapping { entries, .. }, Other::Mapping(others)) if entries.len() == others.len() => {
            entries.iter().zip(others).find_map(|(Entry { key, span, value }, (other_key, other))| {
                if same(key, other_key) { difference(value, other) } else { Some(*span) }
            })
        }
        (Value::Scalar(scalar), other) if same(scalar, other) => None,
        _ => Some(node.span),
    }
}

fn same(scalar: &Scalar, other: &Other) -> bool {
    match other {
        Other::String(text) => *text == scalar.text,
        Other::Null => scalar.look() == Look::Nothing,
        Other::Bool(_) => scalar.look() == Look::Truth,
        Other::Number(_) => scalar.look() == Look::Number,
        Other::Sequence(_) | Other::Mapping(_) | Other::Tagged(_) => false,
    }
}
