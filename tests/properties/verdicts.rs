//! Verdicts on whole statements.

use proptest::prelude::*;

use crate::one_in;
use crate::policies::{Entry, build, entries, policies};
use crate::stand::{open, remembered, verdicts};
use crate::statements::{statements, texts};
use crate::worlds::worlds;

proptest! {
    #![proptest_config(one_in(1))]

    #[test]
    fn the_first_pass_and_the_full_way_give_the_same_verdict(
        world in worlds(), rules in policies(), sqls in prop::collection::vec(statements(), 1..5),
    ) {
        let policy = build(&rules).unwrap();
        let mut connection = open(&world);
        for sql in &sqls {
            let found = verdicts(&mut connection, &[&policy], sql);
            prop_assert_eq!(&found[0].0, &found[0].1, "{}", sql);
        }
    }

    #[test]
    fn the_order_of_rules_and_the_case_of_names_change_no_verdict(
        world in worlds(), rules in policies(), shuffled in any::<prop::sample::Index>(), sql in statements(),
    ) {
        let mut turned: Vec<Entry> = rules.iter().map(Entry::capitals).collect();
        if !turned.is_empty() {
            turned.reverse();
            let by = shuffled.index(turned.len());
            turned.rotate_left(by);
        }
        let (policy, turned) = (build(&rules).unwrap(), build(&turned).unwrap());
        let mut connection = open(&world);
        let found = verdicts(&mut connection, &[&policy, &turned], &sql);
        prop_assert_eq!(&found[0], &found[1]);
        let loud = verdicts(&mut connection, &[&policy], &sql.to_ascii_uppercase());
        prop_assert_eq!(&found[0], &loud[0]);
    }

    #[test]
    fn an_allow_takes_no_statement_away_and_a_deny_gives_none(
        world in worlds(), rules in policies(), added in entries(), sql in statements(),
    ) {
        let mut more = rules.clone();
        more.push(added.clone());
        let (one, two) = (build(&rules).unwrap(), build(&more).unwrap());
        let (strict, free) = if added.opens() { (one, two) } else { (two, one) };
        let mut connection = open(&world);
        let found = verdicts(&mut connection, &[&strict, &free], &sql);
        if found[0].0 == "ready" {
            prop_assert_eq!(&found[1].0, "ready");
        }
    }

    #[test]
    fn a_statement_of_a_known_shape_is_judged_as_if_it_were_new(
        world in worlds(), rules in policies(), sqls in prop::collection::vec(statements(), 1..3),
    ) {
        let policy = build(&rules).unwrap();
        let mut list = Vec::new();
        for sql in sqls {
            // Literals that are no name, that are one, and that decide whether a part can run.
            for (from, to) in [("1", "1"), ("1", "0"), ("'x'", "'secret'"), ("2", "3"), ("'x'", "'yy'")] {
                list.push(sql.replace(from, to));
            }
        }
        for (sql, (remembered, new)) in list.iter().zip(remembered(&mut open(&world), &policy, &list)) {
            prop_assert_eq!(remembered, new, "{}", sql);
        }
    }

    #[test]
    fn no_text_makes_the_judgement_panic(world in worlds(), rules in policies(), sql in texts()) {
        let policy = build(&rules).unwrap();
        verdicts(&mut open(&world), &[&policy], &sql);
    }
}
