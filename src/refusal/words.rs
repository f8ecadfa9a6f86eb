//! Filling the templates of the registry.

use super::Finding;
use super::{Context, ways};
use crate::catalog::TableKind;
use crate::diagnostic::Code;
use crate::request::{Action, Origin, Request, Resource};
use crate::ruleset::Ground;
use crate::source::Name;

/// Reason and fix of a finding.
pub(super) fn of(finding: &Finding, context: &Context<'_>) -> (String, String) {
    let values = Values::of(finding, context);
    let mut reason = values.fill(finding.code.reason());
    let author = match finding.ground {
        Ground::Rule(id) => context.ruleset.rule(id),
        Ground::Default | Ground::Never | Ground::World => None,
    };
    if let Some(request) = &finding.request {
        reason.push_str(&through(request, context));
    }
    if let Some(said) = author.and_then(|rule| rule.reason) {
        reason.push_str(": ");
        reason.push_str(said.trim().trim_end_matches('.'));
    }
    let fix = match author.and_then(|rule| rule.fix) {
        Some(said) => sentence(said),
        None => values.fill(finding.code.fix()),
    };
    (reason, fix)
}

/// A clause as a sentence: a capital first, a period last.
pub(super) fn sentence(clause: &str) -> String {
    let clause = clause.trim();
    let mut letters = clause.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if clause.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

/// What stands for each `{name}` of a template.
struct Values {
    what: String,
    verb: &'static str,
    owner: String,
    paste: String,
    way: String,
}

impl Values {
    fn of(finding: &Finding, context: &Context<'_>) -> Self {
        let mut values = Self {
            what: finding.subject.clone(),
            verb: "",
            owner: finding.detail.clone(),
            paste: finding.detail.clone(),
            way: String::new(),
        };
        if let Some(request) = &finding.request {
            values.what = what(request);
            values.verb = verb(request.action);
            values.owner = owner(request, context);
            values.way = ways::out_of(finding, request, context);
        } else if finding.code == Code::BareName {
            values.owner = finding.detail.split('.').next().unwrap_or_default().to_owned();
        }
        values
    }

    fn fill(&self, template: &str) -> String {
        let mut filled = template.to_owned();
        for (key, value) in [
            ("{what}", self.what.as_str()),
            ("{verb}", self.verb),
            ("{owner}", &self.owner),
            ("{paste}", &self.paste),
            ("{way}", &self.way),
        ] {
            filled = filled.replace(key, value);
        }
        filled
    }
}

fn what(request: &Request) -> String {
    match &request.resource {
        Resource::Function(name) => call(name),
        Resource::Command { command: Some(command), .. } => format!("the command '{command}'"),
        Resource::Command { command: None, .. } => "a command that is computed".to_owned(),
        other => other.to_string(),
    }
}

/// A function as a reader knows it.
pub(super) fn call(name: &Name) -> String {
    let word = name.folded().starts_with(|c: char| c.is_alphabetic() || c == '_');
    let bare = !word || name.folded().starts_with("current_");
    if bare { name.to_string() } else { format!("{name}()") }
}

const fn verb(action: Action) -> &'static str {
    match action {
        Action::Read => "reads",
        Action::Insert => "inserts into",
        Action::Update => "updates",
        Action::Delete => "deletes from",
        Action::Replace => "replaces rows of",
        _ => "uses",
    }
}

/// The object behind a request: the trigger or view that asks, the virtual table it concerns.
fn owner(request: &Request, context: &Context<'_>) -> String {
    match &request.origin {
        Origin::Trigger(names) if request.action == Action::Call => triggers(names, context),
        Origin::View(name) => name.to_string(),
        _ => match &request.resource {
            Resource::Command { table, .. } => table.to_string(),
            resource => shadow_owner(resource, context).unwrap_or_default(),
        },
    }
}

fn shadow_owner(resource: &Resource, context: &Context<'_>) -> Option<String> {
    let (schema, table) = resource.table_name()?;
    let found = context.ruleset.catalog()?.schema(schema)?.tables.get(table)?;
    match &found.kind {
        TableKind::Shadow(owner) => Some(owner.to_string()),
        TableKind::Ordinary | TableKind::View | TableKind::Virtual(_) => None,
    }
}

/// `issues_audit on issues`, several joined by `or`.
fn triggers(names: &[Name], context: &Context<'_>) -> String {
    let named = names.iter().map(|name| {
        let found = context.ruleset.catalog().and_then(|c| c.triggers_named(name).next());
        found.map_or_else(|| name.to_string(), |(_, trigger)| format!("{name} on {}", trigger.table))
    });
    named.collect::<Vec<_>>().join(" or ")
}

/// World code that stands between the statement and what is refused.
fn through(request: &Request, context: &Context<'_>) -> String {
    match &request.origin {
        Origin::Trigger(names) if request.action != Action::Call => {
            format!(", through trigger {}", triggers(names, context))
        }
        Origin::Module(table) => format!(", through virtual table {table}"),
        _ => String::new(),
    }
}
