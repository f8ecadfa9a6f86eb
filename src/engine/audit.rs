//! What EXPLAIN shows of a statement: the tables and columns that its program opens, the functions
//! it calls and the triggers that fire. A second opinion where the authorizer is silent.
//!
//! Opcodes and operands are those of SQLite's bytecode page; `engine::selftest` pins the ones used.

use std::collections::HashMap;

use rusqlite::{Connection, Row};

use super::catalog::quote;
use crate::catalog::{Catalog, TableKind};
use crate::source::Name;

/// One row of EXPLAIN, as far as it matters here.
#[derive(Debug)]
struct Op {
    addr: i64,
    opcode: String,
    p1: i64,
    p2: i64,
    p3: i64,
    p4: String,
}

/// The program of a statement.
#[derive(Debug)]
pub struct Program {
    ops: Vec<Op>,
}

/// A table that the caller's part of a program reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Opened {
    /// Its schema.
    pub schema: Name,
    /// The table.
    pub table: Name,
    /// The columns that are read, in the order of the program.
    pub columns: Vec<Name>,
}

impl Program {
    /// Asks for the program of `sql`. Never give it a PRAGMA: those act while being prepared.
    pub fn of(connection: &Connection, sql: &str) -> rusqlite::Result<Self> {
        let mut explain = connection.prepare(&format!("EXPLAIN {sql}"))?;
        let mut rows = explain.query([])?;
        let mut ops = Vec::new();
        while let Some(row) = rows.next()? {
            ops.push(Op::new(row)?);
        }
        Ok(Self { ops })
    }

    /// The triggers that fire, each once, in the order of their names.
    pub fn triggers(&self) -> Vec<Name> {
        let entered = self.ops.iter().filter(|op| op.opcode == "Init");
        let named = entered.filter_map(|op| op.p4.strip_prefix("-- TRIGGER "));
        let mut names: Vec<Name> = named.map(Name::from).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The caller's own part: the first program, up to where the addresses start again.
    fn first(&self) -> impl Iterator<Item = &Op> {
        self.ops.iter().enumerate().take_while(|(i, op)| *i == 0 || op.addr != 0).map(|(_, op)| op)
    }

    /// The functions that the caller's part calls.
    pub fn functions(&self) -> Vec<Name> {
        let calls = ["Function", "PureFunc", "AggStep", "AggStep1", "AggValue", "AggFinal", "AggInverse"];
        let called = self.first().filter(|op| calls.contains(&op.opcode.as_str()));
        let mut names: Vec<Name> =
            called.filter_map(|op| op.p4.rsplit_once('(')).map(|(name, _)| Name::from(name)).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Whether the caller's part opens the table or index with this root page.
    pub(super) fn opens_root(&self, root: i64, database: i64) -> bool {
        self.first().any(|op| op.opcode == "OpenRead" && op.p2 == root && op.p3 == database)
    }

    /// Those of `tables` that the caller's part reads, with the columns read of them.
    pub fn opened(
        &self,
        connection: &Connection,
        catalog: &Catalog,
        tables: &[(Name, Name)],
    ) -> rusqlite::Result<Vec<Opened>> {
        let mut cursors: HashMap<i64, Cursor> = HashMap::new();
        let mut found: Vec<Opened> = Vec::new();
        let sites = Sites::new(connection, catalog, tables)?;
        for op in self.first() {
            match op.opcode.as_str() {
                // The target's own cursor, perhaps opened for reading first: from here on its columns are
                // read to write the row back.
                "OpenWrite" => {
                    cursors.remove(&op.p1);
                }
                "OpenRead" | "ReopenIdx" => {
                    if let Some(site) = sites.at(op.p3, op.p2) {
                        note(&mut found, &site.schema, &site.table);
                        cursors.insert(op.p1, site.clone());
                    } else {
                        cursors.remove(&op.p1);
                    }
                }
                "VOpen" => {
                    if let Some(site) = sites.virtual_at(&op.p4) {
                        note(&mut found, &site.schema, &site.table);
                        cursors.insert(op.p1, site.clone());
                    }
                }
                "Column" | "VColumn" => {
                    if let Some(cursor) = cursors.get(&op.p1)
                        && let Some(Some(column)) =
                            usize::try_from(op.p2).ok().and_then(|i| cursor.columns.get(i))
                    {
                        let opened = note(&mut found, &cursor.schema, &cursor.table);
                        if !opened.columns.contains(column) {
                            opened.columns.push(column.clone());
                        }
                    }
                }
                "Rowid" | "VRowid" | "IdxRowid" => {
                    if let Some(cursor) = cursors.get(&op.p1) {
                        note(&mut found, &cursor.schema, &cursor.table);
                    }
                }
                _ => {}
            }
        }
        Ok(found)
    }
}

impl Op {
    fn new(row: &Row<'_>) -> rusqlite::Result<Self> {
        let text = |i: usize| -> rusqlite::Result<String> {
            Ok(String::from_utf8_lossy(row.get_ref(i)?.as_bytes_or_null()?.unwrap_or_default()).into_owned())
        };
        Ok(Self {
            addr: row.get(0)?,
            opcode: text(1)?,
            p1: row.get(2)?,
            p2: row.get(3)?,
            p3: row.get(4)?,
            p4: text(5)?,
        })
    }
}

fn note<'f>(found: &'f mut Vec<Opened>, schema: &Name, table: &Name) -> &'f mut Opened {
    let at = found.iter().position(|o| o.schema == *schema && o.table == *table).unwrap_or_else(|| {
        found.push(Opened { schema: schema.clone(), table: table.clone(), columns: Vec::new() });
        found.len() - 1
    });
    &mut found[at]
}

