//! Committing: what polls brought, what is said to be finished, or what the caller names.

use super::Consumer;
use super::engine::{self, Shared};
use crate::runtime::timeout_at;
use crate::{Committer, Error, Offsets};
use millstream_client_core::group::Ack;
use millstream_protocol::TopicPartition;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a revocation waits for records that were taken and are not finished, at most.
const WAIT_FOR_FINISHED: Duration = Duration::from_secs(10);

/// How long a revocation may take. Set when it is first seen: a poll that is dropped and tried again goes on with what is left, and
/// the group does not wait longer than it would.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    ack: Ack,
    finish_by: Instant,
    commit_by: Instant,
}
impl Limits {
    /// Half of what is left for what is not finished, half of the rest for the commit.
    fn new(ack: Ack, now: Instant, left: Duration) -> Self {
        let finish_by = now + WAIT_FOR_FINISHED.min(left / 2);
        Self { ack, finish_by, commit_by: now + left / 4 * 3 }
    }
}

impl Consumer {
    /// Commits the positions: everything that polls have brought so far. With a [`committer`](Self::committer), what is finished.
    ///
    /// # Errors
    ///
    /// When the group rebalances (`is_retriable`: poll, then commit again), moved on without this member, or its coordinator
    /// does not answer in time.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the commit may or may not happen.
    pub async fn commit(&mut self) -> Result<(), Error> {
        let offsets = self.finished();
        self.commit_and_remember(offsets).await
    }
    /// Commits these.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the commit may or may not happen.
    pub async fn commit_offsets(&mut self, offsets: &Offsets) -> Result<(), Error> {
        let group = self.engine.group.clone();
        engine::commit(&self.engine.client, &self.engine.shared, group.as_ref(), offsets.clone()).await
    }
    /// A handle that commits from other tasks. From now on auto-commit commits what is said to be finished.
    #[must_use]
    pub fn committer(&self) -> Committer {
        let ledger = self.tracker.on();
        Committer::new(ledger, self.engine.client.clone(), Arc::clone(&self.engine.shared), self.engine.group.clone())
    }

    /// What the application is done with: whatever earlier polls brought, or what it said is finished.
    fn finished(&self) -> Offsets {
        let shared: &Shared = &self.engine.shared;
        match self.tracker.ledger() {
            Some(ledger) => ledger.to_commit(|id, generation| shared.fetcher().is_current(id, generation)),
            None => self.positions(),
        }
    }
    async fn commit_and_remember(&mut self, offsets: Offsets) -> Result<(), Error> {
        self.commit_offsets(&offsets).await?;
        self.committed = offsets;
        Ok(())
    }
    fn commits_itself(&self) -> bool {
        self.options.enable_auto_commit && self.engine.group.is_some()
    }
    /// Commits in passing what the polls before this one brought, if it is time (C-19).
    pub(super) fn auto_commit(&mut self) {
        let now = self.engine.shared.now();
        if !self.commits_itself() || now < self.next_auto_commit {
            return;
        }
        self.next_auto_commit = now + self.options.auto_commit_interval;
        if self.engine.shared.take_commit_failed() {
            self.committed = Offsets::new();
        }
        let finished = self.finished();
        if finished != self.committed {
            self.engine.shared.commit_in_passing(finished.clone());
            self.committed = finished;
        }
    }
    /// Commits while the partitions are still ours. A failure leaves their next owner a little more to do, no more.
    pub(super) async fn commit_before_revoking(&mut self, partitions: &[TopicPartition], ack: Ack) {
        if !self.commits_itself() {
            return;
        }
        let limits = self.limits_of(ack);
        self.wait_for_finished(partitions, limits.finish_by).await;
        let finished = self.finished();
        let runtime = Arc::clone(self.engine.client.runtime());
        match timeout_at(&*runtime, limits.commit_by, self.commit_and_remember(finished)).await {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                tracing::warn!(%error, "commit before a revocation failed; some records will be read again");
            }
            None => tracing::warn!("commit before a revocation took too long; some records will be read again"),
        }
    }
    fn limits_of(&mut self, ack: Ack) -> Limits {
        let shared = &self.engine.shared;
        let known = self.revocation.filter(|limits| limits.ack == ack);
        let limits = known.unwrap_or_else(|| {
            let now = shared.now();
            Limits::new(ack, now, shared.member().map(|member| member.rebalance_left(now)).unwrap_or_default())
        });
        *self.revocation.insert(limits)
    }
    async fn wait_for_finished(&self, partitions: &[TopicPartition], deadline: Instant) {
        let Some(ledger) = self.tracker.ledger() else { return };
        let all = async {
            while !ledger.all_finished(partitions) {
                ledger.finished.notified().await;
            }
        };
        let _ = timeout_at(&**self.engine.client.runtime(), deadline, all).await;
    }
    pub(super) async fn commit_at_end(&mut self) -> Result<(), Error> {
        if !self.commits_itself() {
            return Ok(());
        }
        let finished = self.finished();
        let done = finished == self.committed && !self.engine.shared.take_commit_failed();
        if done || finished.is_empty() {
            return Ok(());
        }
        match self.commit_and_remember(finished).await {
            // The group took the partitions already: nothing is left to commit.
            Err(error) if error.kind() == crate::ErrorKind::Rebalanced => Ok(()),
            other => other,
        }
    }
}
