use super::*;

fn messages(text: &str) -> Vec<String> {
    let source = Source::new("file.yaml", text);
    let code = crate::diagnostic::Code::PolicyYaml;
    let said = |fault: Fault| {
        let diagnostic = fault.diagnostic(&source, code);
        let words = diagnostic.place.as_ref().map(|place| place.text().to_owned()).unwrap_or_default();
        format!("{} [{words}]", diagnostic.message)
    };
    read(&source).1.into_iter().map(said).collect()
}

#[test]
fn every_use_of_yaml_beyond_plain_values_is_refused_at_its_place() {
    let refused = [
        ("", "the file is empty []"),
        ("# only this\n", "the file holds nothing but comments []"),
        ("---\n", "the file holds nothing but comments []"),
        ("a: &x 1\n", "anchors are not used here [&x]"),
        ("a: *x\n", "to YAML, a leading `*` refers to an anchor [*x]"),
        ("a: !!str 1\n", "tags are not used here [!!str]"),
        ("a: {<<: {b: 1}}\n", "merge keys are not used here [<<]"),
        ("a: 1\n---\nb: 2\n", "a second document begins here [---]"),
        ("a: {b: 1, b: 2}\n", "the key `b` stands twice [b]"),
        ("a: {b: 1, B: 2}\n", "the keys `b` and `B` differ only in case [B]"),
        ("a:\n\tb: 1\n", "a tab indents this line [\t]"),
        ("? [a]\n: 1\n", "a list or mapping cannot be a key [[a]]"),
    ];
    for (text, message) in refused {
        assert_eq!(messages(text), [message], "{text:?}");
    }
}

#[test]
fn all_faults_of_a_file_are_found_at_once() {
    let found = messages("a: &x 1\nb: *x\nb: !t 2\n");
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_move_no_place() {
    let source = Source::new("file.yaml", "\u{feff}a: 1\r\nbé: [two, 'three']\r\n");
    let (tree, faults) = read(&source);
    assert!(faults.is_empty(), "{faults:?}");
    let Some(Node { value: Value::Mapping { entries, .. }, .. }) = tree else { panic!("no mapping") };
    let words: Vec<_> =
        entries.iter().map(|entry| (source.slice(entry.span), source.slice(entry.value.span))).collect();
    assert_eq!(words, [("a", "1"), ("bé", "[two, 'three']")]);
}

#[test]
fn deep_nesting_is_a_fault_and_no_crash() {
    assert_eq!(messages(&"[".repeat(100_000)).len(), 1);
    assert_eq!(messages(&"- ".repeat(100_000)).len(), 1);
    assert_eq!(messages(&"{a: ".repeat(100_000)).len(), 1);
}

#[test]
fn words_that_some_reader_takes_for_something_else_are_known() {
    let look = |text: &str| Scalar { text: text.into(), quoted: false }.look();
    for text in ["off", "NO", "true", "Yes"] {
        assert_eq!(look(text), Look::Truth, "{text}");
    }
    for text in ["0100", "1_000", "12:30", "-1", "1e5", "0x1F", ".inf", "08"] {
        assert_eq!(look(text), Look::Number, "{text}");
    }
    for text in ["10MiB", "n", "->", "nothing", "30s", "read on *.*", "infinity"] {
        assert_eq!(look(text), Look::Text, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn a_written_word_reads_back_as_itself(text in "\\PC*|[\u{0}-\u{ff}\u{2028}\u{feff}]*") {
        let source = Source::new("file.yaml", format!("- {}\n", write_word(&text)));
        let (tree, faults) = read(&source);
        proptest::prop_assert!(faults.is_empty(), "{:?}", faults);
        let Some(Node { value: Value::Sequence { items, .. }, .. }) = tree else { panic!("no list") };
        let Some(Node { value: Value::Scalar(scalar), .. }) = items.first() else { panic!("no word") };
        proptest::prop_assert_eq!(&scalar.text, &text);
        proptest::prop_assert_eq!(scalar.look(), Look::Text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[-a-c:*&!<>|'\"\\[\\]{}, ?#%\n\t~0-9]{0,60}") {
        let _ = read(&Source::new("file.yaml", text));
    }
}
