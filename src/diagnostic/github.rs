//! GitHub workflow commands.

use std::fmt::Write as _;

use super::{Diagnostic, Severity};

/// One annotation line a diagnostic.
pub fn github(diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let level = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let _ = write!(out, "::{level} ");
        if let Some(place) = &diagnostic.place {
            let (start, end) = (place.position(), place.source.position(place.span.end));
            let file = property(place.source.name());
            let _ = write!(out, "file={file},line={},col={},endLine={}", start.line, start.column, end.line);
            // GitHub takes an end column only where it is on the same line.
            if start.line == end.line {
                let _ = write!(out, ",endColumn={}", end.column);
            }
            out.push(',');
        }
        let mut message = diagnostic.message.clone();
        let label = Some(&diagnostic.label).filter(|label| !label.is_empty());
        for more in [label, diagnostic.help.as_ref()].into_iter().flatten() {
            message.push('\n');
            message.push_str(more);
        }
        let _ = writeln!(out, "title={}::{}", property(diagnostic.code.word()), data(&message));
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
