//! What a run did to the rows.

use std::time::Duration;

use serde_json::{Value, json};

use crate::refusal::named;
use crate::request::Resource;
use crate::source::{Name, plain};
use crate::statement::{Head, Statement};

/// What the statements of a run did, in their order.
///
/// It is kept as numbers, so that a run that nobody asks pays next to nothing for it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The tables, each on one account.
    accounts: Vec<(Name, Name, By)>,
    ran: Vec<Ran>,
    /// The accounts that the statements changed, one statement after the other.
    rows: Vec<(usize, Counts)>,
    /// How long the run took; the only part that another run of the same text tells differently.
    pub time: Duration,
}

/// A statement that has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ran {
    kind: Kind,
    steps: u64,
    /// Where its rows end.
    end: usize,
}

/// Equal reports say the same of the rows; time is not compared.
impl PartialEq for Report {
    fn eq(&self, other: &Self) -> bool {
        self.statements().eq(other.statements())
    }
}

/// What one statement did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementReport {
    /// Which, from 1.
    pub statement: usize,
    /// What it is.
    pub kind: Kind,
    /// What it did to which table, in order of the tables' names.
    pub rows: Vec<TableRows>,
    /// Steps of SQLite's virtual machine.
    pub steps: u64,
}

/// What a statement is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// INSERT or REPLACE.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// SELECT or VALUES.
    Select,
    /// PRAGMA.
    Pragma,
    /// EXPLAIN of anything: nothing runs.
    Explain,
    /// Anything else.
    #[default]
    Other,
}

/// What was done to one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRows {
    /// The schema that holds the table.
    pub schema: Name,
    /// The table.
    pub table: Name,
    /// On whose account.
    pub by: By,
    /// How many rows.
    pub counts: Counts,
}

/// On whose account rows changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The statement itself.
    Caller,
    /// A trigger.
    Trigger,
    /// The action of a foreign key.
    Cascade,
    /// A trigger or a foreign key's action, or of a virtual table the statement or a trigger: SQLite
    /// does not tell which.
    Unknown,
}

/// Numbers of rows; `None` where it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Rows inserted.
    pub inserted: Option<u64>,
    /// Rows updated to something else.
    pub updated: Option<u64>,
    /// Rows deleted, replaced ones included.
    pub deleted: Option<u64>,
    /// Rows that an UPDATE matched and left as they were.
    pub unchanged: Option<u64>,
}

impl Counts {
    /// No row.
    pub const ZERO: Self = Self { inserted: Some(0), updated: Some(0), deleted: Some(0), unchanged: Some(0) };
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { inserted: None, updated: None, deleted: None, unchanged: None };

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b));
        Self {
            inserted: add(self.inserted, other.inserted),
            updated: add(self.updated, other.updated),
            deleted: add(self.deleted, other.deleted),
            unchanged: add(self.unchanged, other.unchanged),
        }
    }

    const fn each(self) -> [Option<u64>; 4] {
        [self.inserted, self.updated, self.deleted, self.unchanged]
    }
}

impl Kind {
    pub(super) fn of(statement: &Statement<'_>) -> Self {
        match statement.head {
            _ if statement.explain.is_some() => Self::Explain,
            Head::Insert => Self::Insert,
            Head::Update => Self::Update,
            Head::Delete => Self::Delete,
            Head::Select => Self::Select,
            Head::Pragma(_) => Self::Pragma,
            Head::Schema | Head::Transaction | Head::Attach | Head::Maintenance | Head::Unknown => {
                Self::Other
            }
        }
    }

    /// Its word in every format.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Select => "select",
            Self::Pragma => "pragma",
            Self::Explain => "explain",
            Self::Other => "other",
        }
    }
}

impl By {
    /// Its word in every format.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Trigger => "trigger",
            Self::Cascade => "cascade",
            Self::Unknown => "unknown",
        }
    }
}

impl Report {
    /// The number of a table on one account.
    pub(super) fn account(&mut self, schema: &Name, table: &Name, by: By) -> usize {
        let is_it = |(s, t, b): &(Name, Name, By)| *b == by && t == table && s == schema;
        let known = self.accounts.iter().position(is_it);
        known.unwrap_or_else(|| {
            self.accounts.push((schema.clone(), table.clone(), by));
            self.accounts.len() - 1
        })
    }

    /// Adds rows of the statement that has run.
    pub(super) fn add(&mut self, account: usize, counts: Counts) {
        let start = self.ran.last().map_or(0, |ran| ran.end);
        let own = self.rows.get_mut(start..).unwrap_or_default();
        match own.iter_mut().find(|(known, _)| *known == account) {
            Some((_, told)) => *told = told.plus(counts),
            None => self.rows.push((account, counts)),
        }
    }

    /// Ends the rows of the statement that has run.
    pub(super) fn end(&mut self, kind: Kind, steps: u64) {
        self.ran.push(Ran { kind, steps, end: self.rows.len() });
    }

