//! The long judgement: what is the caller's and what the world's, told apart by preparing twice.
//!
//! The callback's fifth value is a bare name that a CTE can borrow and that is missing in
//! subqueries, views and foreign-key actions, so it is never asked who the caller is. With triggers
//! and foreign keys off, a statement holds the caller's part alone; what is more with both on is
//! the world's.

use rusqlite::Result;

use super::attribute::{difference, of_caller, resources};
use super::judging::{Judged, Judging, Pass, verb};
use super::live::read_through;
use super::ready::Ready;
use super::scopes::names_cte;
use crate::catalog::TableKind;
use crate::engine::audit::Program;
use crate::engine::catalog::quote;
use crate::engine::event::{Event, EventKind};
use crate::engine::keys::Keys;
use crate::engine::recorder::Phase;
use crate::engine::switches::WorldCodeOff;
use crate::policy::Verb;
use crate::request::{Action, Origin, Request, Resource, Witness};
use crate::ruleset::Decision;
use crate::source::Name;
use crate::statement::Statement;

/// The two parts of what a statement asks.
struct Parts {
    caller: Vec<(Request, Witness)>,
    world: Vec<Event>,
    /// The triggers that fire.
    firing: Vec<Name>,
}

/// What SQLite's witnesses saw of a statement.
#[derive(Debug)]
pub(super) enum Asked {
    /// All that it asks, with who saw it: first the caller's, then the world's.
    All(Vec<(Request, Witness)>),
    /// What was denied while it was prepared, which ended that.
    Denied(Vec<(Request, Decision)>),
}

/// Judges a row statement by both passes, and by EXPLAIN where something could be silent.
pub(super) fn judge<'c>(judging: &mut Judging<'c>, statement: &Statement<'_>) -> Judged<'c> {
    let denied = match asked(judging, statement) {
        Ok(Asked::All(requests)) => judging.denied(requests.into_iter().map(|(request, _)| request)),
        Ok(Asked::Denied(denied)) => return judging.refused(denied, statement),
        Err(error) => return Judged::Failed(error),
    };
    if !denied.is_empty() {
        return judging.refused(denied, statement);
    }
    // The statement that is stepped is prepared last: no switch may change between.
    match judging.pass(statement.sql()) {
        Pass { prepared: Err(error), .. } => Judged::Failed(error),
        Pass { prepared: Ok(prepared), events, .. } => {
            Judged::Ready(Ready::new(judging, prepared, events, Phase::Step))
        }
    }
}

/// Finds what a row statement asks, by both passes and EXPLAIN; decides nothing.
pub(super) fn asked(judging: &mut Judging<'_>, statement: &Statement<'_>) -> Result<Asked> {
    let parts = match target_view(judging, statement) {
        Some(view) => view_parts(judging, statement, &view)?,
        None => table_parts(judging, statement)?,
    };
    let parts = match parts {
        Ok(parts) => parts,
        Err(denied) => return Ok(Asked::Denied(denied)),
    };
    let world = attribute_world(judging, &parts)?;
    let replaced = replaced_by_triggers(judging, statement, &parts);
    let mut requests = parts.caller;
    requests.extend(world.into_iter().chain(replaced).map(|request| (request, Witness::Authorizer)));
    Ok(Asked::All(requests))
}

type Split = Result<std::result::Result<Parts, Vec<(Request, Decision)>>>;

fn table_parts(judging: &mut Judging<'_>, statement: &Statement<'_>) -> Split {
    let off = WorldCodeOff::new(judging.connection)?;
    let pass = judging.pass(statement.sql());
    if !pass.denied.is_empty() {
        return Ok(Err(pass.denied));
    }
    drop(pass.prepared?);
    let mut caller = callers(judging, statement, &pass.events);
    let silent = audit(judging, statement, &caller)?;
    caller.extend(silent.into_iter().map(|request| (request, Witness::Audit)));
    drop(off);
    let (all, firing) = world_pass(judging, statement)?;
    let (world, _) = difference(all, &pass.events);
    Ok(Ok(Parts { caller, world, firing }))
}

