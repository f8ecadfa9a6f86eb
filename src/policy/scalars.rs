//! Version, limits and advice.

use std::collections::BTreeMap;
use std::time::Duration;

use super::document::shown;
use super::reader::{Reader, list, suggestion};
use super::settings::{Advice, Level, Limits};
use crate::diagnostic::{Code, Outcome};
use crate::source::Span;
use crate::yaml::{Entry, Scalar};

/// The format version that this build reads.
pub(super) const VERSION: &str = "1";

/// Checks `seawall: 1`. A file of another version is not looked at further: its faults would mislead.
/// Where the file broke off, a missing version is not worth a word.
pub(super) fn version(reader: &mut Reader, entries: &[Entry], broken: bool) -> bool {
    let Some(entry) = entries.iter().find(|entry| entry.key.text == "seawall") else {
        if !broken {
            let span = entries.first().map_or(Span::new(0, 0), |entry| entry.span);
            let help = "Begin the file with `seawall: 1`.";
            reader.fault(
                Code::PolicyVersion,
                span,
                "the format version is missing",
                "`seawall: 1` is due",
                help,
            );
        }
        return true;
    };
    let Some(scalar) = reader.scalar(entry, "the format version, `1`,") else { return true };
    if scalar.text == VERSION && !scalar.quoted {
        return true;
    }
    let quoted = scalar.text == VERSION;
    let message = if quoted {
        "the format version is text".to_owned()
    } else {
        format!("this build reads format version {VERSION}, and the file says `{}`", scalar.text)
    };
    let help = if quoted {
        "Write `seawall: 1`, without quotes."
    } else {
        "Update seawall, or write the policy in format version 1."
    };
    reader.fault(Code::PolicyVersion, entry.value.span, message, "`1` is due", help);
    quoted
}

/// The units of a limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Count,
    Bytes,
    Time,
}

impl Unit {
    const fn due(self) -> &'static str {
        match self {
            Self::Count => "a whole number",
            Self::Bytes => "a size such as `50MiB`",
            Self::Time => "a time such as `30s`",
        }
    }

    /// The factors to bytes or milliseconds.
    pub(super) const fn factors(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Count => &[("", 1)],
            Self::Bytes => &[("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)],
            Self::Time => &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)],
        }
    }
}

/// The limits: key, unit, and what is bounded.
pub(super) const LIMITS: [(&str, Unit, &str); 7] = [
    ("statements", Unit::Count, "Statements in one text."),
    ("text", Unit::Bytes, "Bytes of one text."),
    ("value", Unit::Bytes, "Bytes of one value."),
    ("steps", Unit::Count, "Virtual-machine steps of a whole run; the same run takes the same number."),
    ("time", Unit::Time, "Time of a whole run."),
    ("rows", Unit::Count, "Rows that a single-statement door hands out."),
    ("bytes", Unit::Bytes, "Bytes of the rows that a single-statement door hands out."),
];

pub(super) fn limits(reader: &mut Reader, section: &Entry) -> Limits {
    let mut limits = Limits::default();
    let names = LIMITS.map(|(name, ..)| name);
    for entry in reader.mapping(section, &list(names.into_iter())).unwrap_or_default() {
        let Some((_, unit, _)) = LIMITS.iter().find(|(name, ..)| *name == entry.key.text) else {
            reader.unknown_key(entry, "`limits`", &names);
            continue;
        };
        let Some(scalar) = reader.scalar(entry, unit.due()) else { continue };
        let value = match amount(&scalar.text, *unit) {
            Ok(value) => Some(value),
            Err((message, help)) => {
                let label = format!("{} is due", unit.due());
                reader.fault(Code::PolicyValue, shown(entry), message, label, help);
                None
            }
        };
        match entry.key.text.as_str() {
            "statements" => limits.statements = value,
            "text" => limits.text = value,
            "value" => limits.value = value,
            "steps" => limits.steps = value,
            "time" => limits.time = value.map(Duration::from_millis),
            "rows" => limits.rows = value,
            _ => limits.bytes = value,
        }
    }
    limits
}

