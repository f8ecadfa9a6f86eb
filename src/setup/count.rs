//! Counting what each statement of a run does, and telling on whose account.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;

use super::report::{By, Counts, Kind, Report};
use crate::catalog::{Catalog, TableKind};
use crate::engine::event::{Event, EventKind};
use crate::engine::rows::{Counted, RowWatch, Tally, are_kept};
use crate::guard::ShapeId;
use crate::policy::Verb;
use crate::source::Name;
use crate::statement::{Statement, TableMention};

/// What is known of a statement from its text.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    pub(super) kind: Kind,
    /// The table that it writes, as the schema has it.
    target: Option<(Name, Name)>,
    shape: Option<ShapeId>,
}

/// On whose account one verb changes the rows of one table; the same for all statements of a shape.
#[derive(Clone, Debug)]
struct Account {
    /// The number of the table in the watch.
    number: usize,
    verb: Verb,
    /// The module of a virtual table.
    module: Option<Name>,
    /// The number of table and account in the report.
    told: usize,
}

/// The counts of a run.
pub(super) struct Counting<'c> {
    connection: &'c Connection,
    catalog: Arc<Catalog>,
    watch: RowWatch<'c>,
    report: Report,
    /// What the watch has counted; kept for its room.
    tallies: Vec<Tally>,
    /// Of the statements whose shape was read before, their text is not read again.
    shapes: BTreeMap<ShapeId, (Arc<About>, Vec<Account>)>,
    actions: BTreeMap<(Name, Name), Actions>,
}

/// What the foreign keys of a table may do to its rows when a row that they refer to changes.
#[derive(Clone, Copy, Debug, Default)]
struct Actions {
    updates: bool,
    deletes: bool,
}

impl<'c> Counting<'c> {
    pub(super) fn new(connection: &'c Connection, catalog: Arc<Catalog>) -> Self {
        let watch = RowWatch::install(connection, Arc::clone(&catalog));
        Self {
            connection,
            catalog,
            watch,
            report: Report::default(),
            tallies: Vec::new(),
            shapes: BTreeMap::new(),
            actions: BTreeMap::new(),
        }
    }

