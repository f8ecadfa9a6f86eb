//! The entries of a section: rules, rules with words, and removals.

use super::document::Remove;
use super::grammar::{Form, RuleFault};
use super::reader::{Reader, kind};
use super::rule::Rule;
use crate::diagnostic::Code;
use crate::source::Span;
use crate::yaml::{Entry, Node, Scalar, Value, write_word};

const RULE_KEYS: [&str; 3] = ["rule", "reason", "fix"];

/// The rules in the list under `entry`'s key.
pub(super) fn rules<T: Form>(reader: &mut Reader, entry: &Entry) -> Vec<Rule<T>> {
    let Some((flow, items)) = reader.list(entry, &write_word(T::EXAMPLE)) else { return Vec::new() };
    let mut rules = Vec::new();
    let mut at = 0;
    while let Some(item) = items.get(at) {
        match &item.value {
            Value::Scalar(scalar) => match plain_rule::<T>(reader, scalar, item.span) {
                Some(Ok(rule)) => rules.push(rule),
                Some(Err(fault)) => {
                    let split = if flow { split::<T>(items, at) } else { None };
                    if let Some((first, last, whole)) = split {
                        split_fault(reader, items, first, last, &whole);
                        at = last;
                    } else {
                        rule_fault(reader, scalar, item.span, fault);
                    }
                }
                None => {}
            },
            Value::Mapping { flow, entries } => rules.extend(rule_with_words(reader, item, *flow, entries)),
            Value::Sequence { .. } => not_a_rule::<T>(reader, item),
            Value::Unreadable => {}
        }
        at += 1;
    }
    rules
}

/// The globs in the list under `entry`'s key.
pub(super) fn removals(reader: &mut Reader, entry: &Entry) -> Vec<Remove> {
    let Some((_, items)) = reader.list(entry, "\"*\"") else { return Vec::new() };
    let mut removals = Vec::new();
    for item in items {
        match &item.value {
            Value::Scalar(scalar) => {
                let glob = reader.clear(scalar, item.span).map(str::to_owned);
                let place = Some(reader.place(item.span));
                removals.extend(glob.map(|glob| Remove { glob, place }));
            }
            Value::Unreadable => {}
            found => {
                let message = format!("an entry of `remove` is {}", kind(found));
                let help =
                    "Write the entry to be removed as `policy show` prints it; `*` stands for any text.";
                reader.fault(Code::PolicyType, item.span, message, "text is due", help);
            }
        }
    }
    removals
}

fn plain_rule<T: Form>(
    reader: &mut Reader,
    scalar: &Scalar,
    span: Span,
) -> Option<Result<Rule<T>, RuleFault>> {
    let text = reader.clear(scalar, span)?;
    let place = Some(reader.place(span));
    Some(T::read(text).map(|what| Rule { what, reason: None, fix: None, place }))
}

fn rule_fault(reader: &mut Reader, scalar: &Scalar, span: Span, fault: RuleFault) {
    let inner = reader.within(span, &scalar.text, fault.span);
    reader.fault(Code::PolicyRule, inner, fault.message, fault.label, fault.help);
}

/// `{rule, reason, fix}`
fn rule_with_words<T: Form>(
    reader: &mut Reader,
    item: &Node,
    flow: bool,
    entries: &[Entry],
) -> Option<Rule<T>> {
    let (mut rule, mut reason, mut fix) = (None, None, None);
    let mut named = false;
    for entry in entries {
        match entry.key.text.as_str() {
            "rule" => {
                named = true;
                let Some(scalar) = reader.scalar(entry, "a rule") else { continue };
                match plain_rule::<T>(reader, scalar, entry.value.span) {
                    Some(Ok(read)) => rule = Some(read),
                    // In `{ }` a comma ends the value, and the rest of the rule becomes a key.
                    Some(Err(_)) if flow && entries.iter().any(is_rest) => {}
                    Some(Err(fault)) => rule_fault(reader, scalar, entry.value.span, fault),
                    None => {}
                }
            }
            "reason" => reason = reader.text(entry, "text").map(str::to_owned),
            "fix" => fix = reader.text(entry, "text").map(str::to_owned),
            _ if flow && is_rest(entry) => {
                let message = "the braces cut this rule at its comma";
                let help =
                    "Put the rule in quotes, or write `rule:`, `reason:` and `fix:` on lines of their own.";
                reader.fault(Code::PolicySplitRule, entry.span, message, "read as a key of its own", help);
                named = true;
            }
            _ => reader.unknown_key(entry, "a rule", &RULE_KEYS),
        }
    }
    if !named {
        let help = format!("A rule with words reads like `rule: {}`, then `reason:` and `fix:`.", T::EXAMPLE);
        reader.fault(Code::PolicyKey, item.span, "this rule has no `rule`", "the key `rule` is due", help);
    }
    rule.map(|rule| Rule { reason, fix, ..rule })
}

/// Whether an entry is what is left of a rule behind a comma.
fn is_rest(entry: &Entry) -> bool {
    let missing = matches!(&entry.value.value, Value::Scalar(scalar) if scalar.is_missing());
    missing && !RULE_KEYS.contains(&entry.key.text.as_str())
}

fn not_a_rule<T: Form>(reader: &mut Reader, item: &Node) {
    let help =
        format!("An entry is text such as `{}`, or a mapping with `rule`, `reason` and `fix`.", T::EXAMPLE);
    reader.fault(Code::PolicyType, item.span, "an entry is a list", "a rule is due", help);
}

/// The neighbours of `items[at]` that make one rule with it when the commas between them are put back:
/// first, last, and the rule.
fn split<T: Form>(items: &[Node], at: usize) -> Option<(usize, usize, String)> {
    /// No author's rule has more commas than this.
    const FURTHEST: usize = 12;
    let last = items.len().min(at + FURTHEST);
    for first in [at, at.saturating_sub(1)] {
        for end in at.max(first + 1)..last {
            let parts: Option<Vec<&str>> = items.get(first..=end)?.iter().map(plain_text).collect();
            let Some(parts) = parts else { break };
            let whole = parts.join(", ");
            if T::read(&whole).is_ok() {
                return Some((first, end, whole));
            }
        }
    }
    None
}

fn plain_text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar(scalar) if !scalar.quoted => Some(&scalar.text),
        _ => None,
    }
}

fn split_fault(reader: &mut Reader, items: &[Node], first: usize, last: usize, whole: &str) {
    let (Some(first), Some(last)) = (items.get(first), items.get(last)) else { return };
    let message = "the brackets cut this rule at its commas";
    let quoted = serde_json::Value::from(whole).to_string();
    let help = format!("Put the rule in quotes, {quoted}, or write the list with one `- ` a line.");
    let span = Span::new(first.span.start, last.span.end);
    reader.fault(Code::PolicySplitRule, span, message, "one rule, read as several entries", help);
}
