//! What was found, for people and as JSON.

use serde_json::{Value, json};

use super::tally::{Counted, Differences, Reading, Tally, Unlisted};
use crate::guard::agreement::{Class, READINGS, Side};
use crate::setup::report::grouped;
use crate::source::plain;

/// For people.
pub(super) fn text(tally: &Tally) -> String {
    let mut lines = Vec::new();
    let mut line = |text: String| lines.push(text);
    let what = if tally.statements == 1 { "statement" } else { "statements" };
    line(format!("{} {what} on rows compared", grouped(tally.statements)));
    if tally.unreadable > 0 {
        line(format!("{} pieces of SQL left a database that cannot be read", grouped(tally.unreadable)));
    }
    line(String::new());
    line(row("", READINGS.map(str::to_owned)));
    let of = |count: fn(&Reading) -> u64, whole: fn(&Tally, &Reading) -> u64| {
        [0, 1].map(|at: usize| {
            tally.readings.get(at).map_or_else(String::new, |one| share(count(one), whole(tally, one)))
        })
    };
    line(row("understood to the end", of(|one| one.understood, |tally, _| tally.statements)));
    line(row("same tables and functions", of(|one| one.same, |tally, _| tally.statements)));
    line(row("refused by the text, of those", of(|one| one.text_refuses, |_, one| one.engine_refuses)));
    line(format!("  that the engine refuses for what stands in it ({})", engine(tally)));
    for (title, side) in [
        ("only the text sees (asked/refused)", Side::Text),
        ("only the engine sees (asked/refused)", Side::Engine),
    ] {
        let met = |class: &&Class| class.side() == side && found(tally, **class).is_some();
        let classes: Vec<Class> = Class::ALL.iter().filter(met).copied().collect();
        if classes.is_empty() {
            continue;
        }
        line(String::new());
        line(row(title, [String::new(), String::new()]).trim_end().to_owned());
        for class in classes {
            let counts = [0, 1].map(|at: usize| {
                let differences = tally.readings.get(at).and_then(|one| one.classes.get(&class));
                differences.map_or_else(|| "-".to_owned(), |one| format!("{}/{}", one.asked, one.refused))
            });
            line(row(&format!("  {}", class.word()), counts));
            if let Some(Differences { example, .. }) = found(tally, class) {
                line(format!("    {}: {}", example.place, plain(&example.sql)));
            }
        }
    }
    let reasons: Vec<_> = tally.readings.iter().take(1).flat_map(|one| &one.reasons).collect();
    if !reasons.is_empty() {
        line(String::new());
        line("not understood".to_owned());
        for (reason, Counted { count, example }) in reasons {
            line(format!("  {}  {reason}", grouped(*count)));
            line(format!("    {}: {}", example.place, plain(&example.sql)));
        }
    }
    line(String::new());
    if tally.is_closed() {
        line("every difference is of a class that is listed".to_owned());
    } else {
        let count: u64 = tally.readings.iter().map(|one| one.unlisted).sum();
        line(format!("differences of no class that is listed: {}", grouped(count)));
        for one in &tally.unlisted {
            line(format!("  {}", unlisted(one)));
            line(format!("    {}: {}", one.example.place, plain(&one.example.sql)));
        }
    }
    lines.join("\n") + "\n"
}

fn row(name: &str, [alone, informed]: [String; 2]) -> String {
    format!("{name:<38}{alone:>18}  {informed:>18}")
}

/// `12 (99.50 %)`.
fn share(count: u64, whole: u64) -> String {
    if whole == 0 { grouped(count) } else { format!("{} ({} %)", grouped(count), percent(count, whole)) }
}

/// In hundredths, cut and not rounded: only all of them are 100.00.
fn percent(count: u64, whole: u64) -> String {
    let hundredths = count.saturating_mul(10_000) / whole.max(1);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn engine(tally: &Tally) -> String {
    grouped(tally.readings.first().map_or(0, |one| one.engine_refuses))
}

fn found(tally: &Tally, class: Class) -> Option<&Differences> {
    tally.readings.iter().find_map(|one| one.classes.get(&class))
}

fn unlisted(one: &Unlisted) -> String {
    let difference = &one.difference;
    let code = difference.code.map(|code| format!(", refused as {}", code.word())).unwrap_or_default();
    let (action, name) = (difference.asked.action.word(), &difference.asked.name);
    let name = plain(name.as_str());
    format!("{}: only the {} asks {action} {name}{code}", one.reading, difference.side.word())
}

/// For programs.
pub(super) fn json(tally: &Tally) -> Value {
    let readings: serde_json::Map<String, Value> =
        READINGS.iter().zip(&tally.readings).map(|(name, one)| ((*name).to_owned(), reading(one))).collect();
    let unlisted = tally.unlisted.iter().map(|one| {
        let difference = &one.difference;
        json!({
            "reading": one.reading,
            "side": difference.side.word(),
            "action": difference.asked.action.word(),
            "name": difference.asked.name.as_str(),
            "code": difference.code.map(crate::diagnostic::Code::word),
            "place": one.example.place,
            "sql": one.example.sql,
        })
    });
    json!({
        "statements": tally.statements,
        "unreadable": tally.unreadable,
        "readings": readings,
        "unlisted": unlisted.collect::<Vec<_>>(),
    })
}

fn reading(one: &Reading) -> Value {
    let classes = one.classes.iter().map(|(class, found)| {
        json!({
            "class": class.word(),
            "side": class.side().word(),
            "asked": found.asked,
            "refused": found.refused,
            "reason": class.reason(),
            "place": found.example.place,
            "sql": found.example.sql,
        })
    });
    let reasons = one.reasons.iter().map(|(reason, found)| {
        json!({
            "reason": reason,
            "statements": found.count,
            "place": found.example.place,
            "sql": found.example.sql,
        })
    });
    json!({
        "understood": one.understood,
        "same": one.same,
        "engine_refuses": one.engine_refuses,
        "text_refuses": one.text_refuses,
        "unlisted": one.unlisted,
        "classes": classes.collect::<Vec<_>>(),
        "not_understood": reasons.collect::<Vec<_>>(),
    })
}
