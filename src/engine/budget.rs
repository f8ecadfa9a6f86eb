//! Steps and time of a run.
//!
//! SQLite's progress handler counts within one statement only, so the budget is the sum of the
//! statements' steps plus the handler for the one that runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Statement, StatementStatus};

/// Steps between two calls of the handler: small enough to be exact for a short budget, large
/// enough to cost nothing.
const INTERVAL: u32 = 1_000;

/// Which bound was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// The virtual machine's steps.
    Steps,
    /// The time.
    Time,
}

#[derive(Debug)]
struct Shared {
    /// When the connection came under guard; the deadline counts from here.
    begin: Instant,
    /// Nanoseconds after `begin`; the largest number for no deadline.
    deadline: AtomicU64,
    /// Steps of the statements that have ended.
    spent: AtomicU64,
    /// Steps since a statement last ended, as far as the handler has seen them; our own look-ups count.
    running: AtomicU64,
    by_steps: AtomicBool,
    by_time: AtomicBool,
    lifted: AtomicBool,
}

/// The bounds of one run on one connection.
#[derive(Debug)]
pub struct Budget {
    shared: Arc<Shared>,
    steps: Option<u64>,
    time: Option<Duration>,
}

impl Budget {
    /// Bounds what `connection` runs from now on. Replaces a progress handler that is there.
    pub fn install(
        connection: &mut Connection,
        steps: Option<u64>,
        time: Option<Duration>,
    ) -> rusqlite::Result<Self> {
        let shared = Arc::new(Shared {
            begin: Instant::now(),
            deadline: AtomicU64::new(u64::MAX),
            spent: AtomicU64::new(0),
            running: AtomicU64::new(0),
            by_steps: AtomicBool::new(false),
            by_time: AtomicBool::new(false),
            lifted: AtomicBool::new(false),
        });
        if steps.is_some() || time.is_some() {
            let seen = Arc::clone(&shared);
            let interval = u64::from(INTERVAL).min(steps.unwrap_or(u64::MAX)).max(1);
            let handler = move || {
                if seen.lifted.load(Ordering::Relaxed) {
                    return false;
                }
                let running = seen.running.fetch_add(interval, Ordering::Relaxed) + interval;
                if steps.is_some_and(|steps| seen.spent.load(Ordering::Relaxed) + running > steps) {
                    seen.by_steps.store(true, Ordering::Relaxed);
                }
                if nanoseconds(seen.begin.elapsed()) > seen.deadline.load(Ordering::Relaxed) {
                    seen.by_time.store(true, Ordering::Relaxed);
                }
                seen.by_steps.load(Ordering::Relaxed) || seen.by_time.load(Ordering::Relaxed)
            };
            connection.progress_handler(i32::try_from(interval).unwrap_or(i32::MAX), Some(handler))?;
        }
        let budget = Self { shared, steps, time };
        budget.restart();
        Ok(budget)
    }

    /// Begins anew: nothing is spent, the time runs from now.
    pub fn restart(&self) {
        let deadline =
            self.time.map_or(u64::MAX, |time| nanoseconds(self.shared.begin.elapsed().saturating_add(time)));
        self.shared.deadline.store(deadline, Ordering::Relaxed);
        self.shared.spent.store(0, Ordering::Relaxed);
        self.shared.running.store(0, Ordering::Relaxed);
        self.shared.by_steps.store(false, Ordering::Relaxed);
        self.shared.by_time.store(false, Ordering::Relaxed);
    }

    /// Adds the steps of a statement that has ended, and says whether the sum is within bounds.
    pub fn spend(&self, statement: &Statement<'_>) -> Result<(), Exceeded> {
        // SQLite counts in 32 bits without a sign.
        let steps = u64::from(statement.get_status(StatementStatus::VmStep).cast_unsigned());
        self.shared.running.store(0, Ordering::Relaxed);
        let spent = self.shared.spent.fetch_add(steps, Ordering::Relaxed) + steps;
        match self.exceeded() {
            Some(exceeded) => Err(exceeded),
            None if self.steps.is_some_and(|bound| spent > bound) => Err(Exceeded::Steps),
            None => Ok(()),
        }
    }

    /// Steps spent so far.
    pub fn spent(&self) -> u64 {
        self.shared.spent.load(Ordering::Relaxed)
    }

    /// Nothing is bounded any more: what follows is our own.
    pub fn lift(&self) {
        self.shared.lifted.store(true, Ordering::Relaxed);
    }

    /// Whether the handler has stopped a statement.
    pub fn exceeded(&self) -> Option<Exceeded> {
        if self.shared.by_steps.load(Ordering::Relaxed) {
            Some(Exceeded::Steps)
        } else if self.shared.by_time.load(Ordering::Relaxed) {
            Some(Exceeded::Time)
        } else {
            None
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
