//! Taking values of one kind out of a YAML tree, with a fault for every other kind.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Place, Source, Span, nearest};
use crate::yaml::{Entry, Look, Node, Scalar, Value};

/// A file that is being read, and what was found wrong with it.
pub(super) struct Reader {
    pub(super) source: Source,
    pub(super) faults: Vec<Diagnostic>,
}

impl Reader {
    pub(super) fn place(&self, span: Span) -> Place {
        Place { source: self.source.clone(), span }
    }

    /// Notes a fault: what is wrong, and at the place what was expected.
    pub(super) fn fault(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        let mut fault = Diagnostic::error(code, message, Some(self.place(span))).label(label);
        fault.help = Some(help.into()).filter(|help| !help.is_empty());
        self.faults.push(fault);
    }

    /// The entries of the mapping under `entry`'s key.
    pub(super) fn mapping<'n>(&mut self, entry: &'n Entry, due: &str) -> Option<&'n [Entry]> {
        match &entry.value.value {
            Value::Mapping { entries, .. } => Some(entries),
            _ => self.other(&entry.value, entry, &format!("a mapping with {due}"), ""),
        }
    }

    /// The list under `entry`'s key, and whether it is written in brackets.
    pub(super) fn list<'n>(&mut self, entry: &'n Entry, example: &str) -> Option<(bool, &'n [Node])> {
        match &entry.value.value {
            Value::Sequence { flow, items } => Some((*flow, items)),
            _ => {
                let help = format!("Write a list: `{}: [{example}]`.", entry.key.text);
                self.other(&entry.value, entry, "a list", &help)
            }
        }
    }

    /// The scalar under `entry`'s key, whatever it looks like.
    pub(super) fn scalar<'n>(&mut self, entry: &'n Entry, due: &str) -> Option<&'n Scalar> {
        match &entry.value.value {
            Value::Scalar(scalar) if !scalar.is_missing() => Some(scalar),
            _ => self.other(&entry.value, entry, due, ""),
        }
    }

    /// The text under `entry`'s key.
    pub(super) fn text<'n>(&mut self, entry: &'n Entry, due: &str) -> Option<&'n str> {
        let scalar = self.scalar(entry, due)?;
        self.clear(scalar, entry.value.span)
    }

    /// The text of a scalar that no reader of YAML takes for anything else.
    pub(super) fn clear<'n>(&mut self, scalar: &'n Scalar, span: Span) -> Option<&'n str> {
        let look = scalar.look();
        if look == Look::Text {
            return Some(&scalar.text);
        }
        let written = &scalar.text;
        let message = format!("`{written}` may be read as {}", look.words());
        let help = format!("Write \"{written}\" if these letters are meant.");
        self.fault(Code::PolicyType, span, message, "text in quotes is due here", help);
        None
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&mut self, entry: &Entry, words: &[(&'static str, T)]) -> Option<T> {
        let listed = || list(words.iter().map(|(word, _)| *word));
        let scalar = self.scalar(entry, &listed())?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == scalar.text) {
            return Some(*value);
        }
        let message = format!("`{}` is no value of `{}`", scalar.text, entry.key.text);
        let label = suggestion(&scalar.text, words.iter().map(|(word, _)| *word));
        self.fault(Code::PolicyValue, entry.value.span, message, label, format!("Possible: {}.", listed()));
        None
    }

    /// Notes that `entry`'s key is none of `known`, the keys of `owner`.
    pub(super) fn unknown_key(&mut self, entry: &Entry, owner: &str, known: &[&'static str]) {
        let key = &entry.key.text;
        let message = format!("unknown key `{key}` in {owner}");
        let label = suggestion(key, known.iter().copied());
        let help = format!("Possible: {}.", list(known.iter().copied()));
        self.fault(Code::PolicyKey, entry.span, message, label, help);
    }

    /// Notes that a value is of another kind than `due`. Where there is none, the key is shown.
    pub(super) fn other<T>(&mut self, node: &Node, entry: &Entry, due: &str, help: &str) -> Option<T> {
        let key = &entry.key.text;
        let (span, message) = match &node.value {
            Value::Unreadable => return None,
            Value::Scalar(scalar) if scalar.is_missing() => (entry.span, format!("`{key}` has no value")),
            found => (node.span, format!("`{key}` is {}", kind(found))),
        };
        self.fault(Code::PolicyType, span, message, format!("{due} is due"), help);
        None
    }

    /// Where `part` of a scalar's text stands in the file; the whole scalar where quotes or line ends
    /// make that hard to tell.
    pub(super) fn within(&self, span: Span, text: &str, part: Span) -> Span {
        let written = self.source.slice(span);
        match written.find(text) {
            Some(at) if !text.is_empty() => part.shifted(span.start + at),
            _ => span,
        }
    }
}

/// A kind of value with its article.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Scalar(scalar) => scalar.look().words(),
        Value::Sequence { .. } => "a list",
        Value::Mapping { .. } => "a mapping",
        Value::Unreadable => "unreadable",
    }
}

/// `did you mean ..?`, or that the word is not known.
pub(super) fn suggestion<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(|| "not known here".to_owned(), |name| format!("did you mean `{name}`?"))
}

/// `a, b or c`.
pub(super) fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
