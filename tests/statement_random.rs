//! Random statements: reading never fails, and tokens and pieces are SQLite's own.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

use std::ffi::CString;
use std::ptr::null_mut;

use proptest::prelude::*;
use rusqlite::{Connection, ffi};
use seawall::engine::event::EventKind;
use seawall::engine::recorder::{Phase, Recorder};
use seawall::source::Span;
use seawall::statement::{Head, Statement, split, tokens};

const SCHEMA: &str =
    "CREATE TABLE t(a, b, c, replace, over, \"end\"); CREATE TABLE \"u-v\"(a PRIMARY KEY, \"b\"\"c\", d);
    CREATE VIEW w AS SELECT a, b FROM t; CREATE TABLE étude(a); CREATE TABLE replace(a, b);";

/// Gaps between tokens; a line comment brings its own end.
fn gap() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        8 => Just(" "),
        1 => prop::sample::select(vec!["\n", "\t \u{c}", " \u{b}", "/* ; ' */", "-- ;\"\n", "/**/", " \u{feff}", "\r\n"]),
    ]
}

fn pick(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(words).prop_map(str::to_owned)
}

fn table() -> impl Strategy<Value = String> {
    pick(&[
        "t",
        "t",
        "t",
        "T",
        "\"t\"",
        "[t]",
        "`t`",
        "'t'",
        "main.t",
        "\"main\" . t",
        "[u-v]",
        "\"u-v\"",
        "w",
        "étude",
        "q",
    ])
}

fn target() -> impl Strategy<Value = String> {
    pick(&["t", "t", "T", "\"t\"", "[t]", "'t'", "main.t", "[u-v]", "étude", "replace"])
}

fn column() -> impl Strategy<Value = String> {
    pick(&[
        "a",
        "a",
        "A",
        "\"a\"",
        "[b]",
        "`a`",
        "t.a",
        "c",
        "\"b\"\"c\"",
        "rowid",
        "replace",
        "q.a",
        "over",
        "end",
    ])
}

fn literal() -> impl Strategy<Value = String> {
    pick(&[
        "1", "-2.5e3", "0x1F", ".5", "'x'", "'it''s;'", "''", "x'00ff'", "NULL", "?1", ":a", "$a::b(c)",
        "1_000",
    ])
}

/// Words joined by single blanks, for `spaced` to fill.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![3 => column(), 3 => literal(), 1 => pick(&["CURRENT_TIMESTAMP", "current_date", "\"quoted\""])];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let name = pick(&[
            "abs",
            "\"upper\"",
            "[max]",
            "`coalesce`",
            "max",
            "char",
            "printf",
            "count",
            "glob",
            "replace",
        ]);
        let operator = pick(&[
            "+",
            "||",
            "AND",
            "OR",
            "=",
            "<>",
            "IS NOT",
            "LIKE",
            "NOT GLOB",
            "->",
            "->>",
            "<<",
            "COLLATE",
            "MATCH",
            "IS NOT DISTINCT FROM",
        ]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, o, b)| format!("{a} {o} {b}")),
            (name, prop::collection::vec(inner.clone(), 1..3))
                .prop_map(|(name, arguments)| format!("{name} ( {} )", arguments.join(" , "))),
            inner.clone().prop_map(|a| format!("( {a} )")),
            inner.clone().prop_map(|a| format!("CAST ( {a} AS decimal ( 1 , 2 ) )")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("CASE {a} WHEN {b} THEN 1 ELSE ( {a} ) END")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} IN ( {b} , 1 )")),
            (inner.clone(), table()).prop_map(|(a, t)| format!("{a} NOT IN {t}")),
            (inner.clone(), table()).prop_map(|(a, t)| format!("( SELECT {a} FROM {t} )")),
            (inner.clone(), table()).prop_map(|(a, t)| format!("EXISTS ( SELECT * FROM {t} WHERE {a} )")),
            inner.clone().prop_map(|a| format!(
                "sum ( {a} ) FILTER ( WHERE {a} ) OVER ( PARTITION BY {a} ORDER BY a ROWS 1 PRECEDING )"
            )),
            inner.clone().prop_map(|a| format!("max ( {a} ) over")),
            inner.clone().prop_map(|a| format!("total ( {a} ) filter , lag ( {a} ) OVER o , {a} end")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("{a} BETWEEN {b} AND ( {b} )")),
        ]
    })
}