/// DML on a view with INSTEAD OF triggers does not prepare without them: a probe of our own on the
/// same view asks what the triggers ask, and the rest is the caller's.
fn view_parts(judging: &mut Judging<'_>, statement: &Statement<'_>, view: &(Name, Name)) -> Split {
    let (all, firing) = world_pass(judging, statement)?;
    let own_write = |event: &Event| {
        !matches!(event.kind, EventKind::Read | EventKind::Function | EventKind::Select)
            && view.1 == *event.first
            && event.accessor.is_empty()
    };
    let probe = judging.pass(&probe(statement, view));
    // Without a trigger for this verb SQLite takes the statement for its RETURNING alone, and not the
    // probe: then no trigger asks anything.
    let asked = if probe.prepared.is_ok() { probe.events } else { Vec::new() };
    let mut world: Vec<Event> = asked.into_iter().filter(|event| !own_write(event)).collect();
    if verb(statement) != Some(Verb::Insert) {
        // To find its rows the statement reads the view; no view is trusted for reads.
        let (schema, table) = (quote(view.0.as_str()), quote(view.1.as_str()));
        let body = judging.pass(&format!("SELECT * FROM {schema}.{table}"));
        drop(body.prepared?);
        let is_base = |event: &Event| event.kind == EventKind::Read && view.1 != *event.first;
        let reads: Vec<Event> = body.events.into_iter().filter(is_base).collect();
        world = difference(world, &reads).0;
    }
    let (mut mine, contained) = difference(all.clone(), &world);
    if !contained {
        let catalog = &judging.catalog;
        let is_triggers = |event: &Event| {
            let accessor = Name::from(&*event.accessor);
            firing.contains(&accessor) && !catalog.is_view(&accessor)
        };
        (world, mine) = all.into_iter().partition(is_triggers);
    }
    let mut caller = callers(judging, statement, &mine);
    let silent = audit(judging, statement, &caller)?;
    caller.extend(silent.into_iter().map(|request| (request, Witness::Audit)));
    Ok(Ok(Parts { caller, world, firing }))
}

/// A statement on the view that asks nothing of its own.
fn probe(statement: &Statement<'_>, view: &(Name, Name)) -> String {
    let name = format!("{}.{}", quote(view.0.as_str()), quote(view.1.as_str()));
    match verb(statement) {
        Some(Verb::Insert) => format!("INSERT INTO {name} DEFAULT VALUES"),
        Some(Verb::Update) => {
            let columns = statement.target.iter().flat_map(|target| &target.columns);
            let set: Vec<String> =
                columns.map(|column| format!("{} = NULL", quote(column.name.as_str()))).collect();
            format!("UPDATE {name} SET {} WHERE 0", set.join(", "))
        }
        _ => format!("DELETE FROM {name} WHERE 0"),
    }
}

/// The view that the statement writes, if triggers stand in for it.
fn target_view(judging: &Judging<'_>, statement: &Statement<'_>) -> Option<(Name, Name)> {
    let target = statement.target.as_ref()?;
    let (schema, table) = judging.catalog.resolve(target.table.schema.as_ref(), &target.table.table)?;
    let stands_in = schema.triggers_on(&target.table.table).next().is_some();
    (table.kind == TableKind::View && stands_in).then(|| (schema.name.clone(), target.table.table.clone()))
}

fn callers(
    judging: &mut Judging<'_>,
    statement: &Statement<'_>,
    events: &[Event],
) -> Vec<(Request, Witness)> {
    let settled_by_audit = |event: &Event| {
        // Which schema such a read means, or whether it means a CTE, only the program shows.
        let bare = event.kind == EventKind::Read && event.schema.is_empty() && event.second.is_empty();
        let name = Name::from(&*event.first);
        let cte = statement.ctes.iter().any(|cte| cte.name == name);
        bare && (cte || judging.catalog.holders(&name).count() > 1)
            && statement.mentions(|word| name == *word)
    };
    let asked = events.iter().filter(|event| !settled_by_audit(event));
    let told = asked.flat_map(|event| of_caller(event, statement, &judging.catalog));
    let mut requests: Vec<(Request, Witness)> = told.map(|request| (request, Witness::Authorizer)).collect();
    requests.extend(views_read(judging, statement).into_iter().map(|request| (request, Witness::Text)));
    requests
}

