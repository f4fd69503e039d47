//! The tasks that have something to do, and when each may be queued: at most once, and never while a worker has it.

use crate::slot::Slot;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Tasks that have something to do, first come first served.
#[derive(Debug, Default)]
pub(crate) struct ReadyQueue {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    ready: VecDeque<Arc<Slot>>,
    /// How many workers are to end.
    surplus: usize,
    paused: bool,
    closed: bool,
}

impl ReadyQueue {
    /// Says that a task may have something to do.
    pub(crate) fn wake(&self, slot: &Arc<Slot>) {
        if slot.turn.wake() {
            self.push(Arc::clone(slot));
        }
    }

    /// The next task; waits for one. None: this worker ends.
    pub(crate) async fn take(&self) -> Option<Arc<Slot>> {
        loop {
            let mut changed = pin!(self.changed.notified());
            // It waits from here on: what comes between this look and the wait is not missed.
            changed.as_mut().enable();
            match self.next() {
                Next::Take(slot) => return Some(slot),
                Next::End => return None,
                Next::Wait => changed.await,
            }
        }
    }

    fn next(&self) -> Next {
        let mut state = self.lock();
        if state.closed {
            return Next::End;
        }
        if state.surplus > 0 {
            state.surplus -= 1;
            return Next::End;
        }
        if state.paused {
            return Next::Wait;
        }
        state.ready.pop_front().map_or(Next::Wait, |slot| {
            slot.turn.start();
            Next::Take(slot)
        })
    }

    /// A worker is done with a task for now; `more` if it did not come to the end of what there is.
    pub(crate) fn give_back(&self, slot: Arc<Slot>, more: bool) {
        if slot.turn.end(more) {
            self.push(slot);
        }
    }

    /// Lets one worker end, once it has given its task back.
    pub(crate) fn dismiss_one(&self) {
        self.lock().surplus += 1;
        self.changed.notify_waiters();
    }

    /// Holds all tasks back, or no longer.
    pub(crate) fn set_paused(&self, paused: bool) {
        self.lock().paused = paused;
        self.changed.notify_waiters();
    }

    /// Ends all workers.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_waiters();
    }

    fn push(&self, slot: Arc<Slot>) {
        self.lock().ready.push_back(slot);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a worker does next.
enum Next {
    Take(Arc<Slot>),
    End,
    Wait,
}

/// Whose turn it is with a task.
///
/// ```text
///          wake            take                wake
///  idle ─────────► queued ──────► running ───────────► running, woken
///    ▲                ▲              │ give back           │ give back
///    └── no more ─────┼──────────────┤                     │
///                     └──── more ────┴─────────────────────┘
/// ```
#[derive(Debug, Default)]
pub(crate) struct Turn(AtomicU8);

const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const RUNNING: u8 = 2;
const WOKEN: u8 = 3;

impl Turn {
    /// True if the caller is to queue the task.
    fn wake(&self) -> bool {
        let next = |at| match at {
            IDLE => Some(QUEUED),
            RUNNING => Some(WOKEN),
            _ => None,
        };
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(IDLE)
    }

    fn start(&self) {
        self.0.store(RUNNING, Ordering::Release);
    }

    /// True if the caller is to queue the task.
    fn end(&self, more: bool) -> bool {
        let again = |at| Some(if more || at == WOKEN { QUEUED } else { IDLE });
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, again).unwrap_or(IDLE);
        more || before == WOKEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_is_queued_once_however_often_it_is_woken() {
        let turn = Turn::default();
        assert!(turn.wake());
        assert!(!turn.wake());
        turn.start();
        assert!(!turn.end(false));
        assert!(turn.wake());
    }

    #[test]
    fn task_that_is_woken_while_it_runs_is_queued_when_it_ends() {
        let turn = Turn::default();
        assert!(turn.wake());
        turn.start();
        assert!(!turn.wake(), "a worker has it");
        assert!(!turn.wake());
        assert!(turn.end(false), "what woke it may have come too late to be seen");
        turn.start();
        assert!(!turn.end(false));
    }

    #[test]
    fn task_with_more_to_do_stays_queued() {
        let turn = Turn::default();
        assert!(turn.wake());
        turn.start();
        assert!(turn.end(true));
        assert!(!turn.wake());
    }
}
