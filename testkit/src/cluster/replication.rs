//! What a test does to replicas and their logs.

use super::TestCluster;
use millstream_protocol::{NodeId, Offset, TopicPartition};

impl TestCluster {
    /// Lets a follower fall behind: it fetches nothing from here on. After `replica.lag.time.max.ms` (30 s) it is out of the in-sync
    /// replicas; until then `acks=all` waits for it.
    ///
    /// # Panics
    ///
    /// When the broker has no replica of the partition.
    pub fn hold_follower(&self, partition: impl Into<TopicPartition>, node: impl Into<NodeId>) {
        self.hold(&partition.into(), node.into(), true);
    }
    /// Lets a follower that was held fetch again: it has all at once.
    ///
    /// # Panics
    ///
    /// When the broker has no replica of the partition.
    pub fn release_follower(&self, partition: impl Into<TopicPartition>, node: impl Into<NodeId>) {
        self.hold(&partition.into(), node.into(), false);
    }
    fn hold(&self, partition: &TopicPartition, node: NodeId, holds: bool) {
        let (topic, index) = (partition.topic.as_str(), partition.partition.get());
        let is_there = self.with_broker(|broker| broker.hold_replica(topic, index, node, holds));
        assert!(is_there, "node {node} has no replica of {partition}");
    }
    /// Lets a follower that is held fetch up to an offset.
    ///
    /// # Panics
    ///
    /// When the broker has no replica of the partition, or its leader has nothing up to there.
    pub fn advance_follower(
        &self,
        partition: impl Into<TopicPartition>,
        node: impl Into<NodeId>,
        until: impl Into<Offset>,
    ) {
        let (partition, node, until) = (partition.into(), node.into(), until.into());
        let (topic, index) = (partition.topic.as_str(), partition.partition.get());
        let is_of_log = self.shared.look(|broker| broker.check_offset(topic, index, until.get()));
        is_of_log.unwrap_or_else(|reason| panic!("{reason}"));
        let is_there = self.with_broker(|broker| broker.advance_replica(topic, index, node, until.get()));
        assert!(is_there, "node {node} has no replica of {partition}");
    }
    /// Lets a follower's log begin at an offset: below it, readers that were sent to it are told that the offset is out of range. It begins
    /// no lower than its leader's.
    ///
    /// # Panics
    ///
    /// When it has no replica of the partition, or the leader's log ends below.
    pub fn set_follower_start(
        &self,
        partition: impl Into<TopicPartition>,
        node: impl Into<NodeId>,
        start: impl Into<Offset>,
    ) {
        let (partition, node, start) = (partition.into(), node.into(), start.into());
        let (topic, index) = (partition.topic.as_str(), partition.partition.get());
        let is_of_log = self.shared.look(|broker| broker.check_offset(topic, index, start.get()));
        is_of_log.unwrap_or_else(|reason| panic!("{reason}"));
        let is_there = self.with_broker(|broker| broker.set_replica_start(topic, index, node, start.get()));
        assert!(is_there, "node {node} has no replica of {partition}");
    }
    /// Compacts a topic now, as if every segment were full: what Kafka's cleaner would leave below the last stable offset.
    ///
    /// # Panics
    ///
    /// When there is no such topic.
    pub fn compact(&self, topic: &str) {
        assert!(self.with_broker(|broker| broker.compact(topic)), "there is no topic `{topic}`");
    }
    /// Deletes what topics keep no longer (`retention.ms`, `retention.bytes`), which else happens every `log.retention.check.interval.ms`.
    pub fn apply_retention(&self) {
        self.with_broker(crate::broker::Broker::apply_retention);
    }
    /// Lets any replica that is up lead a partition that has no leader, whatever it lacks: what it never had is lost.
    ///
    /// # Panics
    ///
    /// When no replica of the partition is up.
    pub fn elect_unclean(&self, partition: impl Into<TopicPartition>) {
        let partition = partition.into();
        let (topic, index) = (partition.topic.as_str(), partition.partition.get());
        assert!(self.with_broker(|broker| broker.elect_unclean(topic, index)), "no replica of {partition} is up");
    }
}
