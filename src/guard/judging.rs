//! One statement at a time, on one connection.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, ErrorCode};

use super::live::{Exchange, Live, Module, modules, take_denied};
use super::memo::{Memo, ShapeId};
use super::mentions::{Around, Mentions};
use super::ready::Ready;
use super::{advice, attribute, full_way};
use crate::catalog::{Catalog, TableKind};
use crate::diagnostic::Code;
use crate::engine::event::{Event, EventKind};
use crate::engine::recorder::{Phase, Recorder};
use crate::policy::{Level, Verb};
use crate::refusal::{Finding, Witness, settle};
use crate::request::{Origin, Request};
use crate::ruleset::{Decision, Ground, Ruleset};
use crate::source::{Name, Span};
use crate::statement::{self, Conflict, Head, Statement};
use crate::text_witness;

/// What became of a statement.
#[derive(Debug)]
pub enum Judged<'c> {
    /// Nothing was denied: it can be stepped.
    Ready(Ready<'c>),
    /// The policy denies it; every finding, in order.
    Refused(Vec<Finding>),
    /// SQLite does not prepare it.
    Failed(rusqlite::Error),
}

/// A statement of a text, read.
#[derive(Debug)]
pub enum Piece<'t> {
    /// Its shape was read before; there is nothing to say against its text.
    Known(ShapeId),
    /// It was read now.
    Read {
        /// The statement.
        statement: Box<Statement<'t>>,
        /// The number of its shape, where statements of one shape are judged alike.
        id: Option<ShapeId>,
        /// What its text alone holds against it.
        findings: Vec<Finding>,
    },
}

/// The judge of the statements of one connection.
#[derive(Debug)]
pub struct Judging<'c> {
    pub(super) connection: &'c Connection,
    pub(super) recorder: Recorder,
    pub(super) ruleset: Arc<Ruleset>,
    pub(super) catalog: Arc<Catalog>,
    pub(super) keys: HashMap<Name, crate::engine::keys::Keys>,
    pub(super) exchange: Arc<Mutex<Exchange>>,
    mentions: Mentions,
    memo: Memo,
    /// The shape that is being read; kept for its room.
    shape: Vec<u8>,
    /// Every trigger of the catalog, for requests that any of them may have made.
    all_triggers: Origin,
    /// How many statements took the full way; those are never remembered.
    full_ways: u64,
    /// The virtual tables that were used.
    connected: BTreeSet<Module>,
    /// Whether every virtual table is connected.
    all_connected: bool,
    /// Whether every statement takes the full way; a test compares it with the short one.
    pub(super) always_full: bool,
}

impl<'c> Judging<'c> {
    /// A judge for `connection`, whose authorizer `recorder` works. `ruleset` must be compiled
    /// with a catalog of the same connection.
    pub fn new(
        connection: &'c Connection,
        recorder: Recorder,
        ruleset: Arc<Ruleset>,
    ) -> rusqlite::Result<Self> {
        let catalog = ruleset.catalog().cloned().unwrap_or_default();
        let mut triggers: Vec<Name> =
            catalog.schemas.iter().flat_map(|s| s.triggers.keys().cloned()).collect();
        triggers.sort();
        triggers.dedup();
        let exchange = Arc::new(Mutex::new(Exchange::default()));
        let live = Live {
            ruleset: Arc::clone(&ruleset),
            catalog: Arc::clone(&catalog),
            exchange: Arc::clone(&exchange),
        };
        recorder.employ(Some(Box::new(live)));
        Ok(Self {
            connection,
            recorder,
            mentions: Mentions::new(&catalog),
            ruleset,
            catalog,
            keys: HashMap::new(),
            memo: Memo::default(),
            shape: Vec::new(),
            exchange,
            all_triggers: Origin::Trigger(triggers),
            full_ways: 0,
            connected: BTreeSet::new(),
            all_connected: false,
            always_full: false,
        })
    }

    /// Judges every statement by both passes and, where it can, EXPLAIN, never by the first pass alone.
    #[must_use]
    pub fn always_full_way(mut self) -> Self {
        self.always_full = true;
        self
    }

    /// The rules it judges by.
    pub fn ruleset(&self) -> &Arc<Ruleset> {
        &self.ruleset
    }

    /// How many statements were of a shape that was judged before.
    pub fn memo_hits(&self) -> u64 {
        self.memo.hits()
    }

    /// What the text alone holds against `statement`: denials first, then advice that is denied.
    pub fn text_findings(&self, statement: &Statement<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some(nul) = statement.nul {
            findings.push(Finding::plain(Code::NulByte, Some(nul), ""));
        }
        for parameter in &statement.parameters {
            let text = statement.text.get(parameter.range()).unwrap_or_default();
            findings.push(Finding::plain(Code::BindParameter, Some(*parameter), text));
        }
        let asked = text_witness::requests(statement, &self.catalog.known, Some(&self.catalog));
        for request in asked {
            let decision = self.ruleset.decide(&request);
            findings.extend(Finding::denied(request, decision));
        }
        findings.extend(advice::from_text(self, statement, Level::Deny));
        settle(findings)
    }

