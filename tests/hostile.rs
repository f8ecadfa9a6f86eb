//! Texts that are long, deep or broken: every witness answers as SQLite does, on a small stack.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic of a helper is the failure of its test")]

use proptest::prelude::*;
use rusqlite::Connection;
use seawall::policy::{Limits, Policy};
use seawall::source::Source;
use seawall::{Guard, setup};

const SCHEMA: &str = "CREATE TABLE t(a, b); CREATE TABLE secret(k); INSERT INTO t VALUES (1, 'one')";

fn join(count: usize, separator: &str, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().join(separator)
}

fn nested(depth: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

/// A text by its name.
type Named = (String, String);

/// Runs of operators, and everything that nests, `depth` deep.
fn deep(depth: usize) -> Vec<Named> {
    let mut texts: Vec<Named> = Vec::new();
    let mut add = |name: &str, sql: String| texts.push((format!("{depth} times {name}"), sql));
    add("+ before GLOB", format!("SELECT a{} GLOB 'x' FROM t", "+1".repeat(depth)));
    for operator in [" AND a", " OR a", "||a", "->>a", " LIKE a", " IS a", "=a"] {
        add(operator, format!("SELECT 1 FROM t WHERE a{}", operator.repeat(depth)));
    }
    for prefix in ["NOT ", "- ", "~", "+"] {
        add(prefix, format!("SELECT {}1", prefix.repeat(depth)));
    }
    let one = |open: &str, inner: &str, close: &str| nested(depth, open, inner, close);
    add("parentheses", format!("SELECT {}", one("(", "1", ")")));
    add("parentheses in VALUES", format!("INSERT INTO t VALUES ({}, 2)", one("(", "1", ")")));
    add("parentheses in IN", format!("SELECT 1 IN ({})", one("(", "1", ")")));
    add("joins in parentheses", format!("SELECT 1 FROM {}", one("(", "t", ")")));
    add("lists in IN", format!("SELECT {}", one("1 IN (", "1", ")")));
    add("subqueries", format!("SELECT {}", one("(SELECT ", "1", ")")));
    add("subqueries in FROM", format!("SELECT * FROM {}", one("(SELECT * FROM ", "t", ")")));
    add("EXISTS", format!("SELECT {}", one("EXISTS (SELECT ", "1", ")")));
    add("calls", format!("SELECT {}", one("abs(", "1", ")")));
    add("CASE", format!("SELECT {}", one("CASE WHEN 1 THEN ", "1", " END")));
    add("CASE in WHEN", format!("SELECT {}", one("CASE WHEN ", "1", " THEN 1 END")));
    add("CAST", format!("SELECT {}", one("CAST(", "1", " AS TEXT)")));
    add("WITH", one("WITH c AS (", "SELECT 1", ") SELECT * FROM c"));
    add("an open parenthesis", format!("SELECT {}", "(".repeat(depth)));
    add("an open subquery", "SELECT (".repeat(depth));
    add("an open CASE", format!("SELECT {}", "CASE WHEN ".repeat(depth)));
    add("a closing parenthesis", format!("SELECT 1{}", ")".repeat(depth)));
    texts
}

/// Much of everything, side by side.
fn long() -> Vec<Named> {
    let mut texts: Vec<Named> = Vec::new();
    let mut add = |name: &str, sql: String| texts.push((name.to_owned(), sql));
    add(
        "rows of literals",
        format!("INSERT INTO t VALUES {}", join(500_000, ", ", |n| format!("({n}, 'row {n}')"))),
    );
    add(
        "rows of expressions",
        format!("INSERT INTO t VALUES {}", join(5_000, ", ", |n| format!("({n} + 1, upper('row {n}'))"))),
    );
    add("statements", join(20_000, ";\n", |n| format!("INSERT INTO t VALUES ({n}, 'row')")));
    add("one string", format!("INSERT INTO t VALUES (1, '{}')", "x".repeat(5_000_000)));
    add("one comment", format!("INSERT INTO t /*{}*/ VALUES (1, 2)", "x".repeat(5_000_000)));
    add("one line comment", format!("INSERT INTO t --{}\n VALUES (1, 2)", "x".repeat(5_000_000)));
    add("comments", format!("INSERT INTO t {} VALUES (1, 2)", "/**/".repeat(500_000)));
    add("columns", format!("INSERT INTO t({}) VALUES (1)", join(100_000, ", ", |n| format!("c{n}"))));
    add("results", format!("SELECT {} FROM t", join(100_000, ", ", |_| "a".to_owned())));
    add("assignments", format!("UPDATE t SET {}", join(100_000, ", ", |_| "a = 1".to_owned())));
    add("arguments", format!("SELECT max({})", join(100_000, ", ", |n| n.to_string())));
    add("values in IN", format!("SELECT a IN ({}) FROM t", join(100_000, ", ", |n| n.to_string())));
    add("joined tables", format!("SELECT 1 FROM {}", join(3_000, ", ", |n| format!("t AS t{n}"))));
    add(
        "joined by name",
        format!("SELECT 1 FROM t {}", join(3_000, " ", |n| format!("NATURAL JOIN t AS t{n}"))),
    );
    for count in [400, 1_000, 20_000] {
        add(&format!("{count} compound queries"), join(count, " UNION ALL ", |n| format!("SELECT {n}")));
        add(
            &format!("{count} compound queries of a table"),
            join(count, " UNION ", |_| "SELECT a FROM t".to_owned()),
        );
    }
    add("CTEs", format!("WITH {} SELECT * FROM c4999", join(5_000, ", ", |n| format!("c{n} AS (SELECT 1)"))));
    add(
        "CTEs that name each other",
        format!(
            "WITH c0 AS (SELECT 1), {} SELECT * FROM c4999",
            join(4_999, ", ", |n| format!("c{} AS (SELECT * FROM c{n})", n + 1))
        ),
    );
    add(
        "windows",
        format!(
            "SELECT sum(a) OVER w999 FROM t WINDOW w0 AS (ORDER BY a), {}",
            join(999, ", ", |n| format!("w{} AS (w{n})", n + 1))
        ),
    );
    add(
        "upserts",
        format!(
            "INSERT INTO t VALUES (1, 2) {} ON CONFLICT DO NOTHING",
            "ON CONFLICT (a) DO NOTHING ".repeat(5_000)
        ),
    );
    add("parameters", format!("SELECT {}", join(500, ", ", |_| "?".to_owned())));
    texts
}

/// Numbers, strings and names that are too long, unclosed or no numbers at all.
fn broken() -> Vec<Named> {
    let mut texts: Vec<Named> = Vec::new();
    let mut add = |name: &str, sql: String| texts.push((name.to_owned(), sql));
    add("dots", format!("SELECT a{} FROM t", ".a".repeat(10_000)));
    add("numbers", "SELECT 0x, 1e, 1__0, 1_, 0xg, 1.2.3, 12abc, 1e+, .e1".to_owned());
    add("a long number", format!("SELECT {}", "9".repeat(1_000_000)));
    add("a long blob", format!("SELECT x'{}'", "ab".repeat(1_000_000)));
    add("an odd blob", "SELECT x'abc'".to_owned());
    add("a long name", format!("SELECT \"{}\"", "x".repeat(1_000_000)));
    add("an unclosed string", format!("SELECT '{}", "x".repeat(1_000_000)));
    add("an unclosed name", format!("SELECT [{}", "x".repeat(1_000_000)));
    add("an unclosed comment", format!("SELECT 1 /*{}", "x".repeat(1_000_000)));
    add("only a comment", "/*".to_owned());
    add("quotes", "'".repeat(1_000_001));
    add("semicolons", ";".repeat(1_000_000));
    add("a NUL byte", "SELECT 1\0, 2".to_owned());
    add("NUL bytes", "\0".repeat(1_000));
    texts
}

fn guard() -> Guard {
    let limits = Limits { steps: Some(200_000_000), statements: Some(200_000), ..Limits::default() };
    let policy = Policy::builder().extends(Policy::builtin("setup_sql").unwrap()).limits(limits);
    Guard::new(policy.build().unwrap(), "setup_sql")
}

fn open() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    connection
}

