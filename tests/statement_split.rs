//! Cutting a text into statements, held against SQLite itself.

use std::ffi::CString;

use proptest::prelude::*;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, Connection, ffi};
use seawall::source::Span;
use seawall::statement::{Statement, split, tokens};

fn pieces(text: &str) -> Vec<&str> {
    split(text).into_iter().map(|span| &text[span.range()]).collect()
}

#[expect(unsafe_code, reason = "SQLite's own judgement is only to be had through its C interface")]
fn complete(prefix: &str) -> bool {
    let Ok(prefix) = CString::new(prefix) else { return false };
    // SAFETY: the pointer is to a NUL-terminated string that outlives the call.
    unsafe { ffi::sqlite3_complete(prefix.as_ptr()) != 0 }
}

/// The pieces as a loop over `sqlite3_complete` would cut them.
fn reference(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(';') {
        if complete(&text[start..=at]) {
            pieces.push(&text[start..at]);
            start = at + 1;
        }
    }
    pieces.push(&text[start..]);
    pieces
}

#[test]
fn semicolons_inside_literals_names_comments_and_triggers_do_not_split() {
    for (text, expected) in [
        ("", vec![]),
        (" ;; -- nothing\n /* here; */ ; \u{feff}", vec![]),
        ("a;b", vec!["a", "b"]),
        ("-- seed\nUPDATE t SET a = 1 /* done */ ;\n-- end", vec!["UPDATE t SET a = 1"]),
        ("SELECT ';', \";\", `;`, [;], 'it''s;' ; b", vec!["SELECT ';', \";\", `;`, [;], 'it''s;'", "b"]),
        ("SELECT 1 /* ; */ + 2 -- ;\n; b", vec!["SELECT 1 /* ; */ + 2", "b"]),
        ("a 'never closed; b", vec!["a 'never closed; b"]),
        ("a /* never closed; b", vec!["a"]),
        ("a -- unfinished ; /* comment", vec!["a"]),
        ("a /*", vec!["a /*"]),
        ("a /**/ b; c", vec!["a /**/ b", "c"]),
        ("a /*/ ; */ b; c", vec!["a /*/ ; */ b", "c"]),
        (
            "CREATE TRIGGER z AFTER INSERT ON t BEGIN UPDATE t SET a=1; END; DELETE FROM t",
            vec!["CREATE TRIGGER z AFTER INSERT ON t BEGIN UPDATE t SET a=1; END", "DELETE FROM t"],
        ),
        (
            "explain create /**/ temp trigger a; b; ;end; c",
            vec!["explain create /**/ temp trigger a; b; ;end", "c"],
        ),
        (
            "CREATE TEMPORARY TRIGGER a; END x; b; END ; c",
            vec!["CREATE TEMPORARY TRIGGER a; END x; b; END", "c"],
        ),
        ("CREATE TABLE trigger; a", vec!["CREATE TABLE trigger", "a"]),
        ("UPDATE t SET a=1;\0 DROP TABLE t", vec!["UPDATE t SET a=1", "\0 DROP TABLE t"]),
        ("a;\0;b", vec!["a", "\0", "b"]),
        ("\u{feff}a \u{feff};\u{feff}\u{feff}b\u{feff}", vec!["a", "b\u{feff}"]),
        ("a \u{b};\u{b}b", vec!["a", "\u{b}b"]),
    ] {
        assert_eq!(pieces(text), expected, "{text:?}");
    }
}

#[test]
fn a_million_semicolons_in_one_literal_take_linear_time() {
    let text = format!("SELECT '{}'; b", ";".repeat(1_000_000));
    let started = std::time::Instant::now();
    assert_eq!(split(&text).len(), 2);
    assert!(started.elapsed().as_secs() < 2, "{:?}", started.elapsed());
}

/// No `$a(` comes of these: Tcl's `$a(;)` is one token that `sqlite3_complete` cuts in two.
fn fragment() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        ";",
        ";",
        ";",
        " ",
        "\n",
        "\t",
        "\u{c}",
        "\u{b}",
        "\u{feff}",
        "create",
        "CREATE",
        "temp",
        "Temporary",
        "trigger",
        "TRIGGER",
        "end",
        "END",
        "explain",
        "begin",
        "x",
        "select",
        "é",
        "a$",
        "1",
        "_",
        "/*",
        "*/",
        "/",
        "*",
        "--",
        "-",
        "'",
        "\"",
        "`",
        "[",
        "]",
        "(",
        ")",
        ".",
        "!",
        "\\",
        "?1",
        ":a ",
        "x'00'",
        "||",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn splitting_equals_sqlite3_complete(text in fragment()) {
        let expected: Vec<Vec<_>> = reference(&text)
            .into_iter()
            .map(|piece| {
                let (tokens, illegal) = tokens(piece, Span::new(0, piece.len()));
                let places = tokens.iter().map(|token| token.span).chain(illegal);
                places.map(|span| piece[span.range()].to_owned()).collect::<Vec<_>>()
            })
            .filter(|tokens| !tokens.is_empty())
            .collect();
        let found: Vec<Vec<_>> = split(&text)
            .into_iter()
            .map(|piece| {
                let (tokens, illegal) = tokens(&text, piece);
                let places = tokens.iter().map(|token| token.span).chain(illegal);
                places.map(|span| text[span.range()].to_owned()).collect()
            })
            .collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn pieces_run_in_order_from_their_first_token_to_their_last(text in "\\PC{0,60}|[a-z;'\"/*\\-\\[\\] \n\0\u{feff}]{0,60}") {
        let mut end = 0;
        for span in split(&text) {
            prop_assert!(end <= span.start && span.start < span.end);
            prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
            let (between, _) = tokens(&text, Span::new(end, span.start));
            prop_assert!(between.iter().all(|token| &text[token.span.range()] == ";"));
            let statement = Statement::read(&text, span);
            let mut at = span.start;
            for token in &statement.tokens {
                prop_assert!(at <= token.span.start && token.span.start < token.span.end);
                prop_assert!(text.get(token.span.range()).is_some());
                at = token.span.end;
            }
            match (statement.tokens.first(), statement.illegal) {
                (Some(first), _) => prop_assert_eq!(first.span.start, span.start),
                (None, Some(illegal)) => prop_assert_eq!(illegal.start, span.start),
                (None, None) => prop_assert!(false, "a piece without a token"),
            }
            if statement.illegal.is_none() {
                prop_assert_eq!(at, span.end);
            }
            end = span.end;
        }
        let (rest, _) = tokens(&text, Span::new(end, text.len()));
        prop_assert!(rest.iter().all(|token| &text[token.span.range()] == ";"));
    }
}

#[test]
fn sqlite_reads_each_piece_to_its_end() {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch("CREATE TABLE t(a, b)").unwrap();
    let text = "INSERT INTO t VALUES (1, ';'), (2, 'it''s;'); -- a;b
        UPDATE t SET a = '/*' WHERE b = '*/' /* ; */ ; ;
        CREATE TRIGGER x AFTER INSERT ON t BEGIN UPDATE t SET a = 1; DELETE FROM t; END;
        EXPLAIN CREATE TEMP TRIGGER y AFTER INSERT ON t BEGIN SELECT ';'; END;
        SELECT \"a\", [b], `a` FROM t; \u{feff}DELETE FROM t";
    let pieces = pieces(text);
    assert_eq!(pieces.len(), 6);
    for piece in pieces {
        let mut batch = Batch::new(&db, piece);
        assert!(batch.next().unwrap().is_some(), "{piece}");
        assert!(batch.next().unwrap().is_none(), "{piece}");
    }
}
