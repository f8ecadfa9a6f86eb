//! Names that match nothing in the schema.

use super::{own, warning, within};
use crate::catalog::{Catalog, Schema, Table, TableKind, is_internal};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::{Grant, Pattern, Policy, Rule, Target, TriggerPattern};
use crate::source::{Name, Place, nearest};

pub(super) fn check(policy: &Policy, catalog: &Catalog) -> Vec<Diagnostic> {
    let mut names = Names { catalog, found: Vec::new() };
    for rule in policy.rows.allow.iter().chain(&policy.rows.deny).filter(|rule| own(rule)) {
        rule.what.targets.iter().for_each(|target| names.target(target, rule.place.as_ref()));
    }
    for rule in policy.functions.allow.iter().chain(&policy.functions.deny).filter(|rule| own(rule)) {
        let known = catalog.known.functions.iter().chain(&catalog.known.modules);
        names.word("function", &rule.what.name, rule.place.as_ref(), known);
    }
    let pragmas: Vec<Name> = catalog.known.modules.iter().filter_map(pragma).collect();
    for rule in policy.pragmas.iter().filter(|rule| own(rule)) {
        names.word("pragma", &rule.what.name, rule.place.as_ref(), pragmas.iter());
    }
    for rule in policy.triggers.iter().filter(|rule| own(rule)) {
        rule.what.targets.iter().for_each(|target| names.target(target, rule.place.as_ref()));
        names.trusted("trigger", rule, |schema| schema.triggers.keys().collect());
    }
    for rule in policy.views.iter().filter(|rule| own(rule)) {
        names.trusted("view", rule, views);
    }
    names.found
}

fn views(schema: &Schema) -> Vec<&Name> {
    schema.tables.iter().filter(|(_, table)| table.kind == TableKind::View).map(|(name, _)| name).collect()
}

/// The pragma of a `pragma_` table function.
fn pragma(module: &Name) -> Option<Name> {
    module.folded().strip_prefix("pragma_").map(Name::from)
}

struct Names<'c> {
    catalog: &'c Catalog,
    found: Vec<Diagnostic>,
}

impl<'c> Names<'c> {
    /// Notes that there is no such thing: what, and where one was looked for.
    fn nothing<'n>(
        &mut self,
        code: Code,
        what: (&str, &str),
        pattern: &Pattern,
        place: Option<&Place>,
        known: impl Iterator<Item = &'n str>,
    ) {
        let message = match pattern.literal() {
            Some(name) => format!("there is no {} `{name}`{}", what.0, what.1),
            None => format!("no {}{} is named like `{pattern}`", what.0, what.1),
        };
        let label = match pattern.literal().and_then(|name| nearest(name.as_str(), known)) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "matches nothing".to_owned(),
        };
        self.found.push(warning(code, message, within(place, pattern)).label(label));
    }

    fn word<'n>(
        &mut self,
        what: &str,
        pattern: &Pattern,
        place: Option<&Place>,
        known: impl Iterator<Item = &'n Name> + Clone,
    ) {
        let nothing_is_known = known.clone().next().is_none();
        if pattern.is_any() || nothing_is_known || known.clone().any(|name| pattern.matches(name)) {
            return;
        }
        self.nothing(Code::LintNoMatch, (what, ""), pattern, place, known.map(Name::as_str));
    }

    fn target(&mut self, target: &Target, place: Option<&Place>) {
        let catalog = self.catalog;
        let schemas: Vec<&Schema> =
            catalog.schemas.iter().filter(|schema| target.schema.matches(&schema.name)).collect();
        // SQLite makes the temp schema when something is put there.
        if schemas.is_empty() && target.schema.literal().is_none_or(|name| *name != *"temp") {
            let known = catalog.schemas.iter().map(|schema| schema.name.as_str());
            self.nothing(Code::LintNoMatch, ("schema", ""), &target.schema, place, known);
            return;
        }
        if target.table.is_any() && target.columns.is_none()
            || target.table.literal().is_some_and(is_internal)
        {
            return;
        }
        let tables = || schemas.iter().flat_map(|schema| &schema.tables);
        let named: Vec<(&Name, &Table)> = tables().filter(|(name, _)| target.table.matches(name)).collect();
        if named.is_empty() {
            let known = tables().map(|(name, _)| name.as_str());
            self.nothing(Code::LintNoMatch, ("table or view", ""), &target.table, place, known);
            return;
        }
        let details = named.iter().map(|(_, table)| table.details.as_deref()).collect::<Option<Vec<_>>>();
        let (Some(columns), Some(details)) = (&target.columns, details) else { return };
        for column in columns {
            let known = || details.iter().flat_map(|table| &table.columns).map(|column| &column.name);
            // A table has a rowid whether it declares one or not.
            let rowid = column.literal().is_some_and(|name| *name == *"rowid");
            if !rowid && !known().any(|name| column.matches(name)) {
                let of = format!(" of `{}`", target.table);
                self.nothing(Code::LintNoMatch, ("column", &of), column, place, known().map(Name::as_str));
            }
        }
    }

    /// Whose text a grant trusts.
    fn trusted(&mut self, what: &str, rule: &Rule<Grant>, named: impl Fn(&'c Schema) -> Vec<&'c Name>) {
        let catalog = self.catalog;
        for TriggerPattern { schema, name } in &rule.what.by {
            if name.is_any() {
                continue;
            }
            let schemas = catalog
                .schemas
                .iter()
                .filter(|found| schema.as_ref().is_none_or(|schema| schema.matches(&found.name)));
            let known: Vec<&Name> = schemas.flat_map(&named).collect();
            if !known.iter().any(|known| name.matches(known)) {
                let known = known.into_iter().map(Name::as_str);
                self.nothing(Code::LintNoTrigger, (what, ""), name, rule.place.as_ref(), known);
            }
        }
    }
}
