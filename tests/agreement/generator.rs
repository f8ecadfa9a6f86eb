//! What the generators of expressions, queries and changes share: tokens, names in scope, and notes
//! on what was written.

use std::collections::BTreeSet;

use seawall::source::Name;

use crate::tape::Tape;
use crate::worlds::{Kind, World};
use crate::writer::{spaced, spelled};

/// A table, view, subquery or table function in a FROM list, or the target of a change.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The name before a column.
    pub(crate) name: String,
    /// The schema that may stand before the name.
    pub(crate) schema: Option<&'static str>,
    pub(crate) columns: Vec<String>,
    /// The table that it is.
    pub(crate) table: Option<&'static str>,
    /// Where a table's use is noted.
    pub(crate) used: Option<usize>,
    pub(crate) rowid: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) sources: Vec<Source>,
    /// Columns that USING or NATURAL made one.
    pub(crate) merged: Vec<String>,
}

/// A common table expression.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    /// Whether it can be named here; one that cannot still hides a table of its name.
    pub(crate) ready: bool,
    /// Its number, counted over the whole statement.
    pub(crate) number: usize,
    /// What its query names.
    pub(crate) log: Vec<Name>,
}

/// One place where a table or a table function is read by its name.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) name: &'static str,
    /// The table, if it is one.
    pub(crate) table: Option<usize>,
    /// The common table expression around.
    pub(crate) common: Option<usize>,
    /// Whether it stands in a query within another one, or on a side of an outer join.
    pub(crate) within: bool,
    /// Whether it is joined by name.
    pub(crate) joined: bool,
    /// Whether it stands in the definition of a window.
    pub(crate) windowed: bool,
    /// Whether one of its columns is named outside of USING.
    pub(crate) named: bool,
}

/// What was written, as far as it explains how the witnesses differ.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) uses: Vec<Use>,
    /// What stands where SQLite may not look: beside `IN ()` and a zero with AND, in what is assigned
    /// to a column twice, in an ON CONFLICT clause that is never reached.
    pub(crate) silent: BTreeSet<Name>,
    /// The table of an OR REPLACE or REPLACE.
    pub(crate) replaced: Option<usize>,
    /// The table that a statement writes.
    pub(crate) target: Option<usize>,
    /// What the definition of a window names.
    pub(crate) windows: BTreeSet<Name>,
    /// Whether there is a RIGHT or FULL join.
    pub(crate) full: bool,
    /// The names of the common table expressions.
    pub(crate) commons: Vec<Name>,
    /// Which of them is named, and the one that names it.
    pub(crate) reaches: Vec<(usize, Option<usize>)>,
}

impl Notes {
    /// The uses that the statement itself reaches: not those of a common table expression that nothing names.
    pub(crate) fn reached(&self) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(|used| self.is_reached(used.common, self.commons.len()))
    }

    fn is_reached(&self, common: Option<usize>, steps: usize) -> bool {
        let Some(common) = common else { return true };
        let from = |reach: &&(usize, Option<usize>)| reach.0 == common && reach.1 != Some(common);
        steps > 0 && self.reaches.iter().filter(from).any(|reach| self.is_reached(reach.1, steps - 1))
    }
}

/// What may stand in an expression.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Can {
    pub(crate) aggregate: bool,
    pub(crate) window: bool,
    pub(crate) windows: usize,
}

#[derive(Debug)]
pub(crate) struct Generator<'g> {
    pub(crate) world: &'g World,
    pub(crate) tape: Tape<'g>,
    pub(crate) out: Vec<String>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) commons: Vec<Common>,
    pub(crate) can: Can,
    /// The tables and functions that were named so far, in their order.
    pub(crate) log: Vec<Name>,
    /// How many names were given.
    pub(crate) given: usize,
    pub(crate) notes: Notes,
    /// Queries around.
    pub(crate) level: usize,
    /// The common table expression around.
    pub(crate) within: Option<usize>,
}

/// A statement with what is known about it.
#[derive(Clone, Debug)]
pub(crate) struct Generated {
    pub(crate) sql: String,
    pub(crate) notes: Notes,
}

/// A statement on rows of `world`.
pub(crate) fn statement(world: &World, bytes: &[u8]) -> Generated {
    let mut generator = Generator {
        world,
        tape: Tape::new(bytes),
        out: Vec::new(),
        scopes: Vec::new(),
        commons: Vec::new(),
        can: Can::default(),
        log: Vec::new(),
        given: 0,
        notes: Notes::default(),
        level: 0,
        within: None,
    };
    generator.whole();
    let Generator { out, mut tape, notes, .. } = generator;
    Generated { sql: spaced(&out, &mut tape), notes }
}

