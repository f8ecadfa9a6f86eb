//! Text that does nothing to the terminal that shows it.

use std::borrow::Cow;

/// Whether a terminal does something else with a character than show it.
pub(crate) fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Names and values of others on one line: what a terminal would act on is written as an escape.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut told = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if acts(letter) {
            told.extend(letter.escape_default());
        } else {
            told.push(letter);
        }
    }
    Cow::Owned(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_acts_is_written_as_an_escape() {
        assert_eq!(plain(r"a\b ü"), r"a\b ü");
        assert_eq!(plain("a\n\u{1b}[2m\u{202e}"), r"a\n\u{1b}[2m\u{202e}");
    }
}
