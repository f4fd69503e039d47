//! What happens to the cluster from outside: nodes that go and come, leaders that move, topics made anew, disks that fail.

use super::Broker;
use super::call::{Closing, Outcome, Peer};
use super::life::{ImpossibleMove, Move, NodeState};
use super::nodes::Node;
use super::pushed::PushedLeader;
use super::timers::TimerKey;
use super::topics::TestTopic;
use millstream_protocol::api::VersionRange;
use millstream_protocol::{ApiKey, NodeId};

impl Broker {
    /// Lets an API have only these versions.
    pub(crate) fn set_api_versions(&mut self, api: ApiKey, range: VersionRange) {
        self.versions.set(api, range);
    }
    /// Makes a user, of PLAIN and of SCRAM.
    pub(crate) fn add_user(&mut self, name: &str, password: &str) {
        self.security.credentials.add_user(name, password);
    }
    /// Takes a node down: others lead what it led.
    pub(crate) fn crash(&mut self, node: NodeId) -> Result<(), ImpossibleMove> {
        if self.nodes.shift(node, Move::Crash)? {
            // A pause does not outlive the process.
            self.timers.arm(TimerKey::Session(node), None);
            self.forget_waiting_at(node);
            self.fail_over(node);
        }
        Ok(())
    }
    /// Takes a node down in order: others lead what it led, and those who wait for that are answered, before it goes.
    pub(crate) fn stop(&mut self, node: NodeId) -> Result<(), ImpossibleMove> {
        let groups = self.groups_at(node);
        if self.nodes.shift(node, Move::Stop)? {
            groups.iter().for_each(|id| self.resign_group(id));
            self.fail_over(node);
        }
        Ok(())
    }
    /// Brings a node back: it follows, or leads what nobody leads.
    pub(crate) fn restart(&mut self, node: NodeId) -> Result<(), ImpossibleMove> {
        self.change_nodes(|broker| broker.start_again(node))
    }
    fn start_again(&mut self, node: NodeId) -> Result<(), ImpossibleMove> {
        let has_kept_all = self.nodes.state(node) == NodeState::Stopped;
        if self.nodes.shift(node, Move::Restart)? {
            if !has_kept_all {
                self.distrust_node(node);
            }
            self.go_on(node);
            self.wake_all_fetches();
        }
        Ok(())
    }
    /// Lets a node stand still: it serves nothing, answers nothing and fetches nothing. When its session with the controller is over
    /// (`broker.session.timeout.ms`), others lead what it led.
    pub(crate) fn pause(&mut self, node: NodeId) -> Result<(), ImpossibleMove> {
        if self.nodes.shift(node, Move::Pause)? {
            self.timers.arm(TimerKey::Session(node), Some(self.now + self.settings.broker_session_timeout));
        }
        Ok(())
    }
    /// Lets it move on, with what came meanwhile.
    pub(crate) fn resume(&mut self, node: NodeId) -> Result<(), ImpossibleMove> {
        if self.nodes.shift(node, Move::Resume)? {
            self.timers.arm(TimerKey::Session(node), None);
            self.go_on(node);
        }
        Ok(())
    }
    /// The session of a node that stands still is over.
    pub(crate) fn handle_session_time(&mut self, node: NodeId) {
        if self.nodes.shift(node, Move::EndSession) == Ok(true) {
            self.fail_over(node);
        }
    }
    /// A node has come: it holds nothing yet.
    pub(crate) fn add_node(&mut self, node: Node) {
        let id = node.id;
        self.change_nodes(|broker| broker.nodes.add(node));
        self.go_on(id);
    }
    /// Forgets a node that is down; says whether it was known.
    pub(crate) fn forget_node(&mut self, node: NodeId) -> Result<bool, ImpossibleMove> {
        self.change_nodes(|broker| broker.nodes.shift(node, Move::Forget))
    }
    /// Lets nodes come or go: what is set for one broker alone is in force as long as there is no other.
    fn change_nodes<T>(&mut self, change: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.dynamic_configs();
        let changed = change(self);
        if self.dynamic_configs() != before {
            self.apply_dynamic_configs(&before);
        }
        changed
    }
    fn fail_over(&mut self, node: NodeId) {
        self.lose_node(node);
        self.wake_all_fetches();
    }
    fn go_on(&mut self, node: NodeId) {
        self.gain_node();
        self.let_node_go_on(node);
    }
    /// Ends a connection instead of answering it.
    pub(crate) fn end_connection(&mut self, peer: &Peer, why: Closing) {
        self.push_reply(peer.node, peer.connection, Outcome::Close(why));
    }
    /// Spoils the stored batch that holds an offset; says whether there is one.
    pub(crate) fn spoil(&mut self, topic: &str, partition: i32, offset: i64) -> bool {
        let found = self.topics.find_mut(topic).and_then(|topic| topic.partition_mut(partition));
        found.is_some_and(|partition| partition.log.spoil(offset))
    }
    /// Lets nobody lead a partition; says whether there is such a partition.
    pub(crate) fn depose(&mut self, topic: &str, partition: i32) -> bool {
        self.change_replica(topic, partition, |partition, nodes| {
            partition.lead(None, nodes);
            true
        })
    }
    /// Lets a node lead as before, in a new term; says whether there is such a partition and who leads it.
    pub(crate) fn bump_leader_epoch(&mut self, topic: &str, partition: i32) -> bool {
        self.change_replica(topic, partition, |partition, _| {
            partition.begin_leader_epoch();
            true
        })
    }
    /// Hides a node from Metadata, or shows it again. It goes on serving.
    pub(crate) fn set_hidden(&mut self, node: NodeId, is_hidden: bool) {
        self.nodes.set_hidden(node, is_hidden);
    }
    /// Lets a node be the controller, while it is up; says whether it was another one before.
    pub(crate) fn set_controller(&mut self, node: NodeId) -> bool {
        self.nodes.set_controller(node)
    }
    /// Lets a node coordinate a group or a transactional id, while it is up; says whether another one, or none, was chosen before.
    pub(crate) fn set_coordinator(&mut self, key: &str, node: NodeId) -> bool {
        self.nodes.set_coordinator(key, node)
    }
    /// Lets the next Metadata answer that names a partition tell this leader of it; says whether there is such a partition.
    pub(crate) fn push_leader_answer(&mut self, topic: &str, partition: i32, told: PushedLeader) -> bool {
        let Some(topic) = self.topics.find(topic).filter(|topic| topic.partition(partition).is_some()) else {
            return false;
        };
        self.pushed_leaders.push((topic.name.clone(), partition), told);
        true
    }
    /// The state of a node; one that nobody knows is removed.
    pub(crate) fn node_state(&self, node: NodeId) -> NodeState {
        self.nodes.state(node)
    }
    pub(crate) fn has_node(&self, node: NodeId) -> bool {
        self.nodes.has_met(node)
    }
    /// Deletes a topic and makes one of the same name, with as many partitions and replicas and the same options: empty, with another id.
    /// Says whether there was one.
    pub(crate) fn recreate_topic(&mut self, name: &str) -> bool {
        let Some(topic) = self.topics.find(name) else { return false };
        let replication_factor = topic.partitions.first().map(|first| first.replicas.len());
        let partitions = topic.partitions.len();
        let again = TestTopic { name: name.to_owned(), partitions, replication_factor, config: topic.configs.clone() };
        self.delete_topic(name);
        self.create_topic(&again);
        true
    }
}
