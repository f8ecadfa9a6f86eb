//! The one place that says yes or no.
//!
//! [`Ruleset::compile`] makes a policy ready for a schema; [`Ruleset::decide`] decides one
//! [`Request`] and says on what ground. Nothing here knows SQLite, tokens or words for people.

mod calls;
mod decision;
mod hidden;
mod pragmas;
mod rows;

pub use decision::{Decision, Ground, RuleId, RuleView, Section};

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::diagnostic::Code;
use crate::policy::Policy;
use crate::request::{Action, Origin, Request, Resource};
use crate::source::Name;

use calls::NameRules;
use hidden::HiddenColumns;

/// A policy, ready to decide; with a catalog it also knows shadow tables, generated columns and
/// which triggers share a name.
#[derive(Clone, Debug)]
pub struct Ruleset {
    policy: Arc<Policy>,
    catalog: Option<Arc<Catalog>>,
    calls: Arc<Calls>,
    hidden: HiddenColumns,
}

/// The function lists, compiled once for every schema.
#[derive(Debug)]
struct Calls {
    allowed: NameRules,
    denied: NameRules,
}

impl Ruleset {
    /// Makes `policy` ready for the schema that `catalog` describes.
    pub fn compile(policy: Arc<Policy>, catalog: Option<Arc<Catalog>>) -> Self {
        let calls = Arc::new(Calls {
            allowed: NameRules::new(policy.functions.allow.iter().map(|rule| &rule.what.name)),
            denied: NameRules::new(policy.functions.deny.iter().map(|rule| &rule.what.name)),
        });
        let open = Self { policy, catalog: None, calls, hidden: HiddenColumns::default() };
        match catalog {
            Some(catalog) => open.for_catalog(catalog),
            None => open,
        }
    }

    /// The same rules for another schema.
    #[must_use]
    pub fn for_catalog(&self, catalog: Arc<Catalog>) -> Self {
        Self { hidden: HiddenColumns::new(&self.policy, &catalog), catalog: Some(catalog), ..self.clone() }
    }

    /// The policy it was compiled from.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// The schema it was compiled for.
    pub fn catalog(&self) -> Option<&Arc<Catalog>> {
        self.catalog.as_ref()
    }

    /// Decides one request.
    pub fn decide(&self, request: &Request) -> Decision {
        match (&request.action, &request.resource) {
            (action, _) if action.is_closed() => Decision::never(closed_code(*action)),
            (Action::Call, Resource::Function(name)) => self.decide_call(name, &request.origin),
            (Action::Pragma, Resource::Pragma { name, argument }) => {
                self.decide_pragma(name, argument.as_deref())
            }
            (Action::Command, Resource::Command { command, .. }) => self.decide_command(command.as_deref()),
            (_, Resource::Table { .. } | Resource::Column { .. }) => self.decide_rows(request),
            // No witness makes such a pair; were one to, it must not pass.
            _ => Decision::never(Code::UnknownAction),
        }
    }

    /// Whether the caller may do `action` with `resource`.
    pub fn allows(&self, action: Action, resource: Resource) -> bool {
        self.decide(&Request::caller(action, resource, None)).allowed
    }

    fn decide_command(&self, command: Option<&str>) -> Decision {
        let Some(command) = command else { return Decision::never(Code::VirtualTableCommand) };
        match self.policy.virtual_tables.iter().position(|rule| rule.what.command == *command) {
            Some(index) => Decision::allow(RuleId { section: Section::VirtualTables, index }),
            None => Decision::default(Code::VirtualTableCommand),
        }
    }

    /// The schemas of the triggers that bear this name; none without a catalog.
    fn trigger_schemas<'a>(&'a self, name: &'a Name) -> impl Iterator<Item = &'a Name> + 'a {
        self.catalog
            .iter()
            .flat_map(move |catalog| catalog.triggers_named(name))
            .map(|(schema, _)| &schema.name)
    }

    /// The trust under which one of `origin`'s triggers acts, if every trigger that may have asked
    /// has such a grant.
    fn trusted(&self, origin: &Origin, grants: impl Fn(&crate::policy::Grant) -> bool) -> Option<RuleId> {
        let (names, rules, section) = match origin {
            Origin::Trigger(names) => (names.as_slice(), &self.policy.triggers, Section::Triggers),
            Origin::View(name) => (std::slice::from_ref(name), &self.policy.views, Section::Views),
            Origin::Caller | Origin::Expression | Origin::ForeignKey | Origin::Module(_) => return None,
        };
        let mut ground = None;
        for name in names {
            let mut schemas: Vec<Option<&Name>> = self.trigger_schemas(name).map(Some).collect();
            if schemas.is_empty() || matches!(origin, Origin::View(_)) {
                schemas = vec![None];
            }
            for schema in schemas {
                let index = rules.iter().position(|rule| {
                    let by = |t: &crate::policy::TriggerPattern| {
                        t.name.matches(name)
                            && t.schema
                                .as_ref()
                                .is_none_or(|p| schema.is_some_and(|schema| p.matches(schema)))
                    };
                    grants(&rule.what) && rule.what.by.iter().any(by)
                })?;
                ground.get_or_insert(RuleId { section, index });
            }
        }
        ground
    }
}

fn closed_code(action: Action) -> Code {
    match action {
        Action::Schema => Code::SchemaChange,
        Action::Transaction => Code::TransactionControl,
        Action::Attach => Code::AttachDetach,
        Action::Maintenance => Code::Maintenance,
        _ => Code::UnknownAction,
    }
}