    /// The rows that the last statement deleted itself from a table.
    pub(super) fn deleted_last(&self, schema: &Name, table: &Name) -> Option<u64> {
        let start =
            self.ran.len().checked_sub(2).and_then(|before| self.ran.get(before)).map_or(0, |ran| ran.end);
        let rows = self.rows.get(start..).unwrap_or_default();
        let deleted = rows.iter().filter(|(_, counts)| counts.deleted.is_some_and(|deleted| deleted > 0));
        let own = |account: usize| {
            self.accounts
                .get(account)
                .is_some_and(|(s, t, by)| *by == By::Caller && t == table && s == schema)
        };
        deleted.filter(|(account, _)| own(*account)).find_map(|(_, counts)| counts.deleted)
    }

    /// What each statement that ran did.
    pub fn statements(&self) -> impl Iterator<Item = StatementReport> + '_ {
        let starts = std::iter::once(0).chain(self.ran.iter().map(|ran| ran.end));
        starts.zip(&self.ran).enumerate().map(|(index, (start, ran))| StatementReport {
            statement: index + 1,
            kind: ran.kind,
            rows: self.told(self.rows.get(start..ran.end).unwrap_or_default()),
            steps: ran.steps,
        })
    }

    /// The tables over all statements, in order of their names.
    pub fn tables(&self) -> Vec<TableRows> {
        let mut sums = vec![None; self.accounts.len()];
        for (account, counts) in &self.rows {
            if let Some(sum) = sums.get_mut(*account) {
                *sum = Some(sum.unwrap_or(Counts::ZERO).plus(*counts));
            }
        }
        let sums: Vec<(usize, Counts)> =
            sums.into_iter().enumerate().filter_map(|(account, sum)| Some((account, sum?))).collect();
        self.told(&sums)
    }

    /// Rows with the names of their tables, in order of those.
    fn told(&self, rows: &[(usize, Counts)]) -> Vec<TableRows> {
        let told = rows.iter().filter_map(|(account, counts)| {
            let (schema, table, by) = self.accounts.get(*account)?.clone();
            Some(TableRows { schema, table, by, counts: *counts })
        });
        let mut told: Vec<TableRows> = told.collect();
        told.sort_by(|a, b| (&a.schema, &a.table, a.by).cmp(&(&b.schema, &b.table, b.by)));
        told
    }

    /// All rows together.
    pub fn totals(&self) -> Counts {
        self.rows.iter().fold(Counts::ZERO, |sum, (_, counts)| sum.plus(*counts))
    }

    /// The statements, tables and totals as JSON.
    pub(super) fn json(&self) -> [(&'static str, Value); 4] {
        let rows = |list: &[TableRows]| list.iter().map(TableRows::json).collect::<Vec<_>>();
        let statements: Vec<Value> = self
            .statements()
            .map(|statement| {
                json!({
                    "statement": statement.statement,
                    "kind": statement.kind.word(),
                    "rows": rows(&statement.rows),
                    "steps": statement.steps,
                })
            })
            .collect();
        let totals = self.totals();
        let millis = u64::try_from(self.time.as_micros()).unwrap_or(u64::MAX);
        #[expect(clippy::cast_precision_loss, reason = "a time for people")]
        let millis = millis as f64 / 1_000.0;
        [
            ("time_ms", json!(millis)),
            ("statements", json!(statements)),
            ("tables", json!(rows(&self.tables()))),
            ("totals", totals.json()),
        ]
    }

    /// A table for people, a line for each table that changed or was matched; without a line end last.
    pub fn text(&self) -> Option<String> {
        let tables = self.tables();
        if tables.is_empty() {
            return None;
        }
        let mut lines =
            vec![["table", "by", "inserted", "updated", "deleted", "unchanged"].map(str::to_owned)];
        for rows in &tables {
            let table = named(&Resource::table(rows.schema.clone(), rows.table.clone()));
            let [inserted, updated, deleted, unchanged] = rows.counts.each().map(|count| match count {
                None => "?".to_owned(),
                Some(0) => "-".to_owned(),
                Some(count) => grouped(count),
            });
            lines.push([
                plain(&table).into_owned(),
                rows.by.word().to_owned(),
                inserted,
                updated,
                deleted,
                unchanged,
            ]);
        }
        let mut widths = [0; 6];
        for line in &lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let told = lines.iter().map(|line| {
            let cells = line.iter().zip(widths).enumerate().map(|(i, (cell, width))| {
                if i < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            format!("  {}", cells.collect::<Vec<_>>().join("  "))
        });
        Some(told.collect::<Vec<_>>().join("\n"))
    }
}

impl TableRows {
    fn json(&self) -> Value {
        let [inserted, updated, deleted, unchanged] = self.counts.each();
        json!({
            "schema": self.schema.as_str(),
            "table": self.table.as_str(),
            "by": self.by.word(),
            "inserted": inserted,
            "updated": updated,
            "deleted": deleted,
            "unchanged": unchanged,
        })
    }
}

impl Counts {
    fn json(self) -> Value {
        let [inserted, updated, deleted, unchanged] = self.each();
        json!({ "inserted": inserted, "updated": updated, "deleted": deleted, "unchanged": unchanged })
    }
}

/// A number with its thousands set apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut told = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            told.push(',');
        }
        told.push(digit);
    }
    told
}
