//! What the tokens of a statement say, held against what SQLite's own authorizer reports.
//!
//! The shared cases and corpus are read where `SEAWALL_SHARED` names them; without it those tests
//! say so and pass.

#![expect(clippy::unwrap_used, reason = "a panic of a helper is the failure of its test")]
#![expect(clippy::print_stdout, reason = "the counts tell whether a run compared anything")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rusqlite::ffi::SQLITE_DETACH;
use rusqlite::{Connection, OpenFlags};
use seawall::engine::event::EventKind;
use seawall::engine::recorder::{Phase, Recorder};
use seawall::engine::switches::WorldCodeOff;
use seawall::policy::Verb;
use seawall::statement::{Head, Statement, statements, tokens, unquote};

/// One difference: the name in question and the statement.
type Difference = (String, String);

/// How texts and callbacks differed over a run of statements.
#[derive(Default)]
struct Tally {
    read: usize,
    /// Statements that are not on rows.
    others: usize,
    /// SQLite does not prepare it.
    failed: Vec<String>,
    /// SQLite prepares what we hold to have an illegal token.
    illegal: Vec<Difference>,
    /// SQLite calls what the text does not mention.
    missed_calls: Vec<Difference>,
    /// SQLite uses a table that the text does not mention.
    missed_tables: Vec<Difference>,
    /// SQLite sees another kind of statement, or another pragma.
    heads: Vec<Difference>,
    /// SQLite writes something else than the target.
    targets: Vec<Difference>,
    /// The text mentions the call of a function that SQLite does not report.
    silent_calls: Vec<Difference>,
    /// The text mentions a table that there is not, although SQLite prepares it.
    no_tables: Vec<Difference>,
}

impl Tally {
    fn print(&self) {
        println!(
            "{} statements on rows, {} not prepared; {} others",
            self.read,
            self.failed.len(),
            self.others
        );
        for (what, found) in [
            ("illegal", &self.illegal),
            ("missed calls", &self.missed_calls),
            ("missed tables", &self.missed_tables),
            ("heads", &self.heads),
            ("targets", &self.targets),
            ("silent calls", &self.silent_calls),
            ("no tables", &self.no_tables),
        ] {
            println!("{what}: {}", found.len());
            let mut by_name: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
            for (name, sql) in found {
                by_name.entry(name).or_insert((0, sql)).0 += 1;
            }
            for (name, (count, sql)) in by_name {
                let sql: String =
                    sql.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
                println!("  {count:5} {name}: {sql}");
            }
        }
    }

    fn assert_nothing_missed(&self) {
        let missed = [
            &self.illegal,
            &self.heads,
            &self.missed_calls,
            &self.missed_tables,
            &self.targets,
            &self.no_tables,
        ];
        assert!(
            missed.iter().all(|found| found.is_empty()),
            "SQLite saw what the text does not say, see above"
        );
    }
}

/// The world's own text.
struct World {
    items: Vec<Item>,
    /// TEMP triggers, which fire even where triggers are off.
    triggers: BTreeSet<String>,
}

struct Item {
    name: String,
    /// The table of an index, else its own name.
    table: String,
    view: bool,
    words: BTreeSet<String>,
}

impl World {
    /// Reads the schema of `connection`, and opens its virtual tables: one that is opened only by a
    /// statement asks its own tables in that statement's name.
    fn of(connection: &Connection) -> Self {
        let (mut items, mut triggers) = (Vec::new(), BTreeSet::new());
        let every = "SELECT lower(name), lower(tbl_name), type = 'view', coalesce(sql, '') FROM sqlite_schema
            UNION ALL SELECT lower(name), lower(tbl_name), type = 'view', coalesce(sql, '') FROM sqlite_temp_schema";
        // The schema of some test files is damaged on purpose.
        let Ok(mut query) = connection.prepare(every) else { return Self { items, triggers } };
        let mut rows = query.query([]).unwrap();
        while let Ok(Some(row)) = rows.next() {
            let Ok(sql) = row.get::<_, String>(3) else { continue };
            items.push(Item {
                name: row.get(0).unwrap(),
                table: row.get(1).unwrap(),
                view: row.get(2).unwrap(),
                words: words(&sql).collect(),
            });
        }
        for item in &items {
            let _ = connection.prepare(&format!("SELECT * FROM \"{}\"", item.name));
        }
        triggers
            .extend(names(connection, "SELECT lower(name) FROM sqlite_temp_schema WHERE type = 'trigger'"));
        Self { items, triggers }
    }

