//! SELECT, VALUES, compound queries, FROM lists and WITH.

use seawall::source::Name;

use crate::generator::{Can, Common, Generator, Scope, Source};
use crate::worlds::Kind;

/// Table functions with their columns.
const TABLE_FUNCTIONS: &[(&str, &[&str])] = &[
    ("json_each", &["key", "value", "type", "atom", "id", "parent", "fullkey", "path"]),
    ("json_tree", &["key", "value", "type", "atom", "id", "parent", "fullkey", "path"]),
    ("pragma_table_info", &["cid", "name", "type", "notnull", "dflt_value", "pk"]),
];

impl Generator<'_> {
    /// A query of its own, perhaps with common table expressions; answers the names of its columns.
    pub(crate) fn query(&mut self, width: Option<usize>, depth: usize) -> Vec<String> {
        self.level += 1;
        let before = self.commons.len();
        if depth > 0 && self.tape.one_in(8) {
            self.with(depth - 1);
        }
        let columns = self.compound(width, depth);
        self.commons.truncate(before);
        self.level -= 1;
        columns
    }

    /// A query within an expression.
    pub(crate) fn nested(&mut self, width: Option<usize>, depth: usize) {
        self.with_can(Can::default(), |this| this.query(width, depth));
    }

    fn compound(&mut self, width: Option<usize>, depth: usize) -> Vec<String> {
        let several = self.tape.one_in(6);
        let columns = self.core(width, depth);
        if several {
            for _ in 0..=self.tape.below(2) {
                let operator = self.tape.pick(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
                self.put(operator);
                self.core(Some(columns.len()), depth.saturating_sub(1));
            }
            if self.tape.one_in(3) {
                self.put("ORDER BY 1");
            }
        }
        self.limit(depth);
        columns
    }

    pub(crate) fn limit(&mut self, depth: usize) {
        if !self.tape.one_in(8) {
            return;
        }
        // No column can be named there.
        let scopes = std::mem::take(&mut self.scopes);
        let form = self.tape.below(3);
        self.put("LIMIT");
        self.with_can(Can::default(), |this| {
            this.expression(depth.saturating_sub(1));
            if form > 0 {
                this.put(["", "OFFSET", ","][form]);
                this.expression(0);
            }
        });
        self.scopes = scopes;
    }

    fn core(&mut self, width: Option<usize>, depth: usize) -> Vec<String> {
        if self.tape.one_in(12) {
            return self.values(width.unwrap_or(2), depth);
        }
        self.select(width, depth)
    }

    pub(crate) fn values(&mut self, width: usize, depth: usize) -> Vec<String> {
        self.put("VALUES");
        let rows = 1 + self.tape.below(3);
        self.list(rows, |this, _| {
            this.push("(");
            this.expressions(width, depth.saturating_sub(1));
            this.push(")");
        });
        (1..=width).map(|at| format!("column{at}")).collect()
    }

    fn select(&mut self, width: Option<usize>, depth: usize) -> Vec<String> {
        let deeper = depth.saturating_sub(1);
        let (from, scope) = self.apart(|this| this.from(deeper));
        self.scopes.push(scope);
        let grouped = self.tape.one_in(4);
        let windows = if self.tape.one_in(6) { 1 + self.tape.below(2) } else { 0 };
        let can = Can { aggregate: grouped, window: !grouped, windows };
        self.put("SELECT");
        let distinct = self.tape.pick(&["", "", "", "DISTINCT", "ALL"]);
        self.put(distinct);
        let columns = self.with_can(can, |this| this.items(width, deeper));
        self.out.extend(from);
        if self.tape.one_in(2) {
            self.put("WHERE");
            self.with_can(Can::default(), |this| this.expression(depth));
        }
        if grouped && self.tape.one_in(2) {
            self.put("GROUP BY");
            let count = 1 + self.tape.below(2);
            self.with_can(Can::default(), |this| this.expressions(count, deeper));
            if self.tape.one_in(2) {
                self.put("HAVING");
                let can = Can { aggregate: true, ..Can::default() };
                self.with_can(can, |this| this.expression(deeper));
            }
        }
        self.window_clause(windows, deeper);
        if width.is_none() && self.tape.one_in(4) {
            self.put("ORDER BY");
            self.with_can(can, |this| this.expression(deeper));
            let order = self.tape.pick(&["", "DESC", "ASC", "NULLS FIRST", "COLLATE NOCASE DESC NULLS LAST"]);
            self.put(order);
        }
        self.scopes.pop();
        columns
    }

    /// SQLite looks at a window where it is used, so that what it names does not count as named.
    fn window_clause(&mut self, windows: usize, depth: usize) {
        let mark = self.log.len();
        let named: Vec<bool> = self.notes.uses.iter().map(|used| used.named).collect();
        for at in 0..windows {
            self.put(if at == 0 { "WINDOW" } else { "," });
            self.name_or_string(&format!("w{at}"));
            self.put("AS (");
            if at > 0 && self.tape.one_in(2) {
                self.name_or_string("w0");
            } else {
                self.with_can(Can::default(), |this| this.window_body(depth));
            }
            self.push(")");
        }
        self.notes.windows.extend(self.log[mark..].iter().cloned());
        for (at, used) in self.notes.uses.iter_mut().enumerate() {
            match named.get(at) {
                Some(named) => used.named = *named,
                None => used.windowed = true,
            }
        }
    }

    fn items(&mut self, width: Option<usize>, depth: usize) -> Vec<String> {
        let sources = self.scopes.last().map(|scope| scope.sources.clone()).unwrap_or_default();
        if width.is_none() && !sources.is_empty() && self.tape.one_in(4) {
            let stars = if self.tape.one_in(2) { None } else { Some(self.tape.below(sources.len())) };
            for source in sources.iter().enumerate().filter(|(at, _)| stars.is_none_or(|one| one == *at)) {
                self.named(source.1);
            }
            if let Some(one) = stars {
                self.name_or_string(&sources[one].name);
                self.push(".");
            }
            self.push("*");
            let of = |at: usize| sources[at].columns.clone();
            return match stars {
                Some(one) => of(one),
                // Columns of one name, or those that are merged, are not relied on.
                None if sources.len() == 1 => of(0),
                None => Vec::new(),
            };
        }
        let count = width.unwrap_or_else(|| 1 + self.tape.below(3));
        let mut columns = Vec::new();
        self.list(count, |this, at| {
            this.expression(depth);
            // A result without a name of its own has none that a query around can rely on.
            if at == 0 || this.tape.one_in(2) {
                let alias = this.fresh();
                if this.tape.one_in(2) {
                    this.put("AS");
                    this.name_or_string(&alias);
                } else {
                    let spelled = crate::writer::quoted(&alias);
                    this.push(spelled);
                }
                columns.push(alias);
            } else {
                columns.push(String::new());
            }
        });
        columns
    }

    /// A FROM list, or none.
    fn from(&mut self, depth: usize) -> Scope {
        if self.tape.one_in(10) {
            return Scope::default();
        }
        self.put("FROM");
        self.sources(depth)
    }

    /// What stands behind FROM.
    pub(crate) fn sources(&mut self, depth: usize) -> Scope {
        let mut scope = Scope::default();
        let first = self.factor(&scope, depth);
        scope.sources.push(first);
        let more = if self.tape.one_in(3) { 1 + self.tape.below(2) } else { 0 };
        for _ in 0..more {
            self.joined(&mut scope, depth);
        }
        scope
    }

    fn joined(&mut self, scope: &mut Scope, depth: usize) {
        let natural = self.tape.one_in(4);
        let kind = self.tape.pick(&[
            "JOIN",
            ",",
            "LEFT JOIN",
            "INNER JOIN",
            "CROSS JOIN",
            "LEFT OUTER JOIN",
            "RIGHT JOIN",
            "FULL JOIN",
            "FULL OUTER JOIN",
            "RIGHT OUTER JOIN",
        ]);
        let natural = natural && kind != ",";
        if natural {
            self.put("NATURAL");
        }
        self.put(kind);
        let before = self.notes.uses.len();
        let right = self.factor(scope, depth);
        if kind.contains("LEFT") || kind.contains("RIGHT") || kind.contains("FULL") {
            self.notes.full |= !kind.contains("LEFT");
            let left = scope.sources.iter().filter_map(|source| source.used);
            let sides: Vec<usize> = left.chain(before..self.notes.uses.len()).collect();
            for used in sides {
                self.notes.uses[used].within = true;
            }
        }
        let shared = |column: &&String| {
            !column.is_empty() && scope.sources.iter().any(|source| source.columns.contains(column))
        };
        let shared: Vec<String> = right.columns.iter().filter(shared).cloned().collect();
        scope.sources.push(right);
        if natural {
            self.note_joined(scope);
            return scope.merged.extend(shared);
        }
        if let Some(column) = shared.first()
            && self.tape.one_in(3)
        {
            self.put("USING (");
            self.name_or_string(column);
            self.push(")");
            self.note_joined(scope);
            return scope.merged.push(column.clone());
        }
        if self.tape.one_in(2) {
            self.put("ON");
            self.scopes.push(scope.clone());
            self.with_can(Can::default(), |this| this.expression(depth));
            self.scopes.pop();
        }
    }

    fn note_joined(&mut self, scope: &Scope) {
        for used in scope.sources.iter().filter_map(|source| source.used) {
            self.notes.uses[used].joined = true;
        }
    }

    /// One item of a FROM list.
    fn factor(&mut self, scope: &Scope, depth: usize) -> Source {
        let derived = |name: String, columns| Source {
            name,
            schema: None,
            columns,
            table: None,
            used: None,
            rowid: false,
        };
        let choice = self.tape.below(12);
        if choice >= 10 && depth > 0 {
            self.push("(");
            let scopes = std::mem::take(&mut self.scopes);
            let columns = self.with_can(Can::default(), |this| this.query(None, depth - 1));
            self.scopes = scopes;
            self.push(")");
            let alias = self.alias();
            return derived(alias, columns);
        }
        if choice == 9 {
            let (name, columns) = self.tape.pick(TABLE_FUNCTIONS);
            let is_free = self.world.bare(name).is_none() && self.commons.iter().all(|c| c.name != name);
            if is_free {
                self.name_or_string(name);
                self.push("(");
                if name == "pragma_table_info" {
                    self.push("'t'");
                } else {
                    self.scopes.push(scope.clone());
                    self.with_can(Can::default(), |this| this.expression(depth));
                    self.scopes.pop();
                }
                self.push(")");
                let used = self.used(name, None);
                let name = self.alias();
                let columns = columns.iter().map(|column| (*column).to_owned()).collect();
                return Source { name, schema: None, columns, table: None, used, rowid: false };
            }
        }
        let ready: Vec<Common> = self.commons.iter().filter(|common| common.ready).cloned().collect();
        if choice >= 7 && !ready.is_empty() {
            let common = ready[self.tape.below(ready.len())].clone();
            self.name_or_string(&common.name);
            self.log.extend(common.log);
            self.notes.reaches.push((common.number, self.within));
            let alias = self.alias();
            return derived(alias, common.columns);
        }
        let at = self.tape.below(self.world.tables.len());
        self.table(at, false);
        if self.world.tables[at].kind == Kind::FullText && self.tape.one_in(4) {
            self.put("( 'x' )");
        }
        let name = self.world.tables[at].name;
        let taken = |scope: &Scope| scope.sources.iter().any(|source| source.name.eq_ignore_ascii_case(name));
        let taken = taken(scope) || self.scopes.iter().any(taken);
        let alias = if taken || self.tape.one_in(3) { Some(self.alias()) } else { None };
        if self.tape.one_in(10) {
            self.put("NOT INDEXED");
        }
        self.source(at, alias)
    }

    fn alias(&mut self) -> String {
        let alias = self.fresh();
        if self.tape.one_in(2) {
            self.put("AS");
            self.name_or_string(&alias);
        } else {
            self.name(&alias);
        }
        alias
    }

    /// WITH and its common table expressions, which can be named from now on.
    pub(crate) fn with(&mut self, depth: usize) {
        self.put("WITH");
        let recursive = self.tape.one_in(3);
        if recursive {
            self.put("RECURSIVE");
        }
        let count = 1 + self.tape.below(2);
        let first = self.commons.len();
        for at in 0..count {
            // Some have the name of a table, which they hide.
            let table = self.tape.below(self.world.tables.len() * 2);
            let name = self.world.tables.get(table).map(|table| table.name.to_owned());
            let taken = |name: &String| self.commons[first..].iter().any(|common| common.name == *name);
            let name = name.filter(|name| !taken(name)).unwrap_or_else(|| format!("cte{}{at}", self.level));
            let number = self.notes.commons.len();
            self.notes.commons.push(Name::from(name.as_str()));
            self.commons.push(Common { name, columns: Vec::new(), ready: false, number, log: Vec::new() });
        }
        let scopes = std::mem::take(&mut self.scopes);
        self.list(count, |this, at| this.common(first + at, recursive, depth));
        self.scopes = scopes;
    }

    fn common(&mut self, at: usize, recursive: bool, depth: usize) {
        let name = self.commons[at].name.clone();
        self.name_or_string(&name);
        let given: Option<Vec<String>> = (recursive || self.tape.one_in(3))
            .then(|| (0..=self.tape.below(2)).map(|column| format!("c{column}")).collect());
        if let Some(given) = &given {
            self.push("(");
            self.list(given.len(), |this, column| this.name_or_string(&given[column]));
            self.push(")");
        }
        let hint = self.tape.pick(&["AS", "AS", "AS MATERIALIZED", "AS NOT MATERIALIZED"]);
        self.put(hint);
        self.push("(");
        let can = Can::default();
        let mark = self.log.len();
        let outer = self.within.replace(self.commons[at].number);
        let columns = match &given {
            Some(given) if recursive => {
                self.with_can(can, |this| this.core(Some(given.len()), depth));
                self.put("UNION ALL SELECT");
                let alias = self.fresh();
                let source = Source {
                    name: alias.clone(),
                    schema: None,
                    columns: given.clone(),
                    table: None,
                    used: None,
                    rowid: false,
                };
                self.scopes.push(Scope { sources: vec![source], merged: Vec::new() });
                self.with_can(can, |this| this.expressions(given.len(), depth.min(1)));
                self.scopes.pop();
                self.put("FROM");
                self.name_or_string(&name);
                self.put("AS");
                self.name_or_string(&alias);
                self.put("LIMIT 3");
                given.clone()
            }
            _ => {
                let width = given.as_ref().map(Vec::len);
                let found = self.with_can(can, |this| this.query(width, depth));
                given.unwrap_or(found)
            }
        };
        self.push(")");
        self.within = outer;
        self.commons[at].log = self.log[mark..].to_vec();
        self.commons[at].columns = columns;
        self.commons[at].ready = true;
    }
}
