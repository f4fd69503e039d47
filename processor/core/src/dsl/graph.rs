//! The graph under construction that streams and tables hold on to.

use super::names::{Kind, Names, Scheme};
use super::repartition::{Through, topic_name};
use crate::store_ref::StoreRef;
use crate::topology::{NodeKind, NodeRef, Parents, TopologyBuilder};
use crate::{Consumed, Data, OffsetReset, Produced};
use millstream_state::{StateStore, StoreBuilder};
use std::any::{Any, TypeId};
use std::cell::{RefCell, RefMut};
use std::rc::Rc;

/// What all streams and tables of a builder share.
#[derive(Clone)]
pub(super) struct Graph(Rc<RefCell<State>>);

pub(super) struct State {
    pub(super) topology: TopologyBuilder,
    pub(super) names: Names,
    require_names: bool,
    /// Stores and repartition topics whose name nobody has given, by the node that makes them.
    unnamed: Vec<(usize, Unnamed)>,
    sources: Vec<Source>,
}
/// What has been named by us.
#[derive(Debug, Clone, Copy)]
enum Unnamed {
    Store(usize),
    /// By its sink and its source.
    Repartition(usize, usize),
}
/// Topics that are read once, however many streams are made of them.
struct Source {
    topics: Vec<String>,
    offset_reset: Option<OffsetReset>,
    types: TypeId,
    node: Box<dyn Any>,
}

impl Graph {
    pub(super) fn new(scheme: Scheme, require_names: bool) -> Self {
        let (names, topology) = (Names::new(scheme), TopologyBuilder::default());
        let state = State { topology, names, require_names, unnamed: Vec::new(), sources: Vec::new() };
        Self(Rc::new(RefCell::new(state)))
    }
    pub(super) fn state(&self) -> RefMut<'_, State> {
        self.0.borrow_mut()
    }
    /// Names a node, and what it makes if that has no name; in Kafka's scheme the node alone.
    pub(super) fn rename(&self, node: usize, name: &str) {
        let mut state = self.state();
        name.clone_into(&mut state.topology.graph.nodes[node].name);
        if state.names.scheme() == Scheme::Derived {
            state.rename_made(node, name);
        }
    }
    /// The graph, with what is wrong about names.
    pub(super) fn finish(&self) -> TopologyBuilder {
        let mut state = self.state();
        if state.require_names {
            for place in 0..state.unnamed.len() {
                let problem = state.unnamed_problem(state.unnamed[place].1);
                state.topology.problem(problem);
            }
        }
        std::mem::take(&mut state.topology)
    }
}
impl State {
    pub(super) fn source<K: Data, V: Data>(&mut self, consumed: Consumed<K, V>) -> NodeRef<K, V> {
        let mut topics: Vec<String> = consumed.topics.iter().map(|topic| topic.name().to_string()).collect();
        let joined = topics.join("-");
        topics.sort_unstable();
        let (offset_reset, types) = (consumed.offset_reset, TypeId::of::<(K, V)>());
        if let Some(node) = self.known_source(&topics, types, offset_reset) {
            self.names.burn();
            return node;
        }
        let name = self.names.source(&joined, consumed.name.as_deref());
        let node = self.topology.add_source(&name, consumed);
        self.sources.push(Source { topics, offset_reset, types, node: Box::new(node) });
        node
    }
    pub(super) fn sink<K: Data, V: Data>(
        &mut self,
        anchor: &str,
        parents: impl Into<Parents<K, V>>,
        produced: Produced<K, V>,
    ) -> usize {
        let name = self.names.operator(Kind::SINK, anchor, produced.name.as_deref());
        self.topology.add_sink_node(&name, parents.into(), produced)
    }
    /// Adds the store of a node that is about to be added.
    pub(super) fn store<S: StateStore>(&mut self, store: StoreBuilder<S>, is_named: bool) -> StoreRef<S> {
        let store = self.topology.add_state_store(store);
        if !is_named {
            let node = self.next_node();
            self.unnamed.push((node, Unnamed::Store(store.index())));
        }
        store
    }
    /// A repartition topic without a name, made for this node.
    pub(super) fn repartition_made<K, V>(&mut self, node: usize, through: &Through<K, V>) {
        self.unnamed.push((node, Unnamed::Repartition(through.sink, through.source.parent().index)));
    }
    /// The place of the node that is added next.
    pub(super) fn next_node(&self) -> usize {
        self.topology.graph.nodes.len()
    }
    pub(super) fn set_partitions(&mut self, node: usize, count: usize) {
        match &mut self.topology.graph.nodes[node].kind {
            NodeKind::Source { topics, .. } => topics.iter_mut().for_each(|topic| topic.partitions = Some(count)),
            NodeKind::Sink { topic } => topic.iter_mut().for_each(|topic| topic.partitions = Some(count)),
            NodeKind::Processor => {}
        }
    }

    fn known_source<K: 'static, V: 'static>(
        &mut self,
        topics: &[String],
        types: TypeId,
        offset_reset: Option<OffsetReset>,
    ) -> Option<NodeRef<K, V>> {
        let source = self.sources.iter().find(|source| source.topics == topics && source.types == types)?;
        let node = source.node.downcast_ref().copied();
        if source.offset_reset != offset_reset {
            let topics = topics.join("`, `");
            self.topology.problem(format!("topic `{topics}`: it is read twice, with different offset resets"));
        }
        node
    }
    fn rename_made(&mut self, node: usize, name: &str) {
        let made: Vec<Unnamed> =
            self.unnamed.iter().filter(|(maker, _)| *maker == node).map(|(_, made)| *made).collect();
        self.unnamed.retain(|(maker, _)| *maker != node);
        for made in made {
            match made {
                Unnamed::Store(store) => name.clone_into(&mut self.topology.graph.stores[store].name),
                Unnamed::Repartition(sink, source) => {
                    self.rename_topic(sink, name);
                    self.rename_topic(source, name);
                }
            }
        }
    }
    fn rename_topic(&mut self, node: usize, name: &str) {
        let topics = match &mut self.topology.graph.nodes[node].kind {
            NodeKind::Source { topics, .. } => topics.first_mut(),
            NodeKind::Sink { topic } => topic.as_mut(),
            NodeKind::Processor => None,
        };
        if let Some(topic) = topics {
            topic.name = topic_name(name).into();
        }
    }
    fn unnamed_problem(&self, made: Unnamed) -> String {
        let graph = &self.topology.graph;
        let (what, name) = match made {
            Unnamed::Store(store) => ("changelog topic", format!("{}-changelog", graph.stores[store].name)),
            Unnamed::Repartition(sink, _) => ("repartition topic of node", graph.nodes[sink].name.clone()),
        };
        format!("{what} `{name}` has no name of its own: name the operator that makes it by `.named(…)`, or its store")
    }
}