    /// The watch over single rows.
    pub(super) const fn watch(&self) -> &RowWatch<'c> {
        &self.watch
    }

    /// What a statement is, remembered by its shape.
    pub(super) fn about(&mut self, statement: &Statement<'_>, shape: Option<ShapeId>) -> Arc<About> {
        let resolve = |mention: &TableMention| {
            let (schema, _) = self.catalog.resolve(mention.schema.as_ref(), &mention.table)?;
            Some((schema.name.clone(), mention.table.clone()))
        };
        let target = statement.target.as_ref().and_then(|target| resolve(&target.table));
        let about = Arc::new(About { kind: Kind::of(statement), target, shape });
        if let Some(shape) = shape {
            self.shapes.insert(shape, (Arc::clone(&about), Vec::new()));
        }
        about
    }

    /// What was remembered of a shape.
    pub(super) fn known(&self, shape: ShapeId) -> Option<Arc<About>> {
        self.shapes.get(&shape).map(|(about, _)| Arc::clone(about))
    }

    /// Tells what a statement that has run did; `changed` says whether SQLite counts any change.
    pub(super) fn statement(&mut self, about: &About, events: &[Event], steps: u64, changed: bool) {
        if RowWatch::AVAILABLE {
            self.watched(about, events);
        } else {
            self.unwatched(about);
        }
        if let Some((schema, table)) = about.target.as_ref().filter(|_| changed)
            && self.is_virtual(schema, table)
            && !self.catalog.schema(schema).is_some_and(|schema| are_kept(schema, table))
            && RowWatch::AVAILABLE
        {
            // Where its module keeps no row for each of its rows, only that it was written is known.
            let account = self.report.account(schema, table, By::Caller);
            self.report.add(account, Counts::UNKNOWN);
        }
        self.report.end(about.kind, steps);
    }

    /// What was told of every statement.
    pub(super) fn report(self) -> Report {
        self.report
    }

    /// The rows that the statement which ran last deleted from its target by itself.
    pub(super) fn deleted_from_target(&self, about: &About) -> Option<(Name, Name, u64)> {
        let (schema, table) = about.target.as_ref()?;
        let deleted = self.report.deleted_last(schema, table)?;
        Some((schema.clone(), table.clone(), deleted))
    }

    fn watched(&mut self, about: &About, events: &[Event]) {
        let mut tallies = std::mem::take(&mut self.tallies);
        self.watch.take(&mut tallies);
        if !tallies.is_empty() {
            let known = about.shape.and_then(|shape| self.shapes.get_mut(&shape));
            let mut accounts = known.map(|(_, accounts)| std::mem::take(accounts)).unwrap_or_default();
            for tally in &tallies {
                for verb in verbs(tally) {
                    self.tell(tally, verb, &mut accounts, about, events);
                }
            }
            if let Some((_, kept)) = about.shape.and_then(|shape| self.shapes.get_mut(&shape)) {
                *kept = accounts;
            }
        }
        tallies.clear();
        self.tallies = tallies;
    }

    fn tell(
        &mut self,
        tally: &Tally,
        verb: Verb,
        accounts: &mut Vec<Account>,
        about: &About,
        events: &[Event],
    ) {
        let known = accounts.iter().find(|account| account.number == tally.number && account.verb == verb);
        if let Some(account) = known {
            return self.report.add(account.told, counts(account.module.as_ref(), verb, tally));
        }
        let Some(counted) = self.watch.table(tally.number) else { return };
        let by = self.account(&counted, verb, about, events);
        let told = self.report.account(&counted.schema, &counted.table, by);
        self.report.add(told, counts(counted.module.as_ref(), verb, tally));
        accounts.push(Account { number: tally.number, verb, module: counted.module, told });
    }

    /// Without the hook: SQLite's own count of the caller's rows says it where an INSERT or a DELETE
    /// can do nothing else.
    fn unwatched(&mut self, about: &About) {
        let Some((schema, table)) = &about.target else { return };
        let deleted = (about.kind == Kind::Delete && !self.is_virtual(schema, table))
            .then(|| self.connection.changes());
        let account = self.report.account(schema, table, By::Caller);
        self.report.add(account, Counts { deleted, ..Counts::UNKNOWN });
    }

    fn account(&mut self, counted: &Counted, verb: Verb, about: &About, events: &[Event]) -> By {
        let writes = |kinds: &[EventKind]| {
            events.iter().any(|event| {
                kinds.contains(&event.kind)
                    && counted.table == *event.first
                    && counted.schema == *event.schema
                    && self.catalog.triggers_named(&Name::from(&*event.accessor)).next().is_some()
            })
        };
        let any = [EventKind::Insert, EventKind::Update, EventKind::Delete];
        if counted.module.is_some() {
            let own = about.target.as_ref().is_some_and(|(s, t)| *s == counted.schema && *t == counted.table);
            return match (own, writes(&any)) {
                (true, false) => By::Caller,
                (false, true) => By::Trigger,
                _ => By::Unknown,
            };
        }
        if !counted.nested {
            return By::Caller;
        }
        let (trigger, cascade) = match verb {
            // No foreign key inserts.
            Verb::Insert => (true, false),
            Verb::Update => (writes(&[EventKind::Update]), self.actions(counted).updates),
            // What a trigger inserts or updates may replace.
            _ => (writes(&any), self.actions(counted).deletes),
        };
        match (trigger, cascade) {
            (true, false) => By::Trigger,
            (false, true) => By::Cascade,
            _ => By::Unknown,
        }
    }

    fn actions(&mut self, counted: &Counted) -> Actions {
        let key = (counted.schema.clone(), counted.table.clone());
        if let Some(actions) = self.actions.get(&key) {
            return *actions;
        }
        // A list that cannot be read leaves it at what the authorizer tells.
        let actions = actions(self.connection, &key.0, &key.1).unwrap_or_default();
        self.actions.insert(key, actions);
        actions
    }

    fn is_virtual(&self, schema: &Name, table: &Name) -> bool {
        let found = self.catalog.schema(schema).and_then(|schema| schema.tables.get(table));
        found.is_some_and(|table| matches!(table.kind, TableKind::Virtual(_)))
    }
}

/// The verbs that there are rows for.
fn verbs(tally: &Tally) -> impl Iterator<Item = Verb> {
    let verbs = [
        (Verb::Insert, tally.inserted),
        (Verb::Update, tally.updated + tally.unchanged),
        (Verb::Delete, tally.deleted),
    ];
    verbs.into_iter().filter_map(|(verb, rows)| (rows > 0).then_some(verb))
}

fn counts(module: Option<&Name>, verb: Verb, tally: &Tally) -> Counts {
    let zero = Counts::ZERO;
    match verb {
        Verb::Insert => Counts { inserted: Some(tally.inserted), ..zero },
        Verb::Update => match module {
            None => Counts { updated: Some(tally.updated), unchanged: Some(tally.unchanged), ..zero },
            // It writes a row anew without telling whether it is another one.
            Some(module) if module.folded().starts_with("fts") => {
                Counts { updated: Some(tally.updated), unchanged: None, ..zero }
            }
            // An R-tree moves its rows about, so what is written anew need not have been updated.
            Some(_) => Counts { updated: None, unchanged: None, ..zero },
        },
        _ => Counts { deleted: Some(tally.deleted), ..zero },
    }
}

fn actions(connection: &Connection, schema: &Name, table: &Name) -> rusqlite::Result<Actions> {
    let mut list = connection.prepare("SELECT on_update, on_delete FROM pragma_foreign_key_list(?1, ?2)")?;
    let mut rows = list.query([table.as_str(), schema.as_str()])?;
    let mut found = Actions::default();
    while let Some(row) = rows.next()? {
        let (on_update, on_delete) = (row.get::<_, String>(0)?, row.get::<_, String>(1)?);
        let sets = |action: &str| matches!(action, "SET NULL" | "SET DEFAULT");
        found.updates |= on_update == "CASCADE" || sets(&on_update) || sets(&on_delete);
        found.deletes |= on_delete == "CASCADE";
    }
    Ok(found)
}
