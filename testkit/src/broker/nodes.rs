//! The brokers of the cluster: which there are, where they listen, which are up.

use super::call::ListenerId;
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
    pub(crate) is_up: bool,
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
    /// Those that stand still: up for the others, but they neither answer nor fetch.
    paused: BTreeSet<NodeId>,
    /// Those that are forgotten, until they start again.
    gone: Vec<Node>,
}

impl Nodes {
    pub(crate) fn new(nodes: Vec<Node>) -> Self {
        Self {
            all: nodes,
            coordinators: BTreeMap::new(),
            controller: None,
            hidden: BTreeSet::new(),
            paused: BTreeSet::new(),
            gone: Vec::new(),
        }
    }
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
    pub(crate) fn up(&self) -> impl Iterator<Item = &Node> {
        self.all.iter().filter(|node| node.is_up)
    }
    pub(crate) fn all(&self) -> &[Node] {
        &self.all
    }
    pub(crate) fn find(&self, id: NodeId) -> Option<&Node> {
        self.all.iter().find(|node| node.id == id)
    }
    pub(crate) fn is_up(&self, id: NodeId) -> bool {
        self.find(id).is_some_and(|node| node.is_up)
    }
    /// A node has come, or one that was forgotten has started again.
    pub(crate) fn add(&mut self, node: Node) {
        self.all.push(node);
        self.all.sort_by_key(|node| node.id);
    }
    /// Whether there is or was such a node.
    pub(crate) fn has_met(&self, id: NodeId) -> bool {
        self.all.iter().chain(&self.gone).any(|node| node.id == id)
    }
    /// Takes a node back that was forgotten, if it was.
    pub(crate) fn register(&mut self, id: NodeId) {
        if let Some(at) = self.gone.iter().position(|node| node.id == id) {
            let node = self.gone.remove(at);
            self.add(node);
        }
    }
    pub(crate) fn set_up(&mut self, id: NodeId, is_up: bool) {
        if let Some(node) = self.all.iter_mut().find(|node| node.id == id) {
            node.is_up = is_up;
        }
    }
    /// Whether it fetches from leaders.
    pub(crate) fn replicates(&self, id: NodeId) -> bool {
        self.is_up(id) && !self.is_paused(id)
    }
    pub(crate) fn is_paused(&self, id: NodeId) -> bool {
        self.paused.contains(&id)
    }
    /// Lets a node stand still, or go on.
    pub(crate) fn set_paused(&mut self, id: NodeId, is_paused: bool) {
        let _was = if is_paused { self.paused.insert(id) } else { self.paused.remove(&id) };
    }
    /// Forgets a node that is down; says whether there was one.
    pub(crate) fn unregister(&mut self, id: NodeId) -> bool {
        let found = self.all.iter().position(|node| node.id == id && !node.is_up);
        self.gone.extend(found.map(|at| self.all.remove(at)));
        found.is_some()
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
    pub(crate) fn set_controller(&mut self, id: NodeId) {
        self.controller = Some(id);
    }
    pub(crate) fn set_coordinator(&mut self, key: &str, id: NodeId) {
        self.coordinators.insert(key.to_owned(), id);
    }
    /// The node that a test has chosen to coordinate a group or a transactional id, while it is up.
    pub(crate) fn chosen_coordinator(&self, key: &str) -> Option<&Node> {
        self.coordinators.get(key).and_then(|id| self.up().find(|node| node.id == *id))
    }
    /// Nodes that hold replicas of a topic's `index`-th partition, the preferred leader first.
    pub(crate) fn replicas(&self, seed: &str, index: usize, factor: usize) -> Vec<NodeId> {
        let start = hash(seed).wrapping_add(index);
        (0..factor.min(self.len()))
            .filter_map(|step| self.all.get(start.wrapping_add(step) % self.len()))
            .map(|node| node.id)
            .collect()
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
