//! A plan for people: a line or two a row, at most 80 columns wide.

use super::cell::Cell;
use super::{Change, Changes, Plan, RowPlan, TablePlan};
use crate::refusal::named;
use crate::request::Resource;
use crate::setup::report::grouped;
use crate::source::plain;
use crate::statement::written;

const WIDTH: usize = 80;
/// The most characters of a column's name, of a value, and of each of two values.
const NAME: usize = 24;
const ONE: usize = 44;
const OF_TWO: usize = 22;
/// Characters in common that are shown before the first that differs.
const SHARED: usize = 4;
const INDENT: &str = "      ";

impl Plan {
    /// The tables with their rows, or a line that says that there are none; without a line end last.
    pub fn text(&self) -> String {
        if self.tables.is_empty() {
            return "  no row would change".to_owned();
        }
        self.tables.iter().map(TablePlan::text).collect::<Vec<_>>().join("\n")
    }
}

impl TablePlan {
    fn text(&self) -> String {
        let table = named(&Resource::table(self.schema.clone(), self.table.clone()));
        let mut head = format!("{}: {}", plain(&table), counted(self.total));
        match self.hidden {
            0 => {}
            1 => head.push_str(" (the policy hides 1 column)"),
            count => head.push_str(&format!(" (the policy hides {count} columns)")),
        }
        let mut lines = vec![head];
        lines.extend(self.rows.iter().map(RowPlan::text));
        // Where no row is shown the first line says it all.
        match self.more.sum() {
            count if count > 0 && !self.rows.is_empty() => {
                let rows = if count == 1 { "row" } else { "rows" };
                lines.push(format!("  … and {} more {rows}: {}", grouped(count), counted(self.more)));
            }
            _ => {}
        }
        if self.beyond > 0 {
            let changes = grouped(self.beyond);
            lines.push(format!("  … and {changes} changes of further rows, too many to follow"));
        }
        lines.join("\n")
    }
}

fn counted(changes: Changes) -> String {
    let parts = [(changes.inserted, "inserted"), (changes.updated, "updated"), (changes.deleted, "deleted")];
    let told = parts.into_iter().filter(|(count, _)| *count > 0);
    told.map(|(count, word)| format!("{} {word}", grouped(count))).collect::<Vec<_>>().join(", ")
}

impl RowPlan {
    fn text(&self) -> String {
        let sign = match self.change {
            Change::Insert => '+',
            Change::Update => '~',
            Change::Delete => '-',
        };
        let key = self.key.as_ref().map_or_else(
            || "a row with a hidden key".to_owned(),
            |key| key.iter().map(|(name, cell)| item(name, cell)).collect::<Vec<_>>().join(", "),
        );
        let mut lines = vec![format!("  {sign} {key}")];
        let items = self.items();
        let last = items.len().saturating_sub(1);
        for (i, text) in items.into_iter().enumerate() {
            let joined = if i == 0 { ": " } else { " " };
            let text = if i == last { text } else { format!("{text},") };
            let Some(line) = lines.last_mut() else { break };
            if line.chars().count() + joined.len() + text.chars().count() <= WIDTH {
                line.push_str(joined);
                line.push_str(&text);
            } else {
                line.push_str(joined.trim_end());
                lines.push(format!("{INDENT}{text}"));
            }
        }
        lines.join("\n")
    }

    fn items(&self) -> Vec<String> {
        let in_key = |name: &str| self.key.iter().flatten().any(|(key, _)| key == name);
        let one = |values: &[(String, Cell)]| {
            values.iter().filter(|(name, _)| !in_key(name)).map(|(name, cell)| item(name, cell)).collect()
        };
        match (&self.before, &self.after) {
            (Some(before), Some(after)) if before.is_empty() && after.is_empty() => {
                vec!["only columns that the policy hides".to_owned()]
            }
            (Some(before), Some(after)) => before
                .iter()
                .zip(after)
                .map(|((name, before), (_, after))| format!("{} {}", short(name), pair(before, after)))
                .collect(),
            (Some(values), None) | (None, Some(values)) => one(values),
            (None, None) => Vec::new(),
        }
    }
}

fn item(name: &str, cell: &Cell) -> String {
    format!("{} {}", short(name), cell.shown(ONE, 0))
}

/// Both values, each from shortly before the first character that differs if they are long.
fn pair(before: &Cell, after: &Cell) -> String {
    let whole = |cell: &Cell| cell.shown(usize::MAX, 0).chars().count() <= OF_TWO;
    let from = if whole(before) && whole(after) { 0 } else { before.common(after).saturating_sub(SHARED) };
    let from = if from <= SHARED { 0 } else { from };
    format!("{} → {}", before.shown(OF_TWO, from), after.shown(OF_TWO, from))
}

fn short(name: &str) -> String {
    let name = written(name);
    let name = plain(&name);
    if name.chars().count() <= NAME {
        return name.into_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}
