//! The brokers of the cluster: which there are, where they listen, which are up.

use super::call::ListenerId;
use super::life::{ImpossibleMove, Move, NodeState};
use millstream_protocol::NodeId;
use millstream_protocol::messages::StrBytes;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::Hasher;

/// One broker.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) id: NodeId,
    /// Where it listens, by listener.
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) state: NodeState,
    /// `broker.rack`.
    pub(crate) rack: Option<StrBytes>,
}

/// An address as clients are told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) host: StrBytes,
    pub(crate) port: u16,
}

impl fmt::Display for Endpoint {
    /// As in `bootstrap.servers`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = (self.host.as_str(), self.port);
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl Node {
    /// Whether the controller takes it for alive.
    pub(crate) fn is_up(&self) -> bool {
        self.state.is_up()
    }
    /// The host that clients of a listener are told.
    pub(crate) fn host(&self, listener: ListenerId) -> StrBytes {
        self.endpoints.get(listener.0).map(|endpoint| endpoint.host.clone()).unwrap_or_default()
    }
    /// The port that clients of a listener are told.
    pub(crate) fn port(&self, listener: ListenerId) -> i32 {
        self.endpoints.get(listener.0).map_or(-1, |endpoint| i32::from(endpoint.port))
    }
}

/// All brokers, by id.
#[derive(Debug, Clone)]
pub(crate) struct Nodes {
    all: Vec<Node>,
    /// Coordinators that a test has chosen.
    coordinators: BTreeMap<String, NodeId>,
    /// The controller that a test has chosen.
    controller: Option<NodeId>,
    /// Those that serve, but that Metadata does not name.
    hidden: BTreeSet<NodeId>,
    /// Those that are forgotten, until they start again.
    gone: Vec<Node>,
}

impl Nodes {
    pub(crate) fn new(nodes: Vec<Node>) -> Self {
        Self { all: nodes, coordinators: BTreeMap::new(), controller: None, hidden: BTreeSet::new(), gone: Vec::new() }
    }
    pub(crate) fn up(&self) -> impl Iterator<Item = &Node> {
        self.all.iter().filter(|node| node.is_up())
    }
    pub(crate) fn all(&self) -> &[Node] {
        &self.all
    }
    pub(crate) fn find(&self, id: NodeId) -> Option<&Node> {
        self.all.iter().find(|node| node.id == id)
    }
    pub(crate) fn is_up(&self, id: NodeId) -> bool {
        self.find(id).is_some_and(Node::is_up)
    }
    /// A node has come.
    pub(crate) fn add(&mut self, node: Node) {
        self.all.push(node);
        self.all.sort_by_key(|node| node.id);
    }
    /// Whether there is or was such a node.
    pub(crate) fn has_met(&self, id: NodeId) -> bool {
        self.all.iter().chain(&self.gone).any(|node| node.id == id)
    }
    /// The state of a node; one that nobody knows is removed.
    pub(crate) fn state(&self, id: NodeId) -> NodeState {
        self.find(id).map_or(NodeState::Removed, |node| node.state)
    }
    /// Something happens to a node: says whether that changes its state.
    pub(crate) fn shift(&mut self, id: NodeId, happens: Move) -> Result<bool, ImpossibleMove> {
        let from = self.state(id);
        let to = from.after(happens, id)?;
        if from == to {
            return Ok(false);
        }
        let Some(mut node) = self.take(id) else { return Ok(false) };
        node.state = to;
        let place = if to == NodeState::Removed { &mut self.gone } else { &mut self.all };
        place.push(node);
        place.sort_by_key(|node| node.id);
        Ok(true)
    }
    fn take(&mut self, id: NodeId) -> Option<Node> {
        let of = |nodes: &[Node]| nodes.iter().position(|node| node.id == id);
        match (of(&self.all), of(&self.gone)) {
            (Some(at), _) => Some(self.all.remove(at)),
            (None, at) => at.map(|at| self.gone.remove(at)),
        }
    }
    /// Whether it fetches from leaders.
    pub(crate) fn replicates(&self, id: NodeId) -> bool {
        self.state(id) == NodeState::Running
    }
    /// Whether it neither answers nor fetches.
    pub(crate) fn stands_still(&self, id: NodeId) -> bool {
        self.state(id).stands_still()
    }
    /// Those that Metadata names.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &Node> {
        self.up().filter(|node| !self.hidden.contains(&node.id))
    }
    #[cfg(feature = "server")]
    pub(crate) fn is_hidden(&self, id: NodeId) -> bool {
        self.hidden.contains(&id)
    }
    pub(crate) fn set_hidden(&mut self, id: NodeId, is_hidden: bool) {
        let _was = if is_hidden { self.hidden.insert(id) } else { self.hidden.remove(&id) };
    }
    /// The one that was chosen, or the first that is up.
    pub(crate) fn controller(&self) -> Option<&Node> {
        let chosen = self.controller.and_then(|id| self.up().find(|node| node.id == id));
        chosen.or_else(|| self.up().next())
    }
    /// Says whether it was another one before.
    pub(crate) fn set_controller(&mut self, id: NodeId) -> bool {
        let id_of = |controller: Option<&Node>| controller.map(|node| node.id);
        let before = id_of(self.controller());
        self.controller = Some(id);
        before != id_of(self.controller())
    }
    /// Says whether another one, or none, was chosen before.
    pub(crate) fn set_coordinator(&mut self, key: &str, id: NodeId) -> bool {
        self.coordinators.insert(key.to_owned(), id) != Some(id)
    }
    /// The node that a test has chosen to coordinate a group or a transactional id, while it is up.
    pub(crate) fn chosen_coordinator(&self, key: &str) -> Option<&Node> {
        self.coordinators.get(key).and_then(|id| self.up().find(|node| node.id == *id))
    }
    /// Nodes that hold replicas of a topic's `index`-th partition, the preferred leader first. As Kafka's placer has it, those that are
    /// down come last.
    pub(crate) fn replicas(&self, seed: &str, index: usize, factor: usize) -> Vec<NodeId> {
        let start = hash(seed).wrapping_add(index);
        let of = |is_up: bool| {
            let nodes: Vec<NodeId> = self.all.iter().filter(|node| node.is_up() == is_up).map(|node| node.id).collect();
            let first = start.checked_rem(nodes.len()).unwrap_or(0);
            let last = nodes[..first].to_vec();
            nodes.into_iter().skip(first).chain(last)
        };
        of(true).chain(of(false)).take(factor).collect()
    }
}

// FNV-1a: the same in every run, so that a test's layout does not change between runs.
fn hash(key: &str) -> usize {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    hasher.write(key.as_bytes());
    usize::try_from(hasher.finish() >> 33).unwrap_or(0)
}
struct Fnv(u64);
impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    fn finish(&self) -> u64 {
        self.0
    }
}
