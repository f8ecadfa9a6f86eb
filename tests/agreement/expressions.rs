//! Expressions: every operator, call and nested query of SQLite's grammar.

use seawall::source::Name;

use crate::generator::{Can, Generator, Source};
use crate::worlds::Kind;

const LITERALS: &[&str] = &[
    "1",
    "'x'",
    "NULL",
    "2.5e3",
    "0x1F",
    ".5",
    "'it''s;'",
    "''",
    "x'00ff'",
    "X'ab'",
    "1_000",
    "0xF_F",
    "TRUE",
    "false",
    "?",
    "?2",
    ":a",
    "@b",
    "$c::d(e)",
    "CURRENT_TIMESTAMP",
    "current_date",
    "\"no such\"",
    "7",
    "0",
    "'log'",
    "'$.a'",
];

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

const BINARY: &[&str] = &[
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "=",
    "==",
    "<>",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "AND",
    "OR",
    "IS",
    "IS NOT",
    "IS DISTINCT FROM",
    "IS NOT DISTINCT FROM",
    "LIKE",
    "NOT LIKE",
    "GLOB",
    "NOT GLOB",
    "->",
    "->>",
    "<<",
    ">>",
    "&",
    "|",
    "REGEXP",
    "NOT REGEXP",
];

const TYPES: &[&str] =
    &["TEXT", "INTEGER", "decimal ( 1 , 2 )", "VARYING CHARACTER ( 9 )", "unsigned big int", "JSON BLOB"];

const COLLATIONS: &[&str] = &["NOCASE", "\"BINARY\"", "rtrim", "[nocase]"];

