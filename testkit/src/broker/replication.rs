//! What the controller and the followers do: elections, in-sync replicas, and whom it wakes when a partition's state changes.

use super::Broker;
use super::configs::MIN_ISR;
use super::nodes::Nodes;
use super::timers::TimerKey;
use super::topics::PartitionKey;
use super::topics::partition::{Election, Partition};
use super::topics::topic::{InSyncRules, MinIsr, Topic};
use millstream_protocol::NodeId;
use std::time::Duration;

impl Broker {
    /// What the release and the features in force say of replicas in sync.
    pub(crate) fn in_sync_rules(&self) -> InSyncRules {
        InSyncRules {
            keeps_eligible: self.features.has_eligible_replicas(),
            is_strict: self.settings.release.is_since("3.7"),
        }
    }
    /// Something was appended, or a follower moved: lets followers fetch, and wakes whoever waits.
    pub(crate) fn replicate(&mut self, key: PartitionKey) {
        let rules = self.in_sync_rules();
        if let Some(topic) = self.topics.find_id(key.0) {
            let min_isr = topic.min_isr(rules);
            self.replicate_by(key, min_isr);
        }
    }
    fn replicate_by(&mut self, key: PartitionKey, min_isr: MinIsr) {
        let now = self.now;
        let found = self.topics.find_id_mut(key.0).and_then(|topic| topic.partition_mut(key.1));
        let Some(partition) = found else { return };
        partition.replicate(now, &self.nodes, min_isr);
        let deadline = partition.next_lag_deadline(self.settings.replica_lag_max);
        if deadline.is_some() {
            self.timers.arm(TimerKey::Replicas(key), deadline);
        }
        self.wake_partition(key);
    }
    /// Whoever waits for a partition is looked at.
    fn wake_partition(&mut self, key: PartitionKey) {
        self.wake_produces(key);
        self.wake_fetches(key);
    }
    /// A follower may have been behind for too long.
    pub(crate) fn handle_replica_time(&mut self, key: PartitionKey) {
        let (now, max, rules) = (self.now, self.settings.replica_lag_max, self.in_sync_rules());
        let Some(topic) = self.topics.find_id_mut(key.0) else { return };
        let min_isr = topic.min_isr(rules);
        if let Some(partition) = topic.partition_mut(key.1) {
            partition.expel_lagging(now, max, min_isr);
        }
        self.replicate(key);
    }
    /// Does something to every partition, then lets each go on from there. The controller does it in one step, by the minimum from before it,
    /// though one that it moves may be the partition by which that goes.
    fn change_all(&mut self, mut change: impl FnMut(&mut Partition, &Nodes, MinIsr, Election)) {
        let (mut keys, rules) = (Vec::new(), self.in_sync_rules());
        for topic in self.topics.all_mut() {
            let (min_isr, election) = (topic.min_isr(rules), topic.election());
            topic.partitions.iter_mut().for_each(|partition| change(partition, &self.nodes, min_isr, election));
            keys.extend((0..).take(topic.partitions.len()).map(|index| ((topic.id, index), min_isr)));
        }
        keys.into_iter().for_each(|(key, min_isr)| self.replicate_by(key, min_isr));
    }
    /// A node is gone: others lead what it led, if they may.
    pub(crate) fn lose_node(&mut self, node: NodeId) {
        self.change_all(|partition, nodes, min_isr, election| {
            let was_in_sync = partition.lose(node, min_isr);
            if was_in_sync || partition.leader == Some(node) {
                partition.elect(nodes, election);
            }
        });
    }
    /// A node that was killed is started: what it may lead is not what it might have led.
    pub(crate) fn distrust_node(&mut self, node: NodeId) {
        let rules = self.in_sync_rules();
        for topic in self.topics.all_mut() {
            let min_isr = topic.min_isr(rules);
            topic.partitions.iter_mut().for_each(|partition| partition.distrust(node, min_isr));
        }
    }
    /// A node is back: it follows, or leads what nobody leads, if it may.
    pub(crate) fn gain_node(&mut self) {
        self.change_all(|partition, nodes, _, election| {
            if partition.leader.is_none() {
                partition.elect(nodes, election);
            }
        });
    }
    /// Another minimum of replicas in sync is set for a topic, or for all: nobody is eligible by the one before. What waited for that many is
    /// not read until something moves, as a leader looks at its high watermark only then.
    pub(crate) fn follow_min_isr(&mut self, topic: Option<&str>) {
        let topics = self.topics.all_mut().filter(|each| topic.is_none_or(|name| *each.name == *name));
        topics.flat_map(|each| &mut each.partitions).for_each(Partition::clear_eligible);
    }
    /// Lets a follower of a partition fall behind from here on, or lets it fetch again. Says whether there is such a replica.
    pub(crate) fn hold_replica(&mut self, topic: &str, partition: i32, replica: NodeId, holds: bool) -> bool {
        self.change_replica(topic, partition, |partition, _| partition.hold(replica, holds))
    }
    /// Lets a follower that is held fetch up to an offset. Says whether there is such a replica.
    pub(crate) fn advance_replica(&mut self, topic: &str, partition: i32, replica: NodeId, until: i64) -> bool {
        self.change_replica(topic, partition, |partition, _| partition.let_fetch(replica, until))
    }
    /// Lets a follower's log begin at an offset. Says whether there is such a replica.
    pub(crate) fn set_replica_start(&mut self, topic: &str, partition: i32, replica: NodeId, start: i64) -> bool {
        self.change_replica(topic, partition, |partition, _| partition.set_start(replica, start))
    }
    /// Refuses an offset that is none of a partition's leader: a replica has what its leader has, and no more.
    pub(crate) fn check_offset(&self, topic: &str, partition: i32, offset: i64) -> Result<(), String> {
        let partition_state = self.topics.find(topic).and_then(|topic| topic.partition(partition));
        match partition_state.map(|partition| partition.log.end()) {
            Some(end) if !(0..=end).contains(&offset) => Err(format!(
                "the leader's log of {topic}-{partition} ends at {end}; name an offset of 0 to {end}, not {offset}"
            )),
            _ => Ok(()),
        }
    }
    /// Does something to a partition, lets it go on from there, and says what the change said; no where there is no such partition.
    pub(crate) fn change_replica(
        &mut self,
        topic: &str,
        index: i32,
        change: impl FnOnce(&mut Partition, &Nodes) -> bool,
    ) -> bool {
        let Some(topic) = self.topics.find_mut(topic) else { return false };
        let key = (topic.id, index);
        let changed = topic.partition_mut(index).is_some_and(|partition| change(partition, &self.nodes));
        self.replicate(key);
        changed
    }
    /// Chooses a leader among replicas that are up, whatever they have of the log. Says whether there is a leader now.
    pub(crate) fn elect_unclean(&mut self, topic: &str, index: i32) -> bool {
        self.change_replica(topic, index, |partition, nodes| {
            partition.elect(nodes, Election::Unclean);
            partition.leader.is_some()
        })
    }
    /// Lets another node lead a partition, with its own copy of the log; says whether there are such a partition and node.
    pub(crate) fn move_leader(&mut self, topic: &str, index: i32, to: NodeId) -> bool {
        self.hand_over(topic, index, to, Partition::lead)
    }
    /// The same within the present leader epoch.
    pub(crate) fn move_leader_within_epoch(&mut self, topic: &str, index: i32, to: NodeId) -> bool {
        self.hand_over(topic, index, to, Partition::lead_within_epoch)
    }
    fn hand_over(
        &mut self,
        topic: &str,
        index: i32,
        to: NodeId,
        lead: fn(&mut Partition, Option<NodeId>, &Nodes) -> bool,
    ) -> bool {
        if !self.nodes.is_up(to) {
            return false;
        }
        let adds = |partition: &mut Partition, _: &Nodes| {
            partition.add_replica(to);
            true
        };
        // Who has not been a replica fetches all there is first.
        self.change_replica(topic, index, adds)
            && self.change_replica(topic, index, |partition, nodes| {
                lead(partition, Some(to), nodes);
                true
            })
    }
}

impl Topic {
    /// `min.insync.replicas`.
    pub(crate) fn min_isr(&self, rules: InSyncRules) -> MinIsr {
        let configured = self.config(MIN_ISR).parse().unwrap_or(1);
        let first = self.partition(0).map_or(0, |partition| partition.replicas.len());
        MinIsr { configured, of_controller: configured.min(first), rules }
    }
    /// `unclean.leader.election.enable`.
    pub(crate) fn election(&self) -> Election {
        if self.config("unclean.leader.election.enable") == "true" { Election::Unclean } else { Election::Clean }
    }
}

/// Kafka's default for `replica.lag.time.max.ms`.
pub(crate) const LAG_MAX: Duration = Duration::from_secs(30);
