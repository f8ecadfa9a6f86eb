//! What holds for every policy, not only for those someone thought of.

#![expect(clippy::panic, reason = "a helper of a test fails as the test does")]

use proptest::prelude::*;
use seawall::policy::Policy;

/// Names as authors write them, and those that need quotes.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z_][a-zA-Z0-9_$]{0,8}",
        1 => "[a-z*?]{1,6}",
        1 => "[a-zé]{0,3}é",
        1 => "[ -~é]{1,6}".prop_map(|name| format!("\"{}\"", name.replace('"', "\"\""))),
    ]
}

fn some<T: std::fmt::Debug>(one: impl Strategy<Value = T>, most: usize) -> impl Strategy<Value = Vec<T>> {
    prop::collection::vec(one, 1..=most)
}

fn join(words: Vec<String>) -> String {
    words.join(", ")
}

fn verbs(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    some(prop::sample::select(words).prop_map(str::to_owned), 3).prop_map(join)
}

fn qualified() -> impl Strategy<Value = String> {
    (prop::option::of(name()), name())
        .prop_map(|(schema, name)| schema.map_or(name.clone(), |schema| format!("{schema}.{name}")))
}

fn row_rule() -> impl Strategy<Value = String> {
    let columns = (qualified(), some(name(), 3).prop_map(join)).prop_map(|(t, c)| format!("{t}({c})"));
    prop_oneof![
        (
            verbs(&["read", "insert", "update", "delete", "replace", "write"]),
            some(qualified(), 3).prop_map(join)
        ),
        (verbs(&["read", "update"]), some(columns, 2).prop_map(join)),
    ]
    .prop_map(|(verbs, targets)| format!("{verbs} on {targets}"))
}

fn grant() -> impl Strategy<Value = String> {
    let by = || some(qualified(), 2).prop_map(join);
    prop_oneof![
        (verbs(&["read", "write", "call"]), by()).prop_map(|(powers, by)| format!("{powers} by {by}")),
        (verbs(&["read", "insert"]), qualified(), by())
            .prop_map(|(powers, on, by)| { format!("{powers}, call on {on} by {by}") }),
    ]
}

fn pragma() -> impl Strategy<Value = String> {
    let argument =
        prop::option::of(prop::sample::select(&["(table)", "(index?)", "(integer)", "( text ? )"][..]));
    (name(), argument).prop_map(|(name, argument)| format!("{name}{}", argument.unwrap_or_default()))
}

/// A section with one list: its name, the list's key and the entries.
type List = (&'static str, &'static str, Vec<String>);

fn lists() -> impl Strategy<Value = Vec<List>> {
    let function = || prop_oneof![4 => name(), 1 => Just("->".to_owned()), 1 => Just("->>".to_owned())];
    (
        some(row_rule(), 4),
        some(row_rule(), 4),
        some(function(), 4),
        some(function(), 4),
        some(pragma(), 4),
        some(grant(), 4),
        some(qualified().prop_map(|by| format!("call by {by}")), 2),
        some("[a-z]{1,5}(-[a-z]{1,5})?", 3),
    )
        .prop_map(|(open, closed, calls, no_calls, pragmas, trust, views, commands)| {
            vec![
                ("rows", "allow", open),
                ("rows", "deny", closed),
                ("functions", "allow", calls),
                ("functions", "deny", no_calls),
                ("pragmas", "allow", pragmas),
                ("triggers", "trust", trust),
                ("views", "trust", views),
                ("virtual_tables", "allow", commands),
            ]
        })
}

fn scalars() -> impl Strategy<Value = String> {
    let limit = |key: &'static str, units: &'static [&'static str]| {
        (1..5_000_u32, prop::sample::select(units)).prop_map(move |(n, unit)| format!("  {key}: {n}{unit}\n"))
    };
    let limits = (
        limit("statements", &[""]),
        limit("text", &["", "B", "KiB", "MiB"]),
        limit("time", &["ms", "s", "m", "h"]),
    );
    let level = || prop::sample::select(&["allow", "warn", "deny"][..]);
    let when = prop::sample::select(&["immediate", "deferred"][..]);
    (limits, level(), level(), when).prop_map(|((one, two, three), no_where, bare, when)| {
        format!(
            "limits:\n{one}{two}{three}advice:\n  no-where: {no_where}\n  bare-name: {bare}\nforeign_keys: {when}\n"
        )
    })
}

/// A file of these lists; every third entry bears a reason.
fn file(lists: &[List], scalars: &str) -> String {
    let mut out = String::from("seawall: 1\n");
    let mut last = "";
    for (section, key, entries) in lists {
        if *section != last {
            out.push_str(&format!("{section}:\n"));
            last = section;
        }
        out.push_str(&format!("  {key}:\n"));
        for entry in entries {
            let quoted = entry.replace('\'', "''");
            if entry.len() % 3 == 0 {
                out.push_str(&format!("    - rule: '{quoted}'\n      reason: it is so, of course\n"));
            } else {
                out.push_str(&format!("    - '{quoted}'\n"));
            }
        }
    }
    out + scalars
}

fn parse(text: &str) -> Policy {
    Policy::parse("policy.yaml", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Letters of names in the other case; verbs, argument types and reasons stay as they are.
fn other_case(entry: &str) -> String {
    const WORDS: [&str; 14] = [
        "read", "insert", "update", "delete", "replace", "write", "call", "on", "by", "table", "index",
        "integer", "text", "rule",
    ];
    let turn = |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    let mut out = String::new();
    let mut word = String::new();
    let finish = |out: &mut String, word: &mut String| {
        if WORDS.contains(&word.as_str()) {
            out.push_str(word);
        } else {
            out.extend(word.chars().map(turn));
        }
        word.clear();
    };
    for c in entry.chars() {
        if c.is_ascii_alphabetic() {
            word.push(c);
        } else {
            finish(&mut out, &mut word);
            out.push(c);
        }
    }
    finish(&mut out, &mut word);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_show_prints_loads_to_the_same(lists in lists(), scalars in scalars()) {
        let policy = parse(&file(&lists, &scalars));
        let shown = policy.show();
        let again = parse(&shown);
        prop_assert_eq!(again.show(), shown);
        prop_assert_eq!(again.hash(), policy.hash());
    }

    #[test]
    fn the_order_of_rules_and_the_case_of_names_mean_nothing(lists in lists(), scalars in scalars()) {
        let policy = parse(&file(&lists, &scalars));
        let mut other = lists;
        for (_, _, entries) in &mut other {
            entries.reverse();
            for entry in entries {
                *entry = other_case(entry);
            }
        }
        let other = parse(&file(&other, &scalars));
        prop_assert_eq!(other.show(), policy.show());
        prop_assert_eq!(other.hash(), policy.hash());
    }

    #[test]
    fn an_entry_that_stands_twice_means_no_more_than_once(lists in lists()) {
        let once = parse(&file(&lists, ""));
        let twice: Vec<List> = lists.into_iter().map(|(section, key, mut entries)| {
            entries.extend(entries.clone());
            (section, key, entries)
        }).collect();
        prop_assert_eq!(parse(&file(&twice, "")).hash(), once.hash());
    }

    #[test]
    fn no_text_makes_the_loader_panic(text in "(seawall: 1\n)?([a-z_]{1,9}:( |\n  )[-\\[\\]{}a-z*\"'(),.?: \n]{0,30}\n){0,4}") {
        let _ = Policy::parse("policy.yaml", &text);
    }
}
