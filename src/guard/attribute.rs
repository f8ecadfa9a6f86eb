//! From callbacks to requests: what was asked, and whose text asked.

use super::live::read_through;
use crate::catalog::{Catalog, is_internal};
use crate::engine::event::{Event, EventKind};
use crate::request::{Action, Origin, Request, Resource};
use crate::source::Name;
use crate::statement::Statement;

/// The action and resources of one callback. Most have one; a read without a schema has one for
/// each schema that holds such a table; what is no resource (a SELECT, a CTE, a subquery) has none.
pub(super) fn resources(event: &Event, catalog: &Catalog) -> (Action, Vec<Resource>) {
    let action = match event.kind {
        EventKind::Select => return (Action::Read, Vec::new()),
        EventKind::Function => return (Action::Call, vec![Resource::Function(Name::from(&*event.first))]),
        EventKind::Pragma => {
            let argument = event.argued.then(|| event.second.to_string());
            return (Action::Pragma, vec![Resource::Pragma { name: Name::from(&*event.first), argument }]);
        }
        EventKind::Transaction => {
            return (Action::Transaction, vec![Resource::Statement(event.first.to_string())]);
        }
        EventKind::Attach => return (Action::Attach, vec![Resource::Statement(event.first.to_string())]),
        EventKind::Schema => return (Action::Schema, vec![Resource::Statement(event.first.to_string())]),
        EventKind::Unknown(code) => {
            return (Action::Unknown, vec![Resource::Statement(format!("action {code}"))]);
        }
        EventKind::Read => Action::Read,
        EventKind::Insert => Action::Insert,
        EventKind::Update => Action::Update,
        EventKind::Delete => Action::Delete,
    };
    let table = Name::from(&*event.first);
    let schemas: Vec<Name> = if event.schema.is_empty() {
        catalog.holders(&table).map(|schema| schema.name.clone()).collect()
    } else {
        vec![Name::from(&*event.schema)]
    };
    let held = schemas.iter().any(|schema| catalog.resolve(Some(schema), &table).is_some());
    if !held && catalog.known.is_table_function(&table) {
        return (Action::Call, vec![Resource::Function(table)]);
    }
    // A read without schema of a name that no schema holds is of a CTE or a subquery.
    let schemas = if schemas.is_empty() && is_internal(&table) { vec![Name::from("main")] } else { schemas };
    let resource = |schema: Name| {
        if event.second.is_empty() {
            Resource::table(schema, table.clone())
        } else {
            Resource::column(schema, table.clone(), &*event.second)
        }
    };
    let mut asked = Vec::new();
    for schema in schemas {
        if action == Action::Read && held {
            asked.extend(read_through(catalog, &schema, &table));
        }
        asked.push(resource(schema));
    }
    (action, asked)
}

/// The requests of a callback of the caller pass. Every one is the caller's, whatever the fifth
/// value says, except a function that the text does not call: that is a view's or an expression's.
pub(super) fn of_caller(event: &Event, statement: &Statement<'_>, catalog: &Catalog) -> Vec<Request> {
    if is_alias(event, statement, catalog) {
        return Vec::new();
    }
    let (action, resources) = resources(event, catalog);
    let asks = |resource: Resource| {
        let origin = match &resource {
            Resource::Function(name) if !names_call(statement, name) => {
                unnamed_call(event, statement, catalog)
            }
            _ => Origin::Caller,
        };
        Request { action, resource, origin, span: None }
    };
    resources.into_iter().map(asks).collect()
}

/// Whether a read is of a subquery of the text, which SQLite reports under the alias as if `main`
/// held such a table: a FULL or RIGHT join with USING does so.
fn is_alias(event: &Event, statement: &Statement<'_>, catalog: &Catalog) -> bool {
    if event.kind != EventKind::Read {
        return false;
    }
    let name = Name::from(&*event.first);
    let used = statement.sources.iter().any(|source| source.table == name);
    let there = catalog.holders(&name).next().is_some() || catalog.known.modules.contains(&name);
    let given = || event.first.starts_with("(subquery") || statement.mentions(|word| name == *word);
    !used && !there && !is_internal(&name) && given()
}

/// Whether the text calls `name`, or names it as a table function.
pub(super) fn names_call(statement: &Statement<'_>, name: &Name) -> bool {
    statement.calls.iter().any(|call| call.name == *name)
        || statement.sources.iter().any(|source| source.table == *name)
        || statement.target.as_ref().is_some_and(|target| target.table.table == *name)
}

/// Whose call it is where the text does not make it.
fn unnamed_call(event: &Event, statement: &Statement<'_>, catalog: &Catalog) -> Origin {
    if event.accessor.is_empty() {
        return Origin::Expression;
    }
    let accessor = Name::from(&*event.accessor);
    if catalog.is_view(&accessor) {
        return Origin::View(accessor);
    }
    // A CTE: of a view that the text names, or of the text itself, where only the expression of a
    // column can call what the text does not.
    match first_view(statement, catalog) {
        Some(view) => Origin::View(view),
        None => Origin::Expression,
    }
}

/// The first view whose name stands in the text.
pub(super) fn first_view(statement: &Statement<'_>, catalog: &Catalog) -> Option<Name> {
    let targets = statement.target.iter().map(|target| &target.table.table);
    let named = statement.sources.iter().map(|source| &source.table).chain(targets);
    named.into_iter().find(|name| catalog.is_view(name)).cloned()
}

/// `from` without `minus`, as multisets: first what is equal in everything, then what is the same
/// request under another schema or fifth value. Says too whether all of `minus` was there.
pub(super) fn difference(from: Vec<Event>, minus: &[Event]) -> (Vec<Event>, bool) {
    let mut left: Vec<Option<Event>> = from.into_iter().map(Some).collect();
    let mut missing: Vec<&Event> = Vec::new();
    for event in minus {
        match left.iter_mut().find(|slot| slot.as_ref() == Some(event)) {
            Some(slot) => *slot = None,
            None => missing.push(event),
        }
    }
    let mut contained = true;
    for event in missing {
        match left.iter_mut().find(|slot| slot.as_ref().is_some_and(|other| other.same_request(event))) {
            Some(slot) => *slot = None,
            None => contained = false,
        }
    }
    (left.into_iter().flatten().collect(), contained)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(first: &str, accessor: &str) -> Event {
        Event {
            kind: EventKind::Read,
            first: first.into(),
            second: "".into(),
            argued: false,
            schema: "main".into(),
            accessor: accessor.into(),
        }
    }

    #[test]
    fn the_difference_keeps_the_request_that_bears_the_triggers_name() {
        let all = vec![event("t", ""), event("t", "trg")];
        let (left, contained) = difference(all.clone(), &[event("t", "")]);
        assert_eq!((left, contained), (vec![event("t", "trg")], true));
        let (left, contained) = difference(all, &[event("u", "")]);
        assert_eq!((left.len(), contained), (2, false));
    }
}
