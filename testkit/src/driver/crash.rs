//! Crashes between the steps of a commit, and the way back from what is committed.

use super::run::Run;
use millstream_processor_core::failure::TaskError;
use millstream_processor_core::task::{TaskFreeze, TaskPosition};
use millstream_state::{CommitId, Medium};

/// A step of a commit, after which a driver can crash. Everything before [`Committed`](Self::Committed) is undone by the crash, as
/// an aborted transaction is; from there on it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CommitStep {
    /// What is finished is frozen, nothing of it is written.
    Frozen,
    /// Its changelog records are in the open transaction.
    Logged,
    /// The stores keep it as prepared.
    Prepared,
    /// The transaction is committed; the stores have not applied it.
    Committed,
    /// The stores have applied it.
    Applied,
}

impl Run {
    /// Commits what is finished up to a step, and crashes there; the task starts again from what is committed.
    pub(super) fn crash_in_commit(
        &mut self,
        step: CommitStep,
        commit: CommitId,
        freeze: TaskFreeze,
    ) -> Result<(), TaskError> {
        if step >= CommitStep::Logged {
            freeze.stores.iter().for_each(|frozen| self.write_changelog(frozen.store(), frozen.changelog()));
        }
        for frozen in freeze.stores.iter().filter(|_| step >= CommitStep::Prepared) {
            frozen.prepare(commit, &self.position()).expect("memory does not fail");
        }
        for frozen in freeze.stores.iter().filter(|_| step >= CommitStep::Applied) {
            frozen.apply(commit).expect("memory does not fail");
        }
        if step >= CommitStep::Committed {
            self.settle(freeze.positions.clone());
        } else {
            self.written.truncate(self.settled);
        }
        drop(freeze);
        self.decide(commit, step >= CommitStep::Committed);
        self.start_again()
    }
    /// What a crash left undecided in a store that survives it goes the way of its transaction.
    fn decide(&self, commit: CommitId, is_committed: bool) {
        for base in self.bases.values().filter(|base| base.prepared().iter().any(|each| each.commit == commit)) {
            let decided = if is_committed { base.apply(commit) } else { base.discard(commit) };
            decided.expect("memory does not fail");
        }
    }
    /// Up to here everything is committed.
    pub(super) fn settle(&mut self, positions: Vec<TaskPosition>) {
        self.settled = self.written.len();
        self.committed = positions;
        let committed = &self.committed;
        self.fed.retain(|fed| {
            let position = committed.iter().find(|position| position.partition == fed.partition);
            position.is_none_or(|position| position.next.is_none_or(|next| fed.next > next))
        });
    }
    /// Builds the task anew on what is committed, and gives it what it had been given beyond that.
    pub(super) fn start_again(&mut self) -> Result<(), TaskError> {
        self.task.close();
        let stores = self.topology.subtopologies().iter().flat_map(|each| each.stores());
        for store in stores.filter(|store| store.medium() == Medium::Memory) {
            self.bases.remove(store.name());
        }
        self.build(self.committed.clone())?;
        for fed in &self.fed {
            self.task.feed(&fed.partition, [fed.batch.clone()], fed.next);
        }
        self.start()
    }
}
