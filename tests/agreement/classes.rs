//! What the witnesses may see differently beyond the closed list of `seawall::guard::agreement`, by what
//! was generated, each with its reason. The closed list is looked at first.

use seawall::guard::agreement::{Difference, Side};
use seawall::request::Action;
use seawall::source::Name;

use crate::generator::{Notes, Use};
use crate::worlds::{Kind, World};

/// The parser does not know every form; `main` bounds how many.
pub(crate) const NOT_UNDERSTOOD: &str = "not understood: left to SQLite's witnesses";

/// The class of a difference, if it is of one.
pub(crate) fn class(difference: &Difference, world: &World, notes: &Notes) -> Option<&'static str> {
    let name = &difference.asked.name;
    match (difference.class, difference.side) {
        (Some(class), _) => Some(class.word()),
        (None, Side::Text) => text_asks(difference.asked.action, name, world, notes),
        (None, Side::Engine) => engine_asks(difference.asked.action, name, notes),
    }
}

/// Why only the text may ask.
fn text_asks(action: Action, name: &Name, world: &World, notes: &Notes) -> Option<&'static str> {
    match action {
        Action::Replace | Action::Delete | Action::Update if is(world, notes.replaced, name) => {
            Some("conflict clause: SQLite tells nothing of what REPLACE deletes")
        }
        Action::Read | Action::Call if unnamed(world, notes, name) => {
            Some("no column of it is named where it is nested or joined: SQLite may leave it out")
        }
        Action::Read if notes.full && is_view(world, name) => {
            Some("a view in a FULL or RIGHT join: SQLite reports what it reads, not the view")
        }
        Action::Read if is_joined(notes, name) && has_generated(world, name) => {
            Some("joined by a generated column: EXPLAIN shows what it is made of")
        }
        Action::Read if is(world, notes.target, name) && is_ambiguous(world, notes, name) => {
            Some("what is written is read too, and SQLite does not say of which schema")
        }
        Action::Read | Action::Call | Action::Update if notes.silent.contains(name) => {
            Some("SQLite drops it: beside a constant false, assigned twice, or ON CONFLICT for nothing")
        }
        _ => None,
    }
}

/// Why only SQLite may ask.
fn engine_asks(action: Action, name: &Name, notes: &Notes) -> Option<&'static str> {
    match action {
        Action::Read | Action::Call if notes.windows.contains(name) => {
            Some("a window that is not used, in a query that SQLite copies")
        }
        Action::Read if notes.uses.iter().any(|used| used.table.is_none()) => {
            Some("beside a table function: the text does not know its columns")
        }
        Action::Read | Action::Call if notes.full && is_joined(notes, name) => {
            Some("a FULL or RIGHT join by name: SQLite reports a schema of its own choice")
        }
        Action::Call
            if notes.target.is_some() && ["lower", "upper", "length"].iter().any(|f| *name == **f) =>
        {
            Some("an expression of the schema calls it, and the text names it where nothing is asked")
        }
        _ => None,
    }
}

fn is_joined(notes: &Notes, name: &Name) -> bool {
    notes.uses.iter().any(|used| used.joined && *name == *used.name)
}

fn is_view(world: &World, name: &Name) -> bool {
    world.tables.iter().any(|table| table.kind == Kind::View && *name == *table.name)
}

fn has_generated(world: &World, name: &Name) -> bool {
    world.tables.iter().any(|table| table.generated.is_some() && *name == *table.name)
}

/// Whether the target is read without a column of it being named, where SQLite does not say which
/// schema's it is, or only joins it by name.
fn is_ambiguous(world: &World, notes: &Notes, name: &Name) -> bool {
    let several = world.tables.iter().filter(|table| *name == *table.name).count() > 1;
    let uses = || notes.reached().filter(|used| *name == *used.name);
    let joined = uses().any(|used| used.joined);
    let silent = |table: Option<usize>| !uses().any(|used| used.named && used.table == table);
    let silent = silent(notes.target) || uses().any(|used| silent(used.table));
    (several || joined || notes.commons.contains(name)) && silent
}

fn is(world: &World, table: Option<usize>, name: &Name) -> bool {
    table.is_some_and(|at| *name == *world.tables[at].name)
}

/// Whether every place that reads it names no column of it, and can be left out or, as a view, be
/// merged into the query around.
fn unnamed(world: &World, notes: &Notes, name: &Name) -> bool {
    let is_view = is_view(world, name);
    let uses = || notes.reached().filter(|used| *name == *used.name);
    let silent = |one: &Use| {
        uses()
            .filter(|used| used.table == one.table && used.windowed == one.windowed)
            .all(|used| !used.named && (used.within || is_view))
    };
    uses().any(silent)
}
