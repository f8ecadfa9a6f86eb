//! What the tokens of a statement say: its head, calls, tables and common table expressions.

use seawall::policy::Verb;
use seawall::statement::{Conflict, Explain, Head, Statement, TableMention, split, statements};

fn read(sql: &str) -> Statement<'_> {
    let pieces = split(sql);
    assert_eq!(pieces.len(), 1, "{sql}");
    Statement::read(sql, pieces[0])
}

fn calls(sql: &str) -> String {
    read(sql).calls.iter().map(|call| call.name.as_str().to_ascii_lowercase()).collect::<Vec<_>>().join(" ")
}

fn table(mention: &TableMention) -> String {
    let schema = mention.schema.as_ref().map(|schema| format!("{schema}.")).unwrap_or_default();
    format!("{schema}{}{}", mention.table, if mention.called { "()" } else { "" })
}

fn sources(sql: &str) -> String {
    read(sql).sources.iter().map(table).collect::<Vec<_>>().join(" ")
}

fn check(read: fn(&str) -> String, cases: &[(&str, &str)]) {
    for (sql, expected) in cases {
        assert_eq!(read(sql), *expected, "{sql}");
    }
}

#[test]
fn a_name_before_a_parenthesis_is_a_call_in_any_identifier_quoting() {
    check(
        calls,
        &[
            ("SELECT load_extension /* c */ ('x')", "load_extension"),
            ("SELECT load_extension -- c\n('x')", "load_extension"),
            (r#"SELECT "Load_Extension"('x'), [upper](a), `lower`(b)"#, "load_extension upper lower"),
            ("SELECT 'upper'(a)", ""),
            ("SELECT \u{feff}hex\u{feff}(a) FROM t", "hex\u{feff}"),
            ("SELECT Hex(abs(a) + max(1, min(2,3))) FROM t", "hex abs max min"),
            ("SELECT étude(1), $x FROM t", "étude"),
            ("SELECT count(*) FILTER (WHERE total_changes() > 0) FROM t", "count total_changes"),
            ("SELECT total_changes() OVER () FROM t", "total_changes"),
            ("INSERT INTO t(a) VALUES (0),(abs(1)) RETURNING hex(a)", "abs hex"),
            ("UPDATE t SET a = 1 WHERE 0 AND load_extension('x')", "load_extension"),
            ("DELETE FROM t WHERE a > (SELECT max(b) FROM t) ORDER BY hex(a) LIMIT abs(1)", "max hex abs"),
            ("SELECT a FROM t LIMIT 1 OFFSET (2)", ""),
            ("SELECT a FROM t LIMIT 1 OFFSET abs(2)", "abs"),
            ("SELECT a FROM t GROUP BY upper(a) HAVING lower(a) = 1", "upper lower"),
        ],
    );
}

#[test]
fn keywords_before_a_parenthesis_are_calls_only_where_they_are_functions() {
    check(
        calls,
        &[
            (
                "SELECT a IN (1), NOT (a), a AND (b), EXISTS (SELECT 1), CASE (a) WHEN (1) THEN (2) ELSE (3) END",
                "",
            ),
            ("SELECT CAST(a AS varchar(10)), CAST (upper(b) AS decimal(1, 2)) FROM t", "upper"),
            ("SELECT CAST(a AS any words here) FROM t", ""),
            (
                "SELECT like('x', a), glob(a, b), replace(a, b, c), if(a, b), match(a)",
                "like glob replace if match",
            ),
            ("SELECT left(a), right(a), cross(a), with(a), end(1), by(1)", "left right cross with end by"),
            ("SELECT over(1), filter(2), window(3), indexed(4)", "over filter window indexed"),
            ("SELECT DISTINCT (a), count(DISTINCT (b)), count(ALL (b)) FROM t", "count count"),
            ("SELECT a BETWEEN (1) AND (2) COLLATE nocase, a ESCAPE (b), a IS (b)", ""),
            ("SELECT a FROM t JOIN u USING (a) JOIN v ON (a = b)", ""),
            (
                "SELECT sum(a) OVER (PARTITION BY (a) ORDER BY (b) ROWS BETWEEN (1) PRECEDING AND (2) FOLLOWING)",
                "sum",
            ),
            (
                "SELECT sum(a) OVER (ROWS (1) PRECEDING), sum(b) OVER (w RANGE (1) PRECEDING), sum(c) OVER w",
                "sum sum sum",
            ),
            ("SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY abs(a)), v AS (w)", "sum abs"),
            ("SELECT a window FROM t ORDER BY (a) DESC, hex(b) ASC NULLS LAST", "hex"),
            ("SELECT a IS NOT DISTINCT FROM (b), a IS DISTINCT FROM abs(b)", "abs"),
        ],
    );
}

#[test]
fn operators_and_clock_words_that_are_functions_are_calls() {
    check(
        calls,
        &[
            ("SELECT a LIKE (b), a NOT GLOB b, a REGEXP b, a MATCH (c)", "like glob regexp match"),
            ("SELECT a -> 'x' ->> 'y', a-->>\n", "-> ->>"),
            (
                "SELECT CURRENT_TIMESTAMP, current_date, t.current_time, 1 AS current_time",
                "current_timestamp current_date",
            ),
            ("INSERT INTO t(current_date) VALUES (current_time)", "current_time"),
            ("UPDATE t SET current_date = 1, (current_time, a) = (2, CURRENT_TIME)", "current_time"),
        ],
    );
}

#[test]
fn column_lists_aliases_and_type_names_are_no_calls() {
    check(
        calls,
        &[
            ("INSERT INTO t(id, a, b) VALUES (3, 30, 'z')", ""),
            ("INSERT INTO t AS x(a) VALUES (1)", ""),
            ("INSERT INTO \"t\" (a) VALUES (1)", ""),
            (
                "WITH q(a, b) AS (SELECT 1, 2), \"r\"(c) AS NOT MATERIALIZED (SELECT hex(3)) SELECT * FROM q, r",
                "hex",
            ),
            ("INSERT INTO t(a) VALUES (1) ON CONFLICT (a) DO UPDATE SET (a, b) = (1, 2) WHERE (a > 1)", ""),
            ("INSERT INTO t(a) SELECT a FROM u WHERE true ON CONFLICT (lower(a)) DO NOTHING", "lower"),
            ("INSERT INTO t(a) SELECT 1 ON CONFLICT (a) DO NOTHING", ""),
            ("SELECT a FROM t JOIN u ON conflict(a)", "conflict"),
        ],
    );
}

#[test]
fn sources_are_the_names_after_from_join_and_in() {
    check(
        sources,
        &[
            ("SELECT * FROM t", "t"),
            ("SELECT * FROM main.t AS x, \"u v\" y, [w]", "main.t u v w"),
            ("SELECT * FROM 't' JOIN `u` ON a = b, v LEFT OUTER JOIN w USING (a), x", "t u v w x"),
            ("SELECT * FROM t NATURAL JOIN (SELECT 10 AS a)", "t"),
            ("SELECT * FROM (a JOIN (b, main.c) ON x = y), (SELECT 1 FROM d), ((e))", "a b main.c d e"),
            (
                "SELECT a FROM t INDEXED BY i WHERE a IN u AND b NOT IN main.v AND c IN 'w' AND d IN (1)",
                "t u main.v w",
            ),
            (
                "SELECT a IN f(1, (SELECT b FROM u)) FROM json_each('[]') j, aux.g(2)",
                "f() u json_each() aux.g()",
            ),
            ("SELECT a IS NOT DISTINCT FROM b FROM t", "t"),
            ("SELECT a FROM t WHERE a = 1 UNION ALL SELECT b FROM u, v ORDER BY a, b LIMIT 1, 2", "t u v"),
            ("INSERT INTO t(a, b) SELECT a, b FROM u, v", "u v"),
            ("INSERT INTO t SELECT * FROM u ON CONFLICT DO NOTHING", "u"),
            ("UPDATE t SET a = 1, b = 2 FROM u, (SELECT a FROM v) AS w WHERE t.id = u.id", "u v"),
            ("DELETE FROM t WHERE a IN (SELECT a FROM u)", "u"),
            ("WITH q AS (SELECT a FROM t) SELECT * FROM q CROSS JOIN r", "t q r"),
            ("SELECT (SELECT v FROM main.secret), b, c FROM t", "main.secret t"),
            ("SELECT a FROM left, replace r", "left replace"),
            ("SELECT a, b FROM t GROUP BY a, b ORDER BY a, (SELECT c FROM u), d", "t u"),
            ("SELECT sum(a) OVER w, b FROM t, u WINDOW w AS (ORDER BY a, b)", "t u"),
            ("SELECT sum(a) over FROM t, u", "t u"),
            ("SELECT sum(a) AS FROM t", "t"),
        ],
    );
}

#[test]
fn common_table_expressions_are_found_at_any_depth_in_any_quoting() {
    let ctes =
        |sql: &str| read(sql).ctes.iter().map(|cte| cte.name.to_string()).collect::<Vec<_>>().join(" ");
    for (sql, expected) in [
        ("WITH q AS (SELECT 1) SELECT * FROM q", "q"),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO t SELECT i FROM n",
            "n",
        ),
        ("WITH 'g h' AS (SELECT 1), \"a\"\"b\" AS MATERIALIZED (SELECT 2) DELETE FROM t", "g h a\"b"),
        ("UPDATE t SET a = (WITH trg AS (SELECT 1 AS z) SELECT z FROM trg)", "trg"),
        ("INSERT INTO t WITH [q] AS (WITH r AS (VALUES (1)) SELECT * FROM r) SELECT * FROM q", "q r"),
        ("SELECT * FROM (WITH g AS (SELECT 1) SELECT z FROM g)", "g"),
        ("SELECT a FROM t WHERE b IN (WITH g AS (SELECT 1) SELECT z FROM g)", "g"),
    ] {
        assert_eq!(ctes(sql), expected, "{sql}");
    }
}