    /// The tables that a text which names `tables` may use: these, and what their views name.
    fn reach(&self, tables: &BTreeSet<String>) -> BTreeSet<String> {
        let mut reached = tables.clone();
        loop {
            let before = reached.len();
            for item in self.items.iter().filter(|item| item.view) {
                if reached.contains(&item.name) {
                    reached.extend(item.words.iter().cloned());
                }
            }
            if reached.len() == before {
                return reached;
            }
        }
    }

    /// Whether the text of one of `tables`, a view, DEFAULT, CHECK, index or generated column, has that word.
    fn says(&self, tables: &BTreeSet<String>, word: &str) -> bool {
        self.items.iter().any(|item| tables.contains(&item.table) && item.words.contains(word))
    }

    fn holds(&self, table: &str) -> bool {
        self.items.iter().any(|item| item.name == table)
    }
}

fn words(sql: &str) -> impl Iterator<Item = String> {
    let (tokens, _) = tokens(sql, seawall::source::Span::new(0, sql.len()));
    tokens.into_iter().map(|token| unquote(&sql[token.span.range()]).to_ascii_lowercase())
}

fn modules(connection: &Connection) -> BTreeSet<String> {
    // SQLite registers these two when they are first used.
    let _ = connection.prepare("SELECT * FROM json_each(1), json_tree(1)");
    names(connection, "SELECT lower(name) FROM pragma_module_list")
}

fn functions(connection: &Connection) -> BTreeSet<String> {
    names(connection, "SELECT DISTINCT lower(name) FROM pragma_function_list")
}

fn names(connection: &Connection, sql: &str) -> BTreeSet<String> {
    let mut query = connection.prepare(sql).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn is_schema_table(name: &str) -> bool {
    matches!(name, "sqlite_master" | "sqlite_schema" | "sqlite_temp_master" | "sqlite_temp_schema")
}

/// A connection whose authorizer records, with triggers and foreign keys off.
struct Bench<'c> {
    connection: &'c Connection,
    recorder: &'c Recorder,
    functions: &'c BTreeSet<String>,
    modules: &'c BTreeSet<String>,
}

