//! Random statements over the worlds of this test, valid and less so.

use proptest::prelude::*;
use proptest::sample::select;

/// Tables, views, and names that only some worlds have.
const TABLES: &[&str] = &[
    "t",
    "t",
    "u",
    "u",
    "log",
    "secret",
    "main.secret",
    "aux.x",
    "x",
    "aux.secret",
    "vt",
    "vs",
    "vj",
    "vu",
    "vv",
    "vc",
    "vf",
    "vi",
    "vr",
    "t_copy",
    "ft",
    "\"secret\"",
    "[t]",
    "'u'",
];

const TARGETS: &[&str] =
    &["t", "t", "t", "u", "u", "log", "secret", "aux.x", "aux.secret", "vi", "vi", "vr", "vt", "ft", "`t`"];

/// Names that a CTE borrows from triggers, views and tables.
const BORROWED: &[&str] = &["c", "t_log", "t_copy", "t_upd", "secret", "vt", "vi_ins", "t", "sqlite_master"];

fn text(of: &'static [&'static str]) -> BoxedStrategy<String> {
    select(of).prop_map(str::to_owned).boxed()
}

fn tables() -> BoxedStrategy<String> {
    text(TABLES).boxed()
}

/// What stands after FROM.
pub(crate) fn sources() -> BoxedStrategy<String> {
    let joined = text(&[
        "JOIN {} USING (k)",
        "NATURAL JOIN {}",
        "LEFT JOIN {} AS r USING (id, k)",
        "FULL JOIN {} USING (k)",
        "RIGHT JOIN {} USING (k)",
        ", {} AS r",
        "JOIN {} AS r ON r.k = q.k",
    ]);
    let first = prop_oneof![
        4 => tables().prop_map(|table| format!("{table} AS q")),
        1 => tables().prop_map(|table| format!("(SELECT id, k, a FROM {table}) AS q")),
        1 => tables().prop_map(|table| format!("(SELECT 1 AS k, 2 AS id) AS q JOIN {table} USING (k)")),
        1 => Just("json_each('[1, 2]') AS q".to_owned()),
        1 => tables().prop_map(|table| format!("pragma_table_info('{}') AS q", table.replace('\'', "''"))),
        1 => Just("c AS q".to_owned()),
    ];
    (first, prop::option::weighted(0.4, (joined, tables())))
        .prop_map(|(first, join)| match join {
            Some((join, table)) => format!("{first} {}", join.replace("{}", &table)),
            None => first,
        })
        .boxed()
}

pub(crate) fn expressions() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        3 => text(&["1", "2", "0", "NULL", "'x'", "'one'", "3", "7"]),
        3 => text(&["id", "k", "a", "q.k", "rowid", "g", "\"a\"", "[k]"]),
        1 => text(&["abs(-1)", "sqlite_version()", "hex('a')", "changes()", "current_date", "q", "ft"]),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let sub = (inner.clone(), sources(), inner.clone());
        prop_oneof![
            (
                text(&["abs", "hex", "lower", "coalesce", "iif", "max", "count", "\"length\"", "likely"]),
                inner.clone()
            )
                .prop_map(|(name, of)| match name.as_str() {
                    "coalesce" => format!("coalesce({of}, 1)"),
                    "iif" => format!("iif({of}, 1, 2)"),
                    _ => format!("{name}({of})"),
                }),
            (inner.clone(), text(&["+", "||", "=", "IS", "AND", "LIKE", "->>", "<", "GLOB"]), inner.clone())
                .prop_map(|(left, op, right)| format!("({left} {op} {right})")),
            sub.clone().prop_map(|(value, from, filter)| {
                format!("(SELECT {value} FROM {from} WHERE {filter} LIMIT 1)")
            }),
            sub.prop_map(|(value, from, filter)| {
                format!("{value} IN (SELECT k FROM {from} WHERE {filter})")
            }),
            sources().prop_map(|from| format!("(SELECT count(*) FROM {from})")),
            sources().prop_map(|from| format!("EXISTS (SELECT 1 FROM {from})")),
            (inner, tables()).prop_map(|(value, table)| format!("{value} IN {table}")),
        ]
    })
    .boxed()
}

