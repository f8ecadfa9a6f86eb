//! Tables where virtual tables keep their data.

use rusqlite::Connection;

use crate::catalog::{Schema, TableKind};
use crate::source::{Name, Span};
use crate::statement;

/// The names that modules give the tables where they keep their data, after the virtual table's
/// own. SQLite tells by the name too; for a module that is not listed it is asked.
const SHADOWS: [(&str, &[&str]); 8] = [
    // The vocabulary of a full-text table keeps nothing of its own.
    ("fts4aux", &[]),
    ("fts5vocab", &[]),
    ("fts3", &["content", "segments", "segdir", "docsize", "stat"]),
    ("fts4", &["content", "segments", "segdir", "docsize", "stat"]),
    ("fts5", &["data", "idx", "content", "docsize", "config"]),
    ("rtree", &["node", "parent", "rowid"]),
    ("rtree_i32", &["node", "parent", "rowid"]),
    ("geopoly", &["node", "parent", "rowid"]),
];

/// Marks the tables where the virtual tables of `schema` keep their data.
pub(super) fn mark(connection: &Connection, quoted: &str, schema: &mut Schema) -> rusqlite::Result<()> {
    let virtual_tables: Vec<(Name, Name)> = schema
        .tables
        .iter()
        .filter_map(|(name, table)| match &table.kind {
            TableKind::Virtual(module) => Some((name.clone(), module.clone())),
            TableKind::Ordinary | TableKind::View | TableKind::Shadow(_) => None,
        })
        .collect();
    for (name, table) in &mut schema.tables {
        let keeper = virtual_tables.iter().find(|(owner, module)| {
            let rest = name.folded().strip_prefix(owner.folded()).and_then(|rest| rest.strip_prefix('_'));
            rest.is_some_and(|rest| endings(module).is_some_and(|endings| endings.contains(&rest)))
        });
        if let (Some((owner, _)), TableKind::Ordinary) = (keeper, &table.kind) {
            table.kind = TableKind::Shadow(owner.clone());
        }
    }
    let all_listed = virtual_tables.iter().all(|(_, module)| endings(module).is_some());
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
            if let Some(owner) = owners.max_by_key(|owner| owner.folded().len())
                && let Some(table) = schema.tables.get_mut(&shadow)
            {
                table.kind = TableKind::Shadow(owner.clone());
            }
        }
    }
    Ok(())
}

fn endings(module: &Name) -> Option<&'static [&'static str]> {
    SHADOWS.iter().find(|(listed, _)| *module == **listed).map(|(_, endings)| *endings)
}

/// The table whose text a full-text table shows, by the text that created that one.
pub fn content(module: &Name, sql: &str) -> Option<Name> {
    if !module.folded().starts_with("fts") {
        return None;
    }
    let (tokens, _) = statement::tokens(sql, Span::new(0, sql.len()));
    let words: Vec<&str> = tokens.iter().filter_map(|token| sql.get(token.span.range())).collect();
    // FTS5 takes the beginning of an option's name for it.
    let is_option = |word: &str| "content".starts_with(&word.to_ascii_lowercase());
    words
        .windows(3)
        .find_map(|three| match three {
            [word, "=", name] if is_option(word) => Some(Name::from(&*statement::unquote(name))),
            _ => None,
        })
        .filter(|name| *name != *"")
}

/// The endings of the tables that hold a row, of the same rowid, for each row of a virtual table; the
/// first that is there does.
pub(in crate::engine) fn row_tables(module: &Name) -> &'static [&'static str] {
    match module.folded() {
        "fts3" | "fts4" | "fts5" => &["content", "docsize"],
        "rtree" | "rtree_i32" | "geopoly" => &["rowid"],
        _ => &[],
    }
}
