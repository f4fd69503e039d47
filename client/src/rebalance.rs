//! Rebalances are values, so that they are handled where the records are.

use crate::Records;
use crate::consumer::Shared;
use millstream_client_core::group::Ack;
use millstream_protocol::TopicPartition;
use std::sync::Arc;

/// What happened, in its order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Polled {
    /// Records came.
    Records(Records),
    /// Partitions are now ours.
    Assigned(Vec<TopicPartition>),
    /// Partitions are ours until the [`Revocation`] is finished: commit, then finish.
    Revoking(Revocation),
    /// Partitions are already someone else's: commits for them would fail.
    Lost(Vec<TopicPartition>),
}

/// Partitions on their way out. The group waits until it is finished or dropped, at most `max.poll.interval.ms`.
#[derive(Debug)]
#[must_use = "the group waits for `finish`"]
pub struct Revocation {
    shared: Arc<Shared>,
    partitions: Vec<TopicPartition>,
    ack: Ack,
}
impl Revocation {
    pub(crate) const fn new(shared: Arc<Shared>, partitions: Vec<TopicPartition>, ack: Ack) -> Self {
        Self { shared, partitions, ack }
    }
    /// The partitions.
    #[must_use]
    pub fn partitions(&self) -> &[TopicPartition] {
        &self.partitions
    }
    /// Gives them up.
    pub fn finish(self) {}
}
impl Drop for Revocation {
    fn drop(&mut self) {
        self.shared.change(|fetcher| fetcher.remove(&self.partitions));
        self.shared.acknowledge(self.ack);
    }
}
