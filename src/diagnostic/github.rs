//! GitHub workflow commands.

use super::Diagnostic;

/// One annotation line a diagnostic.
pub fn github(_diagnostics: &[Diagnostic]) -> String {
    String::new()
}
