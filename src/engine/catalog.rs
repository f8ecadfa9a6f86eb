//! Reading the catalog of a connection: names first, columns where something asks for them.

mod generated;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use rusqlite::{Connection, Row};

use crate::catalog::{Catalog, Column, Details, ForeignKey, Index, Known, Schema, Table, TableKind, Trigger};
use crate::policy::{Policy, Verb};
use crate::source::{Name, Span};
use crate::statement;

/// Reads the schemas of `connection`; also the columns of the tables whose columns `policy` closes.
pub fn load(connection: &Connection, policy: &Policy, known: &Arc<Known>) -> rusqlite::Result<Catalog> {
    let mut catalog = Catalog { schemas: Vec::new(), known: Arc::clone(known) };
    let mut databases = connection.prepare("PRAGMA database_list")?;
    let names = databases.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    for name in names {
        let (number, name) = name?;
        catalog.schemas.push(load_schema(connection, number, &name)?);
    }
    load_closed_columns(connection, policy, &mut catalog)?;
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

fn load_schema(connection: &Connection, number: i64, name: &str) -> rusqlite::Result<Schema> {
    let quoted = quote(name);
    let mut schema = Schema {
        name: Name::from(name),
        number,
        tables: BTreeMap::new(),
        triggers: BTreeMap::new(),
        indexes: Vec::new(),
    };
    let table = if number == 1 { "sqlite_temp_schema" } else { "sqlite_schema" };
    let mut objects =
        connection.prepare(&format!("SELECT type, name, tbl_name, rootpage, sql FROM {quoted}.{table}"))?;
    let mut rows = objects.query([])?;
    let mut has_virtual = false;
    while let Some(row) = rows.next()? {
        has_virtual |= add_object(&mut schema, row)?;
    }
    if has_virtual {
        mark_shadow_tables(connection, &quoted, &mut schema)?;
    }
    Ok(schema)
}

/// Adds one row of the schema table; answers whether it is a virtual table.
fn add_object(schema: &mut Schema, row: &Row<'_>) -> rusqlite::Result<bool> {
    let text = |i: usize| -> rusqlite::Result<String> {
        Ok(String::from_utf8_lossy(row.get_ref(i)?.as_bytes_or_null()?.unwrap_or_default()).into_owned())
    };
    let (kind, name, owner, root) =
        (text(0)?, Name::from(text(1)?), Name::from(text(2)?), row.get::<_, Option<i64>>(3)?);
    let (root, sql) = (root.unwrap_or(0), text(4)?);
    match kind.as_str() {
        "table" => {
            let kind = virtual_module(&sql).map_or(TableKind::Ordinary, TableKind::Virtual);
            let is_virtual = matches!(kind, TableKind::Virtual(_));
            schema.tables.insert(name, Table { kind, root, sql, details: None });
            return Ok(is_virtual);
        }
        "view" => {
            schema.tables.insert(name, Table { kind: TableKind::View, root, sql, details: None });
        }
        "trigger" => {
            schema.triggers.insert(name, Trigger { table: owner, sql });
        }
        _ => schema.indexes.push(Index { name, table: owner, root }),
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

/// The names that modules give the tables where they keep their data, after the virtual table's
/// own. SQLite tells by the name too; for a module that is not listed it is asked.
const SHADOWS: [(&str, &[&str]); 6] = [
    ("fts3", &["content", "segments", "segdir", "docsize", "stat"]),
    ("fts4", &["content", "segments", "segdir", "docsize", "stat"]),
    ("fts5", &["data", "idx", "content", "docsize", "config"]),
    ("rtree", &["node", "parent", "rowid"]),
    ("rtree_i32", &["node", "parent", "rowid"]),
    ("geopoly", &["node", "parent", "rowid"]),
];

fn mark_shadow_tables(connection: &Connection, quoted: &str, schema: &mut Schema) -> rusqlite::Result<()> {
    let virtual_tables: Vec<(Name, Name)> = schema
        .tables
        .iter()
        .filter_map(|(name, table)| match &table.kind {
            TableKind::Virtual(module) => Some((name.clone(), module.clone())),
            TableKind::Ordinary | TableKind::View | TableKind::Shadow(_) => None,
        })
        .collect();
    let mut all_listed = true;
    for (owner, module) in &virtual_tables {
        match SHADOWS.iter().find(|(listed, _)| *module == **listed) {
            Some((_, endings)) => {
                for ending in *endings {
                    mark(schema, &Name::from(format!("{owner}_{ending}")), owner);
                }
            }
            // The vocabulary of a full-text table has none of its own.
            None => all_listed &= *module == *"fts5vocab" || *module == *"fts4aux",
        }
    }
    if all_listed {
        return Ok(());
    }
    let mut list = connection.prepare(&format!("PRAGMA {quoted}.table_list"))?;
    let mut rows = list.query([])?;
    while let Some(row) = rows.next()? {
        if row.get_ref(2)?.as_str()? == "shadow" {
            let shadow = Name::from(row.get::<_, String>(1)?);
            let begins = |owner: &Name| {
                shadow.folded().strip_prefix(owner.folded()).is_some_and(|rest| rest.starts_with('_'))
            };
            let owners = virtual_tables.iter().map(|(owner, _)| owner).filter(|owner| begins(owner));
            if let Some(owner) = owners.max_by_key(|owner| owner.folded().len()) {
                mark(schema, &shadow, owner);
            }
        }
    }
    Ok(())
}

fn mark(schema: &mut Schema, shadow: &Name, owner: &Name) {
    if let Some(table) = schema.tables.get_mut(shadow)
        && table.kind == TableKind::Ordinary
    {
        table.kind = TableKind::Shadow(owner.clone());
    }
}

fn load_closed_columns(
    connection: &Connection,
    policy: &Policy,
    catalog: &mut Catalog,
) -> rusqlite::Result<()> {
    let closed: Vec<_> = policy
        .rows
        .deny
        .iter()
        .filter(|rule| rule.what.verbs.contains(&Verb::Read))
        .flat_map(|rule| &rule.what.targets)
        .filter(|target| target.columns.is_some())
        .collect();
    if closed.is_empty() {
        return Ok(());
    }
    for schema in &mut catalog.schemas {
        for (name, table) in &mut schema.tables {
            let named = closed.iter().any(|t| t.schema.matches(&schema.name) && t.table.matches(name));
            if named && table.kind != TableKind::View {
                table.details = Some(Arc::new(details(connection, &schema.name, name, &table.sql)?));
            }
        }
    }
    Ok(())
}

/// Reads the columns of every table and view of `catalog` that has none yet. A view that does not
/// work has none.
pub fn load_columns(connection: &Connection, catalog: &mut Catalog) {
    for schema in &mut catalog.schemas {
        for (name, table) in &mut schema.tables {
            if table.details.is_none() {
                table.details = details(connection, &schema.name, name, &table.sql).ok().map(Arc::new);
            }
        }
    }
}

/// Columns and keys of one table.
pub fn details(connection: &Connection, schema: &Name, table: &Name, sql: &str) -> rusqlite::Result<Details> {
    let (schema, table) = (quote(schema.as_str()), quote(table.as_str()));
    let mut columns = Vec::new();
    let mut list = connection.prepare(&format!("PRAGMA {schema}.table_xinfo({table})"))?;
    let mut rows = list.query([])?;
    while let Some(row) = rows.next()? {
        // Column 6: 0 ordinary, 1 hidden, 2 generated VIRTUAL, 3 generated STORED.
        let hidden: i64 = row.get(6)?;
        columns.push(Column {
            name: Name::from(row.get::<_, String>(1)?),
            key: row.get(5)?,
            generated_from: (hidden >= 2).then(Vec::new),
            hidden: hidden == 1,
        });
    }
    if columns.iter().any(|column| column.generated_from.is_some()) {
        generated::trace(sql, &mut columns);
    }
    Ok(Details { columns, foreign_keys: foreign_keys(connection, &schema, &table)? })
}

fn foreign_keys(connection: &Connection, schema: &str, table: &str) -> rusqlite::Result<Vec<ForeignKey>> {
    let mut keys: BTreeMap<i64, ForeignKey> = BTreeMap::new();
    let mut list = connection.prepare(&format!("PRAGMA {schema}.foreign_key_list({table})"))?;
    let mut rows = list.query([])?;
    while let Some(row) = rows.next()? {
        let parent: String = row.get(2)?;
        let key = keys
            .entry(row.get(0)?)
            .or_insert_with(|| ForeignKey { parent: Name::from(parent), columns: Vec::new() });
        let to = row.get::<_, Option<String>>(4)?.map(Name::from);
        key.columns.push((Name::from(row.get::<_, String>(3)?), to));
    }
    Ok(keys.into_values().collect())
}

/// `name` as an identifier of SQL.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