/// What SQLite says of the first statement of `sql` that it does not take.
fn sqlite(sql: &str) -> Result<(), String> {
    let connection = open();
    for statement in seawall::statement::statements(sql) {
        connection.prepare(statement.sql()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// `work` on a thread with the stack that a host may have.
fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap()
}

/// That every witness gives an answer, and that a run says what SQLite says.
fn answers((name, sql): Named) {
    on_a_small_stack(move || {
        let guard = guard();
        let source = Source::new("setup.sql", &*sql);
        let by_text = guard.check(&source).unwrap();
        let refused = sql.contains(['\0', '?']);
        assert_eq!(by_text.refusals.is_empty(), !refused, "{name}");
        guard.explain(&source).unwrap();
        let mut connection = open();
        guard.open(&mut connection).unwrap().explain(&source).unwrap();
        let outcome = setup::run(&mut connection, &guard, &source).unwrap();
        match (sqlite(&sql), outcome.word()) {
            (_, "refused") if refused => {}
            (Ok(()), "ok") => {}
            (Err(error), "failed") => {
                // SQLite's own text may be followed by the statement, or hold much of it.
                let said = error.split(" in ").next().unwrap_or_default();
                let said: String = said.chars().take(40).collect();
                let message: String = outcome.message().unwrap().chars().take(300).collect();
                assert!(message.contains(&said), "{name}: {said}: {message}");
            }
            (answer, word) => panic!("{name}: SQLite says {answer:?}, the run {word}"),
        }
    });
}

#[test]
fn what_nests_deeper_than_sqlite_allows_is_answered_as_sqlite_does() {
    for depth in [90, 900, 1_200, 2_000] {
        deep(depth).into_iter().for_each(answers);
    }
}

#[test]
fn what_nests_a_hundred_thousand_deep_is_answered_as_sqlite_does() {
    deep(100_000).into_iter().for_each(answers);
}

#[test]
fn long_texts_are_answered_as_sqlite_does() {
    long().into_iter().for_each(answers);
}

#[test]
fn broken_texts_are_answered_as_sqlite_does() {
    broken().into_iter().for_each(answers);
}

#[test]
#[cfg(feature = "cli")]
fn the_command_ends_with_an_answer_whatever_it_reads() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("schema.sql"), SCHEMA).unwrap();
    let seawall = |args: &[&str], name: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_seawall"));
        let output = command.current_dir(directory.path()).args(args).output().unwrap();
        let status = output.status.code();
        assert!(
            matches!(status, Some(0 | 4)),
            "{name}: {args:?}: {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).chars().take(500).collect::<String>()
        );
    };
    for (name, sql) in deep(1_200).into_iter().chain(long()).chain(broken()) {
        std::fs::write(directory.path().join("setup.sql"), sql).unwrap();
        seawall(&["check", "setup.sql"], &name);
        seawall(&["explain", "--schema", "schema.sql", "--sql-file", "setup.sql"], &name);
        seawall(&["run", "--schema", "schema.sql", "--sql-file", "setup.sql"], &name);
    }
}

