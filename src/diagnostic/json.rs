//! JSON.

use super::Diagnostic;

/// The diagnostics as one JSON array.
pub fn json(_diagnostics: &[Diagnostic]) -> serde_json::Value {
    serde_json::Value::Null
}
