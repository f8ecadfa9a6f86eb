//! Calls: functions, aggregates, windows, and full-text search.

use seawall::source::Name;

use crate::generator::{Can, Generator, Source};
use crate::worlds::Kind;

/// Functions with the fewest and the most arguments.
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("abs", 1, 1),
    ("lower", 1, 1),
    ("hex", 1, 1),
    ("coalesce", 2, 4),
    ("iif", 3, 3),
    ("ifnull", 2, 2),
    ("max", 2, 3),
    ("min", 2, 3),
    ("length", 1, 1),
    ("nullif", 2, 2),
    ("printf", 1, 3),
    ("format", 1, 2),
    ("replace", 3, 3),
    ("substr", 2, 3),
    ("substring", 2, 2),
    ("trim", 1, 2),
    ("ltrim", 1, 1),
    ("typeof", 1, 1),
    ("glob", 2, 2),
    ("like", 2, 3),
    ("json_extract", 2, 2),
    ("json_array", 0, 2),
    ("json", 1, 1),
    ("date", 0, 2),
    ("strftime", 2, 2),
    ("total_changes", 0, 0),
    ("changes", 0, 0),
    ("last_insert_rowid", 0, 0),
    ("random", 0, 0),
    ("sqlite_version", 0, 0),
    ("likely", 1, 1),
    ("likelihood", 1, 1),
    ("unlikely", 1, 1),
    ("char", 0, 2),
    ("round", 1, 2),
    ("ceil", 1, 1),
    ("floor", 1, 1),
    ("concat", 1, 2),
    ("unicode", 1, 1),
    ("zeroblob", 1, 1),
    ("load_extension", 1, 1),
    ("if", 3, 3),
    ("instr", 2, 2),
    ("quote", 1, 1),
];

const AGGREGATES: &[(&str, usize, usize)] = &[
    ("count", 0, 1),
    ("sum", 1, 1),
    ("total", 1, 1),
    ("avg", 1, 1),
    ("max", 1, 1),
    ("min", 1, 1),
    ("group_concat", 1, 2),
    ("string_agg", 2, 2),
    ("json_group_array", 1, 1),
    ("json_group_object", 2, 2),
];

const WINDOWS: &[(&str, usize, usize)] = &[
    ("row_number", 0, 0),
    ("rank", 0, 0),
    ("dense_rank", 0, 0),
    ("lag", 1, 3),
    ("lead", 1, 2),
    ("first_value", 1, 1),
    ("last_value", 1, 1),
    ("sum", 1, 1),
    ("count", 1, 1),
    ("max", 1, 1),
];

impl Generator<'_> {
    pub(crate) fn call(&mut self, depth: usize) {
        let (name, fewest, most) = self.tape.pick(FUNCTIONS);
        self.log.push(Name::from(name));
        self.name(name);
        self.push("(");
        if name == "likelihood" {
            self.expression(depth);
            self.put(", 0.5");
        } else {
            let count = fewest + self.tape.below(most - fewest + 1);
            self.expressions(count, depth);
        }
        self.push(")");
    }

    pub(crate) fn aggregate(&mut self, depth: usize) {
        let (name, fewest, most) = self.tape.pick(AGGREGATES);
        self.log.push(Name::from(name));
        self.name(name);
        self.push("(");
        let count = fewest + self.tape.below(most - fewest + 1);
        self.with_can(Can::default(), |this| {
            if count == 0 {
                this.push("*");
            } else {
                if count == 1 && this.tape.one_in(4) {
                    this.put("DISTINCT");
                }
                this.expressions(count, depth);
                if this.tape.one_in(4) {
                    this.put("ORDER BY");
                    this.expression(depth);
                    let direction = this.tape.pick(&["", "DESC", "ASC NULLS LAST"]);
                    this.put(direction);
                }
            }
        });
        self.push(")");
        self.filter(depth);
    }

    fn filter(&mut self, depth: usize) {
        if self.tape.one_in(4) {
            self.put("FILTER ( WHERE");
            self.with_can(Can::default(), |this| this.expression(depth));
            self.push(")");
        }
    }

    pub(crate) fn window(&mut self, depth: usize) {
        let (name, fewest, most) = self.tape.pick(WINDOWS);
        self.log.push(Name::from(name));
        self.name(name);
        self.push("(");
        let count = fewest + self.tape.below(most - fewest + 1);
        let inner = Can { window: false, ..self.can };
        self.with_can(inner, |this| this.expressions(count, depth));
        self.push(")");
        if ["sum", "count", "max"].contains(&name) {
            self.filter(depth);
        }
        self.put("OVER");
        if self.can.windows > 0 && self.tape.one_in(2) {
            let name = format!("w{}", self.tape.below(self.can.windows));
            if self.tape.one_in(2) {
                return self.name_or_string(&name);
            }
            self.push("(");
            self.name_or_string(&name);
            self.push(")");
            return;
        }
        self.push("(");
        self.with_can(inner, |this| this.window_body(depth));
        self.push(")");
    }

    /// What stands between the parentheses of a window.
    pub(crate) fn window_body(&mut self, depth: usize) {
        if self.tape.one_in(2) {
            self.put("PARTITION BY");
            let count = 1 + self.tape.below(2);
            self.expressions(count, depth);
        }
        self.put("ORDER BY");
        self.expression(depth);
        let frame = self.tape.pick(&[
            "",
            "",
            "ROWS 1 PRECEDING",
            "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            "RANGE BETWEEN '2' PRECEDING AND 2 FOLLOWING EXCLUDE TIES",
            "GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW",
            "ROWS UNBOUNDED PRECEDING EXCLUDE NO OTHERS",
        ]);
        self.put(frame);
    }

    /// `x MATCH y` with a full-text table in scope, and its ranking function.
    pub(crate) fn match_full_text(&mut self) {
        let full_text = |source: &Source| {
            let table = self.notes.uses[source.used?].table.map(|at| &self.world.tables[at])?;
            (table.kind == Kind::FullText).then_some(table.name)
        };
        let sources = self.scopes.last().map(|scope| scope.sources.clone()).unwrap_or_default();
        let Some((source, hidden)) = sources.iter().find_map(|source| Some((source, full_text(source)?)))
        else {
            return self.operand(0);
        };
        self.named(source);
        if self.tape.one_in(3) {
            self.log.push(Name::from("bm25"));
            self.put("bm25 (");
            self.name(hidden);
            return self.push(")");
        }
        self.name(&source.name);
        self.push(".");
        self.name(hidden);
        self.log.push(Name::from("match"));
        self.put("MATCH");
        self.push("'x'");
    }
}
