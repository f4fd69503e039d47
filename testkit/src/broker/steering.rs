//! What happens to the cluster from outside: nodes that go and come, leaders that move, topics made anew, disks that fail.

use super::{Broker, topics};
use millstream_protocol::NodeId;

impl Broker {
    /// Makes a user, of PLAIN and of SCRAM.
    pub(crate) fn add_user(&mut self, name: &str, password: &str) {
        self.security.credentials.add_user(name, password);
    }
    /// Takes a node down: others lead what it led.
    pub(crate) fn crash(&mut self, node: NodeId) {
        self.nodes.set_up(node, false);
        self.elect(|partition| partition.leader == Some(node));
    }
    /// Brings a node back: it leads what nobody leads.
    pub(crate) fn restart(&mut self, node: NodeId) {
        self.nodes.set_up(node, true);
        self.elect(|partition| partition.leader.is_none());
    }
    fn elect(&mut self, affects: impl Fn(&topics::topic::Partition) -> bool) {
        let nodes = &self.nodes;
        for topic in self.topics.all_mut() {
            for partition in topic.partitions.iter_mut().filter(|partition| affects(partition)) {
                partition.lead(partition.replicas.iter().copied().find(|id| nodes.is_up(*id)));
            }
        }
        self.wake_all_fetches();
    }
    /// Lets another node lead a partition; says whether there are such a partition and node.
    pub(crate) fn move_leader(&mut self, topic: &str, partition: i32, to: NodeId) -> bool {
        let is_node = self.nodes.is_up(to);
        let Some(partition) = self.topics.find_mut(topic).and_then(|topic| topic.partition_mut(partition)) else {
            return false;
        };
        if is_node {
            if !partition.replicas.contains(&to) {
                partition.replicas.push(to);
            }
            partition.lead(Some(to));
            self.wake_all_fetches();
        }
        is_node
    }
    /// Spoils the stored batch that holds an offset; says whether there is one.
    pub(crate) fn spoil(&mut self, topic: &str, partition: i32, offset: i64) -> bool {
        let found = self.topics.find_mut(topic).and_then(|topic| topic.partition_mut(partition));
        found.is_some_and(|partition| partition.log.spoil(offset))
    }
    /// Lets nobody lead a partition; says whether there is such a partition.
    pub(crate) fn depose(&mut self, topic: &str, partition: i32) -> bool {
        let found = self.topics.find_mut(topic).and_then(|topic| topic.partition_mut(partition));
        let is_there = found.map(|partition| partition.lead(None)).is_some();
        self.wake_all_fetches();
        is_there
    }
    /// Lets a node lead as before, in a new term; says whether there is such a partition and who leads it.
    pub(crate) fn bump_leader_epoch(&mut self, topic: &str, partition: i32) -> bool {
        let found = self.topics.find_mut(topic).and_then(|topic| topic.partition_mut(partition));
        let is_there = found.map(|partition| partition.leader_epoch += 1).is_some();
        self.wake_all_fetches();
        is_there
    }
    /// Hides a node from Metadata, or shows it again. It goes on serving.
    pub(crate) fn set_hidden(&mut self, node: NodeId, is_hidden: bool) {
        self.nodes.set_hidden(node, is_hidden);
    }
    /// Lets a node be the controller, while it is up.
    pub(crate) fn set_controller(&mut self, node: NodeId) {
        self.nodes.set_controller(node);
    }
    /// Lets a node coordinate a group or a transactional id, while it is up.
    pub(crate) fn set_coordinator(&mut self, key: &str, node: NodeId) {
        self.nodes.set_coordinator(key, node);
    }
    pub(crate) fn has_node(&self, node: NodeId) -> bool {
        self.nodes.find(node).is_some()
    }
    /// Deletes a topic and makes one of the same name, with as many partitions and the same options: empty, with another id. Says whether
    /// there was one.
    pub(crate) fn recreate_topic(&mut self, name: &str) -> bool {
        let Some(topic) = self.topics.find(name) else { return false };
        let (partitions, configs) = (topic.partitions.len(), topic.configs.clone());
        self.delete_topic(name);
        let id = self.create_topic(name, partitions);
        if let Some(topic) = self.topics.find_id_mut(id) {
            topic.configs = configs;
        }
        true
    }
}