impl Bench<'_> {
    /// Compares the head of a statement that is not about rows. It is denied as soon as it asks
    /// for more than rows, so nothing of it happens.
    fn compare_head(&self, statement: &Statement<'_>, tally: &mut Tally) {
        let armed = self.recorder.arm(Phase::Prepare);
        let prepared = self.connection.prepare(statement.sql()).is_ok();
        let events = self.recorder.take();
        drop(armed);
        tally.others += 1;
        // The first callback of CREATE and DROP can be about the schema table's rows.
        let asked = events.iter().find(|event| {
            let rows =
                [EventKind::Select, EventKind::Read, EventKind::Insert, EventKind::Update, EventKind::Delete];
            !rows.contains(&event.kind) && event.kind != EventKind::Function
        });
        let same = match (&statement.head, asked.map(|event| event.kind)) {
            (Head::Pragma(pragma), Some(EventKind::Pragma)) => asked.is_some_and(|event| {
                let argument = pragma.argument.as_ref().map(|argument| argument.text.as_str());
                pragma.name == *event.first && argument == event.argued.then_some(&*event.second)
            }),
            (Head::Schema, Some(EventKind::Schema))
            | (Head::Transaction, Some(EventKind::Transaction))
            | (Head::Attach, Some(EventKind::Attach | EventKind::Unknown(SQLITE_DETACH))) => true,
            (Head::Unknown, None) => !prepared && events.is_empty(),
            (_, None) => true,
            (_, Some(_)) => false,
        };
        if !same {
            tally.heads.push((format!("{asked:?}"), statement.sql().to_owned()));
        }
    }

    fn compare(&self, statement: &Statement<'_>, world: &World, tally: &mut Tally) {
        tally.read += 1;
        let armed = self.recorder.arm(Phase::Prepare);
        let prepared = self.connection.prepare(statement.sql()).map(drop);
        let events = self.recorder.take();
        drop(armed);
        let sql = statement.sql();
        if let Err(error) = prepared {
            tally.failed.push(format!("{error}: {sql}"));
            return;
        }
        if let Some(illegal) = statement.illegal {
            tally.illegal.push((statement.text[illegal.range()].to_owned(), sql.to_owned()));
            return;
        }
        let lower = |name: &str| name.to_ascii_lowercase();
        let calls: BTreeSet<String> = statement.calls.iter().map(|call| lower(call.name.as_str())).collect();
        let ctes: BTreeSet<String> = statement.ctes.iter().map(|cte| lower(cte.name.as_str())).collect();
        let sources = statement.sources.iter().chain(statement.target.as_ref().map(|target| &target.table));
        let tables: BTreeSet<String> = sources.map(|source| lower(source.table.as_str())).collect();
        let reach = world.reach(&tables);
        let mut reported = BTreeSet::new();
        for event in &events {
            let name = lower(&event.first);
            if !world.triggers.is_empty() && !event.accessor.is_empty() {
                continue;
            }
            match event.kind {
                EventKind::Function => {
                    // FULL and RIGHT joins add a coalesce for each column of USING.
                    let joined = name == "coalesce" && (sql_has(sql, "full") || sql_has(sql, "right"));
                    if !calls.contains(&name) && !world.says(&reach, &name) && !joined {
                        tally.missed_calls.push((name.clone(), sql.to_owned()));
                    }
                    reported.insert(name);
                }
                EventKind::Read | EventKind::Insert | EventKind::Update | EventKind::Delete => {
                    let schema = is_schema_table(&name) && tables.iter().any(|table| is_schema_table(table));
                    // FULL and RIGHT joins name the columns of a subquery by its alias.
                    let alias =
                        !world.holds(&name) && !self.modules.contains(&name) && !is_schema_table(&name);
                    if !(name.is_empty() || reach.contains(&name) || ctes.contains(&name) || alias || schema)
                    {
                        tally.missed_tables.push((format!("{}.{name}", event.schema), sql.to_owned()));
                    }
                }
                _ => {}
            }
        }
        if let Some(target) = &statement.target {
            let table = lower(target.table.table.as_str());
            let kind = match target.verb {
                Verb::Update => EventKind::Update,
                Verb::Delete => EventKind::Delete,
                _ => EventKind::Insert,
            };
            let written = events.iter().filter(|event| event.kind == kind);
            if !written.clone().any(|event| lower(&event.first) == table) {
                tally.targets.push((table.clone(), sql.to_owned()));
            }
            let asked: BTreeSet<String> = written.map(|event| lower(&event.second)).map(row_id).collect();
            let ours: BTreeSet<String> =
                target.columns.iter().map(|column| lower(column.name.as_str())).map(row_id).collect();
            if target.verb == Verb::Update && asked != ours {
                tally.targets.push((format!("{asked:?} is not {ours:?}"), sql.to_owned()));
            }
        }
        for call in calls.iter().filter(|call| self.functions.contains(*call) && !reported.contains(*call)) {
            tally.silent_calls.push((call.clone(), sql.to_owned()));
        }
        for table in &tables {
            // SQLite looks up nothing in a common table expression that is not used.
            let known = world.holds(table)
                || !ctes.is_empty()
                || is_schema_table(table)
                || self.modules.contains(table)
                || table.starts_with("pragma_");
            if !known {
                tally.no_tables.push((table.clone(), sql.to_owned()));
            }
        }
    }
}

