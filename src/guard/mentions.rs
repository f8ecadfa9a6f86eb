//! Whether a text names something that the policy closes.

use std::collections::{BTreeMap, HashMap};

use rusqlite::Connection;

use super::live::told_by;
use crate::catalog::{Catalog, Schema, is_internal};
use crate::engine;
use crate::request::{Action, Request, Resource};
use crate::ruleset::Ruleset;
use crate::source::Name;
use crate::statement::Statement;

/// What the names of a catalog mean under a ruleset. Decided on demand, remembered.
#[derive(Debug)]
pub(super) struct Mentions {
    /// Every table and view by its folded name, with whether a read of it may be denied.
    tables: HashMap<Name, Option<bool>>,
    /// For each length, the first letters that names of that length have, so that nearly every text
    /// is told from a name at a glance.
    letters: [u32; LONGEST + 1],
    /// What the text of each view mentions; read when a statement first mentions one.
    bodies: Option<BTreeMap<Name, Vec<(Name, bool)>>>,
}

/// How a table that a text mentions is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    /// A read of it as a whole is denied.
    Wholly,
    /// Reads of some columns may be denied.
    InPart,
    /// SQLite or a virtual table keeps it for itself.
    Kept,
    /// It is open itself, but it reads this one, which is closed at least in part.
    Behind(Name),
    /// It is a table function that is not allowed.
    TableFunction,
}

/// What mentions are looked up in.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) connection: &'a Connection,
    pub(super) ruleset: &'a Ruleset,
    pub(super) catalog: &'a Catalog,
}

/// Names from this length on share one entry.
const LONGEST: usize = 64;

impl Mentions {
    pub(super) fn new(catalog: &Catalog) -> Self {
        let names = catalog.schemas.iter().flat_map(|schema| schema.tables.keys());
        let tables: HashMap<Name, Option<bool>> = names.map(|name| (name.clone(), None)).collect();
        let mut letters = [0; LONGEST + 1];
        for name in tables.keys().chain(&catalog.known.modules) {
            letters[name.folded().len().min(LONGEST)] |= letter(name.folded());
        }
        Self { tables, letters, bodies: None }
    }

    /// Whether `name` is one of a table, a view or a table function, so that a string can stand for it.
    pub(super) fn is_table(&self, catalog: &Catalog, name: &str) -> bool {
        if self.letters[name.len().min(LONGEST)] & letter(name) == 0 {
            return begins_internal(name);
        }
        let folded = name.to_ascii_lowercase();
        self.tables.contains_key(folded.as_str())
            || catalog.known.modules.contains(folded.as_str())
            || begins_internal(name)
    }

    /// The first table that the text mentions, in any quoting, that is hidden wholly or in part.
    pub(super) fn hidden(&mut self, statement: &Statement<'_>, around: Around<'_>) -> Option<Name> {
        let mut found = None;
        statement.mentions(|name| {
            let hidden = self.is_hidden(name, around);
            if hidden {
                found = Some(Name::from(name));
            }
            hidden
        });
        found
    }

    /// How a table that is hidden is closed.
    pub(super) fn closed(&mut self, name: &Name, around: Around<'_>) -> Closed {
        let Around { ruleset, catalog, .. } = around;
        let mut holders = catalog.holders(name).map(|schema| &schema.name).peekable();
        if holders.peek().is_none() {
            return if is_internal(name) { Closed::Kept } else { Closed::TableFunction };
        }
        let mut how = None;
        for schema in holders {
            let whole = Resource::table(schema.clone(), name.clone());
            if ruleset.kept_code(schema, name).is_some() {
                return Closed::Kept;
            } else if !ruleset.allows(Action::Read, whole) {
                how = Some(Closed::Wholly);
            } else if ruleset.hides_a_column(schema, name) {
                how = how.or(Some(Closed::InPart));
            }
        }
        let behind = |mentions: &mut Self| {
            let read = mentions.read_by(name, around);
            read.into_iter().filter(|read| mentions.is_hidden(read.folded(), around)).min()
        };
        match how {
            Some(how) => how,
            None => behind(self).map_or(Closed::InPart, Closed::Behind),
        }
    }

    /// The hidden tables that the text mentions, in every schema that holds them; with `every`, all
    /// tables that it mentions.
    pub(super) fn tables(
        &mut self,
        statement: &Statement<'_>,
        around: Around<'_>,
        every: bool,
    ) -> Vec<(Name, Name)> {
        let catalog = around.catalog;
        let mut names: Vec<Name> = Vec::new();
        statement.mentions(|name| {
            let counts = |mentions: &mut Self, name: &str| {
                if every { mentions.is_table(catalog, name) } else { mentions.is_hidden(name, around) }
            };
            if counts(self, name) {
                let name = Name::from(name);
                let read = self.read_by(&name, around);
                names.extend(read.into_iter().filter(|name| counts(self, name.folded())));
                names.push(name);
            }
            false
        });
        names.sort();
        names.dedup();
        let mut tables = Vec::new();
        for name in names {
            let before = tables.len();
            tables.extend(catalog.holders(&name).map(|schema| (schema.name.clone(), name.clone())));
            if tables.len() == before {
                // Without a catalog entry: the schema table of each schema, or a table function.
                let every =
                    catalog.schemas.iter().filter(|_| is_internal(&name)).map(|schema| schema.name.clone());
                let schemas: Vec<Name> = every.collect();
                let schemas = if schemas.is_empty() { vec![Name::from("main")] } else { schemas };
                tables.extend(schemas.into_iter().map(|schema| (schema, name.clone())));
            }
        }
        tables
    }

