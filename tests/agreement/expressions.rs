//! Expressions: every operator, call and nested query of SQLite's grammar.

use seawall::source::Name;

use crate::generator::Generator;

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
    pub(crate) fn operand(&mut self, depth: usize) {
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
        if !matches!(operator, "AND" | "OR") {
            return;
        }
        // What is always false takes the other operand away before anything is asked.
        let (left, right) = (&self.out[start..before - 1], &self.out[before..]);
        let is_literal = |operand: &[String]| operand.iter().any(|word| LITERALS.contains(&word.as_str()));
        self.notes.constant |= is_literal(left) || is_literal(right);
        if operator == "AND" && (is_false(left) || is_false(right)) {
            self.out.insert(start, "(".to_owned());
            self.push(")");
            self.silent_since(mark);
        }
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
                self.notes.constant = true;
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
}

/// Whether SQLite may see that an operand is false: it holds a zero, or asks whether a literal is null.
fn is_false(operand: &[String]) -> bool {
    let words: Vec<String> = operand.iter().map(|word| word.to_ascii_lowercase()).collect();
    let words: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !["(", ")"].contains(word)).collect();
    words.iter().any(|word| ["0", "false", "isnull"].contains(word))
        || words.windows(2).any(|two| two == ["is", "null"])
}
