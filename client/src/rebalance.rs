//! Rebalances are values, so that they are handled where the records are.

use crate::Records;
use crate::consumer::Shared;
use millstream_client_core::fetch::Generation;
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
    /// The life of a partition that had begun last when this was told of: what was added since is not meant.
    as_of: Generation,
}
impl Revocation {
    pub(crate) const fn new(shared: Arc<Shared>, partitions: Vec<TopicPartition>, ack: Ack, as_of: Generation) -> Self {
        Self { shared, partitions, ack, as_of }
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
        // Even if it is void by now: the membership may be lost before the driver has taken away what was. Only what was assigned anew since then
        // is not given up by this.
        self.shared.change(|fetcher| fetcher.remove_as_of(&self.partitions, self.as_of));
        self.shared.acknowledge(self.ack);
    }
}
