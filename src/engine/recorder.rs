//! The authorizer's state: one recorder behind a mutex, moved into one closure per connection.
//!
//! While a statement is prepared the callback records and answers OK, except for what can act
//! while being prepared; that is answered at once. While it is stepped the callback answers by
//! what was allowed before. A poisoned lock and a panic deny.

use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use rusqlite::hooks::{AuthContext, Authorization};

use super::event::{Event, EventKind};

/// Judges what must be answered inside the callback.
pub trait LiveJudge: Send {
    /// Whether a callback that arrives in this phase may go on.
    fn judge(&mut self, phase: Phase, event: &Event) -> bool;
}

/// What the connection is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing of the caller's: everything passes, nothing is recorded.
    #[default]
    Off,
    /// Preparing: row requests are recorded and pass.
    Prepare,
    /// Stepping a row statement.
    Step,
    /// Stepping a PRAGMA that was allowed.
    StepPragma,
}

#[derive(Default)]
struct State {
    phase: Phase,
    events: Vec<Event>,
    /// Few, and asked seldom: virtual tables prepare their own statements once.
    allowed: Vec<Event>,
    judge: Option<Box<dyn LiveJudge>>,
}

impl State {
    fn answer(&mut self, context: &AuthContext<'_>) -> bool {
        match self.phase {
            Phase::Off => true,
            Phase::Prepare => {
                let event = Event::new(context);
                let allowed = is_row(event.kind) || self.judged(&event);
                self.events.push(event);
                allowed
            }
            Phase::Step | Phase::StepPragma => {
                let event = Event::new(context);
                self.allowed.contains(&event) || self.judged(&event)
            }
        }
    }

    fn judged(&mut self, event: &Event) -> bool {
        let phase = self.phase;
        self.judge.as_mut().is_some_and(|judge| judge.judge(phase, event))
    }
}

const fn is_row(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Select
            | EventKind::Read
            | EventKind::Insert
            | EventKind::Update
            | EventKind::Delete
            | EventKind::Function
    )
}

/// The handle by which a guard works the callback of one connection.
#[derive(Clone)]
pub struct Recorder {
    state: Arc<Mutex<State>>,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// Installs the callback on `connection`, at rest. It replaces an authorizer that is there.
    pub fn install(connection: &mut Connection) -> rusqlite::Result<Self> {
        let recorder = Self { state: Arc::default() };
        let shared = Arc::clone(&recorder.state);
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            let allowed = shared.lock().is_ok_and(|mut state| state.answer(&context));
            if allowed { Authorization::Allow } else { Authorization::Deny }
        }))?;
        Ok(recorder)
    }

    /// Gives the callback the judge of what cannot wait; `None` takes it away, and then nothing that
    /// cannot wait passes.
    pub fn employ(&self, judge: Option<Box<dyn LiveJudge>>) {
        self.with(|state| state.judge = judge);
    }

    /// Enters `phase` until the answer is dropped.
    pub fn arm(&self, phase: Phase) -> Armed<'_> {
        self.with(|state| {
            state.phase = phase;
            state.events.clear();
        });
        Armed { recorder: self }
    }

    /// Sets what passes in the step phase without being judged again; answers what did before.
    pub fn allow(&self, events: Vec<Event>) -> Vec<Event> {
        self.with(|state| std::mem::replace(&mut state.allowed, events)).unwrap_or_default()
    }

    /// What was recorded since the callback was last armed.
    pub fn take(&self) -> Vec<Event> {
        self.with(|state| std::mem::take(&mut state.events)).unwrap_or_default()
    }

    fn with<R>(&self, work: impl FnOnce(&mut State) -> R) -> Option<R> {
        // A poisoned lock stays poisoned: from then on the callback denies everything.
        self.state.lock().ok().map(|mut state| work(&mut state))
    }
}

/// The callback is armed for as long as this lives.
#[derive(Debug)]
pub struct Armed<'r> {
    recorder: &'r Recorder,
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        self.recorder.with(|state| state.phase = Phase::Off);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Panics;

    impl LiveJudge for Panics {
        fn judge(&mut self, _: Phase, _: &Event) -> bool {
            panic!("a judge that fails")
        }
    }

    #[test]
    fn a_panic_in_the_callback_denies_and_the_poisoned_lock_denies_from_then_on() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t(a)").unwrap();
        let recorder = Recorder::install(&mut connection).unwrap();
        {
            recorder.employ(Some(Box::new(Panics)));
            let _armed = recorder.arm(Phase::Prepare);
            assert!(connection.prepare("PRAGMA user_version").is_err());
        }
        assert!(connection.prepare("SELECT a FROM t").is_err(), "poisoned: even at rest nothing passes");
    }

    #[test]
    fn nothing_is_recorded_or_denied_at_rest() {
        let mut connection = Connection::open_in_memory().unwrap();
        let recorder = Recorder::install(&mut connection).unwrap();
        connection.execute_batch("CREATE TABLE t(a); PRAGMA user_version = 3").unwrap();
        assert!(recorder.take().is_empty());
    }

    #[test]
    fn what_can_act_while_being_prepared_is_denied_without_a_judge() {
        let mut connection = Connection::open_in_memory().unwrap();
        let recorder = Recorder::install(&mut connection).unwrap();
        let _armed = recorder.arm(Phase::Prepare);
        for sql in ["PRAGMA foreign_keys = OFF", "ATTACH ':memory:' AS o", "CREATE TABLE t(a)", "BEGIN"] {
            assert!(connection.prepare(sql).is_err(), "{sql}");
        }
    }
}
