//! What the guard once missed, each in its smallest form.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic of a helper is the failure of its test")]

use rusqlite::Connection;
use seawall::guard::GuardError;
use seawall::policy::{Policy, PolicyBuilder};
use seawall::source::Source;
use seawall::{Door, Guard};

fn open(policy: PolicyBuilder, connection: &mut Connection) -> Door<'_> {
    Guard::new(policy.build().unwrap(), "setup_sql").open(connection).unwrap()
}

fn setup() -> PolicyBuilder {
    Policy::builder().extends(Policy::builtin("setup_sql").unwrap())
}

fn world(ddl: &str) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(ddl).unwrap();
    connection
}

/// The codes of a refusal, in their order.
fn refused(door: &mut Door<'_>, sql: &str) -> Vec<&'static str> {
    match door.query(sql) {
        Err(GuardError::Refused(refusals)) => refusals.iter().map(|refusal| refusal.code.word()).collect(),
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn a_view_is_the_same_in_any_case() {
    let mut connection = world(
        "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t;
         CREATE TRIGGER v_del INSTEAD OF DELETE ON v BEGIN DELETE FROM t WHERE a = old.a; END;",
    );
    let policy = Policy::builder().trust_triggers("read, call by *").unwrap();
    let mut door = open(policy, &mut connection);
    assert_eq!(refused(&mut door, "DELETE FROM V"), refused(&mut door, "DELETE FROM v"));
}

const SECRETS: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, k);
    CREATE TABLE plain(id INTEGER PRIMARY KEY, k, a);
    CREATE TABLE indexed(id INTEGER PRIMARY KEY, k, a); CREATE INDEX by_k ON indexed(k, a);
    CREATE TABLE keyed(k, id, a, PRIMARY KEY (k, id)) WITHOUT ROWID;
    CREATE VIEW v AS SELECT t.id FROM t JOIN indexed USING (k);
    CREATE VIEW vv AS SELECT * FROM v;";

#[test]
fn a_hidden_column_is_not_compared_through_an_index_or_a_key() {
    for table in ["plain", "indexed", "keyed"] {
        for column in ["k", "id"] {
            let mut connection = world(SECRETS);
            let policy = setup().deny_rows(&format!("read on {table}({column})")).unwrap();
            let mut door = open(policy, &mut connection);
            for from in [
                format!("(SELECT 1 AS {column}) JOIN {table} USING ({column})"),
                format!("(SELECT 1 AS {column}) NATURAL JOIN {table}"),
                format!("(SELECT 1 AS {column}) CROSS JOIN '{table}' USING ({column})"),
                format!("{table} JOIN (SELECT 1 AS {column}) USING ({column})"),
            ] {
                let sql = format!("SELECT count(*) FROM {from}");
                assert_eq!(refused(&mut door, &sql), ["read-denied"], "{sql}");
                let sql = format!("INSERT INTO t(k) SELECT 1 FROM {from}");
                assert_eq!(refused(&mut door, &sql), ["read-denied"], "{sql}");
            }
            let open = format!("SELECT a FROM {table} WHERE a = 1 AND a IN (SELECT 1)");
            assert!(door.query(&open).is_ok(), "{open}");
        }
    }
}

#[test]
fn a_view_that_joins_on_a_hidden_column_reads_it() {
    let mut connection = world(SECRETS);
    let mut door = open(setup().deny_rows("read on indexed(k)").unwrap(), &mut connection);
    for sql in ["SELECT id FROM v", "SELECT id FROM vv", "UPDATE t SET k = 1 FROM main.VV WHERE t.id = vv.id"]
    {
        assert_eq!(refused(&mut door, sql), ["read-denied"], "{sql}");
    }
    assert!(door.query("SELECT id FROM t").is_ok());
}

#[test]
fn a_returning_on_a_view_without_a_trigger_for_the_verb_is_the_callers_alone() {
    let mut connection = world(
        "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t;
         CREATE TRIGGER v_ins INSTEAD OF INSERT ON v BEGIN INSERT INTO t VALUES (sqlite_version()); END;",
    );
    let sql = "DELETE FROM v WHERE a = 1 RETURNING a";
    let mut door = open(setup(), &mut connection);
    assert!(door.query(sql).is_ok());
    drop(door);
    // A rule that hides the view's table makes it take the long way.
    let mut door = open(setup().deny_rows("read on t").unwrap(), &mut connection);
    assert_eq!(refused(&mut door, sql), ["read-denied"]);
    drop(door);
    let mut door = open(setup().deny_rows("read on t(b)").unwrap(), &mut connection);
    assert!(door.query(sql).is_ok(), "{:?}", door.query(sql));
}

#[test]
fn the_alias_of_a_subquery_is_no_table_even_where_few_tables_are_open() {
    let mut connection = world("CREATE TABLE t(v, w); CREATE TABLE s(v);");
    let policy = Policy::builder().allow_rows("read on t").unwrap().allow_functions("coalesce").unwrap();
    let mut door = open(policy, &mut connection);
    assert!(door.query("SELECT v FROM (SELECT 1 AS v) AS g FULL JOIN t USING (v)").is_ok());
    assert!(door.query("SELECT v FROM (SELECT 1 AS v) FULL JOIN t USING (v)").is_ok());
    assert_eq!(
        refused(&mut door, "SELECT v FROM (SELECT 1 AS v) AS g FULL JOIN s USING (v)"),
        ["read-denied"]
    );
}

#[test]
fn a_bind_parameter_hides_no_other_finding() {
    let mut connection = world("CREATE TABLE users(id INTEGER PRIMARY KEY, pin, team);");
    let mut door = open(setup().deny_rows("read on users(pin)").unwrap(), &mut connection);
    let found = refused(&mut door, "UPDATE users SET team = total_changes() WHERE pin = ?");
    assert_eq!(found, ["bind-parameter", "read-denied", "function-not-allowed"]);
}

#[test]
fn a_temporary_trigger_of_the_host_is_trusted_on_neither_way() {
    let mut connection = world(
        "CREATE TABLE t(a); CREATE TABLE s(b); CREATE TABLE u(id, pin);
         CREATE TEMP TRIGGER tt AFTER INSERT ON main.t BEGIN INSERT INTO u(id) SELECT b FROM s; END;",
    );
    let policy = setup().deny_rows("read on s, u(pin)").unwrap();
    let mut door = open(policy, &mut connection);
    assert_eq!(refused(&mut door, "INSERT INTO t VALUES (1)"), ["read-denied"]);
    assert_eq!(refused(&mut door, "INSERT INTO t SELECT id FROM u"), ["read-denied"]);
}

#[test]
fn a_vocabulary_joined_by_using_alone_is_not_refused() {
    let mut connection = world(
        "CREATE VIRTUAL TABLE ft USING fts5(body); INSERT INTO ft VALUES ('a b');
         CREATE VIRTUAL TABLE voc USING fts5vocab(ft, row);",
    );
    let mut door = open(setup(), &mut connection);
    assert!(door.query("SELECT count(*) FROM (SELECT 'a' AS term) JOIN voc USING (term)").is_ok());
}

#[test]
fn a_closed_column_of_a_table_that_sqlite_keeps_is_not_compared_by_a_join() {
    let mut connection = world(
        "CREATE TABLE t(a); CREATE VIEW vs AS SELECT 1 AS one FROM (SELECT 'x' AS sql) JOIN sqlite_schema USING (sql);
         CREATE VIRTUAL TABLE ft USING fts5(a, b);",
    );
    let policy = setup().allow_rows("read on sqlite_schema(name), ft_content(c0)").unwrap();
    let mut door = open(policy, &mut connection);
    assert!(door.query("SELECT name FROM sqlite_schema").is_ok());
    for from in [
        "(SELECT 'x' AS sql) JOIN sqlite_schema USING (sql)",
        "(SELECT 'x' AS sql) JOIN sqlite_master USING (sql)",
        "(SELECT 'x' AS c1) JOIN ft_content USING (c1)",
        "vs",
    ] {
        let sql = format!("INSERT INTO t SELECT 1 FROM {from}");
        assert_eq!(refused(&mut door, &sql).len(), 1, "{sql}");
    }
}

#[test]
fn what_a_failure_tells_of_the_schema_is_what_it_is_now() {
    let mut connection = world("CREATE TABLE t(id INTEGER PRIMARY KEY, a)");
    let mut door = open(setup(), &mut connection);
    let source = Source::new("setup.sql", "INSERT INTO t (xyz) VALUES (1)");
    let fix = |door: &mut Door<'_>| door.check(&source).unwrap().failures.remove(0).fix;
    assert_eq!(fix(&mut door), "Columns: id, a.");
    door.connection().execute_batch("ALTER TABLE t ADD COLUMN later").unwrap();
    assert_eq!(fix(&mut door), "Columns: id, a, later.");
}