fn selects() -> BoxedStrategy<String> {
    let columns = prop_oneof![
        expressions(),
        (expressions(), expressions()).prop_map(|(a, b)| format!("{a} AS k, {b} AS a")),
        text(&["*", "q.*", "count(*)", "k, a", "max(k), a", "DISTINCT k", "count(*) OVER (), k"]),
    ];
    let tail = text(&["", "", "", " GROUP BY k", " ORDER BY a", " LIMIT 2", " UNION SELECT k FROM secret"]);
    (columns, sources(), prop::option::of(expressions()), tail)
        .prop_map(|(columns, from, filter, tail)| {
            let filter = filter.map(|filter| format!(" WHERE {filter}")).unwrap_or_default();
            format!("SELECT {columns} FROM {from}{filter}{tail}")
        })
        .boxed()
}

fn tails() -> BoxedStrategy<String> {
    prop_oneof![
        4 => Just(String::new()),
        1 => expressions().prop_map(|value| format!(" RETURNING {value}")),
        1 => Just(" RETURNING *".to_owned()),
    ]
    .boxed()
}

fn inserts() -> BoxedStrategy<String> {
    let verb = text(&[
        "INSERT",
        "INSERT",
        "INSERT",
        "REPLACE",
        "INSERT OR IGNORE",
        "INSERT OR REPLACE",
        "INSERT OR ROLLBACK",
    ]);
    let value = expressions;
    let rows = prop_oneof![
        (value(), value()).prop_map(|(k, a)| format!("(k, a) VALUES ({k}, {a})")),
        (value(), value()).prop_map(|(k, a)| format!("(k, a) VALUES (8, 1), ({k}, {a})")),
        (value(), value()).prop_map(|(id, k)| format!("(id, k) VALUES ({id}, {k})")),
        (value(), sources()).prop_map(|(k, from)| format!("(k) SELECT {k} FROM {from} WHERE true")),
        Just(" DEFAULT VALUES".to_owned()),
        Just("(id, k, a) SELECT * FROM secret WHERE true".to_owned()),
        value().prop_map(|k| format!("(id, k) VALUES (1, {k}) ON CONFLICT DO UPDATE SET a = {k}")),
        value().prop_map(|k| format!(
            "(id, k) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET k = excluded.k WHERE {k}"
        )),
        Just("(k) VALUES (1) ON CONFLICT DO NOTHING".to_owned()),
    ];
    (verb, text(TARGETS), rows, tails())
        .prop_map(|(verb, table, rows, tail)| format!("{verb} INTO {table}{rows}{tail}"))
        .boxed()
}

fn updates() -> BoxedStrategy<String> {
    let verb = text(&["UPDATE", "UPDATE", "UPDATE OR IGNORE", "UPDATE OR REPLACE", "UPDATE OR FAIL"]);
    let set = prop_oneof![
        expressions().prop_map(|value| format!("a = {value}")),
        expressions().prop_map(|value| format!("k = {value}")),
        (expressions(), sources())
            .prop_map(|(value, from)| format!("(k, a) = (SELECT {value}, 1 FROM {from})")),
        text(&["id = id + 10", "a = 1", "g = 1"]),
    ];
    let from = prop::option::weighted(0.25, sources());
    (verb, text(TARGETS), set, from, prop::option::of(expressions()), tails())
        .prop_map(|(verb, table, set, from, filter, tail)| {
            let from = from.map(|from| format!(" FROM {from}")).unwrap_or_default();
            let filter = filter.map(|filter| format!(" WHERE {filter}")).unwrap_or_default();
            format!("{verb} {table} SET {set}{from}{filter}{tail}")
        })
        .boxed()
}