fn row_id(column: String) -> String {
    if matches!(column.as_str(), "oid" | "_rowid_") { "rowid".to_owned() } else { column }
}

fn sql_has(sql: &str, word: &str) -> bool {
    words(sql).any(|other| other == word)
}

/// Compares each statement of `sql` on `connection`; nothing is stepped.
fn compare_all(connection: &mut Connection, sql: &[&str], tally: &mut Tally) {
    let recorder = Recorder::install(connection).unwrap();
    let connection = &*connection;
    let (functions, modules) = (functions(connection), modules(connection));
    let _off = WorldCodeOff::new(connection).unwrap();
    let world = World::of(connection);
    let bench = Bench { connection, recorder: &recorder, functions: &functions, modules: &modules };
    for statement in sql.iter().flat_map(|sql| statements(sql)) {
        if statement.head.is_row() {
            bench.compare(&statement, &world, tally);
        } else {
            bench.compare_head(&statement, tally);
        }
    }
}

const SCHEMA: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT DEFAULT (hex(1)), c UNIQUE);
    CREATE TABLE u(id INTEGER PRIMARY KEY, a, d AS (a * 2), t REFERENCES t);
    CREATE TABLE \"my table\"(\"a b\", \"c\"\"d\");
    CREATE TABLE étude(a);
    CREATE TABLE replace(a, \"values\");
    CREATE VIEW v AS SELECT a, lower(b) AS l FROM t;
    CREATE TRIGGER w AFTER INSERT ON t BEGIN INSERT INTO u(a) VALUES (random()); END;
    CREATE VIRTUAL TABLE f USING fts5(x, y);";

/// Statements that SQLite prepares on [`SCHEMA`].
const OWN: &[&str] = &[
    "INSERT INTO t VALUES (1, 2, 'x', 3)",
    "INSERT INTO t(a, b) VALUES (abs(-1), upper('x')), (2, 'y') RETURNING id, hex(b)",
    "INSERT INTO t DEFAULT VALUES",
    "INSERT INTO main.t AS x (a) SELECT a FROM u WHERE true ON CONFLICT (c) DO UPDATE SET a = max(excluded.a, x.a) WHERE length(x.a) > 1",
    "INSERT INTO t(c) VALUES (1) ON CONFLICT (c) DO UPDATE SET (a, b) = (SELECT min(a), count(*) FROM u)",
    "INSERT INTO t(c) SELECT 1 WHERE true ON CONFLICT DO NOTHING",
    "REPLACE INTO t(id, a) VALUES (1, CURRENT_TIMESTAMP)",
    "INSERT OR IGNORE INTO \"my table\"(\"a b\", [c\"d]) VALUES (char(65), 'x' || quote(1))",
    "REPLACE INTO replace(a, \"values\") VALUES (replace('a', 'b', 'c'), 1)",
    "REPLACE INTO replace SELECT a, \"values\" FROM replace",
    "INSERT INTO replace VALUES (1, 2)",
    "WITH q(a) AS (SELECT abs(1)) INSERT INTO t(a) SELECT a FROM q",
    "WITH RECURSIVE q(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM q WHERE i < 5) INSERT INTO t(a) SELECT i FROM q",
    "INSERT INTO t(a) WITH q AS (SELECT a FROM u) SELECT a FROM q",
    "INSERT INTO f(x) VALUES (lower('A'))",
    "INSERT INTO f(f) VALUES ('rebuild')",
    "UPDATE t SET a = a + 1 WHERE id = 1",
    "UPDATE t SET (a, b) = (1, trim(b)) WHERE a IN (SELECT a FROM u)",
    "UPDATE t SET a = u.a FROM u WHERE u.id = t.id",
    "UPDATE t SET a = x.a FROM u AS x, (SELECT a FROM étude) AS y JOIN \"my table\" AS z ON z.\"a b\" = y.a WHERE x.a = y.a",
    "UPDATE OR FAIL t AS x SET a = ifnull(x.a, 1), \"b\" = (SELECT group_concat(a, ',') FROM u)",
    "UPDATE t INDEXED BY sqlite_autoindex_t_1 SET a = 1 WHERE c = 1",
    "UPDATE t SET a = 1 RETURNING (SELECT count(*) FROM u), typeof(a)",
    "DELETE FROM t WHERE a > (SELECT max(a) FROM u)",
    "DELETE FROM main . \"t\" AS x WHERE x.a IN étude",
    "DELETE FROM t WHERE a IN (1, 2) OR a NOT IN (VALUES (abs(1)))",
    "DELETE FROM t WHERE EXISTS (SELECT * FROM u WHERE u.a = t.a)",
    "WITH q AS (SELECT a FROM t) DELETE FROM u WHERE a IN q RETURNING a",
    "SELECT * FROM t, u, étude",
    "SELECT * FROM (t, u) JOIN étude ON étude.a = t.a",
    "SELECT * FROM ((SELECT a FROM t) AS x LEFT JOIN u USING (a))",
    "SELECT * FROM t NATURAL JOIN u CROSS JOIN \"my table\" m",
    "SELECT * FROM t FULL JOIN u USING (a)",
    "SELECT * FROM v WHERE l LIKE 'x%' ESCAPE '!'",
    "SELECT * FROM v AS 'w', t 'x', \"u\" [y]",
    "SELECT * FROM 't'",
    "SELECT * FROM 'main'.'t'",
    "SELECT [upper](b), `lower`(b), \"Length\" /* c */ (b) FROM t",
    "SELECT value FROM json_each('[1]') AS j, t WHERE j.value = t.a",
    "SELECT * FROM t, json_each(t.b), pragma_table_info('t')",
    "SELECT a -> 'x', a ->> 'y', b GLOB 'z', b NOT LIKE 'q' FROM t",
    "SELECT * FROM f WHERE f MATCH 'x' ORDER BY rank",
    "SELECT highlight(f, 0, '<', '>'), bm25(f) FROM f WHERE x MATCH lower('X')",
    "SELECT sum(a) OVER (PARTITION BY b ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
    "SELECT row_number() OVER o, lag(a, 1) OVER (o) FROM t WINDOW o AS (ORDER BY abs(a))",
    "SELECT count(*) FILTER (WHERE a > round(1.5)), total(DISTINCT a) FROM t GROUP BY substr(b, 1) HAVING avg(a) > 1",
    "SELECT group_concat(a ORDER BY length(b)), max(a) FROM t",
    "SELECT CAST(a AS varchar(10)), CAST(hex(b) AS decimal(10, 2)) FROM t",
    "SELECT CASE (a) WHEN (1) THEN sign(a) ELSE (2) END FROM t",
    "SELECT a IS DISTINCT FROM abs(b), a IS NOT DISTINCT FROM (b), a ISNULL FROM t",
    "SELECT a IN étude, a NOT IN main.'étude' FROM (SELECT 1 AS a) WHERE a IN pragma_module_list",
    "SELECT a FROM t UNION SELECT a FROM u EXCEPT SELECT 1 ORDER BY 1 LIMIT abs(1) OFFSET unicode('a')",
    "SELECT (WITH q AS (SELECT a FROM u) SELECT max(a) FROM q), (SELECT 1 FROM étude) FROM t",
    "WITH q AS NOT MATERIALIZED (SELECT a FROM t), r(x, y) AS (SELECT a, instr(a, 1) FROM q) SELECT * FROM r AS s",
    "VALUES (abs(1)), (2)",
    "SELECT \"no such column\", ('abs') IS NULL",
    "SELECT current_date, t.a, current_time AS abs FROM t",
    "SELECT date('now'), strftime('%s', a) FROM t ORDER BY random()",
    "SELECT nullif(a, 1), iif(a, 1, 2), if(a, 1), coalesce(a, 1), likely(a) FROM t",
    "EXPLAIN SELECT a FROM t WHERE a = printf('%d', 1)",
    "EXPLAIN QUERY PLAN DELETE FROM u WHERE a = format('x')",
    "SELECT name FROM sqlite_schema WHERE type = 'table'",
    "SELECT * FROM t WHERE (a, b) IN (SELECT a, lower(d) FROM u) AND a BETWEEN min(1, 2) AND (3)",
    "SELECT a abs, b AS \"upper\" FROM t lower GROUP BY abs",
    "SELECT * FROM t INDEXED BY sqlite_autoindex_t_1 JOIN u NOT INDEXED ON (t.c = u.id)",
    "SELECT json_group_array(a) FILTER (WHERE a IN (SELECT value FROM json_each(t.b))) OVER () FROM t",
    "SELECT a COLLATE nocase, b COLLATE \"binary\" FROM t ORDER BY a COLLATE rtrim DESC NULLS LAST",
    "SELECT sum(a) over FROM u AS over",
    "SELECT sum(over.a) over, over.a filter FROM u over, t window",
    "SELECT 1 WHERE 1 OR load_extension('x')",
];

/// Statements that are not about rows.
const HEADS: &[&str] = &[
    "PRAGMA user_version",
    "PRAGMA main.\"user_version\" = - 5",
    "PRAGMA/**/'main' . [user_version](+5)",
    "PRAGMA foreign_keys = ON",
    "PRAGMA foreign_keys = delete",
    "PRAGMA foreign_keys(default)",
    "PRAGMA cache_size = -0x10",
    "PRAGMA cache_size = 1.e3",
    "PRAGMA \u{feff}no_such_pragma = 'it''s'",
    "EXPLAIN PRAGMA table_info(\"my table\")",
    "EXPLAIN QUERY PLAN PRAGMA `table_info`(étude)",
    "BEGIN IMMEDIATE",
    "END",
    "ROLLBACK TO s",
    "SAVEPOINT s",
    "RELEASE SAVEPOINT s",
    "ATTACH 'x' AS y",
    "ATTACH 'x' || 'y' AS z",
    "DETACH y",
    "DETACH ?1",
    "CREATE TABLE n(a)",
    "CREATE TABLE n AS SELECT abs(a) FROM t",
    "CREATE TEMP TRIGGER n AFTER INSERT ON t BEGIN SELECT 1; END",
    "EXPLAIN CREATE VIRTUAL TABLE n USING fts5(a)",
    "DROP VIEW v",
    "DROP TABLE IF EXISTS nope",
    "ALTER TABLE t RENAME TO n",
    "ALTER TABLE t DROP COLUMN a",
    "REINDEX t",
    "ANALYZE",
    "VACUUM",
    "VACUUM INTO 'x'",
    "EXPLAIN",
    "EXPLAIN QUERY SELECT 1",
    "EXPLAIN EXPLAIN SELECT 1",
    "(SELECT 1)",
    "'PRAGMA' user_version",
    "UPSERT INTO t VALUES (1)",
];

#[test]
fn heads_are_what_sqlite_takes_a_statement_for() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    let mut tally = Tally::default();
    compare_all(&mut connection, HEADS, &mut tally);
    tally.print();
    tally.assert_nothing_missed();
    assert_eq!(tally.others, HEADS.len());
}