/// The views that the text reads beside CTEs, and those that a view of the text reads. A view that SQLite
/// folds into its reader asks for nothing under its own name, and the program opens none. Where there is
/// no CTE, the text witness reports what the text itself reads.
fn views_read(judging: &mut Judging<'_>, statement: &Statement<'_>) -> Vec<Request> {
    let catalog = std::sync::Arc::clone(&judging.catalog);
    let mut read = Vec::new();
    for source in &statement.sources {
        let Some((schema, found)) = catalog.resolve(source.schema.as_ref(), &source.table) else { continue };
        let is_cte = source.schema.is_none() && names_cte(statement, source);
        if found.kind != TableKind::View || is_cte {
            continue;
        }
        let mut ask = |schema: &Name, view: Name| {
            let resource = Resource::table(schema.clone(), view);
            read.push(Request::caller(Action::Read, resource, Some(source.span)));
        };
        if !statement.ctes.is_empty() {
            ask(&schema.name, source.table.clone());
        }
        for view in judging.views_behind(&source.table) {
            if schema.tables.contains_key(&view) {
                ask(&schema.name, view);
            }
        }
    }
    read
}

fn world_pass(judging: &Judging<'_>, statement: &Statement<'_>) -> Result<(Vec<Event>, Vec<Name>)> {
    let pass = judging.pass(statement.sql());
    drop(pass.prepared?);
    let firing = if statement.target.is_some() {
        Program::of(judging.connection, unexplained(statement))?.triggers()
    } else {
        Vec::new()
    };
    Ok((pass.events, firing))
}

/// The statement without its EXPLAIN.
fn unexplained<'t>(statement: &Statement<'t>) -> &'t str {
    let first = statement.unexplained().first();
    let start = first.map_or(statement.span.start, |token| token.span.start);
    statement.text.get(start..statement.span.end).unwrap_or_default()
}

/// What the program does for the caller and no request of the caller's tells.
fn audit(
    judging: &mut Judging<'_>,
    statement: &Statement<'_>,
    caller: &[(Request, Witness)],
) -> Result<Vec<Request>> {
    let every = judging.audits_all;
    let tables = judging.mentioned_tables(statement, every);
    let ruleset = std::sync::Arc::clone(&judging.ruleset);
    let catalog = std::sync::Arc::clone(&judging.catalog);
    let known = &catalog.known.functions;
    let unlisted = |call: &&crate::statement::Mention| {
        known.contains(&call.name) && (every || !ruleset.allows_call(&call.name))
    };
    let calls: Vec<&Name> = statement.calls.iter().filter(unlisted).map(|call| &call.name).collect();
    if tables.is_empty() && calls.is_empty() {
        return Ok(Vec::new());
    }
    let program = Program::of(judging.connection, unexplained(statement))?;
    let by_name = joins_by_name(judging, statement);
    let mut silent = Vec::new();
    for name in program.functions().into_iter().filter(|name| calls.contains(&name)) {
        silent.push(Request::caller(Action::Call, Resource::Function(name), None));
    }
    for opened in program.opened(judging.connection, &catalog, &tables)? {
        let (schema, table) = (&opened.schema, &opened.table);
        let target = statement.target.as_ref().is_some_and(|target| target.table.table == *table);
        let key = if target { key_columns(judging, schema, table)? } else { Vec::new() };
        let asked = |(request, _): &(Request, Witness)| {
            request.action == Action::Read
                && request.resource.table_name().is_some_and(|(s, t)| (s, t) == (schema, table))
        };
        if catalog.resolve(Some(schema), table).is_none() && catalog.known.is_table_function(table) {
            silent.push(Request::caller(Action::Call, Resource::Function(table.clone()), None));
            continue;
        }
        for read in read_through(&catalog, schema, table) {
            silent.push(Request::caller(Action::Read, read, None));
        }
        if !target && !caller.iter().any(asked) {
            silent.push(Request::caller(Action::Read, Resource::table(schema.clone(), table.clone()), None));
        }
        // The target's key is read to find its rows again.
        let keys = opened.keys.iter().filter(|_| by_name);
        for column in opened.columns.iter().chain(keys).filter(|column| !key.contains(column)) {
            let resource = Resource::column(schema.clone(), table.clone(), column.clone());
            silent.push(Request::caller(Action::Read, resource, None));
        }
    }
    Ok(silent)
}