fn deletes() -> BoxedStrategy<String> {
    (text(TARGETS), prop::option::of(expressions()), tails())
        .prop_map(|(table, filter, tail)| {
            let filter = filter.map(|filter| format!(" WHERE {filter}")).unwrap_or_default();
            format!("DELETE FROM {table}{filter}{tail}")
        })
        .boxed()
}

/// One statement without its semicolon.
pub(crate) fn statements() -> BoxedStrategy<String> {
    let body = prop_oneof![3 => selects(), 4 => inserts(), 3 => updates(), 2 => deletes()];
    let with = (text(BORROWED), selects(), any::<bool>()).prop_map(|(name, select, recursive)| {
        let word = if recursive { "WITH RECURSIVE" } else { "WITH" };
        format!("{word} {name} AS ({select}) ")
    });
    let head = prop_oneof![5 => Just(String::new()), 2 => with, 1 => Just("EXPLAIN ".to_owned())];
    (head, body).prop_map(|(head, body)| head + &body).boxed()
}

/// Words of SQL in no order.
pub(crate) fn soups() -> BoxedStrategy<String> {
    let word = text(&[
        "SELECT",
        "INSERT",
        "INTO",
        "t",
        "u",
        "secret",
        "(",
        ")",
        "VALUES",
        "1",
        "'x'",
        ",",
        ";",
        "DROP",
        "TABLE",
        "PRAGMA",
        "user_version",
        "=",
        "writable_schema",
        "ON",
        "DELETE",
        "FROM",
        "UPDATE",
        "SET",
        "a",
        "WHERE",
        "WITH",
        "AS",
        "*",
        "EXPLAIN",
        "QUERY",
        "PLAN",
        "ATTACH",
        "':memory:'",
        "DETACH",
        "aux",
        "BEGIN",
        "COMMIT",
        "END",
        "ROLLBACK",
        "SAVEPOINT",
        "RELEASE",
        "CREATE",
        "TEMP",
        "TRIGGER",
        "VIEW",
        "VACUUM",
        "REINDEX",
        "ANALYZE",
        "ALTER",
        "RENAME",
        "TO",
        ".",
        "\"",
        "'",
        "[",
        "]",
        "`",
        "--",
        "/*",
        "*/",
        "\n",
        "?",
        ":a",
        "x'00'",
        "NULL",
        "ft",
        "(ft)",
        "'rebuild'",
        "json_each",
        "'[1]'",
        "main",
        "sqlite_schema",
        "OR",
        "REPLACE",
        "IGNORE",
        "RETURNING",
        "CASE",
        "->>",
        "MATCH",
        "é",
        "\u{feff}",
        "\u{0}",
        "0x1F",
        "1e5",
        ".5",
        "::",
        "UNION",
        "ALL",
        "INDEXED",
        "BY",
        "foreign_key_check",
        "table_info",
        "optimize",
        "wal_checkpoint",
        "journal_mode",
        "FILTER",
        "OVER",
    ]);
    let words = prop::collection::vec((word, select(&[" ", "", " "][..])), 0..24);
    words.prop_map(|words| words.into_iter().map(|(word, space)| word + space).collect()).boxed()
}

/// A statement that was cut or doubled somewhere, or words in no order.
pub(crate) fn texts() -> BoxedStrategy<String> {
    let cut = (statements(), any::<prop::sample::Index>(), any::<bool>()).prop_map(|(sql, at, doubled)| {
        let at = at.index(sql.len() + 1);
        let at = (0..=at).rev().find(|at| sql.is_char_boundary(*at)).unwrap_or(0);
        if doubled { format!("{}{}", &sql[..at], &sql[at / 2..]) } else { sql[..at].to_owned() }
    });
    prop_oneof![2 => soups(), 1 => cut, 1 => statements()].boxed()
}
