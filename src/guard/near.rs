//! What is known about the tables that a statement names, for the fix of what is wrong with it.

use std::sync::Arc;

use rusqlite::Connection;

use crate::catalog::Catalog;
use crate::engine::catalog;
use crate::refusal::Near;
use crate::request::{Action, Resource};
use crate::ruleset::Ruleset;
use crate::source::Name;
use crate::statement::Statement;

/// The schema of `connection`, with columns, keys and the world's own code as far as they can be read.
pub(crate) fn world(connection: &Connection, ruleset: &Ruleset) -> Arc<Catalog> {
    let mut world = ruleset.catalog().map(|catalog| Catalog::clone(catalog)).unwrap_or_default();
    // What cannot be read adds no detail; the failure itself stands.
    let _ = catalog::load_rest(connection, &mut world);
    Arc::new(world)
}

/// The columns that the caller may do anything with, the keys of what is written, and the world's own code.
pub(crate) fn near(world: Arc<Catalog>, ruleset: &Ruleset, statement: &Statement<'_>) -> Near {
    let mut near = Near::default();
    let target = statement.target.as_ref().map(|target| &target.table);
    for mention in target.into_iter().chain(&statement.sources) {
        let found = world.resolve(mention.schema.as_ref(), &mention.table);
        let Some((schema, details)) = found.and_then(|(s, table)| Some((s, table.details.as_ref()?))) else {
            continue;
        };
        let open = |column: &Name| {
            let resource = Resource::column(schema.name.clone(), mention.table.clone(), column.clone());
            [Action::Read, Action::Update].into_iter().any(|action| ruleset.allows(action, resource.clone()))
        };
        let columns = details.columns.iter().filter(|column| !column.hidden);
        near.columns.extend(columns.map(|column| column.name.clone()).filter(open));
        if target == Some(mention) {
            near.references.clone_from(&details.foreign_keys);
        }
    }
    near.world = world;
    near
}
