//! Schemas of three databases, with names that are keywords, hold blanks or are no ASCII.

use std::fmt::Write;

use crate::tape::Tape;
use crate::writer::quoted;

/// A schema, as its script and as what a generator of statements has to know.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) script: String,
    pub(crate) tables: Vec<Table>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Rows,
    WithoutRowid,
    View,
    FullText,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) schema: &'static str,
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) columns: Vec<&'static str>,
    /// The column that ON CONFLICT can name.
    pub(crate) key: Option<&'static str>,
    /// The column that cannot be written.
    pub(crate) generated: Option<&'static str>,
}

const TABLES: &[&str] =
    &["t", "u", "log", "secret", "order", "x y", "étude", "left", "View1", "replace", "it's", "json_each"];

const COLUMNS: &[&str] = &[
    "a",
    "b",
    "c",
    "k",
    "key",
    "desc",
    "two words",
    "naïve",
    "row",
    "window",
    "values",
    "interval",
    "date",
    "end",
    "oid",
    "glob",
    "t",
    "filter",
    "excluded",
];

impl World {
    pub(crate) fn new(tape: &mut Tape<'_>) -> Self {
        let mut world = Self::default();
        let names = tape.take(TABLES, 7);
        for name in &names[..2 + tape.below(3)] {
            world.table("main", name, tape);
        }
        world.table("aux", names[0], tape);
        if tape.one_in(2) {
            world.table("aux", names[5], tape);
        }
        for at in 0..tape.below(3) {
            world.view(at, ["v", "over view"][at], tape);
        }
        if tape.one_in(2) {
            world.full_text(["ft", "full text"][tape.below(2)], tape);
        }
        if tape.one_in(2) {
            world.table("temp", names[tape.below(7)], tape);
        }
        if tape.one_in(3) {
            world.trigger(tape);
        }
        world
    }

    fn table(&mut self, schema: &'static str, name: &'static str, tape: &mut Tape<'_>) {
        let columns = 1 + tape.below(4);
        let columns = tape.take(COLUMNS, columns);
        let key = columns[0];
        let constraint = tape.pick(&[" INTEGER PRIMARY KEY", "", " UNIQUE", " PRIMARY KEY"]);
        let mut parts = vec![format!("{}{constraint}", quoted(key))];
        let without = constraint == " PRIMARY KEY" && tape.one_in(2);
        for column in &columns[1..] {
            let rest =
                tape.pick(&["", " DEFAULT (lower('D'))", " TEXT COLLATE NOCASE", " CHECK (length(1))"]);
            parts.push(format!("{}{rest}", quoted(column)));
        }
        let mut generated = None;
        let mut columns = columns;
        if tape.one_in(3) {
            let rest = tape.pick(&["", " STORED"]);
            parts.push(format!("g AS (upper({})){rest}", quoted(key)));
            columns.push("g");
            generated = Some("g");
        }
        let tail = if without { " WITHOUT ROWID" } else { "" };
        writeln!(self.script, "CREATE TABLE {schema}.{}({}){tail};", quoted(name), parts.join(", ")).unwrap();
        let kind = if without { Kind::WithoutRowid } else { Kind::Rows };
        let key = (!constraint.is_empty()).then_some(key);
        self.tables.push(Table { schema, name, kind, columns, key, generated });
    }

    /// A view of one of the tables of `main`, under other names.
    fn view(&mut self, number: usize, name: &'static str, tape: &mut Tape<'_>) {
        let main: Vec<usize> =
            (0..self.tables.len()).filter(|at| self.tables[*at].schema == "main").collect();
        let base = tape.pick(&main);
        let column = tape.pick(&self.tables[base].columns);
        let first = quoted(column);
        let (first, from) = match tape.below(3) {
            0 => (first, quoted(self.tables[base].name)),
            1 => (format!("hex({first})"), quoted(self.tables[base].name)),
            _ => (first, format!("(SELECT * FROM {})", quoted(self.tables[base].name))),
        };
        let columns = [["a", "p"], ["k", "a b"]][number];
        writeln!(
            self.script,
            "CREATE VIEW main.{} AS SELECT {first} AS {}, 1 AS {} FROM {from};",
            quoted(name),
            quoted(columns[0]),
            quoted(columns[1])
        )
        .unwrap();
        let columns = columns.to_vec();
        let (key, generated) = (None, None);
        self.tables.push(Table { schema: "main", name, kind: Kind::View, columns, key, generated });
    }

    fn full_text(&mut self, name: &'static str, tape: &mut Tape<'_>) {
        let columns = vec![["body", "title"], ["a", "k"]][tape.below(2)][..1 + tape.below(2)].to_vec();
        let list: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
        writeln!(self.script, "CREATE VIRTUAL TABLE main.{} USING fts5({});", quoted(name), list.join(", "))
            .unwrap();
        let kind = Kind::FullText;
        self.tables.push(Table { schema: "main", name, kind, columns, key: None, generated: None });
    }

    /// A trigger whose requests are not the caller's.
    fn trigger(&mut self, tape: &mut Tape<'_>) {
        let (on, into) = (&self.tables[0], &self.tables[1]);
        let event = tape.pick(&["INSERT", "UPDATE", "DELETE"]);
        writeln!(
            self.script,
            "CREATE TRIGGER main.{} AFTER {event} ON {} BEGIN\n  INSERT INTO {}({}) VALUES (changes()); END;",
            tape.pick(&["fired", "v"]),
            quoted(on.name),
            quoted(into.name),
            quoted(into.columns[0]),
        )
        .unwrap();
    }

    /// The table that a bare name means.
    pub(crate) fn bare(&self, name: &str) -> Option<usize> {
        let holds = |schema: &str| {
            self.tables
                .iter()
                .position(|table| table.schema == schema && table.name.eq_ignore_ascii_case(name))
        };
        holds("temp").or_else(|| holds("main")).or_else(|| holds("aux"))
    }
}