#[test]
fn targets_have_their_verb_conflict_columns_where_and_single_row() {
    let target = |sql: &str| {
        let statement = read(sql);
        let Some(target) = statement.target else { return "none".to_owned() };
        let verb = match target.verb {
            Verb::Insert => "insert",
            Verb::Update => "update",
            Verb::Delete => "delete",
            Verb::Read | Verb::Replace => "wrong",
        };
        let conflict =
            target.conflict.map(|(conflict, _)| format!(" or {}", conflict.word())).unwrap_or_default();
        let columns: Vec<_> = target.columns.iter().map(|column| column.name.to_string()).collect();
        let bound = if target.has_where { " where" } else { "" };
        let row = target.single_row.map(|row| {
            let items: Vec<_> = row.iter().map(|span| &sql[span.range()]).collect();
            format!(" [{}]", items.join("|"))
        });
        format!(
            "{verb}{conflict} {}({}){bound}{}",
            table(&target.table),
            columns.join(","),
            row.unwrap_or_default()
        )
    };
    for (sql, expected) in [
        ("INSERT INTO t(id, [a], 'b') VALUES (3, f(1, 2), 'z;')", "insert t(id,a,b) [3|f(1, 2)|'z;']"),
        ("INSERT INTO main.\"t\" AS x (a) VALUES (1), (2)", "insert main.t(a)"),
        ("INSERT OR /* c */ REPLACE INTO t VALUES (- 1 /* d */)", "insert or REPLACE t() [- 1]"),
        ("INSERT INTO t VALUES ((SELECT 1, 2), (3)) RETURNING a, (b)", "insert t() [(SELECT 1, 2)|(3)]"),
        ("INSERT INTO t(a) VALUES (1) UNION ALL SELECT 2", "insert t(a)"),
        ("INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 2 WHERE c", "insert t() [1]"),
        ("INSERT INTO t(a) SELECT 1 WHERE 2", "insert t(a)"),
        ("INSERT INTO t DEFAULT VALUES", "insert t()"),
        ("REPLACE INTO t VALUES (1)", "insert or REPLACE t() [1]"),
        ("WITH q AS (SELECT 9) REPLACE INTO t(id) SELECT * FROM q", "insert or REPLACE t(id)"),
        (
            "UPDATE OR ignore main.t SET a = 1, (b, \"c\") = (2, 3), 'd' = 4 WHERE a",
            "update or IGNORE main.t(a,b,c,d) where",
        ),
        ("UPDATE t AS x INDEXED BY i SET a = (SELECT b FROM u WHERE c)", "update t(a)"),
        ("UPDATE \"t\" SET [a] = 1, `b` = 'q' FROM u, v RETURNING c, d", "update t(a,b)"),
        ("DELETE FROM t", "delete t()"),
        ("DELETE FROM main.t AS x NOT INDEXED WHERE 1 RETURNING *", "delete main.t() where"),
        ("DELETE FROM 't' WHERE id IN (SELECT 1)", "delete t() where"),
        ("SELECT 1 WHERE 2", "none"),
        ("VALUES (1)", "none"),
    ] {
        assert_eq!(target(sql), expected, "{sql}");
    }
    assert_eq!(Conflict::Ignore.word(), "IGNORE");
}

