//! JSON.

use serde_json::{Value, json};

use super::Diagnostic;
use crate::source::Place;

/// The diagnostics as one JSON array. Every key is always there, `null` where it does not apply; spans are
/// bytes of the named file.
pub fn json(diagnostics: &[Diagnostic]) -> Value {
    diagnostics.iter().map(one).collect()
}

fn one(diagnostic: &Diagnostic) -> Value {
    let place = diagnostic.place.as_ref().map(where_it_stands);
    let at = |key: &str| place.as_ref().and_then(|place| place.get(key)).cloned().unwrap_or_default();
    let related: Vec<Value> = diagnostic
        .related
        .iter()
        .map(|(place, label)| {
            let mut related = where_it_stands(place);
            related["label"] = label.as_str().into();
            related
        })
        .collect();
    json!({
        "code": diagnostic.code.word(),
        "severity": diagnostic.severity.word(),
        "message": diagnostic.message,
        "file": at("file"),
        "line": at("line"),
        "column": at("column"),
        "span": at("span"),
        "label": Some(&diagnostic.label).filter(|label| !label.is_empty()),
        "related": related,
        "help": diagnostic.help,
    })
}

fn where_it_stands(place: &Place) -> Value {
    let position = place.position();
    json!({
        "file": place.source.name(),
        "line": position.line,
        "column": position.column,
        "span": [place.span.start, place.span.end],
    })
}
