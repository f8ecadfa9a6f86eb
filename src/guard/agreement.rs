//! What the text of a statement says, held against what SQLite's own witnesses say.
//!
//! Two independent readers of one statement, under one policy: where they name different things or
//! refuse different things, one of them has a blind spot. Those that are known are the closed list
//! of [`Class`]; a difference without a class is a fault.

mod class;
mod evidence;
mod trial;

pub use class::{Class, Side};
pub use trial::Trial;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::examine::Seen;
use crate::catalog::Catalog;
use crate::diagnostic::Code;
use crate::refusal::one_name;
use crate::request::{Action, Origin, Request, Resource};
use crate::ruleset::Ruleset;
use crate::source::Name;
use crate::statement::Statement;
use crate::text_witness::{self, NotUnderstood, Reading};

use evidence::Evidence;

/// The names of the readings of a text.
pub const READINGS: [&str; 2] = ["text alone", "with the schema"];

/// One statement, read twice by its text, each time against SQLite's witnesses.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// By the text alone.
    pub alone: Compared,
    /// By the text and the schema.
    pub with_schema: Compared,
}

/// One reading against SQLite's witnesses.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Why the text was not understood to its end.
    pub not_understood: Option<NotUnderstood>,
    /// Whether both name the same tables and functions, each for the same actions.
    pub same: bool,
    /// Whether SQLite's witnesses have something refused that the text names.
    pub engine_refuses: bool,
    /// Whether the text has something refused, too, with a code of those.
    pub text_refuses: bool,
    /// Every difference, each once.
    pub differences: Vec<Difference>,
}

/// Something that one side has and the other has not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Who has it.
    pub side: Side,
    /// With which code it is refused; `None` where it is only asked for.
    pub code: Option<Code>,
    /// What is asked.
    pub asked: Asked,
    /// Why it differs; `None` where nothing on the list explains it.
    pub class: Option<Class>,
}

/// Something that a statement asks, as far as two witnesses can be expected to name it alike.
/// Columns are compared by their tables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// What it wants to do.
    pub action: Action,
    /// The function or the table, without its schema.
    pub name: Name,
}

impl Asked {
    fn by(request: &Request) -> Option<Self> {
        let name = match &request.resource {
            Resource::Table { schema, table } | Resource::Column { schema, table, .. } => {
                one_name(schema, table).1
            }
            Resource::Function(name) => name.clone(),
            Resource::Command { table, .. } => table.clone(),
            Resource::Pragma { .. } | Resource::Statement(_) => return None,
        };
        Some(Self { action: request.action, name })
    }
}

impl Agreement {
    /// Compares what the text of `statement` asks with what SQLite's witnesses have `seen`.
    pub fn of(statement: &Statement<'_>, ruleset: &Ruleset, catalog: &Catalog, seen: &[Seen]) -> Self {
        let engine = Engine::new(statement, ruleset, seen);
        let known = ruleset.catalog().map(|catalog| Arc::clone(&catalog.known)).unwrap_or_default();
        let read = |catalog| text_witness::read(statement, &known, catalog);
        let informed = read(Some(catalog));
        let evidence = Evidence::new(statement, catalog, &informed);
        let with_schema = engine.compare(ruleset, &informed, |side, asked| evidence.class(side, asked));
        let alone = engine.compare(ruleset, &read(None), |side, asked| {
            let same = |other: &&Difference| other.side == side && other.asked == *asked;
            match with_schema.differences.iter().find(same) {
                Some(difference) => difference.class,
                None => evidence.class_without_schema(side, asked),
            }
        });
        Self { alone, with_schema }
    }

    /// Both readings, in the order of [`READINGS`].
    pub const fn readings(&self) -> [&Compared; 2] {
        [&self.alone, &self.with_schema]
    }
}

/// What SQLite's witnesses saw of the caller's own.
struct Engine {
    asked: BTreeSet<Asked>,
    refused: BTreeSet<(Code, Asked)>,
    /// Those that the text names.
    in_sight: BTreeSet<(Code, Asked)>,
}

impl Engine {
    fn new(statement: &Statement<'_>, ruleset: &Ruleset, seen: &[Seen]) -> Self {
        let requests = || seen.iter().map(|seen| &seen.request).filter(|one| one.origin == Origin::Caller);
        let in_sight = requests().filter(|request| is_in_sight(statement, request));
        Self {
            asked: requests().filter_map(Asked::by).collect(),
            refused: requests().filter_map(|request| refused(ruleset, request)).collect(),
            in_sight: in_sight.filter_map(|request| refused(ruleset, request)).collect(),
        }
    }

    fn compare(
        &self,
        ruleset: &Ruleset,
        text: &Reading,
        class: impl Fn(Side, &Asked) -> Option<Class>,
    ) -> Compared {
        // A command is no table and no function: only the text can see one.
        let names = text.requests.iter().filter(|request| request.action != Action::Command);
        let asked: BTreeSet<Asked> = names.filter_map(Asked::by).collect();
        let refused: BTreeSet<(Code, Asked)> =
            text.requests.iter().filter_map(|request| refused(ruleset, request)).collect();
        let by_text = asked.difference(&self.asked).map(|asked| (Side::Text, None, asked));
        let by_engine = self.asked.difference(&asked).map(|asked| (Side::Engine, None, asked));
        let refused_by_text =
            refused.difference(&self.refused).map(|(code, asked)| (Side::Text, Some(*code), asked));
        let refused_by_engine =
            self.in_sight.difference(&refused).map(|(code, asked)| (Side::Engine, Some(*code), asked));
        let all = by_text.chain(by_engine).chain(refused_by_text).chain(refused_by_engine);
        let codes = |of: &BTreeSet<(Code, Asked)>| of.iter().map(|(code, _)| *code).collect::<BTreeSet<_>>();
        Compared {
            not_understood: text.not_understood,
            same: asked == self.asked,
            engine_refuses: !self.in_sight.is_empty(),
            text_refuses: !codes(&self.in_sight).is_disjoint(&codes(&refused)),
            differences: all
                .map(|(side, code, asked)| {
                    let unread = side == Side::Engine && text.not_understood.is_some();
                    let class = if unread { Some(Class::NotUnderstood) } else { class(side, asked) };
                    Difference { side, code, asked: asked.clone(), class }
                })
                .collect(),
        }
    }
}

fn refused(ruleset: &Ruleset, request: &Request) -> Option<(Code, Asked)> {
    Some((ruleset.decide(request).code?, Asked::by(request)?))
}

/// Whether the text names all of what is asked for.
fn is_in_sight(statement: &Statement<'_>, request: &Request) -> bool {
    let names = |name: &Name| statement.mentions(|word| *name == *word);
    match &request.resource {
        Resource::Function(name) => statement.calls.iter().any(|call| call.name == *name) || names(name),
        Resource::Table { table, .. } => names(table),
        Resource::Column { table, column, .. } => names(table) && names(column),
        _ => true,
    }
}
