//! How the leader of a classic group shares partitions out.
//!
//! A [`PartitionAssignor`] is Java's `ConsumerPartitionAssignor`: pure decisions, no I/O. The same trait is the door for
//! assignors of one's own, such as the stream runtime's: what it needs to say about a member travels as user data.

mod cooperative_sticky;
mod range;
mod sticky;

pub use cooperative_sticky::CooperativeSticky;
pub use range::Range;

use super::{Assignment, Subscription};
use bytes::Bytes;
use millstream_protocol::{TopicName, TopicPartition};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What happens to a member's partitions while the group rebalances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum RebalanceMode {
    /// Every member gives everything up before it joins.
    Eager,
    /// Members keep what they have, give up only what the leader takes away, then join again (KIP-429).
    Cooperative,
}

/// Decides who reads what. One lives in each member; the leader's decides for all.
pub trait PartitionAssignor: Send + fmt::Debug {
    /// The protocol's name, which all members must share.
    fn name(&self) -> &str;
    /// Whether members keep their partitions while rebalancing.
    fn rebalance_mode(&self) -> RebalanceMode;
    /// What to tell the leader about this member; asked before every join.
    fn subscription_user_data(&mut self, topics: &[TopicName], owned: &BTreeSet<TopicPartition>) -> Option<Bytes> {
        let _ = (topics, owned);
        None
    }
    /// On the leader: one assignment per member, in the members' order.
    ///
    /// # Errors
    ///
    /// What makes an assignment impossible; the group joins again later.
    fn assign(&mut self, members: &[GroupMember], layout: &ClusterLayout) -> Result<Vec<Assignment>, AssignorError>;
    /// On every member: what it got, and in which generation.
    fn on_assignment(&mut self, assignment: &Assignment, generation: i32) {
        let _ = (assignment, generation);
    }
}

/// A member as its leader sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupMember {
    /// Its id, given by the coordinator.
    pub member_id: String,
    /// Its `group.instance.id`, if it is static.
    pub instance_id: Option<String>,
    /// What it wants and has.
    pub subscription: Subscription,
}
impl GroupMember {
    /// A member.
    #[must_use]
    pub fn new(member_id: impl Into<String>, instance_id: Option<String>, subscription: Subscription) -> Self {
        Self { member_id: member_id.into(), instance_id, subscription }
    }
}

/// The topics that members want, as the cluster has them: partition `n` is the n-th entry, which holds the racks of its replicas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterLayout {
    topics: BTreeMap<TopicName, Vec<BTreeSet<String>>>,
}
impl ClusterLayout {
    /// No topics.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a topic of so many partitions whose racks are not known.
    pub fn insert(&mut self, topic: impl Into<TopicName>, partitions: usize) {
        self.topics.insert(topic.into(), vec![BTreeSet::new(); partitions]);
    }
    /// Adds a topic with the racks of each partition's replicas.
    pub fn insert_with_racks(&mut self, topic: impl Into<TopicName>, racks: Vec<BTreeSet<String>>) {
        self.topics.insert(topic.into(), racks);
    }
    /// How many partitions a topic has; none when the cluster does not have it.
    #[must_use]
    pub fn partition_count(&self, topic: &str) -> Option<usize> {
        self.topics.get(topic).map(Vec::len).filter(|count| *count > 0)
    }
    /// Whether the partition exists.
    #[must_use]
    pub fn contains(&self, partition: &TopicPartition) -> bool {
        let index = usize::try_from(partition.partition.get());
        index.is_ok_and(|index| self.partition_count(partition.topic.as_str()).is_some_and(|count| index < count))
    }
    /// The topics that have partitions, by name.
    pub fn topics(&self) -> impl Iterator<Item = (&TopicName, usize)> {
        self.topics.iter().map(|(topic, racks)| (topic, racks.len())).filter(|(_, count)| *count > 0)
    }
    pub(crate) fn racks(&self, topic: &str) -> &[BTreeSet<String>] {
        self.topics.get(topic).map_or(&[], Vec::as_slice)
    }
}

/// Why no assignment could be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("assignor `{assignor}`: {problem}")]
#[non_exhaustive]
pub struct AssignorError {
    /// The assignor's name.
    pub assignor: String,
    /// What was wrong.
    pub problem: String,
}
impl AssignorError {
    /// Says why.
    #[must_use]
    pub fn new(assignor: &str, problem: impl Into<String>) -> Self {
        Self { assignor: assignor.to_owned(), problem: problem.into() }
    }
}

/// Whether racks can make a difference: some member's rack has replicas, and not every partition has them in every rack.
fn racks_matter<'a>(members: &BTreeSet<&str>, partitions: impl Iterator<Item = &'a BTreeSet<String>> + Clone) -> bool {
    let all: BTreeSet<&str> = partitions.clone().flatten().map(String::as_str).collect();
    !members.is_disjoint(&all) && !partitions.clone().all(|racks| racks.len() == all.len())
}
