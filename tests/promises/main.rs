//! What Seawall promises of a setup run and of a guarded connection, one test a promise.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]

mod support;

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use seawall::engine::clock::Clock;
use seawall::engine::host::HostFunction;
use seawall::engine::open::Hardened;
use seawall::engine::streams::Seed;
use seawall::guard::{GuardError, Judged, Judging, Piece};
use seawall::policy::{Limits, Policy};
use seawall::setup::workspace::{Base, Workspace};
use seawall::source::Source;
use seawall::statement;
use seawall::{Guard, setup};

use support::{code, guard, memory, rows, run};

#[test]
fn a_semicolon_inside_a_literal_a_name_a_comment_or_a_trigger_body_does_not_split() {
    let mut connection = memory("CREATE TABLE t(a); CREATE TABLE \"x;y\"(a)");
    let sql = "INSERT INTO t VALUES ('a;b'); INSERT INTO \"x;y\" VALUES (1) /* ; */; -- ;\n INSERT INTO [x;y] VALUES (2);";
    let outcome = run(&mut connection, &guard("setup_sql"), sql);
    assert_eq!((outcome.word(), outcome.statements), ("ok", 3));
    assert_eq!(rows(&connection, "SELECT (SELECT a FROM t), count(*) FROM \"x;y\""), ["a;b 2"]);
    let trigger = "CREATE TRIGGER z AFTER INSERT ON t BEGIN DELETE FROM t; SELECT 1; END; SELECT 2";
    let outcome = run(&mut connection, &guard("setup_sql"), trigger);
    assert_eq!((code(&outcome), outcome.statement(), outcome.statements), ("schema-change", Some(1), 2));
}

#[test]
fn random_draws_from_a_seeded_stream_and_the_clock_is_the_given_one() {
    let schema = Base::Schema(Source::new("s.sql", "CREATE TABLE t(a, at DEFAULT CURRENT_TIMESTAMP)"));
    let drawn = |seed: Option<u64>| {
        let directory = tempfile::tempdir().unwrap();
        let (clock, seed) = (Clock::Fixed(1_780_304_400_000), Seed::new("seawall", seed));
        let mut workspace = Workspace::create(directory.path(), &schema, &[], clock, &seed).unwrap();
        let sql = "INSERT INTO t(a) VALUES (random()), (hex(randomblob(4)))";
        assert!(run(&mut workspace.connection, &guard("setup_sql"), sql).is_ok());
        rows(&workspace.connection, "SELECT a, at FROM t")
    };
    assert_eq!(drawn(Some(1)), drawn(Some(1)));
    assert_eq!(drawn(None), drawn(None));
    assert_ne!(drawn(Some(1)), drawn(Some(2)));
    assert!(drawn(None).iter().all(|row| row.ends_with("2026-06-01 09:00:00")), "{:?}", drawn(None));
}

#[test]
fn by_default_rows_may_be_read_and_written_and_nothing_else() {
    let ddl = "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (1, 1)";
    for sql in [
        "SELECT * FROM t",
        "INSERT INTO t(a) SELECT a + 1 FROM t",
        "UPDATE t SET a = upper(a) WHERE id = 1",
        "DELETE FROM t WHERE id = 9",
        "REPLACE INTO t VALUES (1, 2)",
        "WITH c AS (SELECT 3) INSERT INTO t(a) SELECT * FROM c WHERE true ON CONFLICT DO NOTHING RETURNING id",
        "VALUES (1), (2)",
        "PRAGMA table_info(t)",
    ] {
        assert_eq!(code(&run(&mut memory(ddl), &guard("setup_sql"), sql)), "ok", "{sql}");
    }
    for (sql, wanted) in [
        ("CREATE TABLE x(a)", "schema-change"),
        ("DROP TABLE IF EXISTS nothing", "schema-change"),
        ("ALTER TABLE t ADD b", "schema-change"),
        ("ANALYZE", "schema-change"),
        ("BEGIN", "transaction-control"),
        ("SAVEPOINT s", "transaction-control"),
        ("COMMIT", "transaction-control"),
        ("ATTACH ':memory:' AS o", "attach-detach"),
        ("DETACH main", "attach-detach"),
        ("VACUUM", "maintenance"),
        ("PRAGMA foreign_keys = off", "pragma-not-reporting"),
        ("PRAGMA user_version = 3", "pragma-not-reporting"),
        ("SELECT load_extension('x')", "function-not-allowed"),
        ("SELECT changes()", "function-not-allowed"),
        ("UPDATE sqlite_schema SET sql = ''", "internal-table"),
    ] {
        assert_eq!(code(&run(&mut memory(ddl), &guard("setup_sql"), sql)), wanted, "{sql}");
    }
}