/// Whether columns may be joined by their name alone, which is what the authorizer does not tell.
/// Any other key by which rows are found is named in the text, or is SQLite's own way to a row.
fn joins_by_name(judging: &Judging<'_>, statement: &Statement<'_>) -> bool {
    let is = |word: &str| word.eq_ignore_ascii_case("using") || word.eq_ignore_ascii_case("natural");
    statement.mentions(is) || super::attribute::first_view(statement, &judging.catalog).is_some()
}

fn key_columns(judging: &Judging<'_>, schema: &Name, table: &Name) -> Result<Vec<Name>> {
    let details = crate::engine::catalog::details(judging.connection, schema, table)?;
    Ok(details.columns.into_iter().filter(|column| column.key > 0).map(|column| column.name).collect())
}

/// Whose each of the world's requests is.
fn attribute_world(judging: &mut Judging<'_>, parts: &Parts) -> Result<Vec<Request>> {
    let catalog = std::sync::Arc::clone(&judging.catalog);
    let mut requests = Vec::new();
    for event in &parts.world {
        let (action, resources) = resources(event, &catalog);
        let accessor = Name::from(&*event.accessor);
        for resource in resources {
            let origin = if parts.firing.contains(&accessor) {
                Origin::Trigger(vec![accessor.clone()])
            } else if is_foreign_keys(judging, action, &resource)? {
                Origin::ForeignKey
            } else if parts.firing.is_empty() && action == Action::Call {
                // No trigger fires: a foreign-key action that writes a column with an expression.
                Origin::Expression
            } else {
                Origin::Trigger(parts.firing.clone())
            };
            requests.push(Request { action, resource, origin, span: None });
        }
    }
    Ok(requests)
}

/// Whether a request that no trigger bears is a foreign key's: a write of a table that has a
/// parent, or a read of a key column.
fn is_foreign_keys(judging: &mut Judging<'_>, action: Action, resource: &Resource) -> Result<bool> {
    let Some((schema, table)) = resource.table_name() else { return Ok(false) };
    if !judging.keys.contains_key(schema) {
        let keys = Keys::load(judging.connection, schema)?;
        judging.keys.insert(schema.clone(), keys);
    }
    let Some(keys) = judging.keys.get(schema) else { return Ok(false) };
    Ok(match (action, resource) {
        (Action::Read | Action::Update, Resource::Column { column, .. }) => keys.joins(table, column),
        (Action::Delete, _) => keys.has_parent(table),
        _ => false,
    })
}

/// SQLite applies the statement's own OR REPLACE to what the firing triggers write.
fn replaced_by_triggers(judging: &Judging<'_>, statement: &Statement<'_>, parts: &Parts) -> Vec<Request> {
    if judging.replaced_over_triggers(statement).is_none() {
        return Vec::new();
    }
    let clause = statement.target.as_ref().and_then(|target| target.conflict).map(|(_, span)| span);
    let writes =
        parts.world.iter().filter(|event| matches!(event.kind, EventKind::Insert | EventKind::Update));
    let by_trigger = writes.filter(|event| parts.firing.contains(&Name::from(&*event.accessor)));
    let tables = by_trigger.flat_map(|event| resources(event, &judging.catalog).1);
    let replaced = tables.filter_map(|resource| {
        let (schema, table) = resource.table_name()?;
        Some(Request::caller(Action::Replace, Resource::table(schema.clone(), table.clone()), clause))
    });
    replaced.collect()
}
