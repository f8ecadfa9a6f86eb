//! Whatever way a text is written in a file, its words are found where they stand.

use proptest::prelude::*;
use seawall::scenario::{Found, in_json, in_yaml};
use seawall::source::Span;
use seawall::statement::tokens;

/// Words of SQL and what may stand between them.
fn sql() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("SELECT".to_owned()),
        Just("'it''s'".to_owned()),
        Just("\"a \\ b\"".to_owned()),
        Just("'é\u{1F600}\u{a0}'".to_owned()),
        Just("'#: - {[*&!|>%@`'".to_owned()),
        Just("(".to_owned()),
        Just("?1".to_owned()),
        Just(":a".to_owned()),
        Just("->>".to_owned()),
        "[a-z]{1,6}",
        "[0-9]{1,3}",
    ];
    let gap = prop_oneof![
        4 => Just(" "),
        1 => Just("  "),
        1 => Just("\n"),
        1 => Just("\n\n"),
        1 => Just("\n   "),
        1 => Just("\t"),
        1 => Just(" -- c\n"),
    ];
    prop::collection::vec((word, gap), 1..12)
        .prop_map(|words| words.into_iter().map(|(word, gap)| format!("{word}{gap}")).collect())
}

/// Every token of the one text of `found` is written in `file` as `write` writes it.
fn tokens_are_found(file: &str, found: &Found, write: impl Fn(&str) -> String) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.faults.len(), 0, "{:?}\n{}", found.faults, file);
    prop_assert_eq!(found.texts.len(), 1, "{}", file);
    let text = &found.texts[0];
    let (tokens, _) = tokens(&text.sql, Span::new(0, text.sql.len()));
    for token in tokens {
        let word = &text.sql[token.span.range()];
        let place = text.map.place(token.span);
        prop_assert_eq!(&file[place.range()], write(word), "{:?} of {}", word, file);
    }
    Ok(())
}

fn in_double_quotes(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Every character as an escape.
fn in_escapes(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// The lines of a block, each indented.
fn block(text: &str, indent: &str) -> String {
    text.split('\n')
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{indent}{line}\n") })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn in_json_with_and_without_escapes(sql in sql(), deep in any::<bool>()) {
        for (written, write) in [
            (in_double_quotes(&sql), in_double_quotes as fn(&str) -> String),
            (in_escapes(&sql), in_escapes),
        ] {
            let file = match deep {
                true => format!("{{\"a\": [1.5e3, {{\"é\": null, \"setup_sql\" :\"{written}\"}}], \"b\": \"\\\"\"}}"),
                false => format!("{{\"setup_sql\":\"{written}\"}}"),
            };
            let found = in_json(&file, "setup_sql");
            prop_assert_eq!(&found.texts[0].sql, &sql);
            tokens_are_found(&file, &found, write)?;
        }
    }

    #[test]
    fn in_yaml_literal_and_folded(sql in sql(), indent in 1..5_usize, chomp in prop::sample::select(vec!["", "-", "+"])) {
        let sql = sql.trim_start().to_owned();
        for style in ["|", ">"] {
            for end in ["\n", "\r\n"] {
                let pad = " ".repeat(indent);
                let head = format!("é: [a]\nx:\n- setup_sql: {style}{chomp} # c\n");
                let file = format!("{head}{}- b: 1\n", block(&sql, &format!("  {pad}"))).replace('\n', end);
                let found = in_yaml(&file, "setup_sql");
                // A tab at the start of a line, after the spaces, is part of it.
                tokens_are_found(&file, &found, str::to_owned)?;
                if style == "|" {
                    let wanted = sql.trim_end_matches('\n');
                    prop_assert_eq!(found.texts[0].sql.trim_end_matches('\n'), wanted);
                }
            }
        }
    }

    #[test]
    fn in_yaml_in_quotes(sql in sql(), flow in any::<bool>()) {
        let one_line = sql.replace(['\n', '\t'], " ");
        let single = format!("'{}'", one_line.replace('\'', "''"));
        let double = format!("\"{}\"", in_double_quotes(&sql));
        let escaped = format!("\"{}\"", in_escapes(&one_line.replace('\u{1F600}', "e")));
        let wrap = |scalar: &str| match flow {
            true => format!("[{{a: 1, setup_sql: {scalar}, b: 2}}]\n"),
            false => format!("---\na:\n  setup_sql: {scalar}\n  b: 2\n"),
        };
        let file = wrap(&single);
        tokens_are_found(&file, &in_yaml(&file, "setup_sql"), |word| word.replace('\'', "''"))?;
        let file = wrap(&double);
        let found = in_yaml(&file, "setup_sql");
        prop_assert_eq!(&found.texts[0].sql, &sql);
        tokens_are_found(&file, &found, in_double_quotes)?;
        let file = wrap(&escaped);
        tokens_are_found(&file, &in_yaml(&file, "setup_sql"), in_escapes)?;
        // Folded over lines, one of them by an escape.
        let folded = double.replacen(' ', "\n      ", 1).replacen(' ', " \\\n\n", 1);
        let file = wrap(&folded);
        let found = in_yaml(&file, "setup_sql");
        if !found.texts.is_empty() && found.texts[0].sql.split_whitespace().eq(sql.split_whitespace()) {
            let words = found.texts[0].sql.split_whitespace().count();
            prop_assert!(words > 0);
        }
    }

    #[test]
    fn in_yaml_without_quotes(words in prop::collection::vec("[A-Za-z0-9(]{1,6}", 2..8), at in 0..8_usize) {
        // A line end where the scalar is folded.
        let mut written = String::from("SELECT");
        for (number, word) in words.iter().enumerate() {
            written.push_str(if number == at { "\n      " } else { " " });
            written.push_str(word);
        }
        let file = format!("a:\n  - setup_sql:   {written} # c\n    b: 2\n");
        tokens_are_found(&file, &in_yaml(&file, "setup_sql"), str::to_owned)?;
    }

    #[test]
    fn json_is_what_another_reader_takes_for_json(text in "[\\[\\]{}:, \"a\\\\u0d8n1.e+-]{0,14}") {
        let ours = in_json(&text, "a").faults.iter().all(|fault| format!("{fault:?}").contains("ScenarioField"));
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        // A number that is too large for a program is a number all the same.
        let theirs = theirs.map_or_else(|error| error.to_string().contains("out of range"), |_| true);
        prop_assert_eq!(ours, theirs, "{:?}", text);
    }
}

#[test]
fn a_value_in_every_odd_place_is_seen() {
    let yaml = "? [setup_sql]\n: 1\n? {a: b}\n: {setup_sql: SELECT 1}\nsetup_sql:\n  - {x: 1}\n  - [y]\n  - yes\n  - SELECT 2\n";
    let found = in_yaml(yaml, "setup_sql");
    let texts: Vec<&str> = found.texts.iter().map(|text| text.sql.as_str()).collect();
    assert_eq!((texts, found.faults.len()), (vec!["SELECT 1", "SELECT 2"], 3));
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(in_json(&deep, "setup_sql").faults.len(), 1);
    assert_eq!(in_json("{\"setup_sql\": \"\\ud800\"}", "setup_sql").faults.len(), 1);
}
