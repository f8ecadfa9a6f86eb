//! Work on several threads, its results in order.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// A parser of nested text calls itself.
const STACK: usize = 64 << 20;

/// How many threads to start: as many as were asked for, else one for each core.
pub(crate) fn jobs(asked: Option<NonZeroUsize>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    asked.map_or_else(cores, NonZeroUsize::get)
}

/// Results that may wait for an earlier one, for each thread.
const AHEAD: usize = 8;

/// The works that are not given out yet.
struct Pile<I> {
    state: Mutex<State<I>>,
    moved: Condvar,
    /// How far the threads may run ahead of what was taken in order.
    ahead: usize,
}

struct State<I> {
    works: I,
    given: usize,
    taken: usize,
    /// Whether a thread has died, so that what it had will never come.
    dead: bool,
}

impl<I: Iterator> Pile<I> {
    fn lock(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next work and its number; waits while too many results do.
    fn next(&self) -> Option<(usize, I::Item)> {
        let mut state = self.lock();
        while !state.dead && state.given >= state.taken + self.ahead {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.dead {
            return None;
        }
        let work = state.works.next()?;
        state.given += 1;
        Some((state.given - 1, work))
    }

    fn taken(&self) {
        self.lock().taken += 1;
        self.moved.notify_all();
    }
}

/// Wakes the others when its thread dies.
struct Bell<'p, I: Iterator>(&'p Pile<I>);

impl<I: Iterator> Drop for Bell<'_, I> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().dead = true;
            self.0.moved.notify_all();
        }
    }
}

/// Starts a thread for each of `benches`, where `worker` takes works and hands in a result for each by its
/// number; `take` gets the results in the order of the works. Few of them are in memory at a time.
///
/// # Errors
///
/// Where a thread cannot be started.
pub(crate) fn in_order<B: Send, W: Send, R: Send>(
    benches: Vec<B>,
    works: impl Iterator<Item = W> + Send,
    worker: impl Fn(B, &mut dyn Iterator<Item = (usize, W)>, &dyn Fn(usize, R)) + Sync,
    mut take: impl FnMut(R),
) -> io::Result<()> {
    let state = State { works, given: 0, taken: 0, dead: false };
    let pile = Pile { state: Mutex::new(state), moved: Condvar::new(), ahead: AHEAD * benches.len() };
    let (done, results) = mpsc::channel();
    thread::scope(|scope| {
        for bench in benches {
            let (pile, worker, done) = (&pile, &worker, done.clone());
            let body = move || {
                let _bell = Bell(pile);
                // The receiver outlives every thread.
                let hand_in = |number, result| drop(done.send((number, result)));
                worker(bench, &mut std::iter::from_fn(|| pile.next()), &hand_in);
            };
            if let Err(error) = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body) {
                pile.lock().dead = true;
                pile.moved.notify_all();
                return Err(error);
            }
        }
        drop(done);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        for (number, result) in results {
            waiting.insert(number, result);
            while let Some(result) = waiting.remove(&due) {
                due += 1;
                take(result);
                pile.taken();
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn results_come_in_the_order_of_the_works_and_few_wait() {
        let taken = AtomicUsize::new(0);
        let mut got = Vec::new();
        in_order(
            vec![(), (), ()],
            0..500_usize,
            |(), works, done| {
                for (number, work) in works {
                    assert!(work <= taken.load(Ordering::SeqCst) + 3 * AHEAD);
                    if work % 50 == 0 {
                        thread::sleep(Duration::from_millis(2));
                    }
                    done(number, work * 2);
                }
            },
            |result| {
                taken.fetch_add(1, Ordering::SeqCst);
                got.push(result);
            },
        )
        .unwrap();
        assert_eq!(got, (0..500).map(|work| work * 2).collect::<Vec<_>>());
    }
}
