//! Small worlds: the same few tables, with random keys, triggers and views around them.
//!
//! All tables have the columns `id`, `k` and `a`, so that most random statements mean something.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// The DDL of the main database and of the one attached as `aux`.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) main: String,
    pub(crate) aux: String,
}

/// What may stand in a world beside its tables. Each is valid without the others.
const FEATURES: &[&str] = &[
    "CREATE INDEX secret_k ON secret(k);",
    "CREATE UNIQUE INDEX t_k ON t(k, id);",
    "CREATE VIEW vt AS SELECT id, k, a FROM t;",
    "CREATE VIEW vs AS SELECT id, k, a FROM secret;",
    "CREATE VIEW vj AS SELECT t.id, k, t.a FROM t JOIN (SELECT k FROM secret) USING (k);",
    "CREATE VIEW vu AS SELECT id, k, t.a FROM t JOIN secret USING (k, id);
     CREATE VIEW vv AS SELECT id, k, a FROM vu;",
    "CREATE VIEW vc AS WITH t_log AS (SELECT * FROM t) SELECT id, k, hex(a) AS a FROM t_log;",
    "CREATE VIEW vf AS SELECT id, k, sqlite_version() AS a FROM t;",
    "CREATE VIEW t_copy AS SELECT id, k, a FROM u;",
    "CREATE VIEW vi AS SELECT id, k, a FROM t;
     CREATE TRIGGER vi_ins INSTEAD OF INSERT ON vi BEGIN INSERT INTO t(k, a) VALUES (new.k, new.a); END;
     CREATE TRIGGER vi_upd INSTEAD OF UPDATE ON vi BEGIN UPDATE t SET a = new.a WHERE id = old.id; END;
     CREATE TRIGGER vi_del INSTEAD OF DELETE ON vi BEGIN DELETE FROM t WHERE id = old.id; END;",
    "CREATE VIEW vr AS SELECT id, k, a FROM u;
     CREATE TRIGGER vr_ins INSTEAD OF INSERT ON vr BEGIN INSERT INTO log(k) SELECT k FROM secret; END;
     CREATE TRIGGER vr_upd INSTEAD OF UPDATE ON vr BEGIN INSERT INTO log(k) VALUES (sqlite_version()); END;",
    "CREATE TRIGGER t_log AFTER INSERT ON t BEGIN INSERT INTO log(k, a) VALUES (new.id, 'ins'); END;",
    "CREATE TRIGGER t_upd AFTER UPDATE OF a ON t BEGIN
       INSERT INTO log(k, a) SELECT changes(), s.k FROM (SELECT k FROM u LIMIT 1) AS s; END;",
    "CREATE TRIGGER t_del BEFORE DELETE ON t BEGIN
       INSERT INTO log(k) WITH w AS (SELECT count(*) AS n FROM u) SELECT n FROM w; END;",
    "CREATE TRIGGER t_copy AFTER INSERT ON t BEGIN
       INSERT INTO log(k) SELECT n FROM (SELECT max(k) AS n FROM secret); END;",
    "CREATE TRIGGER t_vt AFTER UPDATE ON t BEGIN UPDATE u SET a = (SELECT count(*) FROM t) WHERE k = 1; END;",
    "CREATE TRIGGER u_stop BEFORE UPDATE ON u WHEN new.a = 2 BEGIN SELECT raise(ABORT, 'not two'); END;",
    "CREATE TRIGGER u_back BEFORE INSERT ON u WHEN new.a = 2 BEGIN SELECT raise(ROLLBACK, 'not two'); END;",
    "CREATE TRIGGER secret_log AFTER DELETE ON secret BEGIN INSERT INTO log(k) VALUES ('gone'); END;",
    "CREATE VIRTUAL TABLE ft USING fts5(k, a);
     CREATE TRIGGER t_ft_ins AFTER INSERT ON t BEGIN INSERT INTO ft(rowid, k, a) VALUES (new.id, new.k, new.a); END;
     CREATE TRIGGER t_ft_del AFTER DELETE ON t BEGIN DELETE FROM ft WHERE rowid = old.id; END;
     CREATE TRIGGER t_ft_upd AFTER UPDATE ON t BEGIN
       UPDATE ft SET k = new.k, a = new.a WHERE rowid = old.id; END;",
];