#[test]
fn heads_tell_the_kind_of_a_statement() {
    let head = |sql: &str| {
        let statement = read(sql);
        let explain = match statement.explain {
            Some(Explain::Program) => "explain ",
            Some(Explain::QueryPlan) => "query plan ",
            None => "",
        };
        let head = match statement.head {
            Head::Select => "select".to_owned(),
            Head::Insert => "insert".to_owned(),
            Head::Update => "update".to_owned(),
            Head::Delete => "delete".to_owned(),
            Head::Pragma(pragma) => {
                let schema = pragma.schema.map(|schema| format!("{schema}.")).unwrap_or_default();
                let argument = pragma.argument.map(|argument| format!(" {:?}", argument.text));
                format!("pragma {schema}{}{}", pragma.name, argument.unwrap_or_default())
            }
            Head::Schema => "schema".to_owned(),
            Head::Transaction => "transaction".to_owned(),
            Head::Attach => "attach".to_owned(),
            Head::Maintenance => "maintenance".to_owned(),
            Head::Unknown => "unknown".to_owned(),
        };
        format!("{explain}{head}")
    };
    for (sql, expected) in [
        ("WITH q AS (SELECT 1) VALUES (1)", "select"),
        ("EXPLAIN UPDATE t SET a = 1", "explain update"),
        ("explain /* c */ query plan DELETE FROM t", "query plan delete"),
        ("EXPLAIN QUERY UPDATE t SET a = 1", "explain unknown"),
        ("PRAGMA user_version", "pragma user_version"),
        ("PRAGMA/**/main . user_version -- c\n = /* d */ - 5", "pragma main.user_version \"-5\""),
        ("PRAGMA user_version(+5)", "pragma user_version \"5\""),
        ("PRAGMA \"table_info\"('t''s')", "pragma table_info \"t's\""),
        ("PRAGMA 'main'.[table_xinfo](`t`)", "pragma main.table_xinfo \"t\""),
        ("PRAGMA foreign_keys = ON", "pragma foreign_keys \"ON\""),
        ("PRAGMA foreign_keys = OFF junk", "pragma foreign_keys \"OFF\""),
        ("PRAGMA foreign_keys = ", "pragma foreign_keys \"\""),
        ("PRAGMA hard_heap_limit(0x10", "pragma hard_heap_limit \"0x10\""),
        ("EXPLAIN PRAGMA case_sensitive_like=1", "explain pragma case_sensitive_like \"1\""),
        ("PRAGMA", "unknown"),
        ("PRAGMATIC x", "unknown"),
        ("PRAGMA 1", "unknown"),
        ("CREATE TABLE n(x)", "schema"),
        ("EXPLAIN DROP TABLE IF EXISTS nope", "explain schema"),
        ("alter table t rename to u", "schema"),
        ("ANALYZE", "schema"),
        ("REINDEX/**/t", "schema"),
        ("CREATE TRIGGER z AFTER INSERT ON t BEGIN UPDATE t SET a=1; END;", "schema"),
        ("BEGIN IMMEDIATE", "transaction"),
        ("END", "transaction"),
        ("ROLLBACK TO s", "transaction"),
        ("ATTACH 'x' AS y", "attach"),
        ("DETACH main", "attach"),
        ("VACUUM INTO 'x'", "maintenance"),
        ("UPDAT t SET a = 1", "unknown"),
        ("(SELECT 1)", "unknown"),
        ("\"SELECT\" 1", "unknown"),
        ("WITH q AS (SELECT 1)", "unknown"),
        ("\u{feff}UPDATE t SET a = 1", "update"),
    ] {
        assert_eq!(head(sql), expected, "{sql}");
    }
}

