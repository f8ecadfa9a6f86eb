//! The way out of a refusal, ready to paste where it can be.

mod functions;
mod rows;

use super::Context;
use super::Finding;
use super::words::named;
use crate::diagnostic::Code;
use crate::policy::{ACTING_PRAGMAS, ForeignKeys, Pattern, REPORTING_ARGUMENT, Verb};
use crate::request::{Action, Request, Resource};
use crate::source::{Name, nearest};
use crate::statement::{Conflict, written};

pub(super) fn out_of(finding: &Finding, request: &Request, context: &Context<'_>) -> String {
    match &request.resource {
        Resource::Pragma { name, argument } => pragma(name, argument.as_deref(), context),
        Resource::Command { command, .. } => command_way(command.as_deref(), context),
        Resource::Function(name) => functions::out_of(name, finding, request, context),
        Resource::Table { table, .. } | Resource::Column { table, .. } => match finding.code {
            Code::InternalTable => internal(table, request, context),
            Code::ShadowTable => String::new(),
            _ => rows::out_of(finding, request, context),
        },
        Resource::Statement(words) => closed(request.action, words, context),
    }
}

/// The way out of what is no request: a NUL byte, advice.
pub(super) fn out_of_advice(code: Code, context: &Context<'_>) -> String {
    let target = context.statements.get(context.index).and_then(|statement| statement.target.as_ref());
    let inserts = target.is_some_and(|target| target.verb == Verb::Insert);
    let way = match code {
        Code::NulByte if context.ruleset.allows_call(&Name::from("char")) => {
            "Remove the byte; a NUL inside a value can be written with char(0)."
        }
        Code::NulByte => "Remove the byte.",
        Code::NoRowChanged if !inserts && target.is_some_and(|target| !target.has_where) => {
            "Check that there are rows, and that no trigger leaves them as they are."
        }
        Code::NoRowChanged if !inserts => "Check its WHERE clause against the rows that are there.",
        Code::NoRowChanged if target.is_some_and(|target| target.single_row.is_some()) => {
            "A conflict clause or a trigger left it out; most often a row like it is there already."
        }
        Code::NoRowChanged => "Check that its query finds rows, and that no conflict clause leaves them out.",
        Code::ConflictReachesTrigger => match target.and_then(|target| target.conflict) {
            Some((Conflict::Ignore, _)) if inserts => {
                "Use ON CONFLICT DO NOTHING, which applies to this statement alone."
            }
            Some((Conflict::Ignore, _)) => "Leave it out and pick the rows with WHERE.",
            _ => "Leave it out; any failure undoes the whole run.",
        },
        Code::ReplaceDeletedRows if inserts => {
            "To change a row in place use ON CONFLICT DO UPDATE; what a replaced row held in other columns is lost."
        }
        Code::ReplaceDeletedRows => "Pick rows that collide with none, or DELETE the others first.",
        _ => "",
    };
    way.to_owned()
}

/// What no policy opens.
fn closed(action: Action, words: &str, context: &Context<'_>) -> String {
    let mut words = words.split_whitespace().map(str::to_ascii_lowercase);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match (action, first.as_str(), second.as_str()) {
        (Action::Schema, "create", "temp" | "temporary") => {
            "Only rows may change here; a WITH clause holds rows in between.".to_owned()
        }
        (Action::Schema, "analyze" | "reindex", _) => "Remove it; a run changes rows only.".to_owned(),
        (Action::Schema, ..) => {
            "Only rows may change here; put schema changes into the world's own schema.".to_owned()
        }
        (Action::Attach, "detach", _) => "Remove it; what the world attaches stays attached.".to_owned(),
        (Action::Attach, ..) => attach(context),
        (Action::Unknown, "action", _) => "Update seawall; until then the statement cannot run.".to_owned(),
        (Action::Unknown, ..) => "Look for a name in the schema that is not UTF-8.".to_owned(),
        _ => String::new(),
    }
}

fn attach(context: &Context<'_>) -> String {
    let schemas = context.ruleset.catalog().map(|catalog| catalog.schemas.as_slice()).unwrap_or_default();
    let attached: Vec<_> =
        schemas.iter().filter(|schema| schema.name != *"main" && schema.name != *"temp").collect();
    let names: Vec<_> = attached.iter().map(|schema| written(schema.name.as_str())).collect();
    let tables = attached
        .iter()
        .flat_map(|schema| schema.tables.keys().map(|t| Resource::table(schema.name.clone(), t.clone())));
    let example = tables.into_iter().find(|table| is_open(table, context)).map(|table| named(&table));
    match (names.as_slice(), example) {
        ([], _) => "Remove it; a run works on the world's own databases.".to_owned(),
        (names, None) => format!("Attached already: {}.", names.join(", ")),
        (names, Some(example)) => {
            format!("Attached already: {}. Name a table by its schema, as in {example}.", names.join(", "))
        }
    }
}

/// Whether the caller may do anything with a table.
pub(super) fn is_open(table: &Resource, context: &Context<'_>) -> bool {
    let actions = [Action::Read, Action::Insert, Action::Update, Action::Delete];
    actions.into_iter().any(|action| context.ruleset.allows(action, table.clone()))
}