#[test]
fn every_failure_names_the_statement_and_rolls_everything_back() {
    for (last, word) in [
        ("DROP TABLE t", "was refused"),
        ("INSERT INTO t VALUES (1)", "failed"),
        ("INSERT OR ROLLBACK INTO t VALUES (1)", "failed"),
        ("SELECT nothing", "failed"),
    ] {
        let mut connection = memory("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)");
        let outcome = run(
            &mut connection,
            &guard("setup_sql"),
            &format!("DELETE FROM t WHERE a = 9; INSERT INTO t VALUES (2); {last}"),
        );
        let message = outcome.message().unwrap();
        assert!(message.starts_with(&format!("setup_sql statement 3 of 3 {word}: ")), "{message}");
        assert_eq!(rows(&connection, "SELECT a FROM t"), ["1"]);
        assert!(connection.is_autocommit());
    }
}

#[test]
fn no_file_is_left_where_a_workspace_cannot_be_made() {
    let directory = tempfile::tempdir().unwrap();
    let schema = Base::Schema(Source::new("s.sql", "CREATE TABLE t(a); CREATE TABLE t(a)"));
    assert!(Workspace::create(directory.path(), &schema, &[], Clock::Host, &Seed::new("s", None)).is_err());
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

const TRIGGERS: &str =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE log(n, a); CREATE TABLE closed(a);
    CREATE TRIGGER t_ins AFTER INSERT ON t BEGIN
      INSERT INTO log SELECT changes(), value FROM json_each(json_array(new.a, sqlite_version() IS NULL));
    END;
    CREATE VIEW v AS SELECT sqlite_version() AS a FROM t;
    INSERT INTO t VALUES (1, 1);";

#[test]
fn a_trigger_of_the_world_is_trusted_for_calls_and_reads_by_its_name() {
    let mut connection = memory(TRIGGERS);
    assert_eq!(code(&run(&mut connection, &guard("setup_sql"), "INSERT INTO t(a) VALUES ('x')")), "ok");
    assert_eq!(rows(&connection, "SELECT count(*) FROM log WHERE a = 'x'"), ["1"]);
    let strict = Policy::builder()
        .extends(Policy::builtin("setup_sql").unwrap())
        .remove_triggers("*")
        .trust_triggers("read, call by other")
        .unwrap()
        .build()
        .unwrap();
    let outcome = run(&mut connection, &Guard::new(strict, "setup_sql"), "INSERT INTO t(a) VALUES ('x')");
    assert_eq!(code(&outcome), "trigger-not-trusted");
}

#[test]
fn views_are_not_trusted_and_nothing_borrows_a_triggers_trust() {
    let outcome = |sql: &str| code(&run(&mut memory(TRIGGERS), &guard("setup_sql"), sql));
    assert_eq!(outcome("SELECT a FROM v"), "view-not-trusted");
    for sql in [
        "WITH t_ins AS (SELECT sqlite_version() AS a) INSERT INTO log(a) SELECT a FROM t_ins",
        "WITH t_ins AS (SELECT sqlite_version() AS a) INSERT INTO t(a) SELECT a FROM t_ins",
        "INSERT INTO t(a) SELECT t_ins.a FROM (SELECT sqlite_version() AS a) AS t_ins",
        "INSERT INTO t(a) VALUES (1), (sqlite_version())",
        "UPDATE t SET a = (WITH t_ins(a) AS (SELECT changes()) SELECT a FROM t_ins)",
    ] {
        assert_eq!(outcome(sql), "function-not-allowed", "{sql}");
    }
}

#[test]
fn reporting_pragmas_are_allowed_and_a_failure_at_commit_is_reported_like_any_other() {
    let mut connection = memory(
        "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p_id REFERENCES p DEFERRABLE INITIALLY DEFERRED)",
    );
    for sql in [
        "PRAGMA table_list",
        "PRAGMA foreign_key_check",
        "PRAGMA data_version",
        "PRAGMA main.index_list('c')",
    ] {
        assert_eq!(code(&run(&mut connection, &guard("setup_sql"), sql)), "ok", "{sql}");
    }
    let outcome = run(&mut connection, &guard("setup_sql"), "INSERT INTO c VALUES (7)");
    assert_eq!((code(&outcome), outcome.statement()), ("commit-foreign-key", None));
    let message = outcome.message().unwrap();
    assert!(
        message.starts_with("setup_sql failed at commit: row 1 of c has p_id 7, but p has no such row."),
        "{message}"
    );
    assert_eq!(rows(&connection, "SELECT count(*) FROM c"), ["0"]);
}

#[test]
fn what_can_be_opened_or_closed_stands_in_the_file_only() {
    let mut connection = memory(TRIGGERS);
    let mut verdict = |yaml: &str, sql: &str| {
        let policy = Policy::parse("p.yaml", &format!("seawall: 1\n{yaml}")).unwrap();
        code(&run(&mut connection, &Guard::new(policy, "setup_sql"), sql))
    };
    assert_eq!(verdict("", "SELECT a FROM t"), "read-denied");
    assert_eq!(verdict("rows: {allow: [read on t]}", "SELECT a FROM t"), "ok");
    assert_eq!(verdict("rows: {allow: [read on t]}", "SELECT abs(a) FROM t"), "function-not-allowed");
    let open = "rows: {allow: [read on t]}\nfunctions: {allow: [abs, changes]}";
    assert_eq!(verdict(open, "SELECT abs(a), changes() FROM t"), "ok");
    assert_eq!(verdict("", "PRAGMA user_version"), "pragma-not-reporting");
    assert_eq!(verdict("pragmas: {allow: [user_version]}", "PRAGMA user_version"), "ok");
    let everything = "rows: {allow: ['read, write on *.*']}\nfunctions: {allow: ['*']}";
    for (sql, wanted) in
        [("DROP TABLE t", "schema-change"), ("BEGIN", "transaction-control"), ("VACUUM", "maintenance")]
    {
        assert_eq!(verdict(everything, sql), wanted);
    }
}

#[test]
fn a_view_that_another_connection_redefines_between_prepare_and_step_gains_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("shared.db");
    let mut connection = Connection::open(&file).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE t(a); INSERT INTO t VALUES ('open'); CREATE TABLE secret(a);
             INSERT INTO secret VALUES ('hidden'); CREATE VIEW v AS SELECT a FROM t",
        )
        .unwrap();
    let policy = Policy::builder().allow_rows("read, write on t, v").unwrap().build().unwrap();
    let guard = Guard::new(policy, "tool");
    let other = Connection::open(&file).unwrap();
    for sql in ["SELECT a FROM v", "INSERT INTO t SELECT a FROM v"] {
        let mut door = guard.open(&mut connection).unwrap();
        let prepared = door.prepare(sql).unwrap();
        other.execute_batch("DROP VIEW v; CREATE VIEW v AS SELECT a FROM secret").unwrap();
        let mut seen = Vec::new();
        let ran = prepared.run(|row| {
            seen.push(row.get::<_, String>(0)?);
            Ok(true)
        });
        assert!(ran.is_err(), "{sql}");
        assert!(!seen.contains(&"hidden".to_owned()), "{sql}");
        // The next statement is judged by the schema as it is now.
        assert!(matches!(door.query(sql), Err(GuardError::Refused(_))), "{sql}");
        drop(door);
        assert_eq!(rows(&connection, "SELECT a FROM t"), ["open"]);
        other.execute_batch("DROP VIEW v; CREATE VIEW v AS SELECT a FROM t").unwrap();
    }
}