#[test]
fn a_pragma_knows_where_its_name_and_argument_stand() {
    let sql = "SELECT 1; EXPLAIN PRAGMA main.\"user_version\" = - 5";
    let statements = statements(sql);
    let Head::Pragma(pragma) = &statements[1].head else { panic!("no pragma") };
    assert_eq!(&sql[pragma.span.range()], "\"user_version\"");
    assert_eq!(pragma.argument.as_ref().map(|argument| &sql[argument.span.range()]), Some("- 5"));
}

#[test]
fn nul_bytes_illegal_tokens_and_parameters_are_found_with_their_places() {
    let sql = "UPDATE t SET a=1 /* \0 */ WHERE b = ?1 AND c = :d AND e = ‘x’ + !";
    let statement = read(sql);
    assert_eq!(statement.nul.map(|nul| nul.start), sql.find('\0'));
    assert_eq!(statement.illegal.map(|illegal| &sql[illegal.range()]), Some("!"));
    let parameters: Vec<_> = statement.parameters.iter().map(|span| &sql[span.range()]).collect();
    assert_eq!(parameters, ["?1", ":d"]);
}

#[test]
fn mentions_see_words_quoted_names_and_strings_without_their_quotes() {
    let statement = read("SELECT [a b], 'it''s', \"x\" FROM t -- hidden");
    for name in ["a b", "it's", "x", "t"] {
        assert!(statement.mentions(|word| word == name), "{name}");
    }
    assert!(!statement.mentions(|word| word == "hidden"));
    let quoted: Vec<_> = statement.double_quoted().map(|token| statement.word(token)).collect();
    assert_eq!(quoted, ["\"x\""]);
}