impl Generator<'_> {
    /// Words and marks, as given between blanks; letters in random case now and then.
    pub(crate) fn put(&mut self, words: &str) {
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            let word = match self.tape.below(8) {
                6 => word.to_lowercase(),
                7 if word.len() > 1 => word[..1].to_owned() + &word[1..].to_lowercase(),
                _ => word.to_owned(),
            };
            self.out.push(word);
        }
    }

    /// A token as it is.
    pub(crate) fn push(&mut self, token: impl Into<String>) {
        self.out.push(token.into());
    }

    pub(crate) fn name(&mut self, name: &str) {
        let spelled = spelled(name, false, &mut self.tape);
        self.out.push(spelled);
    }

    /// A name where SQLite takes a string for one.
    pub(crate) fn name_or_string(&mut self, name: &str) {
        let spelled = spelled(name, true, &mut self.tape);
        self.out.push(spelled);
    }

    /// What `write` writes, kept apart.
    pub(crate) fn apart<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (Vec<String>, T) {
        let before = std::mem::take(&mut self.out);
        let value = write(self);
        (std::mem::replace(&mut self.out, before), value)
    }

    /// `write` once and perhaps again, with commas between.
    pub(crate) fn list(&mut self, count: usize, mut write: impl FnMut(&mut Self, usize)) {
        for at in 0..count {
            if at > 0 {
                self.push(",");
            }
            write(self, at);
        }
    }

    /// `write` under other permissions for aggregates and windows.
    pub(crate) fn with_can<T>(&mut self, can: Can, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.can, can);
        let value = write(self);
        self.can = before;
        value
    }

    pub(crate) fn fresh(&mut self) -> String {
        self.given += 1;
        let odd = ["q", "Row ", "ñ", "over", "json", "t"];
        format!("{}{}", self.tape.pick(&odd), self.given)
    }

    /// The name of a table, with its schema where a bare name would mean something else.
    pub(crate) fn table(&mut self, at: usize, as_target: bool) {
        let table = &self.world.tables[at];
        let (schema, name) = (table.schema, table.name);
        let common = !as_target && self.commons.iter().any(|common| common.name.eq_ignore_ascii_case(name));
        if common || self.world.bare(name) != Some(at) || self.tape.one_in(4) {
            self.name_or_string(schema);
            self.push(".");
        }
        self.name_or_string(name);
    }

    /// Notes a use.
    pub(crate) fn used(&mut self, name: &'static str, table: Option<usize>) -> Option<usize> {
        self.log.push(Name::from(name));
        self.notes.uses.push(Use {
            name,
            table,
            common: self.within,
            within: self.level > 1,
            joined: false,
            windowed: false,
            named: false,
        });
        Some(self.notes.uses.len() - 1)
    }

    /// The table as a source, and its use noted.
    pub(crate) fn source(&mut self, at: usize, alias: Option<String>) -> Source {
        let table = &self.world.tables[at];
        let used = self.used(table.name, Some(at));
        let table = &self.world.tables[at];
        Source {
            schema: alias.is_none().then_some(table.schema),
            name: alias.unwrap_or_else(|| table.name.to_owned()),
            columns: table.columns.iter().map(|column| (*column).to_owned()).collect(),
            table: Some(table.name),
            used,
            rowid: matches!(table.kind, Kind::Rows | Kind::FullText),
        }
    }

    /// Notes that SQLite may not look at what was named since `mark`, a length of the log.
    pub(crate) fn silent_since(&mut self, mark: usize) {
        self.notes.silent.extend(self.log[mark..].iter().cloned());
    }

    pub(crate) fn named(&mut self, source: &Source) {
        if let Some(name) = &source.table {
            self.log.push(Name::from(*name));
        }
        if let Some(used) = source.used {
            self.notes.uses[used].named = true;
        }
    }

    /// A column of something in scope, or a literal where nothing is.
    pub(crate) fn column(&mut self) {
        let depths: Vec<usize> =
            (0..self.scopes.len()).rev().filter(|at| !self.scopes[*at].sources.is_empty()).collect();
        if depths.is_empty() {
            return self.literal();
        }
        let depth = if self.tape.one_in(4) { self.tape.pick(&depths) } else { depths[0] };
        let scope = &self.scopes[depth];
        let source = scope.sources[self.tape.below(scope.sources.len())].clone();
        if source.columns.is_empty() {
            return self.literal();
        }
        let column = source.columns[self.tape.below(source.columns.len())].clone();
        let holds = |other: &&Source| other.columns.iter().any(|c| c.eq_ignore_ascii_case(&column));
        let is_merged = scope.merged.contains(&column);
        let here = scope.sources.iter().filter(holds).count();
        let inner = self.scopes[depth + 1..].iter().flat_map(|s| &s.sources).filter(holds).count();
        let alone = scope.sources.len() == 1;
        let bare = (here == 1 || is_merged) && inner == 0;
        let rowid = source.rowid && alone && inner == 0 && self.tape.one_in(8);
        let bare = bare && !self.tape.one_in(3);
        // A bare name that is joined by may be any side's.
        if !(bare && is_merged) {
            self.named(&source);
        }
        if bare {
            if rowid {
                let word = self.tape.pick(&["rowid", "_rowid_", "ROWID"]);
                return self.push(word);
            }
            return self.name(&column);
        }
        if let Some(schema) = source.schema
            && self.tape.one_in(4)
        {
            self.name_or_string(schema);
            self.push(".");
        }
        self.name_or_string(&source.name.clone());
        self.push(".");
        if rowid { self.push("rowid") } else { self.name_or_string(&column) }
    }
}
