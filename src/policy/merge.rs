//! A parent and what its child says.
//!
//! What a parent denies stays denied. What it allows is the child's to take away by `remove`.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::document::{Document, Part, Remove};
use super::grammar::Form;
use super::pattern::glob_matches;
use super::rule::Rule;
use super::{Limits, Policy, Section};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::nearest;

/// The policy of `child`, which extends `parent`.
pub(super) fn merge(parent: Policy, child: Document, faults: &mut Vec<Diagnostic>) -> Policy {
    let mut advice = parent.advice;
    advice.extend(child.advice);
    Policy {
        description: child.description,
        rows: section(parent.rows, child.rows, faults),
        functions: section(parent.functions, child.functions, faults),
        pragmas: open(parent.pragmas, child.pragmas, &[], faults),
        triggers: open(parent.triggers, child.triggers, &[], faults),
        views: open(parent.views, child.views, &[], faults),
        virtual_tables: open(parent.virtual_tables, child.virtual_tables, &[], faults),
        foreign_keys: child.foreign_keys.unwrap_or(parent.foreign_keys),
        limits: Limits {
            statements: child.limits.statements.or(parent.limits.statements),
            text: child.limits.text.or(parent.limits.text),
            value: child.limits.value.or(parent.limits.value),
            steps: child.limits.steps.or(parent.limits.steps),
            time: child.limits.time.or(parent.limits.time),
            rows: child.limits.rows.or(parent.limits.rows),
            bytes: child.limits.bytes.or(parent.limits.bytes),
        },
        advice,
    }
}

fn section<T: Form>(parent: Section<T>, mut child: Part<T>, faults: &mut Vec<Diagnostic>) -> Section<T> {
    let kept: Vec<String> = parent.deny.iter().map(|rule| rule.what.to_string()).collect();
    let deny = collect(parent.deny.into_iter().chain(std::mem::take(&mut child.deny)));
    Section { allow: open(parent.allow, child, &kept, faults), deny }
}

/// What is open: the parent's entries without those removed, and the child's own. `kept` is what the
/// parent denies.
fn open<T: Form>(
    parent: Vec<Rule<T>>,
    child: Part<T>,
    kept: &[String],
    faults: &mut Vec<Diagnostic>,
) -> Vec<Rule<T>> {
    let mut left: BTreeMap<String, Rule<T>> =
        parent.into_iter().map(|rule| (rule.what.to_string(), rule)).collect();
    let names: Vec<String> = left.keys().cloned().collect();
    for remove in &child.remove {
        let glob = remove.glob.trim().to_ascii_lowercase();
        // An entry as its author wrote it is as good as its canonical form.
        let canonical = T::read(&remove.glob).map(|rule| rule.to_string()).ok();
        let matches = |name: &str| glob_matches(&glob, name) || canonical.as_deref() == Some(name);
        if !names.iter().any(|name| matches(name)) {
            let fault = removes_nothing(remove, &names);
            faults.push(if kept.iter().any(|name| matches(name)) {
                fault.help("The parent denies it, and a deny stays whatever its children say.")
            } else {
                fault
            });
        }
        left.retain(|name, _| !matches(name));
    }
    collect(left.into_values().chain(child.open))
}

/// The rules in the order of their canonical forms, equal ones once. The later one's words count.
pub(super) fn collect<T: Display>(rules: impl Iterator<Item = Rule<T>>) -> Vec<Rule<T>> {
    let mut all: BTreeMap<String, Rule<T>> = BTreeMap::new();
    for mut rule in rules {
        let name = rule.what.to_string();
        if let Some(earlier) = all.remove(&name) {
            rule.reason = rule.reason.or(earlier.reason);
            rule.fix = rule.fix.or(earlier.fix);
        }
        all.insert(name, rule);
    }
    all.into_values().collect()
}

fn removes_nothing(remove: &Remove, names: &[String]) -> Diagnostic {
    let message = format!("`{}` is none of the entries that the parent opens", remove.glob);
    let help = match nearest(&remove.glob, names.iter().map(String::as_str)) {
        Some(name) => format!("Did you mean `{name}`?"),
        None if names.is_empty() => {
            "There is nothing to remove: `remove` takes away what the parent opens in this section."
                .to_owned()
        }
        None => "Entries are matched as `policy show` prints the parent's, with `*` for any text.".to_owned(),
    };
    Diagnostic::error(Code::PolicyRemove, message, remove.place.clone()).label("removes nothing").help(help)
}
