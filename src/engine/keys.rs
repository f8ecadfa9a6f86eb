//! The columns that foreign keys join, of a whole schema at once.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::catalog::quote;
use crate::source::Name;

/// The key columns of every foreign key of one schema.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    columns: BTreeSet<(Name, Name)>,
    children: BTreeSet<Name>,
}

impl Keys {
    /// Reads the keys that the tables of `schema` declare.
    pub fn load(connection: &Connection, schema: &Name) -> rusqlite::Result<Self> {
        let mut keys = Self::default();
        let quoted = quote(schema.as_str());
        let mut list = connection.prepare(&format!(
            "SELECT m.name, f.\"from\", f.\"table\", f.\"to\"
             FROM {quoted}.sqlite_schema AS m, pragma_foreign_key_list(m.name, ?1) AS f WHERE m.type = 'table'"
        ))?;
        let mut rows = list.query([schema.as_str()])?;
        while let Some(row) = rows.next()? {
            let name = |i: usize| row.get::<_, Option<String>>(i).map(|text| text.map(Name::from));
            let (Some(child), Some(from), Some(parent)) = (name(0)?, name(1)?, name(2)?) else { continue };
            match name(3)? {
                Some(to) => {
                    keys.columns.insert((parent, to));
                }
                None => keys.add_primary_key(connection, schema, &parent)?,
            }
            keys.children.insert(child.clone());
            keys.columns.insert((child, from));
        }
        Ok(keys)
    }

    fn add_primary_key(
        &mut self,
        connection: &Connection,
        schema: &Name,
        table: &Name,
    ) -> rusqlite::Result<()> {
        let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?1, ?2) WHERE pk > 0")?;
        let mut rows = columns.query([table.as_str(), schema.as_str()])?;
        while let Some(row) = rows.next()? {
            self.columns.insert((table.clone(), Name::from(row.get::<_, String>(0)?)));
        }
        Ok(())
    }

    /// Whether a foreign key joins this column to another.
    pub fn joins(&self, table: &Name, column: &Name) -> bool {
        self.columns.contains(&(table.clone(), column.clone()))
    }

    /// Whether `table` declares a foreign key.
    pub fn has_parent(&self, table: &Name) -> bool {
        self.children.contains(table)
    }
}
