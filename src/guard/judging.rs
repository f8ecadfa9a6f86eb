//! One statement at a time, on one connection.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, ErrorCode};

use super::live::{Exchange, Live, Module, named, take_denied};
use super::memo::{Memo, ShapeId};
use super::mentions::{Around, Mentions};
use super::ready::Ready;
use super::{advice, attribute, full_way, text};
use crate::catalog::{Catalog, TableKind};
use crate::engine::event::Event;
use crate::engine::recorder::{Phase, Recorder};
use crate::policy::{Level, Verb};
use crate::refusal::{Finding, settle};
use crate::request::{Origin, Request};
use crate::ruleset::{Decision, Ruleset};
use crate::source::{Name, Span};
use crate::statement::{self, Head, Statement};
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
    pub(super) mentions: Mentions,
    memo: Memo,
    /// The shape that is being read; kept for its room.
    shape: Vec<u8>,
    /// Every trigger of the catalog, for requests that any of them may have made.
    pub(super) all_triggers: Origin,
    /// How many statements took the full way; those are never remembered.
    full_ways: u64,
    /// The virtual tables that were used.
    pub(super) connected: BTreeSet<Module>,
    /// Whether every virtual table is connected.
    pub(super) all_connected: bool,
    /// Whether every statement takes the full way; a test compares it with the short one.
    pub(super) always_full: bool,
    /// The catalog with the columns of the tables that were mentioned where a text was read to its end.
    pub(super) detailed: Option<Catalog>,
    /// Whether the audit looks at every table and call of the text, not only at what may be denied.
    pub(super) audits_all: bool,
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
            detailed: None,
            audits_all: false,
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
        let asked = text_witness::mentioned(statement, &self.catalog.known, Some(&self.catalog));
        text::findings(&self.ruleset, Some(&self.catalog), statement, asked)
    }

    /// The advice that the text alone gives and the policy has told.
    pub(super) fn told_by_text(&self, statement: &Statement<'_>) -> Vec<Finding> {
        advice::from_text(self.ruleset.policy(), Some(&self.catalog), statement, Level::Warn)
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
        let clean = shapes && findings.is_empty() && self.told_by_text(&statement).is_empty();
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
        if !seen.is_empty() && is_for_text_alone(statement) {
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
            Judged::Failed(error) if is_denial(&error) => self.refused(Vec::new(), statement),
            verdict => verdict,
        };
        let Judged::Ready(mut ready) = verdict else { return verdict };
        ready.modules.extend(named(statement, &self.catalog));
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
        match self.other_pass(statement) {
            Pass { denied, .. } if !denied.is_empty() => self.refused(denied, statement),
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
                    return self.refused(denied, statement);
                }
                Judged::Ready(Ready::new(self, prepared, events, phase))
            }
        }
    }

    /// Prepares what is no row statement.
    pub(super) fn other_pass(&mut self, statement: &Statement<'_>) -> Pass<'c> {
        if matches!(statement.head, Head::Pragma(_)) {
            // A check connects them, and what a cold one asks for itself is not the caller's.
            self.connect_all();
        }
        self.pass(statement.sql())
    }

    fn rows(&mut self, statement: &Statement<'_>) -> Judged<'c> {
        let pass = self.first_pass(statement);
        let prepared = match pass.prepared {
            _ if !pass.denied.is_empty() => return self.refused(pass.denied, statement),
            Err(error) => return Judged::Failed(error),
            Ok(prepared) => prepared,
        };
        if self.why_full_way(statement, &pass.events).is_none() {
            return Judged::Ready(Ready::new(self, prepared, pass.events, Phase::Step));
        }
        drop(prepared);
        self.full_ways += 1;
        let judged = full_way::judge(self, statement);
        if matches!(judged, Judged::Ready(_)) {
            // What SQLite drops before it asks still stands in the text.
            let asked = self.read_whole(statement).requests;
            let denied = self.denied(asked.into_iter());
            if !denied.is_empty() {
                return self.refused(denied, statement);
            }
        }
        judged
    }

    /// Prepares a row statement with everything on, when its virtual tables are connected.
    pub(super) fn first_pass(&mut self, statement: &Statement<'_>) -> Pass<'c> {
        let mut pass = self.pass(statement.sql());
        let again = match pass.prepared {
            Ok(_) => self.connected_by(&mut pass.events, statement),
            Err(_) => self.connect_all(),
        };
        if again {
            pass = self.pass(statement.sql());
        }
        pass
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

    /// The views that a view reads, directly or not.
    pub(super) fn views_behind(&mut self, view: &Name) -> Vec<Name> {
        let around = Around { connection: self.connection, ruleset: &self.ruleset, catalog: &self.catalog };
        self.mentions.views_behind(view, around)
    }

    /// The hidden tables that the text mentions; with `every`, all that it mentions.
    pub(super) fn mentioned_tables(&mut self, statement: &Statement<'_>, every: bool) -> Vec<(Name, Name)> {
        let around = Around { connection: self.connection, ruleset: &self.ruleset, catalog: &self.catalog };
        self.mentions.tables(statement, around, every)
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
        &mut self,
        denied: Vec<(Request, Decision)>,
        statement: &Statement<'_>,
    ) -> Judged<'c> {
        let is_row = statement.head.is_row();
        let text =
            (is_row && denied.iter().any(|(one, _)| one.span.is_none())).then(|| self.read_whole(statement));
        let located = denied.into_iter().filter_map(|(mut request, decision)| {
            let read = || text.as_ref().and_then(|text| text::place(text, &request));
            let span = request.span.or_else(read);
            request.span = span.or_else(|| super::mentions::locate(statement, &request));
            Finding::denied(request, decision)
        });
        let findings: Vec<Finding> = located.collect();
        if findings.is_empty() {
            let request = unreadable(statement);
            let decision = self.ruleset.decide(&request);
            return Judged::Refused(Finding::denied(request, decision).into_iter().collect());
        }
        Judged::Refused(settle(findings))
    }
}

/// Whether a statement that its text refuses must not be prepared: what is no row statement could act
/// while being prepared, and what holds a NUL byte is not what SQLite would read.
pub(super) fn is_for_text_alone(statement: &Statement<'_>) -> bool {
    statement.nul.is_some() || !statement.head.is_row()
}

/// Whether it was the callback that denied.
pub(super) fn is_denial(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied)
}

/// What a statement asks for where the callback denied and could not say what.
pub(super) fn unreadable(statement: &Statement<'_>) -> Request {
    let what = crate::request::Resource::Statement("something unreadable".to_owned());
    Request::caller(crate::request::Action::Unknown, what, Some(statement.span))
}

/// One prepare under the recording callback.
pub(super) struct Pass<'c> {
    pub(super) prepared: rusqlite::Result<rusqlite::Statement<'c>>,
    pub(super) events: Vec<Event>,
    pub(super) denied: Vec<(Request, Decision)>,
}

/// The verb of a row statement's target, where it has one.
pub(super) fn verb(statement: &Statement<'_>) -> Option<Verb> {
    statement.target.as_ref().map(|target| target.verb)
}