/// What a cursor stands on: a table or one of its indexes, with the column at each position.
#[derive(Clone, Debug)]
struct Cursor {
    schema: Name,
    table: Name,
    columns: Vec<Option<Name>>,
}

/// Where the tables of interest lie: by database and root page, virtual ones by their address.
#[derive(Debug, Default)]
struct Sites {
    roots: HashMap<(i64, i64), Cursor>,
    addresses: HashMap<String, Cursor>,
}

impl Sites {
    fn new(connection: &Connection, catalog: &Catalog, tables: &[(Name, Name)]) -> rusqlite::Result<Self> {
        let mut sites = Self::default();
        for (schema_name, table_name) in tables {
            let cursor = |columns| Cursor { schema: schema_name.clone(), table: table_name.clone(), columns };
            let schema = catalog.schema(schema_name);
            let Some((schema, table)) = schema.and_then(|s| Some((s, s.tables.get(table_name)?))) else {
                sites.add_without_catalog(connection, catalog, schema_name, table_name)?;
                continue;
            };
            if table.kind == TableKind::View {
                continue;
            }
            let columns = stored_columns(connection, schema_name, table_name)?;
            if let TableKind::Virtual(_) = table.kind {
                if let Some(address) = virtual_address(connection, schema_name, table_name)? {
                    sites.addresses.insert(address, cursor(columns));
                }
                continue;
            }
            if table.root != 0 {
                sites.roots.insert((schema.number, table.root), cursor(columns));
            }
            for index in schema.indexes.iter().filter(|index| index.table == *table_name) {
                let columns = index_columns(connection, schema_name, &index.name)?;
                sites.roots.insert((schema.number, index.root), cursor(columns));
            }
        }
        Ok(sites)
    }

    /// The schema table has root page 1; a table function is known by its address alone.
    fn add_without_catalog(
        &mut self,
        connection: &Connection,
        catalog: &Catalog,
        schema: &Name,
        table: &Name,
    ) -> rusqlite::Result<()> {
        let cursor = Cursor { schema: schema.clone(), table: table.clone(), columns: Vec::new() };
        if crate::catalog::SCHEMA_TABLES.contains(&table.folded()) {
            let number = catalog.schema(schema).map_or(1, |schema| schema.number);
            self.roots.insert((number, 1), cursor);
        } else if catalog.known.modules.contains(table)
            && let Some(address) = virtual_address(connection, schema, table)?
        {
            self.addresses.insert(address, cursor);
        }
        Ok(())
    }

    fn at(&self, database: i64, root: i64) -> Option<&Cursor> {
        self.roots.get(&(database, root))
    }

    fn virtual_at(&self, p4: &str) -> Option<&Cursor> {
        self.addresses.get(p4)
    }
}

/// The columns in the order in which a row stores them: VIRTUAL generated ones are not stored, and
/// a table WITHOUT ROWID stores its key first.
fn stored_columns(
    connection: &Connection,
    schema: &Name,
    table: &Name,
) -> rusqlite::Result<Vec<Option<Name>>> {
    let (quoted, table) = (quote(schema.as_str()), quote(table.as_str()));
    let mut columns = Vec::new();
    let mut list = connection.prepare(&format!("PRAGMA {quoted}.table_xinfo({table})"))?;
    let mut rows = list.query([])?;
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(6)? != 2 {
            columns.push((row.get::<_, i64>(5)?, Name::from(row.get::<_, String>(1)?)));
        }
    }
    let mut info = connection
        .prepare(&format!("SELECT wr FROM {quoted}.pragma_table_list({table}) WHERE schema = ?1"))?;
    if info.query_row([schema.as_str()], |row| row.get::<_, i64>(0)).unwrap_or(0) == 1 {
        columns.sort_by_key(|(key, _)| if *key == 0 { i64::MAX } else { *key });
    }
    Ok(columns.into_iter().map(|(_, name)| Some(name)).collect())
}

fn index_columns(
    connection: &Connection,
    schema: &Name,
    index: &Name,
) -> rusqlite::Result<Vec<Option<Name>>> {
    let (schema, index) = (quote(schema.as_str()), quote(index.as_str()));
    let mut list = connection.prepare(&format!("PRAGMA {schema}.index_xinfo({index})"))?;
    list.query_map([], |row| Ok(row.get::<_, Option<String>>(2)?.map(Name::from)))?.collect()
}

/// The address by which EXPLAIN names a virtual table on this connection.
fn virtual_address(connection: &Connection, schema: &Name, table: &Name) -> rusqlite::Result<Option<String>> {
    let (schema, table) = (quote(schema.as_str()), quote(table.as_str()));
    let program = Program::of(connection, &format!("SELECT 1 FROM {schema}.{table}"));
    // A table function that needs arguments has no such program; then no statement of the
    // caller's can use it without naming it as a call.
    let Ok(program) = program else { return Ok(None) };
    Ok(program.ops.iter().find(|op| op.opcode == "VOpen").map(|op| op.p4.clone()))
}
