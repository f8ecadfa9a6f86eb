//! What EXPLAIN shows of a statement: the tables and columns that its program opens, the functions
//! it calls and the triggers that fire. A second opinion where the authorizer is silent.
//!
//! Opcodes and operands are those of SQLite's bytecode page; `engine::selftest` pins the ones used.

use std::collections::HashMap;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};

use super::catalog::quote;
use crate::catalog::{Catalog, SCHEMA_TABLES, TableKind};
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
    /// The columns by which rows are found: compared, though never read as such.
    pub keys: Vec<Name>,
}

impl Program {
    /// Asks for the program of `sql`. Never give it a PRAGMA: those act while being prepared.
    pub fn of(connection: &Connection, sql: &str) -> rusqlite::Result<Self> {
        let mut explain = connection.prepare(&format!("EXPLAIN {sql}"))?;
        // A bind parameter that nothing binds is refused by its text; the rest is still looked at.
        let mut rows = explain.raw_query();
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
                opcode => {
                    if let Some(cursor) = cursors.get(&op.p1) {
                        let opened = note(&mut found, &cursor.schema, &cursor.table);
                        add(&mut opened.columns, cursor.read_by(opcode, op));
                        add(&mut opened.keys, cursor.found_by(opcode, op));
                    }
                }
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

fn add(to: &mut Vec<Name>, columns: Vec<&Name>) {
    for column in columns {
        if !to.contains(column) {
            to.push(column.clone());
        }
    }
}

fn note<'f>(found: &'f mut Vec<Opened>, schema: &Name, table: &Name) -> &'f mut Opened {
    let at = found.iter().position(|o| o.schema == *schema && o.table == *table).unwrap_or_else(|| {
        found.push(Opened {
            schema: schema.clone(),
            table: table.clone(),
            columns: Vec::new(),
            keys: Vec::new(),
        });
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
    order: Order,
}

/// How the rows under a cursor are found.
#[derive(Clone, Debug)]
enum Order {
    /// By rowid, with the column that stands for it, if one does.
    Rowid(Option<Name>),
    /// By the columns themselves.
    Columns,
}

impl Cursor {
    /// The column whose value `op` reads.
    fn read_by(&self, opcode: &str, op: &Op) -> Vec<&Name> {
        if !["Column", "VColumn"].contains(&opcode) {
            return Vec::new();
        }
        let column = usize::try_from(op.p2).ok().and_then(|i| self.columns.get(i));
        column.into_iter().flatten().collect()
    }

    /// The columns whose values `op` compares, or knows for having found the row.
    fn found_by(&self, opcode: &str, op: &Op) -> Vec<&Name> {
        let compared = [
            "SeekGE",
            "SeekGT",
            "SeekLE",
            "SeekLT",
            "IdxGE",
            "IdxGT",
            "IdxLE",
            "IdxLT",
            "Found",
            "NotFound",
            "NoConflict",
            "IfNoHope",
        ];
        match (&self.order, opcode) {
            (Order::Rowid(key), "Rowid" | "SeekRowid" | "NotExists") => key.iter().collect(),
            (Order::Rowid(key), opcode) if compared.contains(&opcode) => key.iter().collect(),
            (Order::Columns, opcode) if compared.contains(&opcode) => {
                // P4 says how many leading columns; 0 stands for a whole record.
                let count = op.p4.parse().ok().filter(|count| *count > 0).unwrap_or(usize::MAX);
                self.columns.iter().take(count).flatten().collect()
            }
            _ => Vec::new(),
        }
    }
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
            let cursor = |columns, order| Cursor {
                schema: schema_name.clone(),
                table: table_name.clone(),
                columns,
                order,
            };
            let schema = catalog.schema(schema_name);
            let Some((schema, table)) = schema.and_then(|s| Some((s, s.tables.get(table_name)?))) else {
                sites.add_without_catalog(connection, catalog, schema_name, table_name)?;
                continue;
            };
            if table.kind == TableKind::View {
                continue;
            }
            let (columns, order) = stored_columns(connection, schema_name, table_name)?;
            if let TableKind::Virtual(_) = table.kind {
                if let Some(address) = virtual_address(connection, schema_name, table_name)? {
                    sites.addresses.insert(address, cursor(columns, Order::Rowid(None)));
                }
                continue;
            }
            if table.root != 0 {
                sites.roots.insert((schema.number, table.root), cursor(columns, order));
            }
            for (index, root) in indexes(connection, schema_name, table_name)? {
                let columns = index_columns(connection, schema_name, &index)?;
                sites.roots.insert((schema.number, root), cursor(columns, Order::Columns));
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
        let (schema_name, table_name) = (schema.clone(), table.clone());
        let is_schema = SCHEMA_TABLES.contains(&table.folded());
        let names: &[&str] = if is_schema { &["type", "name", "tbl_name", "rootpage", "sql"] } else { &[] };
        let columns = names.iter().map(|name| Some(Name::from(*name))).collect();
        let cursor = Cursor { schema: schema_name, table: table_name, columns, order: Order::Rowid(None) };
        if is_schema {
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

/// The columns in the order in which a row stores them, and how rows are found: VIRTUAL generated
/// ones are not stored, and a table WITHOUT ROWID stores its key first.
fn stored_columns(
    connection: &Connection,
    schema: &Name,
    table: &Name,
) -> rusqlite::Result<(Vec<Option<Name>>, Order)> {
    let quoted = quote(schema.as_str());
    let mut columns = Vec::new();
    let xinfo = format!("PRAGMA {quoted}.table_xinfo({})", quote(table.as_str()));
    let mut list = connection.prepare(&xinfo)?;
    let mut rows = list.query([])?;
    let mut integers = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, name) = (row.get::<_, i64>(5)?, Name::from(row.get::<_, String>(1)?));
        if key > 0 {
            integers.push((name.clone(), row.get_ref(2)?.as_str()?.eq_ignore_ascii_case("integer")));
        }
        if row.get::<_, i64>(6)? != 2 {
            columns.push((key, name));
        }
    }
    // Bound: in double quotes, a table named like a column of the list would be that column.
    let mut info = connection.prepare("SELECT wr FROM pragma_table_list(?2) WHERE schema = ?1")?;
    let names = [schema.as_str(), table.as_str()];
    if info.query_row(names, |row| row.get::<_, i64>(0)).optional()?.unwrap_or(0) == 1 {
        columns.sort_by_key(|(key, _)| if *key == 0 { i64::MAX } else { *key });
        return Ok((columns.into_iter().map(|(_, name)| Some(name)).collect(), Order::Columns));
    }
    let alias = match integers.as_slice() {
        [(name, true)] => Some(name.clone()),
        _ => None,
    };
    Ok((columns.into_iter().map(|(_, name)| Some(name)).collect(), Order::Rowid(alias)))
}

/// The indexes of a table, with their root pages.
fn indexes(connection: &Connection, schema: &Name, table: &Name) -> rusqlite::Result<Vec<(Name, i64)>> {
    let mut list = connection.prepare(&format!(
        "SELECT name, rootpage FROM {}.sqlite_schema WHERE type = 'index' AND tbl_name = ?1 COLLATE NOCASE",
        quote(schema.as_str())
    ))?;
    list.query_map([table.as_str()], |row| Ok((Name::from(row.get::<_, String>(0)?), row.get(1)?)))?.collect()
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
    let program = match program {
        Ok(program) => program,
        // A table function that needs arguments has no such program; then no statement of the
        // caller's can use it without naming it as a call.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(program.ops.iter().find(|op| op.opcode == "VOpen").map(|op| op.p4.clone()))
}
