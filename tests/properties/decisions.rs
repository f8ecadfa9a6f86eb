//! Decisions on single requests: every request of a small universe.

use std::sync::Arc;

use proptest::prelude::*;
use seawall::policy::Policy;
use seawall::request::{Action, Origin, Request, Resource};
use seawall::ruleset::Ruleset;
use seawall::source::Name;

use crate::one_in;
use crate::policies::{Entry, build, entries, policies};
use crate::stand::{open, ruleset};
use crate::worlds::worlds;

/// Every action with every resource that fits it, from every origin.
fn universe(capitals: bool) -> Vec<Request> {
    let name = |text: &str| Name::from(if capitals { text.to_uppercase() } else { text.to_owned() });
    let mut asked = Vec::new();
    let tables = ["t", "u", "log", "secret", "vt", "vi", "ft", "ft_data", "sqlite_schema", "sqlite_sequence"];
    let qualified = tables.iter().map(|table| ("main", *table)).chain([("aux", "x"), ("aux", "secret")]);
    for (schema, table) in qualified {
        let whole = Resource::table(name(schema), name(table));
        for action in [Action::Read, Action::Insert, Action::Update, Action::Delete, Action::Replace] {
            asked.push((action, whole.clone()));
        }
        for column in ["id", "k", "a", "g", "h"] {
            let column = Resource::column(name(schema), name(table), name(column));
            asked.push((Action::Read, column.clone()));
            asked.push((Action::Update, column));
        }
    }
    for function in ["abs", "hex", "changes", "load_extension", "json_each", "->>", "coalesce"] {
        asked.push((Action::Call, Resource::Function(name(function))));
    }
    for (pragma, argument) in [("user_version", None), ("user_version", Some("1")), ("table_info", Some("t"))]
    {
        let argument = argument.map(str::to_owned);
        asked.push((Action::Pragma, Resource::Pragma { name: name(pragma), argument }));
    }
    for closed in [Action::Schema, Action::Transaction, Action::Attach, Action::Maintenance, Action::Unknown]
    {
        asked.push((closed, Resource::Statement(String::new())));
    }
    let triggers = |names: &[&str]| Origin::Trigger(names.iter().map(|text| name(text)).collect());
    let origins = [
        Origin::Caller,
        triggers(&["t_log"]),
        triggers(&["t_copy", "t_log"]),
        triggers(&["vi_ins"]),
        triggers(&[]),
        Origin::View(name("vt")),
        Origin::Expression,
        Origin::ForeignKey,
        Origin::Module(name("ft")),
    ];
    let from = |(action, resource): (Action, Resource)| {
        let requests =
            origins.clone().map(|origin| Request { action, resource: resource.clone(), origin, span: None });
        requests.to_vec()
    };
    asked.into_iter().flat_map(from).collect()
}

fn allowed(ruleset: &Ruleset, asked: &[Request]) -> Vec<bool> {
    asked.iter().map(|request| ruleset.decide(request).allowed).collect()
}

fn compiled(connection: &rusqlite::Connection, policy: Policy) -> Arc<Ruleset> {
    ruleset(connection, &Arc::new(policy))
}

proptest! {
    #![proptest_config(one_in(8))]

    #[test]
    fn neither_the_order_of_rules_nor_the_case_of_names_changes_a_decision(
        world in worlds(), rules in policies(),
    ) {
        let connection = open(&world);
        let ruleset = compiled(&connection, build(&rules).unwrap());
        let reversed: Vec<Entry> = rules.iter().rev().cloned().collect();
        let loud: Vec<Entry> = rules.iter().map(Entry::capitals).collect();
        let asked = universe(false);
        let decided = allowed(&ruleset, &asked);
        let codes = |ruleset: &Ruleset, asked: &[Request]| -> Vec<_> {
            asked.iter().map(|request| ruleset.decide(request).code).collect()
        };
        for other in [reversed, loud] {
            let other = compiled(&connection, build(&other).unwrap());
            prop_assert_eq!(&allowed(&other, &asked), &decided);
            prop_assert_eq!(codes(&other, &asked), codes(&ruleset, &asked));
        }
        prop_assert_eq!(allowed(&ruleset, &universe(true)), decided);
    }

    #[test]
    fn an_allow_never_takes_away_and_a_deny_never_gives(
        world in worlds(), rules in policies(), added in entries(),
    ) {
        let connection = open(&world);
        let mut more = rules.clone();
        more.push(added.clone());
        let (one, two) = (build(&rules).unwrap(), build(&more).unwrap());
        let (strict, free) = if added.opens() { (one, two) } else { (two, one) };
        let (strict, free) = (compiled(&connection, strict), compiled(&connection, free));
        for request in universe(false) {
            if strict.decide(&request).allowed {
                prop_assert!(free.decide(&request).allowed, "{request:?}");
            }
        }
    }

    #[test]
    fn no_policy_opens_what_no_file_can_open(world in worlds(), rules in policies()) {
        let connection = open(&world);
        let ruleset = compiled(&connection, build(&rules).unwrap());
        for request in universe(false) {
            let table = request.resource.table_name().map(|(_, table)| table.folded().to_owned());
            let kept = table.is_some_and(|table| table.starts_with("sqlite_"))
                && !matches!(request.origin, Origin::Expression | Origin::ForeignKey);
            let sets = matches!(&request.resource, Resource::Pragma { name, argument: Some(_) } if *name == *"user_version");
            if request.action.is_closed() || sets || (kept && request.action != Action::Read) {
                prop_assert!(!ruleset.decide(&request).allowed, "{request:?}");
            }
        }
    }
}
