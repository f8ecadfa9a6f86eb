//! Tokens, and the many ways to spell a name and the gaps between.

use crate::tape::Tape;

/// Reserved words among the names that the generators use; every other word can stand as it is.
const RESERVED: &[&str] = &["order", "values", "select"];

/// A name in double quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// One of the spellings of `name`; as a string only where SQLite takes one for a name.
pub(crate) fn spelled(name: &str, as_string: bool, tape: &mut Tape<'_>) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !RESERVED.contains(&name);
    let odd_case = |name: &str| -> String {
        let turned = |(at, c): (usize, char)| if at % 2 == 0 { c.to_ascii_uppercase() } else { c };
        name.chars().enumerate().map(turned).collect()
    };
    match tape.below(10) {
        0..=3 if plain => name.to_owned(),
        4 if plain => odd_case(name),
        5 => format!("[{name}]"),
        6 => format!("`{name}`"),
        7 if as_string => format!("'{}'", name.replace('\'', "''")),
        8 => quoted(&odd_case(name)),
        _ => quoted(name),
    }
}

/// What may stand between two tokens; a line comment brings its own end.
const GAPS: &[&str] =
    &[" ", "\n", "\t \u{c}", "/* ; ' */", "-- ;\"\n", "/**/", "\r\n", " /* SELECT * FROM log */ "];

/// The text of `tokens`.
pub(crate) fn spaced(tokens: &[String], tape: &mut Tape<'_>) -> String {
    let mut text = String::new();
    let plain = !tape.one_in(4);
    for (at, token) in tokens.iter().enumerate() {
        if let Some(before) = at.checked_sub(1).and_then(|at| tokens.get(at)) {
            let mark = |token: &str| matches!(token, "(" | ")" | "," | ".");
            let gap = if plain { 0 } else { tape.below(4 * GAPS.len()) };
            match GAPS.get(gap) {
                _ if before == "." || token == "." => {}
                Some(gap) if gap != &" " => text.push_str(gap),
                _ if gap > 20 && (mark(before) || mark(token)) => {}
                _ => text.push(' '),
            }
        }
        text.push_str(token);
    }
    text
}
