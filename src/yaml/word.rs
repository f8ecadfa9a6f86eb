//! What a plain scalar looks like to the many readers of YAML, and how to write one that all read alike.

use super::Scalar;

/// What a scalar is, or may be taken for by some reader of YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Text for every reader.
    Text,
    /// No value: empty, `~` or `null`.
    Nothing,
    /// A truth value for some reader, such as `off` or `no`.
    Truth,
    /// A number, or digits that some reader takes for one, such as `0100`.
    Number,
}

impl Look {
    /// With its article, for messages.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Nothing => "nothing",
            Self::Truth => "a truth value",
            Self::Number => "a number",
        }
    }
}

impl Scalar {
    /// What the scalar may be taken for.
    pub(crate) fn look(&self) -> Look {
        if self.quoted { Look::Text } else { look(&self.text) }
    }

    /// Whether there is no value at all.
    pub(crate) const fn is_missing(&self) -> bool {
        !self.quoted && self.text.is_empty()
    }
}

/// The words that YAML 1.1 reads as truth values. `y` and `n`, which no reader in use takes for one, are
/// left to those who name a column so.
const TRUTHS: [&str; 6] = ["true", "false", "yes", "no", "on", "off"];

fn look(text: &str) -> Look {
    if text.is_empty() || text == "~" || text.eq_ignore_ascii_case("null") {
        return Look::Nothing;
    }
    if TRUTHS.iter().any(|truth| text.eq_ignore_ascii_case(truth)) {
        return Look::Truth;
    }
    let digits = text.trim_start_matches(['+', '-']);
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit())
        && (digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '_' | '.' | ':'))
            || digits.parse::<f64>().is_ok()
            || ["0x", "0o", "0b"].iter().any(|radix| {
                digits.strip_prefix(radix).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit()))
            }));
    let pointed = digits.starts_with('.')
        && (digits.parse::<f64>().is_ok() || matches!(digits.to_ascii_lowercase().as_str(), ".inf" | ".nan"));
    if numeric || pointed { Look::Number } else { Look::Text }
}

/// `text` as a YAML scalar on one line: plain where every reader takes that as it is, else in double quotes.
pub(crate) fn write_word(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // Control characters, and what some reader takes for the end of a line or for nothing at all.
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Letters first, then nothing that YAML could take for a mark.
fn is_plain(text: &str) -> bool {
    look(text) == Look::Text
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !text.ends_with(' ')
        && text.chars().all(|c| {
            c.is_ascii_alphanumeric()
                || matches!(
                    c,
                    ' ' | '_'
                        | '$'
                        | '-'
                        | '.'
                        | '('
                        | ')'
                        | '*'
                        | '?'
                        | ';'
                        | '/'
                        | '"'
                        | '\''
                        | ','
                        | '>'
                        | '<'
                        | '='
                        | '+'
                )
        })
}
