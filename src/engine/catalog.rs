//! Reading the catalog of a connection: names first, columns where something asks for them.

mod columns;
mod generated;
mod shadow;

pub use columns::{bodies_of_views, details, load_rest};
pub use shadow::content;
pub(super) use shadow::row_tables;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use rusqlite::{Connection, Row};

use crate::catalog::{Catalog, Known, Schema, Table, TableKind, Trigger};
use crate::policy::Policy;
use crate::source::{Name, Span};
use crate::statement;

/// Reads the schemas of `connection`; also the columns of the tables whose columns `policy` closes.
pub fn load(connection: &Connection, policy: &Policy, known: &Arc<Known>) -> rusqlite::Result<Catalog> {
    let mut catalog = Catalog { schemas: Vec::new(), known: Arc::clone(known) };
    for (number, name) in databases(connection)? {
        catalog.schemas.push(load_schema(connection, number, &name)?);
    }
    columns::load_closed(connection, policy, &mut catalog)?;
    Ok(catalog)
}

/// The functions and modules of `connection`, host functions included.
pub fn known(connection: &Connection) -> rusqlite::Result<Known> {
    let names = |sql: &str| -> rusqlite::Result<BTreeSet<Name>> {
        let mut list = connection.prepare(sql)?;
        list.query_map([], |row| row.get::<_, String>(0))?.map(|name| name.map(Name::from)).collect()
    };
    Ok(Known {
        functions: names("SELECT DISTINCT name FROM pragma_function_list")?,
        modules: names(
            "SELECT name FROM pragma_module_list UNION SELECT 'pragma_' || name FROM pragma_pragma_list
             UNION VALUES ('json_each'), ('json_tree'), ('jsonb_each'), ('jsonb_tree')",
        )?,
    })
}

/// What a connection knows to which nothing was added; read once per process.
pub fn built_in() -> rusqlite::Result<Arc<Known>> {
    static KNOWN: OnceLock<Arc<Known>> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(Arc::clone(known));
    }
    let known = Arc::new(known(&Connection::open_in_memory()?)?);
    Ok(Arc::clone(KNOWN.get_or_init(|| known)))
}

/// What `connection` knows: the list of the process, unless something was registered on it.
pub fn known_to(connection: &Connection) -> rusqlite::Result<Arc<Known>> {
    let built_in = built_in()?;
    let functions: i64 =
        connection
            .query_row("SELECT count(DISTINCT name) FROM pragma_function_list", [], |row| row.get(0))?;
    let mut modules = connection.prepare("SELECT name FROM pragma_module_list")?;
    let mut modules = modules.query_map([], |row| row.get::<_, String>(0))?;
    let same_modules =
        modules.all(|name| name.is_ok_and(|name| built_in.modules.contains(&Name::from(name))));
    if same_modules && usize::try_from(functions) == Ok(built_in.functions.len()) {
        return Ok(built_in);
    }
    Ok(Arc::new(known(connection)?))
}

/// The whole text of the schemas of `connection`: two that are equal have equal catalogs.
pub fn text(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(16 << 10);
    for (number, name) in databases(connection)? {
        append(&mut text, &number.to_le_bytes());
        append(&mut text, name.as_bytes());
        let mut objects = connection.prepare(&objects_of(number, &quote(&name)))?;
        let mut rows = objects.query([])?;
        while let Some(row) = rows.next()? {
            for column in [0, 1, 2, 4] {
                append(&mut text, row.get_ref(column)?.as_bytes_or_null()?.unwrap_or_default());
            }
            append(&mut text, &row.get::<_, Option<i64>>(3)?.unwrap_or(0).to_le_bytes());
        }
    }
    Ok(text)
}

/// With its length, so that no two lists of parts give one text.
fn append(text: &mut Vec<u8>, part: &[u8]) {
    text.extend_from_slice(&part.len().to_le_bytes());
    text.extend_from_slice(part);
}

fn databases(connection: &Connection) -> rusqlite::Result<Vec<(i64, String)>> {
    let mut list = connection.prepare("PRAGMA database_list")?;
    list.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Indexes are left out: only the audit asks for them.
fn objects_of(number: i64, quoted: &str) -> String {
    let table = if number == 1 { "sqlite_temp_schema" } else { "sqlite_schema" };
    format!("SELECT type, name, tbl_name, rootpage, sql FROM {quoted}.{table} WHERE type <> 'index'")
}

fn load_schema(connection: &Connection, number: i64, name: &str) -> rusqlite::Result<Schema> {
    let quoted = quote(name);
    let mut schema =
        Schema { name: Name::from(name), number, tables: BTreeMap::new(), triggers: BTreeMap::new() };
    let mut objects = connection.prepare(&objects_of(number, &quoted))?;
    let mut rows = objects.query([])?;
    let mut has_virtual = false;
    while let Some(row) = rows.next()? {
        has_virtual |= add_object(&mut schema, row)?;
    }
    if has_virtual {
        shadow::mark(connection, &quoted, &mut schema)?;
    }
    Ok(schema)
}

/// Adds one row of the schema table; answers whether it is a virtual table.
fn add_object(schema: &mut Schema, row: &Row<'_>) -> rusqlite::Result<bool> {
    let text = |i: usize| -> rusqlite::Result<Cow<'_, str>> {
        Ok(String::from_utf8_lossy(row.get_ref(i)?.as_bytes_or_null()?.unwrap_or_default()))
    };
    let (kind, name, owner) = (text(0)?, Name::from(&*text(1)?), text(2)?);
    let root = row.get::<_, Option<i64>>(3)?.unwrap_or(0);
    match &*kind {
        "table" => {
            // Only a virtual table has no root, and only its text says what it is.
            let sql = if root == 0 { text(4)?.into_owned() } else { String::new() };
            let kind = virtual_module(&sql).map_or(TableKind::Ordinary, TableKind::Virtual);
            let is_virtual = matches!(kind, TableKind::Virtual(_));
            schema.tables.insert(name, Table { kind, root, sql, details: None });
            return Ok(is_virtual);
        }
        "view" => {
            schema
                .tables
                .insert(name, Table { kind: TableKind::View, root, sql: String::new(), details: None });
        }
        "trigger" => {
            schema.triggers.insert(name, Trigger { table: Name::from(&*owner), sql: String::new() });
        }
        _ => {}
    }
    Ok(false)
}

/// The module of a CREATE VIRTUAL TABLE.
fn virtual_module(sql: &str) -> Option<Name> {
    // Cheap for the many that are not: the word can only be the second.
    let head = sql.get(..40).unwrap_or(sql).to_ascii_lowercase();
    if !head.contains("virtual") {
        return None;
    }
    let (tokens, _) = statement::tokens(sql, Span::new(0, sql.len()));
    let words: Vec<_> = tokens.iter().filter_map(|token| sql.get(token.span.range())).collect();
    if !words.get(1)?.eq_ignore_ascii_case("virtual") {
        return None;
    }
    let using = words.iter().position(|word| word.eq_ignore_ascii_case("using"))?;
    Some(Name::from(statement::unquote(words.get(using + 1)?).to_ascii_lowercase()))
}

/// `name` as an identifier of SQL.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