#[test]
fn a_host_function_is_called_only_where_the_policy_lists_it() {
    let mut connection = memory(
        "CREATE TABLE t(a); CREATE TABLE log(a);
         CREATE TRIGGER t_ins AFTER INSERT ON t BEGIN INSERT INTO log VALUES (host_open(new.a)); END",
    );
    let answer = |values: &[rusqlite::types::Value]| Ok(values[0].clone());
    HostFunction::new("host_pure", 1, answer).deterministic().register(&connection).unwrap();
    HostFunction::new("host_open", 1, answer).register(&connection).unwrap();
    HostFunction::new("host_direct", 1, answer).direct_only().register(&connection).unwrap();
    let mut outcome = |guard: &Guard, sql: &str| code(&run(&mut connection, guard, sql));
    let shipped = guard("setup_sql");
    for sql in [
        "INSERT INTO log VALUES (1), (host_pure(2))",
        "INSERT INTO log VALUES (host_pure(1))",
        "SELECT 1 IN (VALUES (1), (\"HOST_PURE\"(2)))",
        "SELECT host_open(1)",
        "SELECT host_direct(1)",
    ] {
        assert_eq!(outcome(&shipped, sql), "function-not-allowed", "{sql}");
    }
    // The world's trigger may call it all the same.
    assert_eq!(outcome(&shipped, "INSERT INTO t VALUES (5)"), "ok");
    let policy = Policy::builder().extends(Policy::builtin("setup_sql").unwrap());
    let listed = Guard::new(policy.allow_functions("host_*").unwrap().build().unwrap(), "setup_sql");
    assert_eq!(outcome(&listed, "INSERT INTO log VALUES (1), (host_pure(2)); SELECT host_direct(1)"), "ok");
    connection
        .execute_batch(
            "CREATE TRIGGER t_direct AFTER INSERT ON t BEGIN INSERT INTO log VALUES (host_direct(1)); END",
        )
        .unwrap();
    let outcome = run(&mut connection, &listed, "INSERT INTO t VALUES (5)");
    assert_eq!(outcome.word(), "failed", "{:?}", outcome.message());
}