/// A whole number and its unit; else what is wrong and what to write.
fn amount(text: &str, unit: Unit) -> Result<u64, (String, String)> {
    let wrong = |message: String, help: &str| Err((message, help.to_owned()));
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let suffix = suffix.trim();
    if digits.is_empty() || suffix.starts_with(['.', ',', '_', '+', '-']) {
        return wrong(
            format!("`{text}` is not a whole number"),
            "Write digits alone, without a sign, point or space, then the unit.",
        );
    }
    if digits.len() > 1 && digits.starts_with('0') {
        let digits = digits.trim_start_matches('0');
        let plain = if digits.is_empty() { "0" } else { digits };
        return Err((
            format!("`{text}` begins with 0, which some readers take for an octal number"),
            format!("Write `{plain}{suffix}`."),
        ));
    }
    let Some((_, factor)) = unit.factors().iter().find(|(name, _)| *name == suffix) else {
        let units = unit.factors().iter().map(|(name, _)| *name).filter(|name| !name.is_empty());
        return match (unit, suffix) {
            (Unit::Count, _) => wrong(format!("`{text}` has a unit"), "Write digits alone."),
            (Unit::Time, "") => Err((
                format!("`{text}` has no unit"),
                format!("Write `{text}s` for seconds; possible: {}.", list(units)),
            )),
            _ => {
                let meant = units.clone().find(|name| name.eq_ignore_ascii_case(suffix));
                let meant = meant.or_else(|| match suffix.to_ascii_lowercase().as_str() {
                    "k" | "kb" => Some("KiB"),
                    "m" | "mb" if unit == Unit::Bytes => Some("MiB"),
                    "g" | "gb" => Some("GiB"),
                    "sec" | "secs" | "second" | "seconds" => Some("s"),
                    "min" | "mins" | "minute" | "minutes" => Some("m"),
                    _ => None,
                });
                let meant = meant.map(|name| format!("Did you mean `{digits}{name}`? ")).unwrap_or_default();
                Err((format!("unknown unit `{suffix}`"), format!("{meant}Possible: {}.", list(units))))
            }
        };
    };
    match digits.parse::<u64>().ok().and_then(|number| number.checked_mul(*factor)) {
        Some(0) => {
            wrong("a limit of 0 lets nothing run".to_owned(), "Write at least 1, or leave the limit out.")
        }
        // SQLite counts in signed 64 bits.
        Some(value) if i64::try_from(value).is_ok() => Ok(value),
        _ => wrong(format!("`{text}` is too large"), "Write a smaller number, or leave the limit out."),
    }
}

pub(super) fn advice(reader: &mut Reader, section: &Entry) -> BTreeMap<Advice, Level> {
    let words = Advice::ALL.map(|advice| advice.code().word());
    let mut levels = BTreeMap::new();
    for entry in reader.mapping(section, "advice codes").unwrap_or_default() {
        let key = entry.key.text.as_str();
        let Some(advice) = Advice::ALL.into_iter().find(|advice| advice.code().word() == key) else {
            unknown_advice(reader, entry.span, &entry.key, &words);
            continue;
        };
        let level = reader.choice(entry, &Level::WORDS);
        levels.extend(level.map(|level| (advice, level)));
    }
    levels
}

fn unknown_advice(reader: &mut Reader, span: Span, key: &Scalar, words: &[&'static str]) {
    let known = Code::from_word(&key.text).map(Code::outcome);
    let (message, label) = match known {
        Some(Outcome::Refused | Outcome::Failed) => (
            format!("`{}` is no advice: its level cannot be set", key.text),
            "not a code of advice".to_owned(),
        ),
        _ => (format!("unknown advice `{}`", key.text), suggestion(&key.text, words.iter().copied())),
    };
    let help = format!("Possible: {}.", list(words.iter().copied()));
    reader.fault(Code::PolicyKey, span, message, label, help);
}
