//! What is answered inside the callback: what acts while being prepared, and what a virtual table
//! asks for itself while a statement is stepped.

use std::sync::{Arc, Mutex};

use super::attribute;
use crate::catalog::{Catalog, TableKind};
use crate::engine::event::{Event, EventKind};
use crate::engine::recorder::{LiveJudge, Phase};
use crate::policy::{ACTING_PRAGMAS, REPORTING_ARGUMENT};
use crate::request::{Origin, Request, Resource};
use crate::ruleset::{Decision, Ruleset};
use crate::source::{Name, Span};
use crate::statement::{self, Statement, TableMention};

/// A virtual table that a statement uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Module {
    schema: Name,
    table: Name,
    module: Name,
}

impl Module {
    pub(super) fn table(&self) -> &Name {
        &self.table
    }

    pub(super) fn is_fts5(&self) -> bool {
        self.module == *"fts5"
    }
}

/// The virtual tables that `events` use, with the full-text tables that vocabulary tables read.
pub(super) fn modules(events: &[Event], catalog: &Catalog) -> Vec<Module> {
    modules_where(catalog, |schema, table| events.iter().any(|event| uses(event, schema, table)))
}

/// The virtual tables that the text names: one that is joined by USING alone raises no callback.
pub(super) fn named(statement: &Statement<'_>, catalog: &Catalog) -> Vec<Module> {
    modules_where(catalog, |schema, table| {
        let names = |mention: &TableMention| {
            mention.table == *table && mention.schema.as_ref().is_none_or(|written| written == schema)
        };
        statement.sources.iter().any(names)
    })
}