#[test]
fn statements_of_one_shape_differ_in_literal_values_alone() {
    let shape = |sql: &str| {
        let mut key = Vec::new();
        seawall::statement::shape(
            sql,
            seawall::source::Span::new(0, sql.len()),
            |name| name.eq_ignore_ascii_case("trg"),
            &mut key,
        );
        key
    };
    for (one, other) in [
        ("INSERT INTO t(a) VALUES (1)", "INSERT  INTO t(a)\nVALUES(/* c */ 2.5)"),
        ("UPDATE t SET a = 'x', b = x'00'", "UPDATE t SET a = 'y', b = x''"),
        ("SELECT a FROM t ORDER BY a LIMIT 1", "SELECT a FROM t ORDER BY a LIMIT 2"),
    ] {
        assert_eq!(shape(one), shape(other), "{one}");
    }
    for (one, other) in [
        ("SELECT 1", "SELECT -1"),
        ("SELECT 1", "SELECT '1'"),
        ("SELECT 1", "EXPLAIN SELECT 1"),
        ("SELECT 'TRG'", "SELECT 'x'"),
        ("SELECT a FROM t ORDER BY 1", "SELECT a FROM t ORDER BY 2"),
        ("SELECT a FROM t GROUP BY (1)", "SELECT a FROM t GROUP BY (2)"),
        (
            "SELECT * FROM (SELECT a FROM t GROUP BY 1) WHERE true",
            "SELECT * FROM (SELECT a FROM t GROUP BY 2) WHERE true",
        ),
        ("SELECT * FROM t WHERE true", "SELECT * FROM t WHERE false"),
        ("SELECT a AS 'x' FROM t", "SELECT a AS 'y' FROM t"),
        ("SELECT a b", "SELECT ab"),
    ] {
        assert_ne!(shape(one), shape(other), "{one}");
    }
}

#[test]
fn a_statement_with_an_illegal_token_has_no_shape() {
    let legal = |sql: &str| {
        seawall::statement::shape(sql, seawall::source::Span::new(0, sql.len()), |_| false, &mut Vec::new())
    };
    assert!(legal("SELECT a || b"));
    assert!(!legal("SELECT a!b"));
    assert!(!legal("SELECT 'open"));
}