/// Statements that hold every kind of token and clause, to be broken.
const WHOLE: &[&str] = &[
    "SELECT a, \"b\", [c], `d`, 'e', x'00ff', 0x1F, 1_000, 1.5e3, ?1, :a FROM main.t AS q WHERE a IN (1, 2) ORDER BY 1",
    "INSERT INTO t(a, b) VALUES (1, 'x''y'), (2, NULL) ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE a > 1 RETURNING *",
    "UPDATE OR IGNORE t SET (a, b) = (SELECT 1, 2), b = b || 'x' FROM secret WHERE t.a = secret.k RETURNING a -- end",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 9) DELETE FROM t WHERE a IN c OR a IN secret",
    "SELECT sum(a) FILTER (WHERE b) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t WINDOW w AS (PARTITION BY a ORDER BY b)",
    "SELECT CASE a WHEN 1 THEN CAST(b AS decimal(1, 2)) ELSE b ->> '$.x' END /* c */ FROM t NATURAL LEFT JOIN secret USING (k)",
    "REPLACE INTO t SELECT a NOT BETWEEN 1 AND 2, b LIKE 'x' ESCAPE '\\' FROM t, json_each('[1]') EXCEPT VALUES (1, 2)",
    "EXPLAIN QUERY PLAN SELECT NOT EXISTS (SELECT 1 FROM t WHERE a ISNULL AND b NOT NULL COLLATE NOCASE) IS DISTINCT FROM 1",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END; PRAGMA table_info(t); ATTACH ':memory:' AS y; BEGIN; COMMIT",
];

/// Bytes that begin, end or join tokens.
const PIECES: &[&str] = &[
    "(",
    ")",
    "'",
    "\"",
    "[",
    "]",
    "`",
    ",",
    ";",
    ".",
    "-",
    "--",
    "/*",
    "*/",
    "\0",
    "\n",
    "x'",
    "0x",
    "1e",
    "::",
    "->",
    "?",
    "$",
    "é",
    "\u{feff}",
    " END ",
    " CASE ",
    " AS ",
    " ON CONFLICT ",
    " WINDOW ",
    " VALUES ",
    " NOT ",
    " JOIN ",
    " SELECT ",
    " WITH ",
    "=",
    " OVER (",
    " CAST(",
];

/// One change of a text: where it begins, how long it is, and what comes there.
type Change = (prop::sample::Index, usize, prop::sample::Index);

fn changed(whole: &str, changes: &[Change]) -> String {
    let mut bytes = whole.as_bytes().to_vec();
    for (at, length, piece) in changes {
        let at = at.index(bytes.len() + 1);
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, PIECES[piece.index(PIECES.len())].bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_broken_statement_makes_the_text_witness_panic(
        whole in prop::sample::select(WHOLE),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..12, any::<prop::sample::Index>()), 1..5),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let mut sql = changed(whole, &changes);
        if cuts {
            let at = cut.index(sql.len() + 1);
            sql.truncate((0..=at).rev().find(|at| sql.is_char_boundary(*at)).unwrap_or(0));
        }
        let known = seawall::engine::catalog::built_in().unwrap();
        for statement in seawall::statement::statements(&sql) {
            let reading = seawall::text_witness::read(&statement, &known, None);
            for span in reading.requests.iter().filter_map(|request| request.span) {
                prop_assert!(sql.get(span.range()).is_some(), "{span:?}");
            }
        }
    }
}