fn modules_where(catalog: &Catalog, used: impl Fn(&Name, &Name) -> bool) -> Vec<Module> {
    let mut found: Vec<Module> = Vec::new();
    for schema in &catalog.schemas {
        for (name, table) in &schema.tables {
            let TableKind::Virtual(module) = &table.kind else { continue };
            if !used(&schema.name, name) {
                continue;
            }
            found.push(Module { schema: schema.name.clone(), table: name.clone(), module: module.clone() });
            if let Some(read) =
                vocabulary(&schema.name, &table.sql, module).filter(|_| *module == *"fts5vocab")
                && let Some((holder, _)) = catalog.resolve(Some(&read.0), &read.1)
            {
                found.push(Module { schema: holder.name.clone(), table: read.1, module: Name::from("fts5") });
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

fn uses(event: &Event, schema: &Name, table: &Name) -> bool {
    matches!(event.kind, EventKind::Read | EventKind::Insert | EventKind::Update | EventKind::Delete)
        && *table == *event.first
        && (event.schema.is_empty() || *schema == *event.schema)
}

/// The full-text table behind `CREATE VIRTUAL TABLE v USING fts5vocab([schema,] table, type)` or
/// `fts4aux([schema,] table)`.
fn vocabulary(schema: &Name, sql: &str, module: &Name) -> Option<(Name, Name)> {
    let behind = match module.folded() {
        "fts5vocab" => 1,
        "fts4aux" => 0,
        _ => return None,
    };
    let (tokens, _) = statement::tokens(sql, Span::new(0, sql.len()));
    let words = tokens.iter().filter_map(|token| sql.get(token.span.range()));
    let arguments = words.skip_while(|word| !word.eq_ignore_ascii_case("using")).skip(2);
    let names = arguments.filter(|word| !["(", ",", ")", ";"].contains(word));
    let names: Vec<Name> = names.map(|word| Name::from(&*statement::unquote(word))).collect();
    match names.get(..names.len().checked_sub(behind)?)? {
        [table] => Some((schema.clone(), table.clone())),
        [schema, table] => Some((schema.clone(), table.clone())),
        _ => None,
    }
}

/// The full-text table whose words a vocabulary table tells; none of any other table.
pub(super) fn told_by(catalog: &Catalog, schema: &Name, table: &Name) -> Option<(Name, Name)> {
    let (_, found) = catalog.resolve(Some(schema), table)?;
    let TableKind::Virtual(module) = &found.kind else { return None };
    vocabulary(schema, &found.sql, module)
}

/// What reading a vocabulary table reads: the full-text table, with every column that is known.
pub(super) fn read_through(catalog: &Catalog, schema: &Name, table: &Name) -> Vec<Resource> {
    let Some((schema, table)) = told_by(catalog, schema, table) else { return Vec::new() };
    let details = catalog.resolve(Some(&schema), &table).and_then(|(_, found)| found.details.as_ref());
    let columns = details.into_iter().flat_map(|details| &details.columns);
    let columns = columns.map(|column| Resource::column(schema.clone(), table.clone(), column.name.clone()));
    let mut read = vec![Resource::table(schema.clone(), table.clone())];
    read.extend(columns);
    read
}

/// What the callback and the judge of a statement tell each other.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// The virtual tables that the running statement uses.
    pub(super) modules: Vec<Module>,
    /// What was denied, for the refusal.
    pub(super) denied: Vec<(Request, Decision)>,
}

/// What was denied since it was last asked.
pub(super) fn take_denied(exchange: &Mutex<Exchange>) -> Vec<(Request, Decision)> {
    exchange.lock().map(|mut exchange| std::mem::take(&mut exchange.denied)).unwrap_or_default()
}

/// Answers in the callback of one connection.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) ruleset: Arc<Ruleset>,
    pub(super) catalog: Arc<Catalog>,
    pub(super) exchange: Arc<Mutex<Exchange>>,
}

impl LiveJudge for Live {
    fn judge(&mut self, phase: Phase, event: &Event) -> bool {
        // A poisoned lock denies.
        let Ok(mut exchange) = self.exchange.lock() else { return false };
        let exchange = &mut *exchange;
        match phase {
            Phase::Off => true,
            Phase::Prepare => self.decided(event, &Origin::Caller, exchange),
            Phase::StepPragma => sqlites_own(event) || self.decided(event, &Origin::Caller, exchange),
            Phase::Step => {
                let origin = match exchange.modules.first() {
                    Some(module) => Origin::Module(module.table.clone()),
                    None => Origin::Caller,
                };
                self.modules_own(event, &exchange.modules) || self.decided(event, &origin, exchange)
            }
        }
    }
}

impl Live {
    fn decided(&self, event: &Event, origin: &Origin, exchange: &mut Exchange) -> bool {
        let (action, resources) = attribute::resources(event, &self.catalog);
        // While a statement runs, a name that the catalog does not have is of a schema that was
        // changed since.
        if resources.is_empty() && event.kind != EventKind::Select {
            return false;
        }
        let mut allowed = true;
        for resource in resources {
            let request = Request { action, resource, origin: origin.clone(), span: None };
            let decision = self.ruleset.decide(&request);
            if !decision.allowed {
                allowed = false;
                exchange.denied.push((request, decision));
            }
        }
        allowed
    }

    /// The closed list of what a virtual table asks for itself.
    fn modules_own(&self, event: &Event, modules: &[Module]) -> bool {
        if self.is_flush(event) {
            return true;
        }
        if modules.is_empty() {
            return event.kind == EventKind::Select;
        }
        match event.kind {
            EventKind::Select => true,
            EventKind::Pragma => &*event.first == "data_version" && !event.argued,
            EventKind::Read | EventKind::Insert | EventKind::Update | EventKind::Delete => {
                modules.iter().any(|module| self.is_own_table(module, event))
            }
            EventKind::Function => modules.iter().any(|module| match module.module.folded() {
                "fts5" => event.first.eq_ignore_ascii_case("bm25"),
                "fts5vocab" => event.first.eq_ignore_ascii_case("match"),
                _ => false,
            }),
            _ => false,
        }
    }

    /// A full-text table writes what earlier statements of the transaction gave it when a later one
    /// needs a savepoint, whatever that one is about. It reads its index for that, never its content.
    fn is_flush(&self, event: &Event) -> bool {
        if event.kind == EventKind::Pragma {
            return &*event.first == "data_version" && !event.argued;
        }
        let rows = matches!(event.kind, EventKind::Insert | EventKind::Update | EventKind::Delete);
        let content = || event.first.to_ascii_lowercase().ends_with("_content");
        if !rows && (event.kind != EventKind::Read || content()) {
            return false;
        }
        let schema = Name::from(&*event.schema);
        let found = self.catalog.resolve(Some(&schema), &Name::from(&*event.first));
        found.is_some_and(|(holder, table)| match &table.kind {
            TableKind::Shadow(owner) => holder.tables.get(owner).is_some_and(|owner| match &owner.kind {
                TableKind::Virtual(module) => module.folded().starts_with("fts"),
                _ => false,
            }),
            _ => false,
        })
    }

    /// A shadow table of the module's, or its own hidden columns.
    fn is_own_table(&self, module: &Module, event: &Event) -> bool {
        let schema = Name::from(&*event.schema);
        if !event.schema.is_empty() && schema != module.schema {
            return false;
        }
        let table = Name::from(&*event.first);
        if table == module.table {
            let own = |column: &str| event.second.eq_ignore_ascii_case(column);
            let hidden = own("rowid") || own("rank") || own(module.table.as_str()) || event.second.is_empty();
            return event.kind == EventKind::Read && hidden;
        }
        let found = self.catalog.resolve(Some(&module.schema), &table);
        found.is_some_and(|(_, found)| found.kind == TableKind::Shadow(module.table.clone()))
    }
}

/// What SQLite asks for itself while it runs a PRAGMA that was allowed.
fn sqlites_own(event: &Event) -> bool {
    match event.kind {
        EventKind::Select | EventKind::Read | EventKind::Function => true,
        EventKind::Pragma => {
            let name = event.first.to_ascii_lowercase();
            let reports = !event.argued || REPORTING_ARGUMENT.contains(&name.as_str());
            reports && !ACTING_PRAGMAS.contains(&name.as_str())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vocabulary_table_reads_the_table_that_it_names() {
        let read = |sql: &str| vocabulary(&Name::from("main"), sql, &Name::from("fts5vocab"));
        let pair = |schema: &str, table: &str| Some((Name::from(schema), Name::from(table)));
        assert_eq!(read("CREATE VIRTUAL TABLE v USING fts5vocab(ft, row)"), pair("main", "ft"));
        assert_eq!(
            read("CREATE VIRTUAL TABLE temp.v USING fts5vocab('aux', \"f t\", 'col')"),
            pair("aux", "f t")
        );
        assert_eq!(vocabulary(&Name::from("main"), "USING fts5(a, b)", &Name::from("fts5")), None);
    }
}