    /// Reads the statement at `span` of `text` and judges its text; with `shapes`, one of a shape that
    /// was read before is known by that.
    pub fn read<'t>(&mut self, text: &'t str, span: Span, shapes: bool) -> Piece<'t> {
        self.shape.clear();
        let is_name = |name: &str| self.mentions.is_table(&self.catalog, name);
        let shapes = shapes && statement::shape(text, span, is_name, &mut self.shape);
        if shapes && let Some(id) = self.memo.find(&self.shape) {
            return Piece::Known(id);
        }
        let statement = Statement::read(text, span);
        let findings = self.text_findings(&statement);
        let clean =
            shapes && findings.is_empty() && advice::from_text(self, &statement, Level::Warn).is_empty();
        let id = if clean && self.may_memoise(&statement) { self.memo.add(self.shape.clone()) } else { None };
        Piece::Read { statement: Box::new(statement), id, findings }
    }

    /// A statement of a shape that was judged before, ready to be stepped if it asks what those did.
    pub fn judge_known(&mut self, id: ShapeId, sql: &str) -> Option<Ready<'c>> {
        if !self.memo.knows(id) {
            return None;
        }
        let pass = self.pass(sql);
        let prepared = pass.prepared.ok()?;
        if !pass.denied.is_empty() {
            return None;
        }
        let modules = self.memo.confirms(id, &pass.events)?;
        Some(Ready::with_modules(self, prepared, pass.events, modules, Phase::Step))
    }

    /// Judges `statement` by every witness; where it is allowed, answers it ready to be stepped.
    pub fn judge(&mut self, statement: &Statement<'_>) -> Judged<'c> {
        let seen = self.text_findings(statement);
        // What is no row statement could act while being prepared; what holds a NUL byte is not
        // what SQLite would read.
        if !seen.is_empty() && (statement.nul.is_some() || !statement.head.is_row()) {
            return Judged::Refused(seen);
        }
        match self.judge_by_engine(statement) {
            Judged::Refused(more) => Judged::Refused(settle(seen.into_iter().chain(more).collect())),
            _ if !seen.is_empty() => Judged::Refused(seen),
            verdict => verdict,
        }
    }

    /// The rest of the judgement of a statement against whose text there is nothing to say.
    pub fn judge_by_engine(&mut self, statement: &Statement<'_>) -> Judged<'c> {
        self.judge_shaped(statement, None)
    }

    /// The same, remembered for statements of its shape.
    pub fn judge_shaped(&mut self, statement: &Statement<'_>, id: Option<ShapeId>) -> Judged<'c> {
        let strings = advice::double_quoted_strings(self, statement);
        let full = self.full_ways;
        let verdict = if statement.head.is_row() { self.rows(statement) } else { self.other(statement) };
        let verdict = match verdict {
            // The callback denied and could not say what: it panicked, on a name that is no UTF-8.
            Judged::Failed(error)
                if error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied) =>
            {
                self.refused(Vec::new(), statement, Witness::Authorizer)
            }
            verdict => verdict,
        };
        let Judged::Ready(mut ready) = verdict else { return verdict };
        let (denied, told) = advice::of_allowed(self, statement, &ready, strings);
        if !denied.is_empty() {
            return Judged::Refused(settle(denied));
        }
        if let Some(id) = id.filter(|_| told.is_empty() && self.full_ways == full) {
            self.memo.learn(id, &ready.events, &ready.modules);
        }
        ready.advice = told;
        Judged::Ready(ready)
    }

    /// A PRAGMA, and whatever the text did not see for what it is: answered while being prepared.
    fn other(&mut self, statement: &Statement<'_>) -> Judged<'c> {
        if matches!(statement.head, Head::Pragma(_)) {
            // A check connects them, and what a cold one asks for itself is not the caller's.
            self.connect_all();
        }
        let pass = self.pass(statement.sql());
        match pass {
            Pass { denied, .. } if !denied.is_empty() => self.refused(denied, statement, Witness::Authorizer),
            Pass { prepared: Err(error), .. } => Judged::Failed(error),
            Pass { prepared: Ok(prepared), events, .. } => {
                let phase = match statement.head {
                    Head::Pragma(_) => Phase::StepPragma,
                    _ => Phase::Step,
                };
                // What came while preparing was decided there, except for requests for rows.
                let denied =
                    if phase == Phase::Step { self.decide_all(&events, statement) } else { Vec::new() };
                if !denied.is_empty() {
                    return self.refused(denied, statement, Witness::Authorizer);
                }
                Judged::Ready(Ready::new(self, prepared, events, phase))
            }
        }
    }

    fn rows(&mut self, statement: &Statement<'_>) -> Judged<'c> {
        let mut pass = self.pass(statement.sql());
        let again = match pass.prepared {
            Ok(_) => self.connected_by(&mut pass.events, statement),
            Err(_) => self.connect_all(),
        };
        if again {
            pass = self.pass(statement.sql());
        }
        let prepared = match pass.prepared {
            _ if !pass.denied.is_empty() => return self.refused(pass.denied, statement, Witness::Authorizer),
            Err(error) => return Judged::Failed(error),
            Ok(prepared) => prepared,
        };
        if !self.always_full && self.first_pass_is_enough(statement, &pass.events) {
            return Judged::Ready(Ready::new(self, prepared, pass.events, Phase::Step));
        }
        drop(prepared);
        self.full_ways += 1;
        full_way::judge(self, statement)
    }

    /// Notes the virtual tables that a pass used for the first time. A cold one reads its own tables
    /// while a statement is prepared, where that could not be told from the caller; now that it is
    /// connected, another pass is clean. Answers whether one is needed: FTS5 alone reads nothing but
    /// its own settings, which are left out where the text does not name them.
    fn connected_by(&mut self, events: &mut Vec<Event>, statement: &Statement<'_>) -> bool {
        let mut again = false;
        for module in modules(events, &self.catalog) {
            if self.connected.contains(&module) {
                continue;
            }
            let settings = format!("{}_config", module.table());
            if module.is_fts5() && !statement.mentions(|name| name.eq_ignore_ascii_case(&settings)) {
                events.retain(|event| {
                    event.kind != EventKind::Read || !event.first.eq_ignore_ascii_case(&settings)
                });
            } else {
                again = true;
            }
            self.connected.insert(module);
        }
        again
    }

    /// Connects every virtual table, once; a prepare that failed may have failed for a cold one whose
    /// own statements were denied. Answers whether there was any to connect.
    fn connect_all(&mut self) -> bool {
        if std::mem::replace(&mut self.all_connected, true) {
            return false;
        }
        connect_virtual_tables(self.connection, &self.catalog)
    }

    /// Whether statements of this one's shape are judged alike. Never what writes a virtual table,
    /// whose strings can be commands.
    fn may_memoise(&self, statement: &Statement<'_>) -> bool {
        let writes_virtual = statement.target.as_ref().is_some_and(|target| {
            let found = self.catalog.resolve(target.table.schema.as_ref(), &target.table.table);
            found.is_none_or(|(_, table)| matches!(table.kind, TableKind::Virtual(_)))
        });
        !self.always_full && statement.head.is_row() && statement.explain.is_none() && !writes_virtual
    }

    /// Whether a pass with everything on settles it: nothing would be denied to the caller, and
    /// nothing that is silent can hide behind the text.
    fn first_pass_is_enough(&mut self, statement: &Statement<'_>, events: &[Event]) -> bool {
        let around = Around { connection: self.connection, ruleset: &self.ruleset, catalog: &self.catalog };
        if self.mentions.hidden(statement, around) || self.replaces_over_triggers(statement) {
            return false;
        }
        let unlisted = |call: &crate::statement::Mention| {
            self.catalog.known.functions.contains(&call.name) && !self.ruleset.allows_call(&call.name)
        };
        if statement.calls.iter().any(unlisted) {
            return false;
        }
        let names_view = attribute::first_view(statement, &self.catalog).is_some();
        events.iter().all(|event| {
            self.open_to_caller(event) || (!names_view && self.is_trusted_world_code(event, statement))
        })
    }

    fn open_to_caller(&self, event: &Event) -> bool {
        let (action, resources) = attribute::resources(event, &self.catalog);
        resources.into_iter().all(|resource| self.ruleset.allows(action, resource))
    }

    /// A request that the text does not name and that a trigger or an expression may make: the
    /// trigger of the fifth value where no CTE or view can have lent it, else every trigger.
    fn is_trusted_world_code(&self, event: &Event, statement: &Statement<'_>) -> bool {
        if statement.mentions(|name| name.eq_ignore_ascii_case(&event.first)) {
            return false;
        }
        let accessor = Name::from(&*event.accessor);
        let lent = self.catalog.is_view(&accessor) || statement.ctes.iter().any(|cte| cte.name == accessor);
        let is_trigger = self.catalog.triggers_named(&accessor).next().is_some();
        let origin = if is_trigger && !lent {
            Origin::Trigger(vec![accessor])
        } else if matches!(event.kind, EventKind::Read | EventKind::Function) {
            self.all_triggers.clone()
        } else {
            return false;
        };
        if origin == Origin::Trigger(Vec::new()) {
            return event.kind == EventKind::Function && event.accessor.is_empty();
        }
        let (action, resources) = attribute::resources(event, &self.catalog);
        resources.into_iter().all(|resource| {
            let request = Request { action, resource, origin: origin.clone(), span: None };
            self.ruleset.decide(&request).allowed
        })
    }

    /// Whether the statement's OR REPLACE may also apply to what triggers write.
    pub(super) fn replaces_over_triggers(&self, statement: &Statement<'_>) -> bool {
        let Some(target) = &statement.target else { return false };
        if !matches!(target.conflict, Some((Conflict::Replace, _))) {
            return false;
        }
        let found = self.catalog.resolve(target.table.schema.as_ref(), &target.table.table);
        found.is_some_and(|(schema, _)| {
            schema.triggers_on(&target.table.table).next().is_some()
                || self.catalog.schemas.iter().any(|s| s.name == *"temp" && !s.triggers.is_empty())
        })
    }

    /// The views that a view reads, directly or not.
    pub(super) fn views_behind(&mut self, view: &Name) -> Vec<Name> {
        let around = Around { connection: self.connection, ruleset: &self.ruleset, catalog: &self.catalog };
        self.mentions.views_behind(view, around)
    }

    /// The hidden tables that the text mentions.
    pub(super) fn hidden_tables(&mut self, statement: &Statement<'_>) -> Vec<(Name, Name)> {
        let around = Around { connection: self.connection, ruleset: &self.ruleset, catalog: &self.catalog };
        self.mentions.hidden_tables(statement, around)
    }

    /// Prepares `sql` under the recording callback.
    pub(super) fn pass(&self, sql: &str) -> Pass<'c> {
        let armed = self.recorder.arm(Phase::Prepare);
        let prepared = self.connection.prepare(sql);
        drop(armed);
        Pass { prepared, events: self.recorder.take(), denied: take_denied(&self.exchange) }
    }

    /// Decides the requests of callbacks as the caller's; what is denied, is answered.
    pub(super) fn decide_all(&self, events: &[Event], statement: &Statement<'_>) -> Vec<(Request, Decision)> {
        let requests = events.iter().flat_map(|event| attribute::of_caller(event, statement, &self.catalog));
        self.denied(requests)
    }

    pub(super) fn denied(&self, requests: impl Iterator<Item = Request>) -> Vec<(Request, Decision)> {
        let mut denied: Vec<(Request, Decision)> = Vec::new();
        for request in requests {
            let decision = self.ruleset.decide(&request);
            if !decision.allowed && !denied.iter().any(|(known, _)| *known == request) {
                denied.push((request, decision));
            }
        }
        denied
    }

    /// A refusal for what was denied, each with its place in the text.
    pub(super) fn refused(
        &self,
        denied: Vec<(Request, Decision)>,
        statement: &Statement<'_>,
        _witness: Witness,
    ) -> Judged<'c> {
        let located = denied.into_iter().filter_map(|(mut request, decision)| {
            request.span = request.span.or_else(|| super::mentions::locate(statement, &request));
            Finding::denied(request, decision)
        });
        let findings: Vec<Finding> = located.collect();
        if findings.is_empty() {
            let ground = Decision { allowed: false, ground: Ground::Never, code: Some(Code::UnknownAction) };
            let request = Request::caller(
                crate::request::Action::Unknown,
                crate::request::Resource::Statement("something unreadable".to_owned()),
                Some(statement.span),
            );
            return Judged::Refused(Finding::denied(request, ground).into_iter().collect());
        }
        Judged::Refused(settle(findings))
    }
}

/// One prepare under the recording callback.
pub(super) struct Pass<'c> {
    pub(super) prepared: rusqlite::Result<rusqlite::Statement<'c>>,
    pub(super) events: Vec<Event>,
    pub(super) denied: Vec<(Request, Decision)>,
}

/// Answers whether there are any. One that cannot be opened fails later, in what uses it.
fn connect_virtual_tables(connection: &Connection, catalog: &Catalog) -> bool {
    let mut any = false;
    for schema in &catalog.schemas {
        for (name, table) in &schema.tables {
            if matches!(table.kind, TableKind::Virtual(_)) {
                any = true;
                let quote = crate::engine::catalog::quote;
                let sql = format!("SELECT 1 FROM {}.{}", quote(schema.name.as_str()), quote(name.as_str()));
                let _ = connection.prepare(&sql);
            }
        }
    }
    any
}

/// The verb of a row statement's target, where it has one.
pub(super) fn verb(statement: &Statement<'_>) -> Option<Verb> {
    statement.target.as_ref().map(|target| target.verb)
}
