//! Virtual tables are connected before anything that they read can be taken for the caller's.

use rusqlite::Connection;

use super::judging::Judging;
use super::live::modules;
use crate::catalog::{Catalog, TableKind};
use crate::engine::event::{Event, EventKind};
use crate::statement::Statement;

impl Judging<'_> {
    /// Notes the virtual tables that a pass used for the first time. A cold one reads its own tables
    /// while a statement is prepared, where that could not be told from the caller; now that it is
    /// connected, another pass is clean. Answers whether one is needed: FTS5 alone reads nothing but
    /// its own settings, which are left out where the text does not name them.
    pub(super) fn connected_by(&mut self, events: &mut Vec<Event>, statement: &Statement<'_>) -> bool {
        let mut again = false;
        for module in modules(events, &self.catalog) {
            if self.connected.contains(&module) {
                continue;
            }
            let settings = format!("{}_config", module.table());
            if module.is_fts5() && !statement.mentions(|name| name.eq_ignore_ascii_case(&settings)) {
                events.retain(|event| {
                    event.kind != EventKind::Read || !event.first.eq_ignore_ascii_case(&settings)
                });
            } else {
                again = true;
            }
            self.connected.insert(module);
        }
        again
    }

    /// Connects every virtual table, once; a prepare that failed may have failed for a cold one whose
    /// own statements were denied. Answers whether there was any to connect.
    pub(super) fn connect_all(&mut self) -> bool {
        if std::mem::replace(&mut self.all_connected, true) {
            return false;
        }
        connect_virtual_tables(self.connection, &self.catalog)
    }
}

/// Answers whether there are any. One that cannot be opened fails later, in what uses it.
fn connect_virtual_tables(connection: &Connection, catalog: &Catalog) -> bool {
    let mut any = false;
    for schema in &catalog.schemas {
        for (name, table) in &schema.tables {
            if matches!(table.kind, TableKind::Virtual(_)) {
                any = true;
                let quote = crate::engine::catalog::quote;
                let sql = format!("SELECT 1 FROM {}.{}", quote(schema.name.as_str()), quote(name.as_str()));
                let _ = connection.prepare(&sql);
            }
        }
    }
    any
}