impl Generator<'_> {
    pub(crate) fn literal(&mut self) {
        let literal = self.tape.pick(LITERALS);
        if literal.starts_with(['C', 'c']) {
            self.log.push(Name::from(literal));
        }
        self.push(literal);
    }

    /// An operand that needs no parentheses.
    fn operand(&mut self, depth: usize) {
        if depth == 0 {
            return if self.tape.one_in(3) { self.literal() } else { self.column() };
        }
        if self.tape.one_in(2) {
            self.expression(depth);
        } else {
            self.push("(");
            self.expression(depth);
            self.push(")");
        }
    }

    pub(crate) fn expressions(&mut self, count: usize, depth: usize) {
        self.list(count, |this, _| this.expression(depth));
    }

    pub(crate) fn expression(&mut self, depth: usize) {
        if depth == 0 {
            return self.operand(0);
        }
        let deeper = depth - 1;
        let mark = self.log.len();
        match self.tape.below(30) {
            0..=3 => self.operand(0),
            4..=7 => {
                let start = self.out.len();
                self.operand(deeper);
                let operator = self.tape.pick(BINARY);
                self.binary(operator, deeper, start, mark);
            }
            8..=10 => self.call(deeper),
            11 => {
                let prefix = self.tape.pick(&["-", "NOT", "~", "+", "- -"]);
                self.put(prefix);
                self.operand(deeper);
            }
            12 => {
                self.operand(deeper);
                let postfix =
                    self.tape.pick(&["ISNULL", "NOTNULL", "NOT NULL", "IS NULL", "IS NOT TRUE", "IS FALSE"]);
                self.put(postfix);
            }
            13 => {
                self.operand(deeper);
                self.put("COLLATE");
                let collation = self.tape.pick(COLLATIONS);
                self.push(collation);
            }
            14 => {
                self.put("CAST (");
                self.expression(deeper);
                self.put("AS");
                let of = self.tape.pick(TYPES);
                self.put(of);
                self.push(")");
            }
            15 => self.case(deeper),
            16 => {
                self.operand(deeper);
                let between = self.tape.pick(&["BETWEEN", "NOT BETWEEN"]);
                self.put(between);
                self.operand(deeper);
                self.put("AND");
                self.operand(deeper);
            }
            17 => {
                self.operand(deeper);
                self.put("LIKE");
                self.log.push(Name::from("like"));
                self.operand(deeper);
                self.put("ESCAPE");
                self.push("'\\'");
            }
            18..=20 => self.is_in(deeper),
            21..=22 => {
                self.push("(");
                self.nested(Some(1), deeper);
                self.push(")");
            }
            23 => {
                let exists = self.tape.pick(&["EXISTS (", "NOT EXISTS ("]);
                self.put(exists);
                self.nested(None, deeper);
                self.push(")");
            }
            24 => self.row_value(deeper),
            25..=26 if self.can.aggregate => self.aggregate(deeper),
            27..=28 if self.can.window => self.window(deeper),
            29 => self.match_full_text(),
            _ => self.operand(0),
        }
    }

    fn binary(&mut self, operator: &str, depth: usize, start: usize, mark: usize) {
        self.log.push(Name::from(operator.trim_start_matches("NOT ")));
        self.put(operator);
        let before = self.out.len();
        self.operand(depth);
        if operator != "AND" {
            return;
        }
        // What is always false takes the other operand away before anything is asked.
        let (left, right) = (&self.out[start..before - 1], &self.out[before..]);
        if is_false(left) || is_false(right) {
            self.out.insert(start, "(".to_owned());
            self.push(")");
            self.silent_since(mark);
        }
    }

    fn call(&mut self, depth: usize) {
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

    fn case(&mut self, depth: usize) {
        self.put("CASE");
        if self.tape.one_in(2) {
            self.operand(depth);
        }
        for _ in 0..=self.tape.below(2) {
            self.put("WHEN");
            self.expression(depth);
            self.put("THEN");
            self.expression(depth);
        }
        if self.tape.one_in(2) {
            self.put("ELSE");
            self.expression(depth);
        }
        self.put("END");
    }

    fn is_in(&mut self, depth: usize) {
        let mark = self.log.len();
        let tables = self.world.tables.len();
        let table = self.tape.below(tables);
        let width = self.world.tables[table].columns.len();
        let operator = self.tape.pick(&["IN", "NOT IN"]);
        match self.tape.below(6) {
            0 => {
                self.operand(depth);
                self.put(operator);
                self.push("(");
                let count = 1 + self.tape.below(3);
                self.expressions(count, depth);
                self.push(")");
            }
            1 => {
                self.push("(");
                self.operand(depth);
                self.put(operator);
                self.put("( ) )");
                self.silent_since(mark);
            }
            2 | 3 => {
                if width == 1 {
                    self.operand(depth);
                } else {
                    self.push("(");
                    self.expressions(width, depth);
                    self.push(")");
                }
                self.put(operator);
                self.level += 1;
                let source = self.source(table, None);
                self.level -= 1;
                self.named(&source);
                self.table(table, false);
            }
            _ => {
                let width = 1 + self.tape.below(2);
                if width == 1 {
                    self.operand(depth);
                } else {
                    self.push("(");
                    self.expressions(width, depth);
                    self.push(")");
                }
                self.put(operator);
                self.push("(");
                self.nested(Some(width), depth);
                self.push(")");
            }
        }
    }

    fn row_value(&mut self, depth: usize) {
        let width = 2 + self.tape.below(2);
        self.push("(");
        self.expressions(width, depth);
        self.push(")");
        let operator = self.tape.pick(&["=", "<", "IS", "<>", ">="]);
        self.put(operator);
        self.push("(");
        if self.tape.one_in(2) {
            self.nested(Some(width), depth);
        } else {
            self.expressions(width, depth);
        }
        self.push(")");
    }

    fn aggregate(&mut self, depth: usize) {
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

    fn window(&mut self, depth: usize) {
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
    fn match_full_text(&mut self) {
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

/// Whether SQLite may see that an operand is false: it holds a zero, or asks whether a literal is null.
fn is_false(operand: &[String]) -> bool {
    let words: Vec<String> = operand.iter().map(|word| word.to_ascii_lowercase()).collect();
    let words: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !["(", ")"].contains(word)).collect();
    words.iter().any(|word| ["0", "false", "isnull"].contains(word))
        || words.windows(2).any(|two| two == ["is", "null"])
}
