//! The short judgement: one pass with everything on, where nothing silent can hide behind the text.

use super::attribute;
use super::judging::Judging;
use super::mentions::Around;
use crate::engine::event::{Event, EventKind};
use crate::request::{Origin, Request};
use crate::source::Name;
use crate::statement::{Conflict, Statement};

impl Judging<'_> {
    /// Whether a pass with everything on settles it: nothing would be denied to the caller, and
    /// nothing that is silent can hide behind the text.
    pub(super) fn first_pass_is_enough(&mut self, statement: &Statement<'_>, events: &[Event]) -> bool {
        let around = Around { connection: self.connection, ruleset: &self.ruleset, catalog: &self.catalog };
        if self.mentions.hidden(statement, around) || self.replaces_over_triggers(statement) {
            return false;
        }
        let unlisted = |call: &crate::statement::Mention| {
            self.catalog.known.functions.contains(&call.name) && !self.ruleset.allows_call(&call.name)
        };
        if statement.calls.iter().any(unlisted) {
            return false;
        }
        let names_view = attribute::first_view(statement, &self.catalog).is_some();
        events.iter().all(|event| {
            self.open_to_caller(event) || (!names_view && self.is_trusted_world_code(event, statement))
        })
    }

    fn open_to_caller(&self, event: &Event) -> bool {
        let (action, resources) = attribute::resources(event, &self.catalog);
        resources.into_iter().all(|resource| self.ruleset.allows(action, resource))
    }

    /// A request that the text does not name and that a trigger or an expression may make: the
    /// trigger of the fifth value where no CTE or view can have lent it, else every trigger.
    fn is_trusted_world_code(&self, event: &Event, statement: &Statement<'_>) -> bool {
        // A temporary trigger is the host's, and no switch tells its requests from the caller's.
        let is_temp = |schema: &crate::catalog::Schema| schema.name == *"temp" && !schema.triggers.is_empty();
        if statement.mentions(|name| name.eq_ignore_ascii_case(&event.first))
            || self.catalog.schemas.iter().any(is_temp)
        {
            return false;
        }
        let accessor = Name::from(&*event.accessor);
        let lent = self.catalog.is_view(&accessor) || statement.ctes.iter().any(|cte| cte.name == accessor);
        let is_trigger = self.catalog.triggers_named(&accessor).next().is_some();
        let origin = if is_trigger && !lent {
            Origin::Trigger(vec![accessor])
        } else if matches!(event.kind, EventKind::Read | EventKind::Function) {
            self.all_triggers.clone()
        } else {
            return false;
        };
        if origin == Origin::Trigger(Vec::new()) {
            return event.kind == EventKind::Function && event.accessor.is_empty();
        }
        let (action, resources) = attribute::resources(event, &self.catalog);
        resources.into_iter().all(|resource| {
            let request = Request { action, resource, origin: origin.clone(), span: None };
            self.ruleset.decide(&request).allowed
        })
    }

    /// Whether the statement's OR REPLACE may also apply to what triggers write.
    pub(super) fn replaces_over_triggers(&self, statement: &Statement<'_>) -> bool {
        let Some(target) = &statement.target else { return false };
        if !matches!(target.conflict, Some((Conflict::Replace, _))) {
            return false;
        }
        let found = self.catalog.resolve(target.table.schema.as_ref(), &target.table.table);
        found.is_some_and(|(schema, _)| {
            schema.triggers_on(&target.table.table).next().is_some()
                || self.catalog.schemas.iter().any(|s| s.name == *"temp" && !s.triggers.is_empty())
        })
    }
}
