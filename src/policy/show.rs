//! The effective form of a policy, and its hash.

use std::fmt::{Display, Write as _};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::rule::Rule;
use super::{Limits, NEVER, Never, Policy};
use crate::yaml::write_word;

impl Policy {
    /// The effective policy as a file that loads to the same: parents merged in, entries sorted, with what
    /// no file can open and the hash as comments.
    pub fn show(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "# hash: {}", self.hash());
        for Never { what, why } in NEVER {
            let _ = writeln!(out, "# never: {what}; {why}");
        }
        out.push_str("\nseawall: 1\n");
        if let Some(description) = &self.description {
            let _ = writeln!(out, "description: {}", write_word(description));
        }
        out.push_str(&self.body());
        out
    }

    /// The SHA-256 of what the policy means, in hexadecimal: rules with their words, limits and advice. Files
    /// that differ in order, comments, spelling or `extends` but mean the same have one hash.
    pub fn hash(&self) -> String {
        let digest = Sha256::digest(self.body());
        digest.iter().fold(String::with_capacity(64), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
    }

    /// Everything that decides, in one form only.
    fn body(&self) -> String {
        let mut out = String::new();
        section(&mut out, "rows", [("allow", &self.rows.allow), ("deny", &self.rows.deny)]);
        section(&mut out, "functions", [("allow", &self.functions.allow), ("deny", &self.functions.deny)]);
        section(&mut out, "pragmas", [("allow", &self.pragmas)]);
        section(&mut out, "triggers", [("trust", &self.triggers)]);
        section(&mut out, "views", [("trust", &self.views)]);
        section(&mut out, "virtual_tables", [("allow", &self.virtual_tables)]);
        let _ = writeln!(out, "\nforeign_keys: {}", self.foreign_keys.word());
        limits(&mut out, &self.limits);
        if !self.advice.is_empty() {
            out.push_str("\nadvice:\n");
            let levels = self.advice.iter().map(|(advice, level)| (advice.code().word(), level.word()));
            for (advice, level) in std::collections::BTreeMap::from_iter(levels) {
                let _ = writeln!(out, "  {advice}: {level}");
            }
        }
        out
    }
}

fn section<T: Display, const N: usize>(out: &mut String, name: &str, parts: [(&str, &Vec<Rule<T>>); N]) {
    if parts.iter().all(|(_, rules)| rules.is_empty()) {
        return;
    }
    let _ = writeln!(out, "\n{name}:");
    for (key, rules) in parts {
        if rules.is_empty() {
            continue;
        }
        let _ = writeln!(out, "  {key}:");
        let rules = rules.iter().map(|rule| (rule.what.to_string(), rule));
        for (text, rule) in std::collections::BTreeMap::from_iter(rules) {
            let text = write_word(&text);
            if rule.reason.is_none() && rule.fix.is_none() {
                let _ = writeln!(out, "    - {text}");
                continue;
            }
            let _ = writeln!(out, "    - rule: {text}");
            for (key, words) in [("reason", &rule.reason), ("fix", &rule.fix)] {
                if let Some(words) = words {
                    let _ = writeln!(out, "      {key}: {}", write_word(words));
                }
            }
        }
    }
}

fn limits(out: &mut String, limits: &Limits) {
    let count = |n: u64| n.to_string();
    let shown = [
        ("statements", limits.statements.map(count)),
        ("text", limits.text.map(size)),
        ("value", limits.value.map(size)),
        ("steps", limits.steps.map(count)),
        ("time", limits.time.map(time)),
        ("rows", limits.rows.map(count)),
        ("bytes", limits.bytes.map(size)),
    ];
    if shown.iter().any(|(_, limit)| limit.is_some()) {
        out.push_str("\nlimits:\n");
        for (name, limit) in shown {
            if let Some(limit) = limit {
                let _ = writeln!(out, "  {name}: {limit}");
            }
        }
    }
}

/// In the largest unit that leaves a whole number.
fn in_units(amount: u64, units: &[(&str, u64)]) -> String {
    let unit = units.iter().find(|(_, factor)| amount != 0 && amount.is_multiple_of(*factor));
    unit.map_or_else(|| amount.to_string(), |(name, factor)| format!("{}{name}", amount / factor))
}

fn size(bytes: u64) -> String {
    in_units(bytes, &[("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)])
}

fn time(time: Duration) -> String {
    let milliseconds = u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
    in_units(milliseconds, &[("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)])
}
