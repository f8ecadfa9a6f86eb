//! What a run leaves behind.

use std::path::Path;

use proptest::prelude::*;
use seawall::Guard;
use seawall::engine::clock::Clock;
use seawall::engine::streams::Seed;
use seawall::policy::Policy;
use seawall::setup;
use seawall::setup::workspace::{Attached, Base, Workspace};
use seawall::source::Source;

use crate::one_in;
use crate::policies::{Entry, build, policies};
use crate::stand::{Rows, all, open, snapshot};
use crate::statements::{statements, texts};
use crate::worlds::worlds;

proptest! {
    #![proptest_config(one_in(1))]

    #[test]
    fn a_run_that_is_refused_or_fails_leaves_every_row_as_it_was(
        world in worlds(), rules in policies(), sqls in prop::collection::vec(statements(), 1..6), odd in texts(),
    ) {
        let mut connection = open(&world);
        let before = snapshot(&connection);
        let guard = Guard::new(build(&rules).unwrap(), "setup_sql");
        let text = format!("{};{odd}", sqls.join(";\n"));
        let outcome = setup::run(&mut connection, &guard, &Source::new("setup.sql", text)).unwrap();
        prop_assert!(connection.is_autocommit());
        if !outcome.is_ok() {
            prop_assert_eq!(snapshot(&connection), before);
            prop_assert!(outcome.code().is_some() && outcome.message().is_some());
        }
    }

    #[test]
    fn a_door_that_allows_no_writes_changes_nothing_whatever_is_said_to_it(
        world in worlds(), sqls in prop::collection::vec(texts(), 1..6),
    ) {
        let mut connection = open(&world);
        let before = snapshot(&connection);
        let guard = Guard::new(Policy::builtin("inspect").unwrap(), "inspect");
        let mut door = guard.open(&mut connection).unwrap();
        for sql in &sqls {
            let _ = door.query(sql);
        }
        drop(door);
        prop_assert!(connection.is_autocommit());
        prop_assert_eq!(snapshot(&connection), before);
        let attached = all(&connection, "SELECT name FROM pragma_database_list WHERE name <> 'temp'");
        prop_assert_eq!(attached.len(), 2);
    }

    #[test]
    fn a_statement_that_a_door_refuses_or_fails_changes_nothing(
        world in worlds(), rules in policies(), sqls in prop::collection::vec(statements(), 1..5),
    ) {
        let mut connection = open(&world);
        let guard = Guard::new(build(&rules).unwrap(), "tool");
        let mut door = guard.open(&mut connection).unwrap();
        for sql in &sqls {
            let before = snapshot(door.connection());
            if door.execute(sql).is_err() {
                prop_assert_eq!(snapshot(door.connection()), before, "{}", sql);
            }
            prop_assert!(door.connection().is_autocommit());
        }
    }
}

/// Draws into both databases, once in the schema's own words.
const DRAWS: &str = "INSERT INTO t(k, a) VALUES (random(), hex(randomblob(8))), (random(), 'b');
     INSERT INTO aux.x(k) SELECT random() % 100 FROM t;
     UPDATE t SET k = random() WHERE a = 'b';";

fn drawn(
    directory: &Path,
    world: &crate::worlds::World,
    seed: Option<u64>,
    sqls: &[String],
) -> (String, Rows) {
    let schema = |name: &str, text: &str| Base::Schema(Source::new(name, text.replace("aux.", "")));
    let attached = Attached { name: "aux".to_owned(), base: schema("aux.sql", &world.aux) };
    let seed = Seed::new("seawall", seed);
    let main = schema("main.sql", &world.main);
    let mut workspace = Workspace::create(directory, &main, &[attached], Clock::Fixed(0), &seed).unwrap();
    let rules = [
        Entry::AllowRows("read, write on *.*".to_owned()),
        Entry::AllowFunction("*".to_owned()),
        Entry::TrustTrigger("read, call, write by *".to_owned()),
    ];
    let guard = Guard::new(build(&rules).unwrap(), "setup_sql");
    let text = format!("{DRAWS}{}", sqls.join(";"));
    let outcome = setup::run(&mut workspace.connection, &guard, &Source::new("setup.sql", text)).unwrap();
    (format!("{:?} {}", outcome.code(), outcome.steps), snapshot(&workspace.connection))
}

proptest! {
    #![proptest_config(one_in(16))]

    #[test]
    fn the_same_seed_gives_the_same_rows_and_another_seed_others(
        world in worlds(), sqls in prop::collection::vec(statements(), 0..3), seed in any::<u64>(),
    ) {
        let directories = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let run = |i: usize, seed| drawn(directories[i].path(), &world, seed, &sqls);
        let (first, again, other) = (run(0, Some(seed)), run(1, Some(seed)), run(2, Some(seed ^ 1)));
        prop_assert_eq!(&first, &again);
        if first.0.starts_with("None") {
            prop_assert_ne!(first.1, other.1);
        }
    }
}
