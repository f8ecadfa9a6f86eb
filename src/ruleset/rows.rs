//! Rows: tables and columns read and written.

use super::{Decision, RuleId, Ruleset, Section};
use crate::catalog::{SCHEMA_TABLES, TableKind, is_internal};
use crate::diagnostic::Code;
use crate::policy::{Pattern, Power, Target, Verb};
use crate::request::{Action, Origin, Request, Resource};
use crate::source::Name;

impl Ruleset {
    pub(super) fn decide_rows(&self, request: &Request) -> Decision {
        let Some(verb) = verb_of(request.action) else { return Decision::never(Code::UnknownAction) };
        let Some((schema, table)) = request.resource.table_name() else {
            return Decision::never(Code::UnknownAction);
        };
        if matches!(request.origin, Origin::Expression | Origin::ForeignKey) {
            return Decision::world();
        }
        let kept = self.kept_code(schema, table);
        if kept.is_none() || verb == Verb::Read {
            let grants = |grant: &crate::policy::Grant| {
                grant.powers.contains(&Power::Row(verb))
                    && (grant.targets.is_empty()
                        || grant.targets.iter().any(|t| covers(t, &request.resource)))
            };
            if let Some(rule) = self.trusted(&request.origin, grants) {
                return Decision::allow(rule);
            }
        }
        if let Some(code) = kept {
            return self.decide_kept(verb, &request.resource, code);
        }
        self.decide_callers_rows(verb, &request.resource)
    }

    fn decide_callers_rows(&self, verb: Verb, resource: &Resource) -> Decision {
        let code = match verb {
            Verb::Read => Code::ReadDenied,
            Verb::Replace => Code::ReplaceDenied,
            Verb::Insert | Verb::Update | Verb::Delete => Code::WriteDenied,
        };
        if let Some(index) = self.denying_rule(verb, resource) {
            return Decision::deny(RuleId { section: Section::RowsDeny, index }, code);
        }
        if verb == Verb::Read
            && let Some(index) = self.hidden.behind(resource)
        {
            return Decision::deny(RuleId { section: Section::RowsDeny, index }, code);
        }
        let allow = &self.policy.rows.allow;
        let open = |t: &Target| covers(t, resource) || opens_table(t, resource);
        let rule = allow.iter().position(|r| r.what.verbs.contains(&verb) && r.what.targets.iter().any(open));
        match rule {
            Some(index) => Decision::allow(RuleId { section: Section::RowsAllow, index }),
            None => Decision::default(code),
        }
    }

    fn denying_rule(&self, verb: Verb, resource: &Resource) -> Option<usize> {
        let deny = &self.policy.rows.deny;
        deny.iter()
            .position(|r| r.what.verbs.contains(&verb) && r.what.targets.iter().any(|t| covers(t, resource)))
    }

    /// Why `table` is kept from globs: SQLite or a virtual table keeps its own data there.
    pub fn kept_code(&self, schema: &Name, table: &Name) -> Option<Code> {
        let declared = self.catalog.as_ref().and_then(|c| c.schema(schema)).and_then(|s| s.tables.get(table));
        match declared.map(|table| &table.kind) {
            Some(TableKind::Shadow(_)) => Some(Code::ShadowTable),
            _ => is_internal(table).then_some(Code::InternalTable),
        }
    }

    /// A kept table: only a rule that names it exactly opens it, and only for `read`.
    fn decide_kept(&self, verb: Verb, resource: &Resource, code: Code) -> Decision {
        if verb != Verb::Read {
            return Decision::never(code);
        }
        if let Some(index) = self.denying_rule(verb, resource) {
            return Decision::deny(RuleId { section: Section::RowsDeny, index }, code);
        }
        let allow = &self.policy.rows.allow;
        let names_it = |t: &Target| {
            t.table.literal().is_some_and(|name| names_kept(name, resource))
                && (covers(&any_table(t), resource) || opens_table(&any_table(t), resource))
        };
        let rule =
            allow.iter().position(|r| r.what.verbs.contains(&verb) && r.what.targets.iter().any(names_it));
        match rule {
            Some(index) => Decision::allow(RuleId { section: Section::RowsAllow, index }),
            None => Decision::never(code),
        }
    }
}

/// `target` with its table left open, for names that were compared already.
fn any_table(target: &Target) -> Target {
    Target { table: Pattern::Glob("*".into()), ..target.clone() }
}

fn names_kept(name: &Name, resource: &Resource) -> bool {
    let Some((_, table)) = resource.table_name() else { return false };
    let both_schema_tables =
        || SCHEMA_TABLES.contains(&name.folded()) && SCHEMA_TABLES.contains(&table.folded());
    name == table || both_schema_tables()
}

fn verb_of(action: Action) -> Option<Verb> {
    match action {
        Action::Read => Some(Verb::Read),
        Action::Insert => Some(Verb::Insert),
        Action::Update => Some(Verb::Update),
        Action::Delete => Some(Verb::Delete),
        Action::Replace => Some(Verb::Replace),
        _ => None,
    }
}

/// Whether `target` speaks of all of `resource`: a target with columns speaks of those columns only.
pub(super) fn covers(target: &Target, resource: &Resource) -> bool {
    let Some((schema, table)) = resource.table_name() else { return false };
    if !target.schema.matches(schema) || !target.table.matches(table) {
        return false;
    }
    match (&target.columns, resource) {
        (None, _) => true,
        (Some(columns), Resource::Column { column, .. }) => columns.iter().any(|p| p.matches(column)),
        (Some(_), _) => false,
    }
}

/// Whether a target that opens some columns also opens the table itself, as `count(*)` asks for it.
fn opens_table(target: &Target, resource: &Resource) -> bool {
    let Resource::Table { schema, table } = resource else { return false };
    target.columns.is_some() && target.schema.matches(schema) && target.table.matches(table)
}

impl Ruleset {
    /// Whether the reading of some column of the table may be denied, though the table is open.
    pub fn hides_a_column(&self, schema: &Name, table: &Name) -> bool {
        // Only a rule that names a kept table opens it, perhaps for some columns; no glob counts.
        if self.kept_code(schema, table).is_some() {
            return true;
        }
        let speaks = |t: &Target| t.schema.matches(schema) && t.table.matches(table);
        let rows = &self.policy.rows;
        let closes = |t: &Target| t.columns.is_some() && speaks(t);
        let opens_all = |t: &Target| t.columns.is_none() && speaks(t);
        let reads =
            |rule: &&crate::policy::Rule<crate::policy::RowRule>| rule.what.verbs.contains(&Verb::Read);
        rows.deny.iter().filter(reads).any(|rule| rule.what.targets.iter().any(closes))
            || !rows.allow.iter().filter(reads).any(|rule| rule.what.targets.iter().any(opens_all))
    }
}