    fn is_hidden(&mut self, name: &str, around: Around<'_>) -> bool {
        let Around { ruleset, catalog, .. } = around;
        // Most words are no table's name; they must cost next to nothing.
        if self.letters[name.len().min(LONGEST)] & letter(name) == 0 {
            return begins_internal(name);
        }
        let found = if name.bytes().any(|b| b.is_ascii_uppercase()) {
            self.tables.get_key_value(name.to_ascii_lowercase().as_str())
        } else {
            self.tables.get_key_value(name)
        };
        let Some((key, known)) = found else { return hidden_without_catalog(name, ruleset, catalog) };
        if let Some(hidden) = known {
            return *hidden;
        }
        let key = key.clone();
        // What a view reads by joining on a name is as silent as in the text itself.
        let read = self.read_by(&key, around);
        let hidden = [key.clone()].into_iter().chain(read).any(|name| {
            let closed = |schema: &Schema| may_deny_read(ruleset, &schema.name, &name);
            is_internal(&name) || catalog.holders(&name).any(closed)
        });
        self.tables.insert(key, Some(hidden));
        hidden
    }

    /// The tables and views that the text of the view `name` mentions, and theirs; the full-text table of
    /// a vocabulary table; none of any other.
    fn read_by(&mut self, name: &Name, around: Around<'_>) -> Vec<Name> {
        if !around.catalog.is_view(name) {
            let holders = around.catalog.holders(name);
            let told = holders.filter_map(|schema| told_by(around.catalog, &schema.name, name));
            return told.map(|(_, table)| table).collect();
        }
        self.mentioned_by(name, false, around)
    }

    /// The views that the query of the view `name` reads, and theirs.
    pub(super) fn views_behind(&mut self, name: &Name, around: Around<'_>) -> Vec<Name> {
        let read = self.mentioned_by(name, true, around);
        read.into_iter().filter(|name| around.catalog.is_view(name)).collect()
    }

    fn mentioned_by(&mut self, name: &Name, read: bool, around: Around<'_>) -> Vec<Name> {
        if self.bodies.is_none() {
            self.bodies = engine::catalog::bodies_of_views(around.connection, around.catalog).ok();
        }
        let Some(bodies) = &self.bodies else {
            // Busy or interrupted: until its text can be read, a view may read anything.
            return around.catalog.schemas.iter().flat_map(|schema| schema.tables.keys().cloned()).collect();
        };
        let mut found: Vec<Name> = Vec::new();
        let mut next = vec![name];
        while let Some(name) = next.pop() {
            for (mentioned, is_read) in bodies.get(name).into_iter().flatten() {
                if (*is_read || !read) && !found.contains(mentioned) {
                    found.push(mentioned.clone());
                    next.push(mentioned);
                }
            }
        }
        found
    }
}

/// Whether a name of the text is one that SQLite keeps for itself; costs no allocation.
fn begins_internal(name: &str) -> bool {
    name.get(..7).is_some_and(|head| head.eq_ignore_ascii_case("sqlite_"))
}

/// The first letter of a name as a bit; letters of either case share one.
fn letter(name: &str) -> u32 {
    name.bytes().next().map_or(0, |first| 1 << (first & 31))
}

fn hidden_without_catalog(name: &str, ruleset: &Ruleset, catalog: &Catalog) -> bool {
    let module = || {
        let name = Name::from(name);
        catalog.known.modules.contains(name.folded()) && !ruleset.allows_call(&name)
    };
    // A rule may open some columns or one schema's alone: the full way looks.
    begins_internal(name) || module()
}

/// Whether some read of the table may be denied: of it as a whole, or of one column.
fn may_deny_read(ruleset: &Ruleset, schema: &Name, table: &Name) -> bool {
    let whole = Request::caller(Action::Read, Resource::table(schema.clone(), table.clone()), None);
    !ruleset.decide(&whole).allowed || ruleset.hides_a_column(schema, table)
}

/// Where in the text a request that another witness saw is named: the column, else the table, else
/// the statement as a whole.
pub(super) fn locate(statement: &Statement<'_>, request: &Request) -> Option<crate::source::Span> {
    use crate::statement::TokenKind;
    let is_name = |kind| matches!(kind, TokenKind::Word | TokenKind::Quoted | TokenKind::String);
    let token = |wanted: &Name| {
        let named = |span: crate::source::Span| {
            let text = statement.text.get(span.range()).unwrap_or_default();
            *wanted == *crate::statement::unquote(text)
        };
        statement.tokens.iter().find(|t| is_name(t.kind) && named(t.span)).map(|t| t.span)
    };
    let table_mention = |wanted: &Name| {
        let target = statement.target.as_ref().map(|target| &target.table);
        let writes = !matches!(request.action, Action::Read);
        let mut mentions = statement.sources.iter().chain(target);
        let by_target = target.filter(|mention| writes && mention.table == *wanted);
        by_target.or_else(|| mentions.find(|mention| mention.table == *wanted)).map(|mention| mention.span)
    };
    let found = match &request.resource {
        Resource::Function(name) => {
            let call = statement.calls.iter().find(|call| call.name == *name).map(|call| call.span);
            call.or_else(|| table_mention(name))
        }
        Resource::Column { table, column, .. } => token(column).or_else(|| table_mention(table)),
        Resource::Table { table, .. } | Resource::Command { table, .. } => {
            table_mention(table).or_else(|| token(table))
        }
        Resource::Pragma { name, .. } => token(name),
        Resource::Statement(_) => None,
    };
    found.or(Some(statement.span))
}
