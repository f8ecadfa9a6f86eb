//! A plan in the making: which rows are followed, and what they hold before and after.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::{Connection, Row, Statement, params_from_iter};

use super::content::{Content, may_read};
use super::{Cell, Change, Changes, Plan, RowPlan, TablePlan};
use crate::catalog::{Details, Schema, TableKind, is_internal};
use crate::engine::catalog::{details, quote};
use crate::engine::rows::{Followed, Key, KeyValue, RowWatch, Touch};
use crate::ruleset::Ruleset;
use crate::source::Name;

/// Rows that are followed at most, over all tables.
const MOST: usize = 1_000_000;
/// Rows of a table whose values are kept beyond those shown: a row that ends as it began is not shown.
const SPARE: usize = 256;
/// Bytes of values that are kept at most, over all tables.
const BYTES: usize = 64 << 20;

/// What a run is to be planned for: so many rows of a table are shown.
#[derive(Debug)]
pub(in crate::setup) struct Draft {
    shown: usize,
    bytes: usize,
    tables: Vec<TableDraft>,
}

#[derive(Debug)]
struct TableDraft {
    schema: Name,
    table: Name,
    columns: Vec<Column>,
    /// The places of the primary key's columns, in the key's order.
    key: Vec<usize>,
    /// A name of the rowid that no column has taken.
    rowid: Option<&'static str>,
    /// Whether a full-text table keeps no text of its own; then it may answer NULL for all of it.
    keeps_no_text: bool,
    rows: Vec<RowDraft>,
    beyond: u64,
}

#[derive(Debug)]
struct Column {
    name: Name,
    readable: bool,
}

#[derive(Debug)]
struct RowDraft {
    key: Key,
    touch: Touch,
    after: Seen,
}

/// A row as it was found.
#[derive(Debug)]
enum Seen {
    /// There is none of this key.
    Absent,
    /// There is one; its values, or where they are too many their digest.
    There(u64, Option<Vec<Cell>>),
    /// SQLite cannot read it.
    Unreadable,
}

impl Draft {
    pub(in crate::setup) const fn new(shown: usize) -> Self {
        Self { shown, bytes: 0, tables: Vec::new() }
    }

    /// Before the first statement: every table whose rows may change is followed.
    pub(in crate::setup) fn begin(
        &mut self,
        connection: &Connection,
        ruleset: &Ruleset,
        watch: &RowWatch<'_>,
    ) {
        let mut followed = Vec::new();
        for schema in ruleset.catalog().iter().flat_map(|catalog| &catalog.schemas) {
            for (name, table) in &schema.tables {
                let is_virtual = matches!(table.kind, TableKind::Virtual(_));
                if is_internal(name) || !(is_virtual || table.kind == TableKind::Ordinary) {
                    continue;
                }
                // One that cannot be described cannot be written either.
                let Ok(details) = details(connection, &schema.name, name) else { continue };
                let draft = TableDraft::new(schema, name, is_virtual, &details, ruleset);
                followed.push(Followed {
                    schema: schema.name.clone(),
                    table: name.clone(),
                    // A virtual table is followed by the rowid of the table that keeps its rows.
                    key: draft.key.iter().filter_map(|place| i32::try_from(*place).ok()).collect(),
                    rows: BTreeMap::new(),
                    beyond: 0,
                });
                self.tables.push(draft);
            }
        }
        watch.follow(followed, MOST);
    }

    /// After the last statement, before its rows go: what the rows that were touched hold now.
    pub(in crate::setup) fn read_after(&mut self, connection: &Connection, watch: &RowWatch<'_>) {
        for (draft, followed) in self.tables.iter_mut().zip(watch.take_followed()) {
            draft.beyond = followed.beyond;
            if followed.rows.is_empty() {
                continue;
            }
            let mut reader = Reader::new(connection, draft);
            let most = self.shown.saturating_add(SPARE);
            for (key, touch) in draft.in_order(followed.rows) {
                let mut after = if touch.now { reader.read(draft, &key) } else { Seen::Absent };
                if let Seen::There(_, cells) = &mut after {
                    let size: usize = cells.iter().flatten().map(Cell::size).sum();
                    if draft.rows.len() >= most || self.bytes.saturating_add(size) > BYTES {
                        *cells = None;
                    } else {
                        self.bytes += size;
                    }
                }
                draft.rows.push(RowDraft { key, touch, after });
            }
        }
    }

    /// When the rows are back: what they held before, and what that comes to.
    pub(in crate::setup) fn finish(self, connection: &Connection) -> Plan {
        let mut tables = Vec::new();
        for mut draft in self.tables {
            let rows = std::mem::take(&mut draft.rows);
            if rows.is_empty() && draft.beyond == 0 {
                continue;
            }
            let plan = draft.plan(connection, rows, self.shown);
            if plan.total.sum() + plan.beyond > 0 {
                tables.push(plan);
            }
        }
        tables.sort_by(|a, b| (&a.schema, &a.table).cmp(&(&b.schema, &b.table)));
        Plan { tables }
    }
}