/// What the rows of `u` refer to.
const KEYS: &[&str] = &[
    "",
    "REFERENCES t(id) ON DELETE CASCADE",
    "REFERENCES t ON DELETE SET NULL ON UPDATE CASCADE",
    "DEFAULT (abs(-1)) REFERENCES t ON DELETE SET DEFAULT",
    "REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED",
];

const GENERATED: &[&str] = &["", ", g AS (k || a)", ", g AS (upper(a)) STORED, h AS (length(g))"];

const SECRETS: &[&str] = &[
    "CREATE TABLE secret(id INTEGER PRIMARY KEY, k, a);",
    "CREATE TABLE secret(id, k, a, PRIMARY KEY (k, id)) WITHOUT ROWID;",
    "CREATE TABLE secret(id INTEGER PRIMARY KEY REFERENCES t ON DELETE CASCADE, k, a);",
    "CREATE VIRTUAL TABLE secret USING fts5(id, k, a);",
];

pub(crate) fn worlds() -> impl Strategy<Value = World> {
    let features = subsequence(FEATURES.to_vec(), 0..=7);
    (features, select(KEYS), select(GENERATED), select(SECRETS), any::<bool>()).prop_map(
        |(features, key, generated, secret, aux_trigger)| {
            let mut main = format!(
                "CREATE TABLE t(id INTEGER PRIMARY KEY, k, a DEFAULT (lower('D')){generated});
                 CREATE TABLE u(id INTEGER PRIMARY KEY, k UNIQUE, a CHECK (a IS NOT 7), t_id {key});
                 CREATE TABLE log(id INTEGER PRIMARY KEY AUTOINCREMENT, k, a);
                 {secret}\n"
            );
            // A virtual table can have no triggers.
            let fits = |feature: &&str| !(secret.contains("VIRTUAL") && feature.contains("ON secret"));
            main.push_str(&features.into_iter().filter(fits).collect::<Vec<_>>().join("\n"));
            let mut aux = "CREATE TABLE aux.x(id INTEGER PRIMARY KEY, k, a);
                 CREATE TABLE aux.secret(id INTEGER PRIMARY KEY, k, a);\n"
                .to_owned();
            if aux_trigger {
                aux.push_str(
                    "CREATE TRIGGER aux.t_log AFTER INSERT ON x BEGIN INSERT INTO x(k) SELECT k FROM secret LIMIT 1; END;",
                );
            }
            World { main, aux }
        },
    )
}

/// Rows for every table; `salt` changes those of `secret` alone, `column` the column `a` of `t`.
pub(crate) fn rows(salt: i64, column: i64) -> String {
    let (one, three) = if column == 0 { ("'one'", "NULL") } else { ("'two'", "'x'") };
    format!(
        "INSERT INTO t(id, k, a) VALUES (1, 1, {one}), (2, 2, 'two'), (3, 'x', {three});
         INSERT INTO u(id, k, a, t_id) VALUES (1, 1, 'u1', 1), (2, 2, 3, 2), (3, 'x', 'u3', NULL);
         INSERT INTO secret(id, k, a) VALUES ({}, {}, 's{salt}'), ({}, {}, {});
         INSERT INTO aux.x(id, k, a) VALUES (1, 1, 'x1'), (2, 'x', 'x2');
         INSERT INTO aux.secret(id, k, a) VALUES ({}, {}, 'a{salt}');
         DELETE FROM log;",
        1 + salt,
        1 + salt,
        2 + salt,
        if salt == 0 { "'x'" } else { "'y'" },
        1 + salt,
        1 + salt,
        1 + salt,
    )
}
