//! Filling the templates of the registry.

use super::Finding;
use super::{Context, excerpt, ways};
use crate::catalog::TableKind;
use crate::diagnostic::Code;
use crate::policy::Verb;
use crate::request::{Action, Origin, Request, Resource};
use crate::ruleset::Ground;
use crate::source::Name;
use crate::statement::written;

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
    // The author of a rule speaks to whoever writes the SQL; a trigger can only be trusted.
    let of_trigger =
        finding.request.as_ref().is_some_and(|request| matches!(request.origin, Origin::Trigger(_)));
    let fix = match author.and_then(|rule| rule.fix) {
        Some(said) if !of_trigger => sentence(said),
        _ => values.fill(finding.code.fix()),
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
            values.what = what(request, context);
            values.verb = verb(request);
            values.owner = owner(request, context);
            values.way = ways::out_of(finding, request, context);
        } else {
            values.way = ways::out_of_advice(finding.code, context);
            let target =
                context.statements.get(context.index).and_then(|statement| statement.target.as_ref());
            values.verb = match target.map(|target| target.verb) {
                Some(Verb::Delete) => "deletes",
                _ => "changes",
            };
            if finding.code == Code::BareName {
                values.owner = schema_of(finding, context).unwrap_or_default();
            }
        }
        values
    }

    fn fill(&self, template: &str) -> String {
        let mut filled = String::new();
        let mut rest = template;
        // One pass, so that a value that holds braces stays as it is.
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let (key, after) = after.split_once('}').unwrap_or((after, ""));
            filled.push_str(match key {
                "what" => &self.what,
                "verb" => self.verb,
                "owner" => &self.owner,
                "paste" => &self.paste,
                "way" => &self.way,
                _ => "",
            });
            rest = after;
        }
        filled.push_str(rest);
        filled
    }
}

/// The schema that a bare name lands in.
fn schema_of(finding: &Finding, context: &Context<'_>) -> Option<String> {
    let span = finding.span?;
    let name = crate::statement::unquote(context.source.slice(span)).into_owned();
    let (schema, _) = context.ruleset.catalog()?.resolve(None, &Name::from(name))?;
    Some(written(schema.name.as_str()).into_owned())
}

fn what(request: &Request, context: &Context<'_>) -> String {
    match &request.resource {
        Resource::Function(name) => call(name),
        Resource::Command { command: Some(command), .. } => format!("the command '{command}'"),
        Resource::Command { command: None, .. } => "a command that is computed".to_owned(),
        Resource::Pragma { name, argument } => pragma(name, argument.as_deref(), request, context),
        resource => named(resource),
    }
}

/// A pragma as its author wrote it.
fn pragma(name: &Name, argument: Option<&str>, request: &Request, context: &Context<'_>) -> String {
    let text = request.span.map(|span| context.source.slice(span)).unwrap_or_default();
    // Its span ends before the parenthesis.
    if !text.contains('(')
        && text.get(..name.as_str().len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_str()))
    {
        return excerpt(text);
    }
    match argument {
        Some(argument) => format!("{name}({argument})"),
        None => name.to_string(),
    }
}

/// A table or column as SQL reads it; the schema is left out where it is `main`.
pub(crate) fn named(resource: &Resource) -> String {
    let Some((schema, table)) = resource.table_name() else { return resource.to_string() };
    let mut name = String::new();
    if *schema != *"main" {
        name.push_str(&written(schema.as_str()));
        name.push('.');
    }
    name.push_str(&written(table.as_str()));
    if let Resource::Column { column, .. } = resource {
        name.push('.');
        name.push_str(&written(column.as_str()));
    }
    name
}

/// A function as a reader knows it.
pub(super) fn call(name: &Name) -> String {
    match name.folded() {
        "like" | "glob" | "match" | "regexp" => name.folded().to_ascii_uppercase(),
        "->" | "->>" => name.to_string(),
        folded if folded.starts_with("current_") => folded.to_ascii_uppercase(),
        _ => format!("{}()", written(name.as_str())),
    }
}