impl TableDraft {
    fn new(schema: &Schema, table: &Name, is_virtual: bool, details: &Details, ruleset: &Ruleset) -> Self {
        let mut key: Vec<(u32, usize)> = Vec::new();
        for (place, column) in details.columns.iter().enumerate() {
            if column.key > 0 && !is_virtual {
                key.push((column.key, place));
            }
        }
        key.sort_unstable();
        let content = Content::of(schema, table);
        let read = |column: &Name| {
            may_read(ruleset, schema, table, column)
                && content.as_ref().is_none_or(|content| content.may_be_read(ruleset, column))
        };
        let columns = details.columns.iter().filter(|column| !column.hidden);
        let columns: Vec<Column> = columns
            .map(|column| Column { name: column.name.clone(), readable: read(&column.name) })
            .collect();
        let taken = |name: &&str| details.columns.iter().any(|column| column.name == **name);
        Self {
            schema: schema.name.clone(),
            table: table.clone(),
            key: key.into_iter().map(|(_, place)| place).collect(),
            rowid: ["rowid", "_rowid_", "oid"].into_iter().find(|name| !taken(name)),
            columns,
            keeps_no_text: is_virtual && !schema.tables.contains_key(&Name::from(format!("{table}_content"))),
            rows: Vec::new(),
            beyond: 0,
        }
    }

    /// The rows in order of their keys; where a key is hidden, in one that tells nothing of it.
    fn in_order(&self, rows: BTreeMap<Key, Touch>) -> Vec<(Key, Touch)> {
        let mut rows: Vec<(Key, Touch)> = rows.into_iter().collect();
        let is_hidden = |place: &usize| self.columns.get(*place).is_some_and(|column| !column.readable);
        if self.key.iter().any(is_hidden) {
            rows.sort_by_cached_key(|(key, _)| match key {
                Key::Rowid(rowid) => digest(&[Cell::Integer(*rowid)]),
                Key::Columns(values) => digest(&values.iter().map(Cell::from).collect::<Vec<_>>()),
            });
        }
        rows
    }

    fn plan(&self, connection: &Connection, rows: Vec<RowDraft>, shown: usize) -> TablePlan {
        let mut plan = TablePlan {
            schema: self.schema.clone(),
            table: self.table.clone(),
            total: Changes::default(),
            rows: Vec::new(),
            more: Changes::default(),
            hidden: self.columns.iter().filter(|column| !column.readable).count(),
            beyond: self.beyond,
        };
        let any_readable = plan.hidden < self.columns.len();
        let mut reader = Reader::new(connection, self);
        for row in rows {
            let before = if row.touch.before { reader.read(self, &row.key) } else { Seen::Absent };
            let Some(change) = self.change(row.touch, &before, &row.after) else { continue };
            plan.total.add(change);
            let kept = !matches!(row.after, Seen::There(_, None));
            if any_readable && kept && plan.rows.len() < shown {
                plan.rows.push(self.row(&row.key, change, before, row.after));
            } else {
                plan.more.add(change);
            }
        }
        plan
    }

    /// What has become of a row; `None` where it ends as it began.
    fn change(&self, touch: Touch, before: &Seen, after: &Seen) -> Option<Change> {
        let (was, is) = match (before, after) {
            (Seen::There(old, cells), Seen::There(new, _)) if old == new => {
                let written = cells.as_ref().is_some_and(|cells| self.is_blank(cells));
                (written, written)
            }
            (Seen::Unreadable, _) | (_, Seen::Unreadable) => (touch.before, touch.now),
            (before, after) => (matches!(before, Seen::There(..)), matches!(after, Seen::There(..))),
        };
        match (was, is) {
            (false, false) => None,
            (false, true) => Some(Change::Insert),
            (true, false) => Some(Change::Delete),
            (true, true) => Some(Change::Update),
        }
    }

    fn row(&self, key: &Key, change: Change, before: Seen, after: Seen) -> RowPlan {
        let values = |seen: Seen| match seen {
            Seen::There(_, Some(cells)) if self.is_blank(&cells) => Some(Vec::new()),
            Seen::There(_, cells) => cells,
            Seen::Absent | Seen::Unreadable => None,
        };
        let (before, after) = (values(before), values(after));
        let changed: Vec<bool> = match (&before, &after) {
            (Some(before), Some(after)) => before.iter().zip(after).map(|(a, b)| a != b).collect(),
            _ => vec![true; self.columns.len()],
        };
        let told = |cells: Vec<Cell>| {
            let columns = self.columns.iter().zip(cells).zip(&changed);
            let columns = columns.filter(|((column, _), changed)| column.readable && **changed);
            columns.map(|((column, cell), _)| (column.name.as_str().to_owned(), cell)).collect::<Vec<_>>()
        };
        let key = self.key(key, before.as_ref().or(after.as_ref()));
        RowPlan { key, change, before: before.map(told), after: after.map(told) }
    }

