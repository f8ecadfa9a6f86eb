//! Columns and keys of tables, read where something asks for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;

use super::quote;
use crate::catalog::{Catalog, Column, Details, ForeignKey, TableKind, is_internal};
use crate::policy::{Policy, Verb};
use crate::source::{Name, Span};
use crate::statement;

/// Reads the columns of the tables of which `policy` closes some.
pub(super) fn load_closed(
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
                table.details = Some(Arc::new(details(connection, &schema.name, name)?));
            }
        }
    }
    Ok(())
}

/// For each view, the tables and views whose names stand in its text; with whether one stands where a
/// query reads it.
pub fn bodies_of_views(
    connection: &Connection,
    catalog: &Catalog,
) -> rusqlite::Result<BTreeMap<Name, Vec<(Name, bool)>>> {
    let mut bodies: BTreeMap<Name, Vec<(Name, bool)>> = BTreeMap::new();
    for schema in &catalog.schemas {
        let quoted = quote(schema.name.as_str());
        let mut texts = connection
            .prepare(&format!("SELECT name, sql FROM {quoted}.sqlite_schema WHERE type = 'view'"))?;
        let mut rows = texts.query([])?;
        while let Some(row) = rows.next()? {
            // One text that is no UTF-8 must not hide what the others read.
            let text = |i: usize| -> rusqlite::Result<String> {
                let bytes = row.get_ref(i)?.as_bytes_or_null()?.unwrap_or_default();
                Ok(String::from_utf8_lossy(bytes).into_owned())
            };
            let (view, sql) = (Name::from(text(0)?), text(1)?);
            let (tokens, _) = statement::tokens(&sql, Span::new(0, sql.len()));
            let words = tokens.iter().filter_map(|token| sql.get(token.span.range()));
            let names = words.map(|word| Name::from(&*statement::unquote(word)));
            let held = |name: &Name| is_internal(name) || catalog.holders(name).next().is_some();
            let known = names.filter(|name| *name != view && held(name));
            // CREATE VIEW name AS query
            let query = tokens.iter().find(|token| {
                sql.get(token.span.range()).is_some_and(|word| word.eq_ignore_ascii_case("as"))
            });
            let from = query.map_or(sql.len(), |token| token.span.end);
            let body = statement::Statement::read(&sql, Span::new(from, sql.len()));
            let read = |name: &Name| body.sources.iter().any(|source| source.table == *name);
            let known = known.map(|name| (name.clone(), read(&name)));
            bodies.entry(view.clone()).or_default().extend(known);
        }
    }
    Ok(bodies)
}

/// Reads what a judgement does without and a lint needs: the columns of every table and view, and
/// the text that created each object. A view that does not work has no columns.
pub fn load_rest(connection: &Connection, catalog: &mut Catalog) -> rusqlite::Result<()> {
    for schema in &mut catalog.schemas {
        for (name, table) in &mut schema.tables {
            if table.details.is_none() {
                table.details = details(connection, &schema.name, name).ok().map(Arc::new);
            }
        }
        let quoted = quote(schema.name.as_str());
        let mut texts = connection.prepare(&format!("SELECT name, sql, type FROM {quoted}.sqlite_schema"))?;
        let mut rows = texts.query([])?;
        while let Some(row) = rows.next()? {
            let name = Name::from(row.get::<_, String>(0)?);
            let sql = row.get::<_, Option<String>>(1)?.unwrap_or_default();
            match row.get_ref(2)?.as_str()? {
                "table" | "view" => {
                    if let Some(table) = schema.tables.get_mut(&name) {
                        table.sql = sql;
                    }
                }
                "trigger" => {
                    if let Some(trigger) = schema.triggers.get_mut(&name) {
                        trigger.sql = sql;
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Columns and keys of one table.
pub fn details(connection: &Connection, schema: &Name, table: &Name) -> rusqlite::Result<Details> {
    let name = table;
    let (schema, table) = (quote(schema.as_str()), quote(table.as_str()));
    let mut columns: Vec<Column> = Vec::new();
    let mut list = connection.prepare(&format!("PRAGMA {schema}.table_xinfo({table})"))?;
    let mut rows = list.query([])?;
    while let Some(row) = rows.next()? {
        // Column 6: 0 ordinary, 1 hidden, 2 generated VIRTUAL, 3 generated STORED.
        let hidden: i64 = row.get(6)?;
        columns.push(Column {
            name: Name::from(row.get::<_, String>(1)?),
            key: row.get(5)?,
            is_rowid: row.get_ref(2)?.as_str().is_ok_and(|kind| kind.eq_ignore_ascii_case("integer")),
            generated_from: (hidden >= 2).then(Vec::new),
            hidden: hidden == 1,
        });
    }
    // A key of several columns is none, whatever their type.
    let is_single = columns.iter().filter(|column| column.key > 0).count() == 1;
    for column in &mut columns {
        column.is_rowid &= is_single && column.key == 1;
    }
    if columns.iter().any(|column| column.generated_from.is_some()) {
        let sql = format!(
            "SELECT sql FROM {schema}.sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE"
        );
        let sql: String = connection.query_row(&sql, [name.as_str()], |row| row.get(0))?;
        super::generated::trace(&sql, &mut columns);
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
