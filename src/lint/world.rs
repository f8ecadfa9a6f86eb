//! Triggers, views and conflict clauses of the world that the policy stops, or that get around it.

use std::collections::BTreeSet;

use super::body::{self, Body};
use super::{qualified, warning};
use crate::catalog::{Catalog, Schema, TableKind, Trigger};
use crate::diagnostic::{Code, Diagnostic};
use crate::policy::Verb;
use crate::request::{Action, Origin, Request, Resource};
use crate::ruleset::{Decision, Ground, Ruleset};
use crate::source::{Name, Place, Source, Span};
use crate::statement::{Conflict, Statement, Target};

pub(super) fn check(ruleset: &Ruleset, catalog: &Catalog) -> Vec<Diagnostic> {
    let mut world = World { ruleset, catalog, found: Vec::new() };
    for schema in &catalog.schemas {
        for (name, table) in &schema.tables {
            let source = source("table", schema, name, &table.sql);
            match table.kind {
                TableKind::View => world.view(schema, name, &table.sql),
                TableKind::Ordinary => {
                    for span in body::replace_clauses(&source) {
                        world.replace_clause(&schema.name, name, Place { source: source.clone(), span });
                    }
                }
                TableKind::Virtual(_) | TableKind::Shadow(_) => {}
            }
        }
        for (name, trigger) in &schema.triggers {
            if catalog.is_view(name) {
                world.shared_name(schema, name);
            }
            world.trigger(schema, name, trigger);
        }
    }
    world.found
}

/// The text of an object of the world, named so that an excerpt of it tells whose it is.
fn source(kind: &str, schema: &Schema, name: &Name, sql: &str) -> Source {
    Source::new(format!("{kind} {}", qualified(&schema.name, name)), sql)
}

/// A trigger or view, and what stops where it is refused something.
struct Text<'a> {
    source: &'a Source,
    origin: Origin,
    who: String,
    stops: String,
    name: &'a Name,
}

/// The functions and table functions that a statement calls.
fn calls(statement: &Statement<'_>) -> Vec<(Name, Span)> {
    let calls = statement.calls.iter().map(|call| (call.name.clone(), call.span));
    let tables = statement.sources.iter().filter(|table| table.called);
    calls.chain(tables.map(|table| (table.table.clone(), table.span))).collect()
}

struct World<'c> {
    ruleset: &'c Ruleset,
    catalog: &'c Catalog,
    found: Vec<Diagnostic>,
}

