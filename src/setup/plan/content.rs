//! What a plan may show of full-text tables, which can show the values of other tables.

use crate::catalog::{Schema, Table, TableKind};
use crate::engine::catalog::content;
use crate::request::{Action, Resource};
use crate::ruleset::Ruleset;
use crate::source::Name;

/// Where a full-text table without text of its own finds it: in a table of columns of the same names.
#[derive(Debug)]
pub(super) struct Content<'s> {
    schema: &'s Schema,
    table: Name,
}

impl<'s> Content<'s> {
    /// That of a table; `None` where it keeps its text itself.
    pub(super) fn of(schema: &'s Schema, table: &Name) -> Option<Self> {
        let found = schema.tables.get(table)?;
        let TableKind::Virtual(module) = &found.kind else { return None };
        Some(Self { schema, table: content(module, &found.sql)? })
    }

    /// Whether the text of a column may be read where it is kept.
    pub(super) fn may_be_read(&self, ruleset: &Ruleset, column: &Name) -> bool {
        let Self { schema, table } = self;
        match schema.tables.get(table) {
            Some(found) if found.kind == TableKind::Ordinary => may_read(ruleset, schema, table, column),
            // A view may show anything of the schema, under any name.
            _ => schema.tables.iter().all(|(name, found)| is_open(ruleset, schema, name, found)),
        }
    }
}

/// Whether the caller may read a column.
pub(super) fn may_read(ruleset: &Ruleset, schema: &Schema, table: &Name, column: &Name) -> bool {
    let resource = Resource::column(schema.name.clone(), table.clone(), column.clone());
    ruleset.allows(Action::Read, resource)
}

/// Whether the caller may read all of a table.
fn is_open(ruleset: &Ruleset, schema: &Schema, name: &Name, table: &Table) -> bool {
    if table.kind != TableKind::Ordinary || crate::catalog::is_internal(name) {
        return true;
    }
    // Of a table of which single columns are closed the catalog has them all.
    let columns = table.details.iter().flat_map(|details| &details.columns);
    ruleset.allows(Action::Read, Resource::table(schema.name.clone(), name.clone()))
        && columns.into_iter().all(|column| may_read(ruleset, schema, name, &column.name))
}