fn query() -> impl Strategy<Value = String> {
    let source = prop_oneof![
        4 => table(),
        1 => (table(), pick(&["x", "AS x", "AS 'x'", "over", "NOT INDEXED"])).prop_map(|(t, x)| format!("{t} {x}")),
        1 => expression().prop_map(|e| format!("json_each ( {e} ) AS j")),
        1 => (table(), expression()).prop_map(|(t, e)| format!("( SELECT {e} FROM {t} ) AS s")),
        1 => (table(), table()).prop_map(|(t, u)| format!("( {t} , {u} )")),
        1 => (table(), table(), expression()).prop_map(|(t, u, e)| format!("{t} LEFT JOIN {u} AS y ON {e}")),
        1 => (table(), table()).prop_map(|(t, u)| format!("{t} JOIN {u} USING ( a )")),
    ];
    let tail = prop_oneof![
        2 => Just(String::new()),
        1 => expression().prop_map(|e| format!(" WHERE {e}")),
        1 => expression().prop_map(|e| format!(" GROUP BY {e} HAVING {e}")),
        1 => expression().prop_map(|e| format!(" ORDER BY {e} DESC NULLS LAST LIMIT 1 OFFSET ( {e} )")),
        1 => expression().prop_map(|e| format!(" WINDOW o AS ( PARTITION BY {e} )")),
    ];
    let select = (expression(), prop::collection::vec(source, 0..3), tail).prop_map(|(e, sources, tail)| {
        let from = if sources.is_empty() { String::new() } else { format!(" FROM {}", sources.join(" , ")) };
        format!("SELECT {e} AS 'r'{from}{tail}")
    });
    let values = prop::collection::vec(expression(), 1..3).prop_map(|rows| {
        format!("VALUES {}", rows.iter().map(|e| format!("( {e} )")).collect::<Vec<_>>().join(" , "))
    });
    prop_oneof![3 => select, 1 => values].prop_recursive(2, 4, 2, |inner| {
        prop_oneof![
            (inner.clone(), pick(&["UNION", "UNION ALL", "EXCEPT"]), inner.clone())
                .prop_map(|(a, c, b)| format!("{a} {c} {b}")),
            (inner.clone(), inner, pick(&["", "NOT MATERIALIZED ", "MATERIALIZED "]))
                .prop_map(|(a, b, how)| format!("WITH q ( a ) AS {how}( {a} ) {b}")),
        ]
    })
}

/// PRAGMA statements, legal and not.
fn pragma() -> impl Strategy<Value = String> {
    let name = || {
        pick(&[
            "user_version",
            "table_info",
            "\"t\"\"x\"",
            "[a-b]",
            "'it''s'",
            "`x`",
            "é",
            "end",
            "replace",
            "cast",
            "raise",
            "select",
        ])
    };
    let value = prop_oneof![
        pick(&[
            "1", "1.", ".5e+3", "1e5", "0x1F", "1_0", "x'00'", "?1", "on", "ON", "delete", "default", "no",
            "full", "null", "1a", "''", "'--'"
        ]),
        name(),
    ];
    let argument =
        (pick(&["=", "("]), pick(&["", "", "- ", "+ ", "- - "]), value, pick(&["", ")", " )", " x", ";"]));
    let argument = prop_oneof![
        1 => Just(String::new()),
        5 => argument.prop_map(|(open, sign, value, close)| {
            let close = if open == "(" && close.is_empty() { " )" } else { &close };
            format!(" {open} {sign}{value}{close}")
        }),
    ];
    (
        pick(&["PRAGMA ", "pragma ", "EXPLAIN PRAGMA "]),
        pick(&["", "", "main . ", "'temp' . ", "nope . "]),
        name(),
        argument,
    )
        .prop_map(|(head, schema, name, argument)| head + &schema + &name + &argument)
}