fn pragma(name: &Name, argument: Option<&str>, context: &Context<'_>) -> String {
    let folded = name.folded();
    let selects = REPORTING_ARGUMENT.contains(&folded);
    if ["foreign_keys", "defer_foreign_keys"].contains(&folded) && argument.is_some() {
        return match context.ruleset.policy().foreign_keys {
            ForeignKeys::Deferred => "Remove it; foreign keys are checked at COMMIT already.",
            ForeignKeys::Immediate => {
                "Remove it; write parent rows before their children, or set `foreign_keys: deferred` in the policy."
            }
        }
        .to_owned();
    }
    if ACTING_PRAGMAS.contains(&folded) {
        return "Remove it; it acts when it is asked.".to_owned();
    }
    if argument.is_some() && !selects && context.ruleset.reports(name) {
        return format!("It may be asked, not set: PRAGMA {name}.");
    }
    let exists = context
        .ruleset
        .catalog()
        .is_some_and(|catalog| catalog.known.modules.contains(&Name::from(format!("pragma_{folded}"))));
    if !exists {
        return no_such_pragma(folded, context);
    }
    if argument.is_some() && !selects {
        return "Remove it; a pragma may be asked here, never set.".to_owned();
    }
    let line = match argument {
        Some(argument) => format!("{folded}({})", argument_type(folded, argument)),
        None => folded.to_owned(),
    };
    format!("To open it, {}.", add(&line, "pragmas.allow"))
}

fn argument_type(pragma: &str, argument: &str) -> &'static str {
    match pragma {
        "index_info" | "index_xinfo" => "index",
        "integrity_check" | "quick_check" if argument.bytes().all(|byte| byte.is_ascii_digit()) => "integer",
        _ => "table",
    }
}

fn no_such_pragma(name: &str, context: &Context<'_>) -> String {
    let rules = &context.ruleset.policy().pragmas;
    let mut open: Vec<&str> =
        rules.iter().filter_map(|rule| rule.what.name.literal()).map(Name::folded).collect();
    open.sort_unstable();
    open.dedup();
    if open.is_empty() {
        return "The policy allows no pragma.".to_owned();
    }
    match nearest(name, open.iter().copied()) {
        Some(near) => format!("Did you mean PRAGMA {near}?"),
        None => format!("The policy allows {}.", open.join(", ")),
    }
}

fn command_way(command: Option<&str>, context: &Context<'_>) -> String {
    let rules = &context.ruleset.policy().virtual_tables;
    let mut open: Vec<&str> = rules.iter().map(|rule| rule.what.command.folded()).collect();
    open.sort_unstable();
    open.dedup();
    let allowed = match open.as_slice() {
        [] => "The policy allows no command.".to_owned(),
        open => format!("The policy allows '{}'.", open.join("', '")),
    };
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match command {
        Some(command) if command.split('-').all(is_word) => {
            format!("{allowed} To open this one, {}.", add(command, "virtual_tables.allow"))
        }
        Some(_) => allowed,
        None => format!("Write the command as one literal in a VALUES row. {allowed}"),
    }
}

fn internal(table: &Name, request: &Request, context: &Context<'_>) -> String {
    let reads = request.action == Action::Read;
    let instead = match table.folded() {
        "sqlite_sequence" => "Give the rows explicit ids instead.",
        "sqlite_master" | "sqlite_schema" | "sqlite_temp_master" | "sqlite_temp_schema" => {
            let (list, info) = (Name::from("table_list"), Name::from("table_info"));
            match reads {
                true if context.ruleset.reports(&list) && context.ruleset.reports(&info) => {
                    "PRAGMA table_list and PRAGMA table_info(...) report the schema."
                }
                true => "",
                false => "Put schema changes into the world's own schema.",
            }
        }
        _ if reads => "",
        _ => "Leave it out.",
    };
    // Without a schema it may be there; dbstat always is.
    let exists = context.ruleset.catalog().is_none_or(|catalog| {
        let known = catalog.known.modules.contains(table) || catalog.holders(table).next().is_some();
        catalog.schemas.is_empty() || known
    });
    let schema_table = crate::catalog::SCHEMA_TABLES.contains(&table.folded());
    if !reads || !(exists || schema_table) {
        return if instead.is_empty() { "Leave it out.".to_owned() } else { instead.to_owned() };
    }
    let line = format!("read on {}", rows::rule_target(&whole(&request.resource)));
    let open = format!("To open it, {}.", add(&line, "rows.allow"));
    if instead.is_empty() { open } else { format!("{instead} {open}") }
}

/// The table that a resource belongs to.
fn whole(resource: &Resource) -> Resource {
    match resource.table_name() {
        Some((schema, table)) => Resource::table(schema.clone(), table.clone()),
        None => resource.clone(),
    }
}

/// What to add to a list of the policy.
pub(super) fn add(rule: &str, list: &str) -> String {
    format!("add `{}` to {list} in the policy", as_entry(rule))
}

/// A rule as an entry of a YAML list: in single quotes where YAML would read it otherwise.
fn as_entry(rule: &str) -> String {
    let odd = rule.contains(": ")
        || rule.contains(" #")
        || rule.ends_with(':')
        || rule.starts_with(['"', '\'', '*', '&', '!', '%', '@', '[', '{', '?', '|', '>'])
        || rule.starts_with("- ");
    if odd { format!("'{}'", rule.replace('\'', "''")) } else { rule.to_owned() }
}

/// A name as the policy language reads it.
fn in_rule(name: &Name) -> String {
    match name.as_str() {
        "->" | "->>" => name.to_string(),
        _ => Pattern::exactly(name).to_string(),
    }
}
