//! Whole statements: INSERT, UPDATE, DELETE and queries, each perhaps behind WITH and EXPLAIN.

use seawall::source::Name;

use crate::generator::{Can, Generator, Scope, Source};
use crate::worlds::Kind;

const DEPTH: usize = 4;

impl Generator<'_> {
    pub(crate) fn whole(&mut self) {
        let explain = self.tape.below(16);
        match explain {
            14 => self.put("EXPLAIN"),
            15 => self.put("EXPLAIN QUERY PLAN"),
            _ => {}
        }
        let kind = self.tape.below(12);
        if kind < 5 {
            self.query(None, DEPTH);
            return;
        }
        self.level = 1;
        if self.tape.one_in(6) {
            self.with(DEPTH - 2);
        }
        match kind {
            5..=7 => self.insert(),
            8..=9 => self.update(),
            _ => self.delete(),
        }
    }

    /// A table that can be written, and its columns that can be.
    fn target(&mut self) -> (usize, Vec<&'static str>) {
        let writable = |at: &usize| self.world.tables[*at].kind != Kind::View;
        let tables: Vec<usize> = (0..self.world.tables.len()).filter(writable).collect();
        let at = self.tape.pick(&tables);
        self.notes.target = Some(at);
        let table = &self.world.tables[at];
        let columns = table.columns.iter().copied().filter(|column| table.generated != Some(*column));
        (at, columns.collect())
    }

    fn conflict(&mut self, verb: &str, target: usize) {
        let conflict = self.tape.below(9);
        self.put(verb);
        match conflict {
            5 => self.put("OR IGNORE"),
            6 => self.put("OR REPLACE"),
            7 => self.put("OR ABORT"),
            8 => self.put("OR FAIL"),
            _ => {}
        }
        if conflict == 6 {
            self.notes.replaced = Some(target);
        }
    }

    /// The target as what its own columns are named by.
    fn as_source(&self, at: usize, alias: Option<String>) -> Source {
        let table = &self.world.tables[at];
        Source {
            schema: None,
            name: alias.unwrap_or_else(|| table.name.to_owned()),
            columns: table.columns.iter().map(|column| (*column).to_owned()).collect(),
            table: Some(table.name),
            used: None,
            rowid: table.kind == Kind::Rows,
        }
    }

    fn target_alias(&mut self) -> Option<String> {
        if !self.tape.one_in(5) {
            return None;
        }
        let alias = self.fresh();
        self.put("AS");
        self.name_or_string(&alias);
        Some(alias)
    }

    fn insert(&mut self) {
        let (at, columns) = self.target();
        let kind = self.world.tables[at].kind;
        if self.tape.one_in(8) {
            self.put("REPLACE");
            self.notes.replaced = Some(at);
        } else {
            self.conflict("INSERT", at);
        }
        self.put("INTO");
        self.table(at, true);
        let alias = self.target_alias();
        let form = self.tape.below(10);
        if form == 9 {
            self.put("DEFAULT VALUES");
            return self.returning(at, alias);
        }
        let mut given = columns.clone();
        if form.is_multiple_of(2) {
            let width = 1 + self.tape.below(columns.len());
            given = self.tape.take(&columns, width);
            self.push("(");
            self.list(width, |this, column| this.name_or_string(given[column]));
            self.push(")");
        }
        let width = given.len();
        let upserts = if kind != Kind::FullText && self.tape.one_in(3) { 1 + self.tape.below(2) } else { 0 };
        if form < 6 {
            self.values(width, DEPTH - 1);
        } else if upserts > 0 {
            // Without WHERE, ON would belong to a join.
            self.put("SELECT");
            self.expressions(width, DEPTH - 2);
            self.put("WHERE");
            self.expression(DEPTH - 2);
        } else {
            self.level -= 1;
            self.query(Some(width), DEPTH - 1);
            self.level += 1;
        }
        // A later clause may be for what an earlier one took, and no row can conflict in a key that
        // there is not or that SQLite makes itself.
        let never = upserts > 1 || self.world.tables[at].key.is_none_or(|key| !given.contains(&key));
        let mark = self.log.len();
        for number in 0..upserts {
            self.upsert(at, &columns, alias.clone(), number + 1 == upserts);
        }
        if upserts > 0 && never {
            self.log.push(Name::from(self.world.tables[at].name));
            self.silent_since(mark);
        }
        self.returning(at, alias);
    }

    fn upsert(&mut self, at: usize, columns: &[&'static str], alias: Option<String>, last: bool) {
        self.put("ON CONFLICT");
        let key = self.world.tables[at].key;
        let target = self.as_source(at, alias);
        let own = Scope { sources: vec![target.clone()], merged: Vec::new() };
        if let Some(key) = key
            && (!last || self.tape.one_in(2))
        {
            self.push("(");
            self.name(key);
            self.push(")");
            if self.tape.one_in(4) {
                self.put("WHERE");
                self.scopes.push(own);
                self.expression(1);
                self.scopes.pop();
            }
        }
        if !self.tape.one_in(2) {
            return self.put("DO NOTHING");
        }
        self.put("DO UPDATE SET");
        let excluded = Source { name: "excluded".to_owned(), ..self.as_source(at, None) };
        self.scopes.push(Scope { sources: vec![target, excluded], merged: Vec::new() });
        self.assignments(columns);
        if self.tape.one_in(3) {
            self.put("WHERE");
            self.expression(DEPTH - 2);
        }
        self.scopes.pop();
    }

    fn assignments(&mut self, columns: &[&'static str]) {
        let count = 1 + self.tape.below(2);
        let mark = self.log.len();
        let mut set = Vec::new();
        self.list(count, |this, _| {
            if columns.len() > 1 && this.tape.one_in(4) {
                let columns = this.tape.take(columns, 2);
                set.extend(columns.clone());
                this.push("(");
                this.list(2, |this, at| this.name_or_string(columns[at]));
                this.put(") = (");
                if this.tape.one_in(2) {
                    this.nested(Some(2), DEPTH - 2);
                } else {
                    this.expressions(2, DEPTH - 2);
                }
                this.push(")");
            } else {
                let column = this.tape.pick(columns);
                set.push(column);
                this.name_or_string(column);
                this.push("=");
                this.expression(DEPTH - 2);
            }
        });
        self.note_twice(&set, mark);
    }

    /// SQLite keeps the last of what is assigned to one column.
    fn note_twice(&mut self, set: &[&str], mark: usize) {
        if (1..set.len()).any(|at| set[at..].contains(&set[at - 1])) {
            self.silent_since(mark);
        }
    }

    fn update(&mut self) {
        let (at, columns) = self.target();
        self.conflict("UPDATE", at);
        self.table(at, true);
        let alias = self.target_alias();
        self.put("SET");
        let mut scope = Scope { sources: vec![self.as_source(at, alias.clone())], merged: Vec::new() };
        let from = if self.tape.one_in(4) {
            let (from, more) = self.apart(|this| this.sources(DEPTH - 2));
            scope.sources.extend(more.sources);
            scope.merged = more.merged;
            Some(from)
        } else {
            None
        };
        self.scopes.push(scope);
        self.assignments(&columns);
        if let Some(from) = from {
            self.put("FROM");
            self.out.extend(from);
        }
        if self.tape.one_in(2) {
            self.put("WHERE");
            self.expression(DEPTH - 1);
        }
        self.scopes.pop();
        self.returning(at, alias);
    }

    fn delete(&mut self) {
        let (at, _) = self.target();
        self.put("DELETE FROM");
        self.table(at, true);
        let alias = self.target_alias();
        self.scopes.push(Scope { sources: vec![self.as_source(at, alias.clone())], merged: Vec::new() });
        if self.tape.one_in(2) {
            self.put("WHERE");
            self.expression(DEPTH - 1);
        }
        self.scopes.pop();
        self.returning(at, alias);
    }

    fn returning(&mut self, at: usize, alias: Option<String>) {
        if !self.tape.one_in(4) {
            return;
        }
        self.put("RETURNING");
        if self.tape.one_in(3) {
            return self.push("*");
        }
        self.scopes.push(Scope { sources: vec![self.as_source(at, alias)], merged: Vec::new() });
        let count = 1 + self.tape.below(2);
        self.with_can(Can::default(), |this| this.expressions(count, DEPTH - 2));
        self.scopes.pop();
    }
}