    /// Whether the values that were found say nothing of what was written.
    fn is_blank(&self, cells: &[Cell]) -> bool {
        self.keeps_no_text && cells.iter().all(|cell| *cell == Cell::Null)
    }

    /// The key as its columns hold it, where the row could be read.
    fn key(&self, key: &Key, cells: Option<&Vec<Cell>>) -> Option<Vec<(String, Cell)>> {
        match key {
            Key::Rowid(rowid) => {
                // A rowid may be a column that is hidden; then the table has more than one name for it.
                let readable = self.columns.iter().any(|column| column.readable);
                let name = self.rowid.unwrap_or("rowid");
                readable.then(|| vec![(name.to_owned(), Cell::Integer(*rowid))])
            }
            Key::Columns(values) => {
                let told = |(place, value): (&usize, &KeyValue)| {
                    let column = self.columns.get(*place).filter(|column| column.readable)?;
                    let cell = cells.and_then(|cells| cells.get(*place)).cloned();
                    Some((column.name.as_str().to_owned(), cell.unwrap_or_else(|| value.into())))
                };
                self.key.iter().zip(values).map(told).collect()
            }
        }
    }
}

/// Reads rows of one table by their keys.
struct Reader<'c> {
    by_key: Option<Statement<'c>>,
    by_rowid: Option<Statement<'c>>,
}

impl<'c> Reader<'c> {
    fn new(connection: &'c Connection, table: &TableDraft) -> Self {
        let columns: Vec<String> = table.columns.iter().map(|column| quote(column.name.as_str())).collect();
        let from = format!(
            "SELECT {} FROM {}.{} WHERE",
            columns.join(", "),
            quote(table.schema.as_str()),
            quote(table.table.as_str())
        );
        let terms = table
            .key
            .iter()
            .enumerate()
            .filter_map(|(i, place)| Some(format!("{} = ?{}", columns.get(*place)?, i + 1)));
        let terms = terms.collect::<Vec<_>>().join(" AND ");
        let by_key =
            if terms.is_empty() { None } else { connection.prepare(&format!("{from} {terms}")).ok() };
        // A table without rowids says so; it is always read by its key.
        let by_rowid = table.rowid.and_then(|rowid| connection.prepare(&format!("{from} {rowid} = ?1")).ok());
        Self { by_key, by_rowid }
    }

    fn read(&mut self, table: &TableDraft, key: &Key) -> Seen {
        let found = match (key, &mut self.by_key, &mut self.by_rowid) {
            (Key::Columns(values), Some(statement), _) => first(statement, params_from_iter(values), table),
            (Key::Rowid(rowid), _, Some(statement)) => first(statement, [rowid], table),
            _ => return Seen::Unreadable,
        };
        match found {
            Err(_) => Seen::Unreadable,
            Ok(Some(cells)) if table.is_of(&cells, key) => Seen::There(digest(&cells), Some(cells)),
            // A collation may take another key for this one.
            Ok(_) => Seen::Absent,
        }
    }
}

impl TableDraft {
    /// Whether a row that was found by `key` is the one of this key, not only one that compares equal.
    fn is_of(&self, cells: &[Cell], key: &Key) -> bool {
        let value = |place: &usize| match cells.get(*place)? {
            Cell::Null => None,
            Cell::Integer(number) => Some(KeyValue::Integer(*number)),
            Cell::Real(number) => KeyValue::of(rusqlite::types::ValueRef::Real(*number)),
            Cell::Text(text) => Some(KeyValue::Text(text.clone())),
            Cell::Blob(bytes) => Some(KeyValue::Blob(bytes.clone())),
        };
        let values: Option<Vec<KeyValue>> = self.key.iter().map(value).collect();
        match (key, values.filter(|values| !values.is_empty())) {
            (Key::Columns(wanted), Some(values)) => *wanted == values,
            (Key::Rowid(_), None) => true,
            _ => false,
        }
    }
}

fn digest(cells: &[Cell]) -> u64 {
    let mut digest = DefaultHasher::new();
    cells.hash(&mut digest);
    digest.finish()
}

fn first(
    statement: &mut Statement<'_>,
    values: impl rusqlite::Params,
    table: &TableDraft,
) -> rusqlite::Result<Option<Vec<Cell>>> {
    let mut rows = statement.query(values)?;
    let cells = |row: &Row<'_>| {
        (0..table.columns.len())
            .map(|i| Ok(Cell::from(row.get_ref(i)?)))
            .collect::<rusqlite::Result<Vec<_>>>()
    };
    rows.next()?.map(cells).transpose()
}