#[test]
fn our_own_statements_mention_what_sqlite_reports_and_nothing_else() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    let mut tally = Tally::default();
    compare_all(&mut connection, OWN, &mut tally);
    tally.print();
    tally.assert_nothing_missed();
    assert_eq!(tally.failed, Vec::<String>::new());
    assert!(tally.silent_calls.is_empty());
}

/// Where the authorizer is silent although the text calls: the text decides there.
#[test]
fn sqlite_does_not_report_the_calls_of_what_it_never_compiles() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    for sql in [
        "INSERT INTO t(a) VALUES (1), (2), (abs(3))",
        "WITH q AS (SELECT abs(1)) SELECT 1",
        "SELECT a FROM t WINDOW o AS (ORDER BY abs(a))",
        "INSERT INTO étude VALUES (1) ON CONFLICT DO UPDATE SET a = abs(1)",
        "SELECT a FROM t WHERE 0 AND EXISTS (SELECT abs(1))",
    ] {
        let mut tally = Tally::default();
        compare_all(&mut connection, &[sql], &mut tally);
        assert_eq!(tally.silent_calls, [("abs".to_owned(), sql.to_owned())]);
    }
}

/// The folder of shared material, or a note that there is none.
fn shared(what: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("SEAWALL_SHARED").map(PathBuf::from);
    if shared.is_none() {
        println!("skipped: SEAWALL_SHARED does not say where the {what} is");
    }
    shared
}

