//! What in the statement or the schema shows why text and engine differ.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::{Asked, Class, Side};
use crate::catalog::{Catalog, TableKind};
use crate::request::{Action, Request, Resource};
use crate::source::{Name, Span};
use crate::statement::{Conflict, Statement};
use crate::text_witness::Reading;

/// A statement, its schema and what its text asks.
pub(super) struct Evidence<'e> {
    statement: &'e Statement<'e>,
    catalog: &'e Catalog,
    text: &'e Reading,
    /// What the objects that the text names are made of, name by name.
    behind: OnceCell<BTreeMap<Name, BTreeSet<Class>>>,
}

/// Functions that SQLite has no code for: it writes them out as operators.
const INLINED: [&str; 8] =
    ["coalesce", "ifnull", "iif", "if", "likely", "unlikely", "likelihood", "sqlite_offset"];

impl<'e> Evidence<'e> {
    pub(super) fn new(statement: &'e Statement<'e>, catalog: &'e Catalog, text: &'e Reading) -> Self {
        Self { statement, catalog, text, behind: OnceCell::new() }
    }

    /// The class of a difference that stays where the schema is known.
    pub(super) fn class(&self, side: Side, asked: &Asked) -> Option<Class> {
        match side {
            Side::Text => self.of_text(asked),
            Side::Engine => self.of_engine(asked),
        }
    }

    /// The class of one that is gone where the schema is known.
    pub(super) fn class_without_schema(&self, side: Side, asked: &Asked) -> Option<Class> {
        match side {
            Side::Engine => Some(Class::NeedsSchema),
            Side::Text => {
                let found = self.catalog.resolve(None, &asked.name);
                let elsewhere = found.is_some_and(|(schema, _)| schema.name != *"main");
                elsewhere.then_some(Class::BareName)
            }
        }
    }

    fn of_text(&self, asked: &Asked) -> Option<Class> {
        match asked.action {
            Action::Replace | Action::Delete if self.replaces() => Some(Class::ConflictClause),
            Action::Command => Some(Class::VirtualTableCommand),
            Action::Call if self.has_false_operand() => Some(Class::FalseOperand),
            Action::Call if INLINED.contains(&asked.name.folded()) => Some(Class::InlinedCall),
            Action::Read if self.has_false_operand() => Some(Class::FalseOperand),
            Action::Read if self.is_left_joined(asked) => Some(Class::JoinLeftOut),
            Action::Read if self.reads(asked).all(|read| self.is_whole(read)) => Some(Class::UnreadTable),
            _ => None,
        }
    }

    fn of_engine(&self, asked: &Asked) -> Option<Class> {
        let behind = self.behind.get_or_init(|| self.look_behind());
        let classes = behind.get(&asked.name);
        let has = |class: &Class| classes.is_some_and(|classes| classes.contains(class));
        if asked.action == Action::Replace {
            return (self.replaces() && !self.writes(&asked.name)).then_some(Class::ReplaceThroughTrigger);
        }
        [Class::TemporaryTrigger, Class::ViewBody, Class::VirtualTable].into_iter().find(has)
    }

    fn replaces(&self) -> bool {
        let conflict = self.statement.target.as_ref().and_then(|target| target.conflict);
        conflict.is_some_and(|(conflict, _)| conflict == Conflict::Replace)
    }

    fn writes(&self, table: &Name) -> bool {
        self.statement.target.as_ref().is_some_and(|target| target.table.table == *table)
    }

    /// The text's reads of a table.
    fn reads<'s>(&'s self, asked: &'s Asked) -> impl Iterator<Item = &'s Request> {
        let same = move |request: &&Request| Asked::by(request).as_ref() == Some(asked);
        self.text.requests.iter().filter(same)
    }

    /// Whether a table is read without a column of it, in a subquery or as a view.
    fn is_whole(&self, read: &Request) -> bool {
        let Resource::Table { table, .. } = &read.resource else { return false };
        self.catalog.is_view(table) || read.span.is_some_and(|span| self.depth(span) > 0)
    }

