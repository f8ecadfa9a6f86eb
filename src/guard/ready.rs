//! Stepping a statement that was allowed, under watch.

use std::sync::{Arc, Mutex};

use rusqlite::{Row, Statement, StatementStatus};

use super::judging::Judging;
use super::live::{Exchange, Module, modules, take_denied};
use crate::engine::event::Event;
use crate::engine::recorder::{Phase, Recorder};
use crate::refusal::{Finding, settle};

/// A statement that may run, prepared.
pub struct Ready<'c> {
    /// SQLite's statement.
    prepared: Statement<'c>,
    /// What it asked while being prepared, all of it allowed.
    pub(super) events: Vec<Event>,
    /// What the author should look at.
    pub advice: Vec<Finding>,
    pub(super) modules: Vec<Module>,
    recorder: Recorder,
    exchange: Arc<Mutex<Exchange>>,
    phase: Phase,
}

impl std::fmt::Debug for Ready<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ready")
            .field("phase", &self.phase)
            .field("modules", &self.modules)
            .finish_non_exhaustive()
    }
}

/// Why a statement that was allowed did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// While running it asked for something that is denied.
    #[error("the statement was refused while it ran")]
    Refused(Vec<Finding>),
    /// SQLite's own error.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Another connection changed the schema after the judgement.
    #[error("the schema was changed while the statement was judged; run it again")]
    SchemaChanged,
}

impl<'c> Ready<'c> {
    pub(super) fn new(
        judging: &Judging<'c>,
        prepared: Statement<'c>,
        events: Vec<Event>,
        phase: Phase,
    ) -> Self {
        let modules = modules(&events, &judging.catalog);
        Self::with_modules(judging, prepared, events, modules, phase)
    }

    pub(super) fn with_modules(
        judging: &Judging<'c>,
        prepared: Statement<'c>,
        events: Vec<Event>,
        modules: Vec<Module>,
        phase: Phase,
    ) -> Self {
        Self {
            modules,
            recorder: judging.recorder.clone(),
            exchange: Arc::clone(&judging.exchange),
            prepared,
            events,
            advice: Vec::new(),
            phase,
        }
    }

    /// The columns that it answers.
    pub fn columns(&self) -> Vec<String> {
        self.prepared.column_names().map(str::to_owned).collect()
    }

    /// Whether it may change rows.
    pub fn writes(&self) -> bool {
        !self.prepared.readonly() && self.prepared.is_explain() == 0
    }

    /// What it asked while being prepared.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// SQLite's statement, to read its counters after a run.
    pub fn prepared(&self) -> &Statement<'c> {
        &self.prepared
    }

    /// Steps to the end and gives each row to `row`, which may end the run early by answering false.
    pub fn step(&mut self, mut row: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>) -> Result<(), StepError> {
        self.recorder.allow(std::mem::take(&mut self.events));
        if let Ok(mut exchange) = self.exchange.lock() {
            exchange.modules = std::mem::take(&mut self.modules);
            exchange.denied.clear();
        }
        let armed = self.recorder.arm(self.phase);
        let result = (|| {
            let mut rows = self.prepared.raw_query();
            while let Some(next) = rows.next()? {
                if !row(next)? {
                    break;
                }
            }
            Ok(())
        })();
        drop(armed);
        self.events = self.recorder.allow(Vec::new());
        let denied = take_denied(&self.exchange);
        if !denied.is_empty() {
            let findings =
                denied.into_iter().filter_map(|(request, decision)| Finding::denied(request, decision));
            return Err(StepError::Refused(settle(findings.collect())));
        }
        result.map_err(StepError::Sqlite)?;
        // A statement that SQLite prepared again is not the one that was judged.
        if self.prepared.get_status(StatementStatus::RePrepare) != 0 {
            return Err(StepError::SchemaChanged);
        }
        Ok(())
    }
}