#[test]
fn the_shared_cases_mention_what_sqlite_reports() {
    let Some(shared) = shared("folder of cases") else { return };
    let mut tally = Tally::default();
    for file in ["guard-open.jsonl", "setup-open.jsonl"] {
        for line in std::fs::read_to_string(shared.join("cases").join(file)).unwrap().lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| case.get(key).and_then(|value| value.as_str());
            let mut connection = match text("db") {
                Some(db) => {
                    let path = shared.join("cases/db").join(format!("{db}.db"));
                    let file = format!("file:{}?immutable=1", path.display());
                    Connection::open_with_flags(
                        file,
                        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
                    )
                    .unwrap()
                }
                None => Connection::open_in_memory().unwrap(),
            };
            // What the guard is to refuse may be no SQL at all, nor need the schema be sound.
            let _ = connection.execute_batch(text("schema_sql").unwrap_or_default());
            compare_all(&mut connection, &[text("setup_sql").unwrap_or_default()], &mut tally);
        }
    }
    tally.print();
    tally.assert_nothing_missed();
}

#[test]
fn the_shared_corpus_mentions_what_sqlite_reports() {
    let Some(shared) = shared("corpus") else { return };
    let archive = shared.join("corpus/sqlite-tests.jsonl.gz");
    let mut gzip = Command::new("gzip").arg("-dc").arg(archive).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(gzip.stdout.take().unwrap()).lines().map(Result::unwrap).peekable();
    let mut tally = Tally::default();
    let scratch = Connection::open_in_memory().unwrap();
    let (functions, modules) = (functions(&scratch), modules(&scratch));
    while lines.peek().is_some() {
        let mut connection = Connection::open_in_memory().unwrap();
        let recorder = Recorder::install(&mut connection).unwrap();
        // Some of the schemas are made by queries without an end.
        connection.progress_handler(1_000_000, Some(|| true)).unwrap();
        let _off = WorldCodeOff::new(&connection).unwrap();
        let bench =
            Bench { connection: &connection, recorder: &recorder, functions: &functions, modules: &modules };
        let mut world = None;
        for line in lines.by_ref() {
            let block: serde_json::Value = serde_json::from_str(&line).unwrap();
            let Some(sql) = block.get("sql").and_then(|sql| sql.as_str()) else { break };
            for statement in statements(sql) {
                if statement.head.is_row() {
                    let world = world.get_or_insert_with(|| World::of(&connection));
                    bench.compare(&statement, world, &mut tally);
                    continue;
                }
                bench.compare_head(&statement, &mut tally);
                if statement.head == Head::Schema && statement.explain.is_none() {
                    let _ = connection.execute_batch(statement.sql());
                    world = None;
                }
            }
        }
    }
    gzip.wait().unwrap();
    tally.print();
    tally.assert_nothing_missed();
}
