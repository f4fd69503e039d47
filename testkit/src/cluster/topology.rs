//! Nodes that go, stand still and come back; leaders, coordinators and controllers that move; topics made anew; disks that fail.

use super::TestCluster;
use super::listening::why;
use crate::broker::{ImpossibleMove, PushedLeader};
use millstream_protocol::{NodeId, Offset, TopicPartition};

impl TestCluster {
    /// Takes a broker down, without a goodbye: its connections end, its port is closed, others lead what it led.
    ///
    /// # Panics
    ///
    /// When there is no such broker.
    pub fn crash(&self, node: impl Into<NodeId>) {
        let node = node.into();
        self.nodes().crash(node);
        let crashed = self.with_broker(|broker| broker.crash(node));
        crashed.unwrap_or_else(|error| panic!("{error}"));
    }
    /// Stops a broker in order, as a signal to end does with Kafka: others lead what it led and coordinate its groups, and what it has
    /// answered by then reaches its clients before their connections end (within a second, or not at all). It stays eligible to lead
    /// (KIP-966) what nobody else can, once it is back.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # use millstream_testkit::TestCluster;
    /// let cluster = TestCluster::builder().brokers(2).topic("orders", 1).start().await;
    /// cluster.stop(1);
    /// cluster.restart(1);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no such broker, or it is paused or down.
    pub fn stop(&self, node: impl Into<NodeId>) {
        let node = self.known(node.into());
        self.try_stop(node).unwrap_or_else(|error| panic!("{error}"));
    }
    /// The same, for a broker that there is.
    pub(crate) fn try_stop(&self, node: NodeId) -> Result<(), ImpossibleMove> {
        self.with_broker(|broker| broker.stop(node))?;
        self.shared.part_from(node);
        self.nodes().stop(node);
        Ok(())
    }
    /// Brings it back, with its data, at the same address. As after a kill in Kafka, it leads what nobody leads only if it is in sync or led
    /// last: it does not count among the eligible leaders of KIP-966 any more, unless it was [stopped](Self::stop).
    ///
    /// # Panics
    ///
    /// When there is no such broker, when it is paused, or when another program has taken its port meanwhile.
    pub fn restart(&self, node: impl Into<NodeId>) {
        let node = node.into();
        self.try_restart(node).unwrap_or_else(|reason| panic!("{reason}"));
    }
    /// The same, for a broker that there is.
    pub(crate) fn try_restart(&self, node: NodeId) -> Result<(), String> {
        let listens = self.nodes().restart(node, &self.shared);
        listens.map_err(|error| format!("broker {node} cannot listen again: {}", why(&error)))?;
        self.with_broker(|broker| broker.restart(node)).map_err(|error| error.to_string())
    }
    /// Lets another broker lead, in a new leader epoch.
    ///
    /// # Panics
    ///
    /// When there is no such partition, or the broker is not up.
    pub fn move_leader(&self, partition: impl Into<TopicPartition>, to: impl Into<NodeId>) {
        let (partition, to) = (partition.into(), to.into());
        let moved =
            self.with_broker(|broker| broker.move_leader(partition.topic.as_str(), partition.partition.get(), to));
        assert!(moved, "the leader of {partition} cannot move to node {to}: one of the two is not there");
    }
    /// The same within the leader epoch that there is: clients that compare epochs are not told of the move.
    ///
    /// # Panics
    ///
    /// When there is no such partition, or the broker is not up.
    pub fn move_leader_within_epoch(&self, partition: impl Into<TopicPartition>, to: impl Into<NodeId>) {
        let (partition, to) = (partition.into(), to.into());
        let (topic, index) = (partition.topic.as_str(), partition.partition.get());
        let moved = self.with_broker(|broker| broker.move_leader_within_epoch(topic, index, to));
        assert!(moved, "the leader of {partition} cannot move to node {to}: one of the two is not there");
    }
    /// Flips a bit in the stored batch that holds this offset, as a failing disk does: its checksum is wrong from now on.
    ///
    /// # Panics
    ///
    /// When no batch holds it.
    pub fn corrupt(&self, partition: impl Into<TopicPartition>, offset: impl Into<Offset>) {
        let (partition, offset) = (partition.into(), offset.into());
        let spoilt =
            self.with_broker(|broker| broker.spoil(partition.topic.as_str(), partition.partition.get(), offset.get()));
        assert!(spoilt, "no batch of {partition} holds offset {offset}");
    }
    /// Lets nobody lead a partition, until [`move_leader`](Self::move_leader) says who does.
    ///
    /// # Panics
    ///
    /// When there is no such partition.
    pub fn depose_leader(&self, partition: impl Into<TopicPartition>) {
        let partition = partition.into();
        let done = self.with_broker(|broker| broker.depose(partition.topic.as_str(), partition.partition.get()));
        assert!(done, "there is no {partition}");
    }
    /// Lets the next Metadata answer that names a partition tell this leader and epoch of it, whatever is true. What is pushed more than
    /// once is told one after the other; [`reset`](Self::reset) forgets it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # use millstream_testkit::TestCluster;
    /// let cluster = TestCluster::builder().brokers(2).topic("orders", 1).start().await;
    /// cluster.move_leader(("orders", 0), 1);
    /// // A client that asks now is sent to node 2, which does not lead.
    /// cluster.push_leader_answer(("orders", 0), 2, 7);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no such partition, or no broker could have such an id (−1: nobody leads) or such an epoch (−1: it is not known).
    pub fn push_leader_answer(
        &self,
        partition: impl Into<TopicPartition>,
        leader: impl Into<NodeId>,
        leader_epoch: i32,
    ) {
        let (partition, leader) = (partition.into(), leader.into());
        let (topic, index) = (partition.topic.as_str(), partition.partition.get());
        let told = PushedLeader { leader, leader_epoch };
        told.check().unwrap_or_else(|reason| panic!("{reason}"));
        let done = self.with_broker(|broker| broker.push_leader_answer(topic, index, told));
        assert!(done, "there is no {partition}");
    }
    /// Begins a new leader epoch under the same leader.
    ///
    /// # Panics
    ///
    /// When there is no such partition.
    pub fn bump_leader_epoch(&self, partition: impl Into<TopicPartition>) {
        let partition = partition.into();
        let done =
            self.with_broker(|broker| broker.bump_leader_epoch(partition.topic.as_str(), partition.partition.get()));
        assert!(done, "there is no {partition}");
    }
    /// Lets a broker stand still, as under a debugger or a stop signal: connections stay open, nothing is read as a request or answered.
    /// After `broker.session.timeout.ms` (9 s) others lead what it led. A crash ends it.
    ///
    /// # Panics
    ///
    /// When there is no such broker, or it is down.
    pub fn pause(&self, node: impl Into<NodeId>) {
        let node = self.known(node.into());
        self.try_pause(node).unwrap_or_else(|error| panic!("{error}"));
    }
    /// The same, for a broker that there is.
    pub(crate) fn try_pause(&self, node: NodeId) -> Result<(), ImpossibleMove> {
        self.with_broker(|broker| broker.pause(node))
    }
    /// Lets it move on, with what came meanwhile.
    ///
    /// # Panics
    ///
    /// When there is no such broker, or it is down.
    pub fn resume(&self, node: impl Into<NodeId>) {
        let node = self.known(node.into());
        self.try_resume(node).unwrap_or_else(|error| panic!("{error}"));
    }
    /// The same, for a broker that there is.
    pub(crate) fn try_resume(&self, node: NodeId) -> Result<(), ImpossibleMove> {
        self.with_broker(|broker| broker.resume(node))
    }
    /// Leaves a broker out of what Metadata names. It goes on serving those who know it.
    ///
    /// # Panics
    ///
    /// When there is no such broker.
    pub fn hide(&self, node: impl Into<NodeId>) {
        let node = self.known(node.into());
        self.with_broker(|broker| broker.set_hidden(node, true));
    }
    /// Lets Metadata name it again.
    ///
    /// # Panics
    ///
    /// When there is no such broker.
    pub fn show(&self, node: impl Into<NodeId>) {
        let node = self.known(node.into());
        self.with_broker(|broker| broker.set_hidden(node, false));
    }
    /// Lets a broker be the controller, while it is up.
    ///
    /// # Panics
    ///
    /// When there is no such broker.
    pub fn move_controller(&self, to: impl Into<NodeId>) {
        let node = self.known(to.into());
        self.with_broker(|broker| broker.set_controller(node));
    }
    /// Lets a broker coordinate a group or a transactional id, while it is up. The others refuse it from then on.
    ///
    /// # Panics
    ///
    /// When there is no such broker.
    pub fn move_coordinator(&self, id: &str, to: impl Into<NodeId>) {
        let node = self.known(to.into());
        self.with_broker(|broker| broker.set_coordinator(id, node));
    }
    /// Deletes a topic and makes one of the same name, with as many partitions and the same options: empty, with another id.
    ///
    /// # Panics
    ///
    /// When there is no such topic.
    pub fn recreate_topic(&self, name: &str) {
        let done = self.with_broker(|broker| broker.recreate_topic(name));
        assert!(done, "there is no topic `{name}`");
    }
    /// From here on transactions that end stay prepared: no markers are written, and whoever wants the next one is told to wait.
    pub fn hold_transaction_markers(&self) {
        self.with_broker(crate::broker::Broker::hold_markers);
    }
    /// Writes the markers that were held, and lets later ones be written.
    pub fn release_transaction_markers(&self) {
        self.with_broker(crate::broker::Broker::release_markers);
    }
    pub(super) fn known(&self, node: NodeId) -> NodeId {
        assert!(self.shared.look(|broker| broker.has_node(node)), "the cluster has no node {node}");
        node
    }
}
