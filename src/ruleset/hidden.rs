//! Columns that a policy hides without naming them: generated from one that it names.

use std::collections::HashMap;

use super::rows::covers;
use crate::catalog::{Catalog, Details};
use crate::policy::{Policy, Verb};
use crate::request::Resource;
use crate::source::Name;

/// Generated columns that are made from a hidden one, with the rule that hides that one.
#[derive(Clone, Debug, Default)]
pub(super) struct HiddenColumns {
    rules: HashMap<(Name, Name, Name), usize>,
}

impl HiddenColumns {
    pub(super) fn new(policy: &Policy, catalog: &Catalog) -> Self {
        let mut rules = HashMap::new();
        for schema in &catalog.schemas {
            for (table, found) in &schema.tables {
                if let Some(details) = &found.details {
                    collect(policy, &schema.name, table, details, &mut rules);
                }
            }
        }
        Self { rules }
    }

    /// The rule that hides `resource` although it names another column.
    pub(super) fn behind(&self, resource: &Resource) -> Option<usize> {
        if self.rules.is_empty() {
            return None;
        }
        let Resource::Column { schema, table, column } = resource else { return None };
        self.rules.get(&(schema.clone(), table.clone(), column.clone())).copied()
    }
}

fn collect(
    policy: &Policy,
    schema: &Name,
    table: &Name,
    details: &Details,
    rules: &mut HashMap<(Name, Name, Name), usize>,
) {
    let named = |column: &Name| {
        let resource = Resource::column(schema.clone(), table.clone(), column.clone());
        policy.rows.deny.iter().position(|rule| {
            rule.what.verbs.contains(&Verb::Read) && rule.what.targets.iter().any(|t| covers(t, &resource))
        })
    };
    let mut hidden: HashMap<&Name, usize> =
        details.columns.iter().filter_map(|c| Some((&c.name, named(&c.name)?))).collect();
    // A generated column may be made from another one, in any order of declaration.
    loop {
        let before = hidden.len();
        for column in &details.columns {
            let made_from = column.generated_from.iter().flatten();
            if !hidden.contains_key(&column.name)
                && let Some(rule) = made_from.filter_map(|name| hidden.get(name)).min().copied()
            {
                hidden.insert(&column.name, rule);
                rules.insert((schema.clone(), table.clone(), column.name.clone()), rule);
            }
        }
        if hidden.len() == before {
            return;
        }
    }
}