impl World<'_> {
    fn decide(&self, action: Action, resource: Resource, origin: &Origin) -> Decision {
        self.ruleset.decide(&Request { action, resource, origin: origin.clone(), span: None })
    }

    /// The same with the rule that decided, if one did.
    fn ground(&self, warning: Diagnostic, decision: Decision) -> Diagnostic {
        let rule = match decision.ground {
            Ground::Rule(id) => self.ruleset.rule(id).and_then(|rule| rule.place.cloned()),
            Ground::Default | Ground::Never | Ground::World => None,
        };
        match rule {
            Some(place) => warning.related(place, "this rule decides"),
            None => warning,
        }
    }

    fn shared_name(&mut self, schema: &Schema, name: &Name) {
        let message = format!("a view and a trigger are both named `{}`", qualified(&schema.name, name));
        let help = "SQLite reports the name alone, so what one asks may be taken for the other's. Rename one of them.";
        self.found.push(warning(Code::LintSharedName, message, None).help(help));
    }

    fn trigger(&mut self, schema: &Schema, name: &Name, trigger: &Trigger) {
        let source = source("trigger", schema, name, &trigger.sql);
        let Some(body) = Body::read(&source) else { return };
        let fires = if body.of_columns { " that fires it" } else { "" };
        let text = Text {
            source: &source,
            origin: Origin::Trigger(vec![name.clone()]),
            who: format!("trigger `{}`", qualified(&schema.name, name)),
            stops: format!("{} of {}{fires}", body.event, qualified(&schema.name, &trigger.table)),
            name,
        };
        for statement in &body.statements {
            if let Some(target) = &statement.target {
                self.write(schema, &text, target);
            }
        }
        let mut called: Vec<(Name, Span)> = body.statements.iter().flat_map(calls).collect();
        if let Some(when) = body.when {
            const HEAD: &str = "SELECT ";
            let query = format!("{HEAD}{}", source.slice(when));
            let statement = Statement::read(&query, Span::new(0, query.len()));
            let inner = |at: usize| (when.start + at).saturating_sub(HEAD.len());
            let place = |span: Span| Span::new(inner(span.start), inner(span.end));
            called.extend(calls(&statement).into_iter().map(|(name, span)| (name, place(span))));
        }
        self.calls(&text, called);
    }

    fn view(&mut self, schema: &Schema, name: &Name, sql: &str) {
        let source = source("view", schema, name, sql);
        let Some(query) = body::query(&source) else { return };
        let text = Text {
            source: &source,
            origin: Origin::View(name.clone()),
            who: format!("view `{}`", qualified(&schema.name, name)),
            stops: "statement that reads it".to_owned(),
            name,
        };
        self.calls(&text, calls(&query));
    }

    /// A write of a trigger that is closed to it, or a replacement that gets around a deny.
    fn write(&mut self, schema: &Schema, text: &Text<'_>, target: &Target) {
        let written = target.table.schema.as_ref().unwrap_or(&schema.name);
        let name = &target.table.table;
        let table = Resource::table(written.clone(), name.clone());
        let mut asked: Vec<(Action, Resource)> = Vec::new();
        if target.verb == Verb::Update && !target.columns.is_empty() {
            let column = |column: &Name| Resource::column(written.clone(), name.clone(), column.clone());
            asked.extend(target.columns.iter().map(|c| (Action::Update, column(&c.name))));
        } else {
            asked.push((target.verb.action(), table.clone()));
        }
        if matches!(target.conflict, Some((Conflict::Replace, _))) {
            asked.extend([Action::Replace, Action::Delete].map(|action| (action, table.clone())));
        }
        for (action, resource) in asked {
            let decision = self.decide(action, resource.clone(), &text.origin);
            if decision.allowed {
                continue;
            }
            let (verb, Text { who, stops, .. }) = (action.word(), text);
            let message = format!("{who} may not {verb} {resource}: every {stops} will be refused");
            let place = Place { source: text.source.clone(), span: target.table.span };
            let help = format!("Trust it under `triggers`: `{verb} on {table} by {}`.", text.name);
            let warning = warning(Code::LintTriggerWritesClosed, message, Some(place)).label("closed to it");
            self.found.push(self.ground(warning, decision).help(help));
            return;
        }
        if let Some((Conflict::Replace, span)) = target.conflict {
            self.replace_clause(written, name, Place { source: text.source.clone(), span });
        }
    }

    /// Calls that are closed to a trigger or view, each function once.
    fn calls(&mut self, text: &Text<'_>, called: Vec<(Name, Span)>) {
        let mut said = BTreeSet::new();
        for (name, span) in called {
            let known = &self.catalog.known;
            if !known.functions.contains(&name) && !known.modules.contains(&name) {
                continue;
            }
            let decision = self.decide(Action::Call, Resource::Function(name.clone()), &text.origin);
            if decision.allowed || !said.insert(name.clone()) {
                continue;
            }
            let Text { who, stops, .. } = text;
            let message = format!("{who} calls {name}, which is closed to it: every {stops} will be refused");
            let place = Place { source: text.source.clone(), span };
            let section = if matches!(text.origin, Origin::View(_)) { "views" } else { "triggers" };
            let trust = format!("`call by {}` under `{section}`", text.name);
            let help = format!("Allow `{name}` under `functions`, or trust the text with {trust}.");
            let warning = warning(Code::LintUnlistedCall, message, Some(place)).label("closed to it");
            self.found.push(self.ground(warning, decision).help(help));
        }
    }

    /// A clause that replaces rows where the caller may write but not replace or delete.
    fn replace_clause(&mut self, schema: &Name, table: &Name, place: Place) {
        let asks =
            |action| self.decide(action, Resource::table(schema.clone(), table.clone()), &Origin::Caller);
        let writes = [Action::Insert, Action::Update].into_iter().any(|action| asks(action).allowed);
        let closed = [Action::Replace, Action::Delete].map(|action| (action, asks(action)));
        let Some((action, decision)) = closed.into_iter().find(|(_, decision)| !decision.allowed) else {
            return;
        };
        if writes {
            let table = qualified(schema, table);
            let message = format!(
                "rows of {table} can be replaced, though the policy denies `{}` on it",
                action.word()
            );
            let warning =
                warning(Code::LintReplaceClause, message, Some(place)).label("the schema itself replaces");
            let help = "A conflict clause of the schema is the world's own and is not judged. Take it out of the schema, or deny `insert` and `update` too.";
            self.found.push(self.ground(warning, decision).help(help));
        }
    }
}