fn statement() -> impl Strategy<Value = String> {
    let conflict = || pick(&["", " OR REPLACE", " OR IGNORE", " OR FAIL"]);
    let upsert = prop_oneof![
        3 => Just(String::new()),
        1 => Just(" ON CONFLICT DO NOTHING".to_owned()),
        1 => (column(), expression()).prop_map(|(c, e)| format!(" ON CONFLICT ( {c} ) DO UPDATE SET ( {c} , b ) = ( {e} , 1 ) WHERE {e}")),
        1 => expression().prop_map(|e| format!(" RETURNING {e} AS r")),
    ];
    let body = prop_oneof![
        query(),
        (conflict(), target(), query(), upsert)
            .prop_map(|(c, t, q, u)| format!("INSERT{c} INTO {t} ( a ) {q}{u}")),
        (target(), query()).prop_map(|(t, q)| format!("REPLACE INTO {t} AS x {q}")),
        target().prop_map(|t| format!("INSERT INTO {t} DEFAULT VALUES")),
        (conflict(), target(), column(), expression(), table()).prop_map(|(c, t, k, e, u)| format!(
            "UPDATE{c} {t} SET {k} = {e} , b = ( {e} ) FROM {u} WHERE {e}"
        )),
        (target(), expression()).prop_map(|(t, e)| format!("DELETE FROM {t} WHERE {e} RETURNING {e}")),
    ];
    (pick(&["", "", "EXPLAIN ", "WITH q AS ( SELECT 1 AS a ) "]), body).prop_map(|(head, body)| head + &body)
}

/// A statement with its blanks filled, and one time in three spoilt: cut off, or a piece taken out,
/// doubled or replaced by a single mark.
fn spaced() -> impl Strategy<Value = String> {
    let damage = prop_oneof![
        4 => Just(None),
        1 => (any::<prop::sample::Index>(), any::<prop::sample::Index>(), pick(&["", "(", ")", "'", "\"", ",", ";", "!", "x'0", ".", "/*", "--", "[", "\0", "1a"])).prop_map(Some),
    ];
    (statement(), prop::collection::vec(gap(), 16), damage).prop_map(|(sql, gaps, damage)| {
        let mut gaps = gaps.into_iter().cycle();
        let mut text: String = sql.split(' ').flat_map(|word| [word, gaps.next().unwrap()]).collect();
        if let Some((start, end, mark)) = damage {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let (start, end) = (*start.get(&places), *end.get(&places));
            text.replace_range(start.min(end)..start.max(end), &mark);
        }
        text
    })
}

fn assert_inside(
    outer: Span,
    spans: impl IntoIterator<Item = Span>,
    text: &str,
    ordered: bool,
) -> Result<(), TestCaseError> {
    let mut at = outer.start;
    for span in spans {
        prop_assert!(outer.start <= span.start && span.start < span.end && span.end <= outer.end, "{span:?}");
        prop_assert!(text.get(span.range()).is_some(), "{span:?} cuts a character");
        if ordered {
            prop_assert!(at <= span.start, "{span:?} is out of order");
            at = span.start;
        }
    }
    Ok(())
}

/// What SQLite makes of a text that is one statement: prepared or not, the message and offset of
/// the error, and how many bytes it read.
struct Prepared {
    error: Option<(String, usize)>,
    read: usize,
}