    /// Whether a table is read only where LEFT JOIN adds it and where USING compares it.
    fn is_left_joined(&self, asked: &Asked) -> bool {
        let is_whole = |read: &&Request| matches!(read.resource, Resource::Table { .. });
        let (tables, columns): (Vec<_>, Vec<_>) = self.reads(asked).partition(is_whole);
        let is = |word: &str, what: &str| word.eq_ignore_ascii_case(what);
        let is_left = |before: &[&str]| match before {
            [.., left, join] if is(left, "LEFT") => is(join, "JOIN"),
            [.., left, outer, join] => is(left, "LEFT") && is(outer, "OUTER") && is(join, "JOIN"),
            _ => false,
        };
        // Back over the list of names to what stands before its parenthesis.
        let is_compared = |before: &[&str]| {
            let mut words = before.iter().rev().skip_while(|word| **word != "(");
            words.nth(1).is_some_and(|word| is(word, "USING"))
        };
        tables.iter().all(|read| read.span.is_some_and(|span| is_left(&self.words_before(span))))
            && columns.iter().all(|read| read.span.is_some_and(|span| is_compared(&self.words_before(span))))
    }

    /// Whether a constant that is false stands beside AND, or is all of a WHERE.
    fn has_false_operand(&self) -> bool {
        let words = self.words_before(Span::new(self.statement.span.end, self.statement.span.end));
        let is_false = |word: &str| word == "0" || word.eq_ignore_ascii_case("false");
        let joins = |word: &str| ["AND", "WHERE", "ON"].iter().any(|and| word.eq_ignore_ascii_case(and));
        words.windows(3).any(|three| match three {
            [a, "(", ")"] => a.eq_ignore_ascii_case("IN"),
            _ => false,
        }) || words.windows(2).any(|two| match two {
            [a, b] => (joins(a) && is_false(b)) || (is_false(a) && joins(b)),
            _ => false,
        })
    }

    fn words_before(&self, span: Span) -> Vec<&str> {
        let before = self.statement.tokens.iter().take_while(|token| token.span.start < span.start);
        before.map(|&token| self.statement.word(token)).collect()
    }

    fn depth(&self, span: Span) -> usize {
        self.words_before(span).iter().fold(0_usize, |depth, word| match *word {
            "(" => depth + 1,
            ")" => depth.saturating_sub(1),
            _ => depth,
        })
    }

    /// What the views, virtual tables and temporary triggers that the text reaches mention.
    fn look_behind(&self) -> BTreeMap<Name, BTreeSet<Class>> {
        let mut behind: BTreeMap<Name, BTreeSet<Class>> = BTreeMap::new();
        let mut names: Vec<Name> = Vec::new();
        self.statement.mentions(|word| {
            names.push(Name::from(word));
            false
        });
        let mut reached = BTreeSet::new();
        while let Some(name) = names.pop() {
            if !reached.insert(name.clone()) {
                continue;
            }
            for (class, body) in self.bodies(&name) {
                Statement::read(body, Span::new(0, body.len())).mentions(|word| {
                    behind.entry(Name::from(word)).or_default().insert(class);
                    names.push(Name::from(word));
                    false
                });
            }
        }
        behind
    }

    /// The texts that stand behind a table's name.
    fn bodies<'s>(&'s self, name: &'s Name) -> impl Iterator<Item = (Class, &'s str)> {
        self.catalog.schemas.iter().flat_map(move |schema| {
            let table = schema.tables.get(name).and_then(|table| match table.kind {
                TableKind::View => Some((Class::ViewBody, table.sql.as_str())),
                TableKind::Virtual(_) => Some((Class::VirtualTable, table.sql.as_str())),
                _ => None,
            });
            let temporary = schema.triggers_on(name).filter(|_| schema.name == *"temp");
            table.into_iter().chain(temporary.map(|(_, r)| (Class::TemporaryTrigger, r.sql.as_str())))
        })
    }
}
