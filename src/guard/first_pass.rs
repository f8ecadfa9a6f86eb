//! The short judgement: one pass with everything on, where nothing silent can hide behind the text.

use std::fmt;

use super::attribute;
use super::judging::Judging;
use super::mentions::{Around, Closed};
use crate::engine::event::{Event, EventKind};
use crate::request::{Origin, Request};
use crate::source::Name;
use crate::statement::{Conflict, Mention, Statement, TableMention};

/// Why one pass does not settle what a statement asks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The text mentions a table that is closed.
    Mentions(Name, Closed),
    /// The text calls a function that is not allowed.
    Calls(Name),
    /// Its OR REPLACE reaches what the triggers on this table write.
    ReplaceOverTriggers(Name),
    /// Something asks what the caller may not.
    NotOpen(Box<Request>),
    /// The same, and the text names this view, which can lend its name or ask by itself.
    NotOpenByView(Box<Request>, Name),
    /// Every statement is to take the full way.
    Always,
}

/// A clause without a period.
impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mentions(name, Closed::Wholly) => write!(f, "it mentions {name}, which the policy closes"),
            Self::Mentions(name, Closed::InPart) => {
                write!(f, "it mentions {name}, which the policy closes in part")
            }
            Self::Mentions(name, Closed::Kept) => {
                write!(f, "it mentions {name}, which is not the world's own data")
            }
            Self::Mentions(name, Closed::Behind(read)) => {
                write!(f, "it mentions {name}, which reads {read}, closed at least in part")
            }
            Self::Mentions(name, Closed::TableFunction) => {
                write!(f, "it mentions the table function {name}, which is not allowed")
            }
            Self::Calls(name) => write!(f, "it calls {name}, which is not allowed"),
            Self::ReplaceOverTriggers(table) => {
                write!(f, "its OR REPLACE reaches what the triggers on {table} write")
            }
            Self::NotOpen(request) => {
                let (action, resource) = (request.action.word(), &request.resource);
                write!(f, "`{action} {resource}` is asked for, which is closed to the caller")
            }
            Self::NotOpenByView(request, view) => {
                let (action, resource) = (request.action.word(), &request.resource);
                write!(f, "it names the view {view}, and `{action} {resource}` is closed to the caller")
            }
            Self::Always => f.write_str("every statement is to take it"),
        }
    }
}

impl Judging<'_> {
    /// Why a pass with everything on does not settle it; `None` where nothing would be denied to
    /// the caller, and nothing that is silent can hide behind the text.
    pub(super) fn why_full_way(&mut self, statement: &Statement<'_>, events: &[Event]) -> Option<Why> {
        if self.always_full {
            return Some(Why::Always);
        }
        let around = Around { connection: self.connection, ruleset: &self.ruleset, catalog: &self.catalog };
        if let Some(name) = self.mentions.hidden(statement, around) {
            let closed = self.mentions.closed(&name, around);
            return Some(Why::Mentions(name, closed));
        }
        if let Some(target) = self.replaced_over_triggers(statement) {
            return Some(Why::ReplaceOverTriggers(target.table.clone()));
        }
        let unlisted = |call: &&Mention| {
            self.catalog.known.functions.contains(&call.name) && !self.ruleset.allows_call(&call.name)
        };
        if let Some(call) = statement.calls.iter().find(unlisted) {
            return Some(Why::Calls(call.name.clone()));
        }
        let view = attribute::first_view(statement, &self.catalog);
        let request = events.iter().find_map(|event| {
            let closed = self.closed_to_caller(event)?;
            let trusted = view.is_none() && self.is_trusted_world_code(event, statement);
            (!trusted).then_some(closed)
        })?;
        Some(match view {
            Some(view) => Why::NotOpenByView(Box::new(request), view),
            None => Why::NotOpen(Box::new(request)),
        })
    }

    /// The first request of a callback that would be denied to the caller.
    fn closed_to_caller(&self, event: &Event) -> Option<Request> {
        let (action, resources) = attribute::resources(event, &self.catalog);
        let mut requests = resources.into_iter().map(|resource| Request::caller(action, resource, None));
        requests.find(|request| !self.ruleset.decide(request).allowed)
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

    /// The target of a statement whose OR REPLACE may also apply to what triggers write.
    pub(super) fn replaced_over_triggers<'s>(
        &self,
        statement: &'s Statement<'_>,
    ) -> Option<&'s TableMention> {
        let target = statement.target.as_ref()?;
        if !matches!(target.conflict, Some((Conflict::Replace, _))) {
            return None;
        }
        let (schema, _) = self.catalog.resolve(target.table.schema.as_ref(), &target.table.table)?;
        let fires = schema.triggers_on(&target.table.table).next().is_some()
            || self.catalog.schemas.iter().any(|s| s.name == *"temp" && !s.triggers.is_empty());
        fires.then_some(&target.table)
    }
}
