//! What a task's stores must do before it runs, as decisions: fetched offsets and local marks go in, reads and verdicts come out.
//!
//! ```text
//!                     no offset: asked again
//!                      ┌──────┐
//! Fetching ◄───────────┘      │
//!    │   ▲                    │
//!    │   └── committed meanwhile ──┐
//!    ▼                             │
//! Restoring ──── done ────► LookingAgain ── the same ──► Running
//! ```
//! Every fetch requires stable offsets. The second look is what a search over the protocol demanded: between the first fetch and
//! the end of the restore another owner may have committed, and the log cleaner may have taken what that first P promised.

mod committed;
mod plan;

pub use committed::{Committed, CommittedInput};
pub use plan::{BaseVerdict, ReadTo, StorePlan, plan};

use millstream_protocol::{Offset, Timestamp};
use millstream_state::CommitId;
use std::time::Duration;

/// What a store is, as far as recovery asks.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "plain facts that the caller collects")]
pub struct StoreFacts {
    /// Its name.
    pub name: String,
    /// Where its contents come from when they are not here.
    pub source: StateSource,
    /// How far its base is, if there is anything in it.
    pub mark: Option<Mark>,
    /// Batches that were prepared and not decided.
    pub prepared: Vec<Mark>,
}

/// Where a store's contents come from when they are not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each must be decided")]
pub enum StateSource {
    /// Its changelog topic, whose tombstones are kept for this long (`delete.retention.ms`).
    Changelog {
        /// The topic's `delete.retention.ms`.
        delete_retention: Duration,
    },
    /// The input at this place among the task's inputs: the topic is read as far as it is committed.
    Input {
        /// Which of the task's inputs.
        at: usize,
        /// The topic's `delete.retention.ms`.
        delete_retention: Duration,
    },
    /// Nowhere: with the changelog off, what is lost is lost.
    Nowhere,
}

/// How far a store's base is, or a prepared batch would bring it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain facts that the caller collects")]
pub struct Mark {
    /// The commit; none in the middle of a restore, or after a restore of what another program committed.
    pub commit: Option<CommitId>,
    /// P: how far its changelog is in it.
    pub position: Offset,
    /// When it was made: the time of the commit's step 2, or of the fetch before the restore.
    pub time: Timestamp,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecoveryOrder {
    /// Fetch the committed offsets, stable ones only.
    Fetch,
    /// Decide and restore each store, in the order of the facts; then tell [`Recovery::restored`].
    Restore(Vec<StorePlan>),
    /// Run from these offsets.
    Run(Committed),
}

/// A task's recovery.
#[derive(Debug)]
pub struct Recovery {
    stores: Vec<StoreFacts>,
    phase: Phase,
    /// How often recovery has started over.
    rounds: u32,
}

#[derive(Debug)]
enum Phase {
    Fetching { asked: bool },
    Restoring { committed: Committed, since: Timestamp },
    LookingAgain { committed: Committed },
}

impl Recovery {
    /// Begins; the first thing to do is [`RecoveryOrder::Fetch`].
    #[must_use]
    pub const fn new(stores: Vec<StoreFacts>) -> Self {
        Self { stores, phase: Phase::Fetching { asked: false }, rounds: 0 }
    }

    /// The committed offsets came.
    pub fn fetched(&mut self, now: Timestamp, committed: Committed) -> RecoveryOrder {
        match &self.phase {
            Phase::Fetching { asked: false } if committed.is_none() => {
                self.phase = Phase::Fetching { asked: true };
                RecoveryOrder::Fetch
            }
            Phase::LookingAgain { committed: before } if before.is_same_commit(&committed) => {
                RecoveryOrder::Run(committed)
            }
            _ => {
                self.rounds += 1;
                self.restore(now, committed)
            }
        }
    }

    /// The plan was carried out; per store, P as it was read to.
    pub fn restored(&mut self, positions: &[Offset]) -> RecoveryOrder {
        let fetching = Phase::Fetching { asked: true };
        let Phase::Restoring { committed, since } = std::mem::replace(&mut self.phase, fetching) else {
            return RecoveryOrder::Fetch;
        };
        for (store, position) in self.stores.iter_mut().zip(positions) {
            store.mark = Some(Mark { commit: committed.commit(), position: *position, time: since });
            store.prepared.clear();
        }
        self.phase = Phase::LookingAgain { committed };
        RecoveryOrder::Fetch
    }

    /// How many times a plan was made: more than once when another owner committed meanwhile.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    fn restore(&mut self, now: Timestamp, committed: Committed) -> RecoveryOrder {
        let plans = self.stores.iter().map(|store| plan(store, &committed, now)).collect();
        self.phase = Phase::Restoring { committed, since: now };
        RecoveryOrder::Restore(plans)
    }
}

#[cfg(test)]
mod tests;