fn verb(request: &Request) -> &'static str {
    let begins = |wanted: &[&str]| match &request.resource {
        Resource::Statement(words) => {
            let words: Vec<&str> = words.split_whitespace().take(wanted.len()).collect();
            words.len() == wanted.len() && words.iter().zip(wanted).all(|(a, b)| a.eq_ignore_ascii_case(b))
        }
        _ => false,
    };
    match request.action {
        Action::Read => "reads",
        Action::Insert => "inserts into",
        Action::Update => "updates",
        Action::Delete => "deletes from",
        Action::Replace => "replaces rows of",
        Action::Attach if begins(&["detach"]) => "detaches",
        Action::Attach => "attaches",
        Action::Maintenance if begins(&["vacuum", "into"]) => "copies",
        Action::Maintenance => "rebuilds",
        _ => "uses",
    }
}

/// The object behind a request: the trigger or view that asks, the virtual table it concerns.
fn owner(request: &Request, context: &Context<'_>) -> String {
    match &request.origin {
        Origin::Trigger(names) if request.action == Action::Call => triggers(names, context),
        Origin::View(name) => written(name.as_str()).into_owned(),
        _ => match &request.resource {
            Resource::Command { schema, table, .. } => named(&Resource::table(schema.clone(), table.clone())),
            resource => shadow_owner(resource, context).unwrap_or_default(),
        },
    }
}

fn shadow_owner(resource: &Resource, context: &Context<'_>) -> Option<String> {
    let (schema, table) = resource.table_name()?;
    let found = context.ruleset.catalog()?.schema(schema)?.tables.get(table)?;
    match &found.kind {
        TableKind::Shadow(owner) => Some(named(&Resource::table(schema.clone(), owner.clone()))),
        TableKind::Ordinary | TableKind::View | TableKind::Virtual(_) => None,
    }
}

/// `issues_audit on issues`, several joined by `or`.
fn triggers(names: &[Name], context: &Context<'_>) -> String {
    let named = names.iter().map(|name| {
        let found = context.ruleset.catalog().and_then(|c| c.triggers_named(name).next());
        let name = written(name.as_str());
        found.map_or_else(
            || name.to_string(),
            |(_, trigger)| format!("{name} on {}", written(trigger.table.as_str())),
        )
    });
    named.collect::<Vec<_>>().join(" or ")
}

/// World code that stands between the statement and what is refused.
fn through(request: &Request, context: &Context<'_>) -> String {
    match &request.origin {
        Origin::Trigger(names) if request.action != Action::Call => {
            format!(", through trigger {}", triggers(names, context))
        }
        Origin::Module(table) => format!(", through virtual table {}", written(table.as_str())),
        Origin::Caller => through_named(request, context).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Where the caller's own request is for a table that the text does not name: through a view that it
/// names, or, with OR REPLACE, through the triggers of the table that it does.
fn through_named(request: &Request, context: &Context<'_>) -> Option<String> {
    let target = context.statements.get(context.index)?.target.as_ref().map(|target| &target.table.table);
    if request.action == Action::Replace {
        let (_, table) = request.resource.table_name()?;
        let target = target.filter(|target| *target != table)?;
        return Some(format!(", through the triggers of {}", written(target.as_str())));
    }
    let view = view_between(request, context)?;
    Some(format!(", through view {}", written(view.as_str())))
}

/// The view that a read of the caller's goes through.
pub(super) fn view_between<'c>(request: &Request, context: &'c Context<'_>) -> Option<&'c Name> {
    let (_, table) = request.resource.table_name()?;
    let statement = context.statements.get(context.index)?;
    let target = statement.target.as_ref().map(|target| &target.table.table);
    let names_column = match &request.resource {
        Resource::Column { column, .. } => statement.mentions(|name| *column == *name),
        _ => true,
    };
    if request.action != Action::Read
        || statement.sources.iter().any(|source| source.table == *table)
        || (target == Some(table) && names_column)
    {
        return None;
    }
    let catalog = context.ruleset.catalog()?;
    let mut names = statement.sources.iter().map(|source| &source.table).chain(target);
    names.find(|name| catalog.is_view(name) && *name != table)
}