#[expect(unsafe_code, reason = "rusqlite keeps the tail of a prepared text to itself")]
fn prepare(connection: &Connection, sql: &str) -> Prepared {
    let text = CString::new(sql).unwrap();
    let (mut prepared, mut tail) = (null_mut(), std::ptr::null());
    // SAFETY: the handle is that of an open connection, the text ends with NUL and outlives the
    // calls, the tail points into it, and the statement is finalized once.
    unsafe {
        let handle = connection.handle();
        let code = ffi::sqlite3_prepare_v2(handle, text.as_ptr(), -1, &raw mut prepared, &raw mut tail);
        let message = || std::ffi::CStr::from_ptr(ffi::sqlite3_errmsg(handle)).to_string_lossy().into_owned();
        let offset = usize::try_from(ffi::sqlite3_error_offset(handle)).unwrap_or(usize::MAX);
        let error = (code != ffi::SQLITE_OK).then(|| (message(), offset));
        ffi::sqlite3_finalize(prepared);
        Prepared { error, read: usize::try_from(tail.offset_from(text.as_ptr())).unwrap() }
    }
}

fn world() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    connection
}

/// Our tokens are illegal exactly where SQLite does not know one.
fn assert_same_illegal(connection: &Connection, text: &str) -> Result<(), TestCaseError> {
    let prepared = prepare(connection, text);
    let (_, illegal) = tokens(text, Span::new(0, text.len()));
    match prepared.error {
        None => prop_assert_eq!(illegal, None),
        // Without a place it is the parser that objects, to a digit separator at the wrong place.
        Some((message, offset)) if message.starts_with("unrecognized token") && offset != usize::MAX => {
            prop_assert_eq!(illegal.map(|span| span.start), Some(offset), "{}", message);
            let words = text.get(illegal.unwrap().range()).unwrap_or_default();
            prop_assert_eq!(message, format!("unrecognized token: \"{words}\""));
        }
        Some(_) => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_span_of_a_statement_lies_in_it_and_in_order(text in spaced()) {
        for piece in split(&text) {
            let read = Statement::read(&text, piece);
            let tokens: Vec<Span> = read.tokens.iter().map(|token| token.span).collect();
            let token_ends = |span: Span| tokens.iter().any(|t| t.start == span.start) && tokens.iter().any(|t| t.end == span.end);
            assert_inside(piece, tokens.clone(), &text, true)?;
            assert_inside(piece, read.parameters.iter().copied().chain(read.illegal), &text, true)?;
            assert_inside(piece, read.calls.iter().map(|call| call.span), &text, true)?;
            assert_inside(piece, read.ctes.iter().map(|cte| cte.span), &text, true)?;
            assert_inside(piece, read.sources.iter().map(|source| source.span), &text, true)?;
            prop_assert!(read.sources.iter().all(|source| token_ends(source.span)));
            if let Some(target) = &read.target {
                prop_assert!(token_ends(target.table.span));
                assert_inside(piece, target.columns.iter().map(|column| column.span), &text, true)?;
                assert_inside(piece, target.conflict.map(|(_, span)| span), &text, true)?;
                assert_inside(piece, target.single_row.iter().flatten().copied(), &text, true)?;
            }
        }
    }

    #[test]
    fn the_pieces_joined_are_the_statements_that_sqlite_reads(
        texts in prop::collection::vec(spaced(), 1..5), ends in prop::collection::vec(gap(), 5)
    ) {
        let connection = world();
        let text = texts.iter().zip(ends).fold(String::new(), |all, (one, gap)| all + one + gap + ";");
        for piece in split(&text) {
            let sql = &text[piece.range()];
            if sql.contains('\0') {
                continue;
            }
            let joined = format!("{sql}; SELECT 1");
            let prepared = prepare(&connection, &joined);
            if prepared.error.is_none() {
                prop_assert_eq!(prepared.read, sql.len() + 1, "{}", sql);
            }
        }
    }

    #[test]
    fn statements_have_an_illegal_token_where_sqlite_says_so(text in spaced()) {
        for piece in split(&text) {
            let sql = &text[piece.range()];
            if !sql.contains('\0') {
                assert_same_illegal(&world(), sql)?;
            }
        }
    }
}

/// One token, or what is nearly one.
fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => pick(&[
            "1", "1.", ".5", "1e5", "1e", "1e+", "0x", "0xg", "0x1_f", "1_0", "1__0", "1_", "1.e2", "1a", "1$", "1.5é", "x'00'", "x'0'", "X'zz'",
            "x'", "'a'", "'", "\"a\"", "\"", "`a`", "`", "[a]", "[", "]", "?", "?1", "?a", ":a", "@", "@a", "#", "#1", "$", "$a", "$a::b", "$a(",
            "$a(b)", "$a::", "$::a", "a$b", "é", "\u{feff}", "\u{b}", " \u{b}", "!", "!=", "=", "==", "<", "<=", "<>", "<<", ">", ">=", ">>", "|",
            "||", "-", "->", "->>", "--\n", "--", "/", "/*", "/**/", "*", "&", "~", "%", "\\", "{", "}", "^", "\u{1}", "\u{7f}", ".", ",", "a", "(", ")",
        ]),
        1 => "[0-9a-fxX_.'$:@#?!é|<>=\\-+ ]{1,4}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Prefixed so that many a list of tokens is legal SQL, at least up to the token in question.
    #[test]
    fn random_tokens_are_illegal_where_sqlite_says_so(
        head in pick(&["SELECT ", "SELECT a AS ", "SELECT 1+", "SELECT * FROM t WHERE a = ", "", "SELECT 1 "]),
        words in prop::collection::vec(token(), 1..4),
        glue in pick(&["", " "]),
    ) {
        let text = head + &words.join(&glue);
        assert_same_illegal(&world(), &text)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_sqlite_reports_of_a_statement_is_mentioned(sql in statement()) {
        let mut connection = world();
        let recorder = Recorder::install(&mut connection).unwrap();
        let armed = recorder.arm(Phase::Prepare);
        // Of a statement that fails, what was seen up to there counts.
        let _ = connection.prepare(&sql);
        let events = recorder.take();
        drop(armed);
        let read = Statement::read(&sql, split(&sql)[0]);
        let tables = || read.sources.iter().chain(read.target.as_ref().map(|target| &target.table));
        let view = tables().any(|mention| mention.table == *"w");
        for event in events {
            let name = &*event.first;
            match event.kind {
                EventKind::Function => prop_assert!(
                    read.calls.iter().any(|call| call.name == *name), "call of {}: {}", name, sql
                ),
                EventKind::Read | EventKind::Insert | EventKind::Update | EventKind::Delete => {
                    let mentioned = tables().any(|mention| mention.table == *name)
                        || read.ctes.iter().any(|cte| cte.name == *name)
                        || (view && name == "t")
                        || name.is_empty() || name.starts_with('(') || name == "s";
                    prop_assert!(mentioned, "{:?} of {}: {}", event.kind, name, sql);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn a_pragma_is_the_one_that_sqlite_would_ask(words in pragma(), gaps in prop::collection::vec(gap(), 12)) {
        let mut connection = world();
        let recorder = Recorder::install(&mut connection).unwrap();
        let mut gaps = gaps.into_iter().cycle();
        let text: String = words.split(' ').flat_map(|word| [word, gaps.next().unwrap()]).collect();
        let armed = recorder.arm(Phase::Prepare);
        // Always an error: the pragma is denied before it acts.
        let _ = connection.prepare(&text);
        let asked = recorder.take().into_iter().find(|event| event.kind == EventKind::Pragma);
        drop(armed);
        let Some(asked) = asked else { return Ok(()) };
        let read = Statement::read(&text, split(&text)[0]);
        let Head::Pragma(pragma) = &read.head else { return Err(TestCaseError::fail(format!("{:?}", read.head))) };
        prop_assert_eq!(pragma.name.as_str(), &*asked.first);
        prop_assert_eq!(pragma.argument.as_ref().map(|argument| argument.text.as_str()), asked.argued.then_some(&*asked.second));
    }
}
