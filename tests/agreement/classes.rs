//! The closed list of what the witnesses may see differently, each with its reason.

use seawall::diagnostic::Code;
use seawall::guard::agreement::Compared;
use seawall::request::Action;
use seawall::source::Name;
use seawall::text_witness::NotUnderstood;

use crate::generator::{Notes, Use};
use crate::worlds::{Kind, World};

/// One thing that one witness sees and the other does not.
#[derive(Clone, Debug)]
pub(crate) enum Difference {
    NotUnderstood(NotUnderstood),
    TextAsks(Action, Name),
    EngineAsks(Action, Name),
    TextRefuses(Code, Name),
    EngineRefuses(Code, Name),
}

impl Difference {
    pub(crate) fn all(compared: &Compared) -> Vec<Self> {
        if let Some(why) = compared.not_understood {
            return vec![Self::NotUnderstood(why)];
        }
        let Compared { text_only, engine_only, text_refuses, engine_refuses, .. } = compared;
        let asked = text_only.iter().map(|(action, name)| Self::TextAsks(*action, name.clone()));
        let mut all: Vec<Self> = asked.collect();
        all.extend(engine_only.iter().map(|(action, name)| Self::EngineAsks(*action, name.clone())));
        all.extend(text_refuses.iter().map(|(code, name)| Self::TextRefuses(*code, name.clone())));
        all.extend(engine_refuses.iter().map(|(code, name)| Self::EngineRefuses(*code, name.clone())));
        all
    }
}

/// The parser does not know every form; `main` bounds how many.
pub(crate) const NOT_UNDERSTOOD: &str = "not understood: left to SQLite's witnesses";

/// The class of a difference, if it is of one.
pub(crate) fn class(difference: &Difference, world: &World, notes: &Notes) -> Option<&'static str> {
    match difference {
        Difference::NotUnderstood(_) => Some(NOT_UNDERSTOOD),
        Difference::TextAsks(action, name) => text_asks(*action, name, world, notes),
        Difference::TextRefuses(code, name) => text_asks(action_of(*code)?, name, world, notes),
        Difference::EngineAsks(action, name) => engine_asks(*action, name, world, notes),
        Difference::EngineRefuses(code, name) => engine_asks(action_of(*code)?, name, world, notes),
    }
}

fn action_of(code: Code) -> Option<Action> {
    match code {
        Code::ReadDenied => Some(Action::Read),
        Code::WriteDenied => Some(Action::Update),
        Code::ReplaceDenied => Some(Action::Replace),
        Code::FunctionNotAllowed => Some(Action::Call),
        _ => None,
    }
}

/// Functions that SQLite puts into the program as something else than a call.
const INLINED: &[&str] = &["coalesce", "ifnull", "iif", "if", "likely", "unlikely", "likelihood"];

/// Why only the text may ask.
fn text_asks(action: Action, name: &Name, world: &World, notes: &Notes) -> Option<&'static str> {
    match action {
        Action::Replace | Action::Delete | Action::Update if is(world, notes.replaced, name) => {
            Some("conflict clause: SQLite tells nothing of what REPLACE deletes")
        }
        Action::Read | Action::Call if unnamed(world, notes, name) => {
            Some("no column of it is named where it is nested or joined: SQLite may leave it out")
        }
        Action::Call if notes.later.contains(name) && (notes.constant || is_inlined(name)) => {
            Some("a later row of VALUES: EXPLAIN shows the calls there, and only those that are made")
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
fn engine_asks(action: Action, name: &Name, world: &World, notes: &Notes) -> Option<&'static str> {
    match action {
        Action::Read if through_view(world, notes, name) => Some("through a view: the text does not name it"),
        Action::Read if writes(world, notes, Kind::FullText) && is(world, notes.target, name) => {
            Some("a virtual table's row is read before it is written")
        }
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
        Action::Replace if world.trigger && notes.replaced == Some(0) && is(world, Some(1), name) => {
            Some("a conflict clause reaches what the triggers write")
        }
        _ => None,
    }
}

fn is_inlined(name: &Name) -> bool {
    INLINED.iter().any(|inlined| *name == **inlined)
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

fn writes(world: &World, notes: &Notes, kind: Kind) -> bool {
    notes.target.is_some_and(|at| world.tables[at].kind == kind)
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

fn through_view(world: &World, notes: &Notes, name: &Name) -> bool {
    let base = |at: &usize| world.tables[*at].base;
    let behind = |at: usize| std::iter::successors(Some(at), base).skip(1);
    notes.uses.iter().filter_map(|used| used.table).flat_map(behind).any(|at| is(world, Some(at), name))
}
