//! Tasks that stand still: a worker has been inside one record for longer than `max.poll.interval.ms`.
//!
//! Such a task alone is given up. The group is told that it is not for this process, asks it back, and its outputs no longer pass. When
//! the record is over at last, the task may come back.

use crate::shared::{Shared, lock};
use crate::slot::Slot;
use millstream_processor_core::TaskId;
use millstream_processor_core::task::TaskPosition;
use millstream_protocol::hash::HashMap;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The tasks that this process cannot run now: what it says when it joins.
#[derive(Debug, Default)]
pub(crate) struct GivenUp(Mutex<BTreeSet<TaskId>>);

impl GivenUp {
    pub(crate) fn tasks(&self) -> Vec<TaskId> {
        lock(&self.0).iter().copied().collect()
    }
}

/// What a look has seen, of which the group is to be told: how many tasks were given up, and how many may come back.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) given_up: usize,
    pub(crate) returned: usize,
}

/// Watches how long workers stay inside records.
#[derive(Debug)]
pub(crate) struct Standstills {
    next_look: Instant,
    /// Tasks that a worker is in: where they were at an earlier look, and when that was.
    inside: HashMap<TaskId, (Vec<TaskPosition>, Instant)>,
    /// Those that were given up, until their worker is out.
    given_up: Vec<Arc<Slot>>,
}

impl Standstills {
    pub(crate) fn new(now: Instant) -> Self {
        Self { next_look: now, inside: HashMap::default(), given_up: Vec::new() }
    }

    /// When to look again.
    pub(crate) const fn next_look(&self) -> Instant {
        self.next_look
    }

    /// Looks at the tasks that run here. To be called from [`next_look`](Self::next_look) on.
    pub(crate) fn look(&mut self, now: Instant, limit: Duration, slots: &[Arc<Slot>], shared: &Shared) -> Seen {
        self.next_look = now + (limit / 4).clamp(LEAST_LOOK, LONGEST_LOOK);
        let returned = self.take_back(shared);
        let stuck: Vec<&Arc<Slot>> = slots.iter().filter(|slot| self.stands_still(now, limit, slot)).collect();
        for slot in &stuck {
            tracing::error!(task = %slot.id, ?limit, "a record takes longer than `max.poll.interval.ms`: the task is given up");
            shared.counters.tasks_given_up.add(1);
            lock(&shared.given_up.0).insert(slot.id);
            self.given_up.push(Arc::clone(slot));
        }
        Seen { given_up: stuck.len(), returned }
    }

    fn stands_still(&mut self, now: Instant, limit: Duration, slot: &Arc<Slot>) -> bool {
        if !slot.is_worked_on() || self.given_up.iter().any(|other| other.id == slot.id) {
            self.inside.remove(&slot.id);
            return false;
        }
        let positions = slot.commits.positions();
        match self.inside.get(&slot.id) {
            Some((before, since)) if *before == positions => now.saturating_duration_since(*since) > limit,
            _ => {
                self.inside.insert(slot.id, (positions, now));
                false
            }
        }
    }

    /// Tasks whose workers are out of the record, and that are closed: this process can run them again.
    fn take_back(&mut self, shared: &Shared) -> usize {
        let before = self.given_up.len();
        self.given_up.retain(|slot| {
            let is_out = slot.is_closed();
            if is_out {
                tracing::info!(task = %slot.id, "a task that was given up may come back");
                lock(&shared.given_up.0).remove(&slot.id);
            }
            !is_out
        });
        before - self.given_up.len()
    }
}

/// How often it is looked.
const LEAST_LOOK: Duration = Duration::from_millis(20);
const LONGEST_LOOK: Duration = Duration::from_secs(5);