#[test]
fn a_connection_gets_every_setting_back() {
    let mut connection = memory("CREATE TABLE t(a)");
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false).unwrap();
    connection.set_limit(Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 9).unwrap();
    let settings = |connection: &Connection| {
        let flags = [
            DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY,
            DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
            DbConfig::SQLITE_DBCONFIG_DEFENSIVE,
            DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA,
            DbConfig::SQLITE_DBCONFIG_DQS_DML,
            DbConfig::SQLITE_DBCONFIG_DQS_DDL,
            DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        ];
        let limits = [
            Limit::SQLITE_LIMIT_LENGTH,
            Limit::SQLITE_LIMIT_SQL_LENGTH,
            Limit::SQLITE_LIMIT_ATTACHED,
            Limit::SQLITE_LIMIT_TRIGGER_DEPTH,
            Limit::SQLITE_LIMIT_VARIABLE_NUMBER,
            Limit::SQLITE_LIMIT_WORKER_THREADS,
        ];
        (
            flags.map(|flag| connection.db_config(flag).unwrap()),
            limits.map(|limit| connection.limit(limit).unwrap()),
        )
    };
    let before = settings(&connection);
    let mut door = guard("setup_sql").open(&mut connection).unwrap();
    door.execute("INSERT INTO t VALUES (1)").unwrap();
    door.execute("DROP TABLE t").unwrap_err();
    door.execute("SELECT \"no column\" FROM t").unwrap();
    drop(door);
    assert_eq!(settings(&connection), before);
    for sql in [
        "INSERT INTO t VALUES (2)",
        "INSERT INTO t VALUES (2); DROP TABLE t",
        "SELECT nothing",
        "INSERT INTO t VALUES (randomblob(99999999))",
    ] {
        run(&mut connection, &guard("setup_sql"), sql);
        assert_eq!(settings(&connection), before, "{sql}");
    }
    connection
        .execute_batch("PRAGMA user_version = 4; ATTACH ':memory:' AS o; CREATE TABLE o.x(a); DROP TABLE t")
        .unwrap();
}

#[test]
fn what_a_full_text_table_flushes_in_a_later_statement_is_not_refused() {
    let mut connection = memory(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE other(a UNIQUE);
         CREATE VIRTUAL TABLE ft USING fts5(a, content = 't', content_rowid = 'id');
         CREATE TRIGGER t_ins AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, a) VALUES (new.id, new.a); END",
    );
    let sql = "INSERT INTO t(a) VALUES ('one'), ('two'); INSERT OR IGNORE INTO other VALUES (1), (1);
        INSERT INTO other SELECT a FROM t; DELETE FROM other WHERE a IN (SELECT a FROM t);
        INSERT INTO t(a) SELECT 'three'; SELECT count(*) FROM other";
    let outcome = run(&mut connection, &guard("setup_sql"), sql);
    assert_eq!(outcome.message(), None);
    assert_eq!(rows(&connection, "SELECT count(*) FROM ft WHERE ft MATCH 'two OR three'"), ["2"]);
}

#[test]
fn a_hundred_inserts_of_one_shape_are_judged_once() {
    let mut connection = memory("CREATE TABLE t(a, b)");
    let policy = std::sync::Arc::new(Policy::builtin("setup_sql").unwrap());
    let held = Hardened::new(&mut connection, &Limits::default()).unwrap();
    let known = seawall::engine::catalog::built_in().unwrap();
    let catalog = seawall::engine::catalog::load(held.connection, &policy, &known).unwrap();
    let ruleset = seawall::ruleset::Ruleset::compile(policy, Some(std::sync::Arc::new(catalog)));
    let mut judging =
        Judging::new(held.connection, held.recorder.clone(), std::sync::Arc::new(ruleset)).unwrap();
    let sql: String = (0..100).map(|i| format!("INSERT INTO t VALUES ({i}, 'row {i}');")).collect();
    for span in statement::split(&sql) {
        let mut ready = match judging.read(&sql, span, true) {
            Piece::Known(id) => judging.judge_known(id, &sql[span.range()]).unwrap(),
            Piece::Read { statement, id, .. } => match judging.judge_shaped(&statement, id) {
                Judged::Ready(ready) => ready,
                other => panic!("{other:?}"),
            },
        };
        ready.step(|_| Ok(true)).unwrap();
    }
    assert_eq!(judging.memo_hits(), 99);
}

#[test]
fn a_run_inside_a_transaction_is_no_run() {
    let mut connection = memory("CREATE TABLE t(a)");
    connection.execute_batch("BEGIN; INSERT INTO t VALUES (1)").unwrap();
    let source = Source::new("s.sql", "INSERT INTO t VALUES (2)");
    assert!(setup::run(&mut connection, &guard("setup_sql"), &source).is_err());
    connection.execute_batch("COMMIT").unwrap();
    assert_eq!(rows(&connection, "SELECT a FROM t"), ["1"]);
}
