//! Builds a graph node by node.

use super::graph::{Graph, Node, NodeKind, Parent, Recipe, Store, TopicRef};
use super::{NodeRef, Parents, Topology, TopologyError};
use crate::io::ProducedTo;
use crate::operator::{FixedKeyRecipe, ProcessorRecipe, SinkRecipe, SourceRecipe};
use crate::store_ref::{BuilderRecipe, StoreRef, Stores};
use crate::{Consumed, Data, Processor, Produced, Record, SameKey};
use millstream_state::{StateStore, StoreBuilder};
use std::any::TypeId;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Builds a graph node by node, typed: a child takes what its parent forwards.
///
/// Nothing fails midway: what is wrong comes out of [`build`](Self::build), all at once.
#[must_use]
pub struct TopologyBuilder {
    id: u32,
    pub(crate) graph: Graph,
    problems: Vec<String>,
}
/// Tells the handles of one builder from those of another.
static NEXT_ID: AtomicU32 = AtomicU32::new(0);

impl TopologyBuilder {
    /// Reads topics.
    pub fn add_source<K: Data, V: Data>(&mut self, name: &str, topics: impl Into<Consumed<K, V>>) -> NodeRef<K, V> {
        let consumed = topics.into();
        let topics = consumed.topics.iter().map(|topic| TopicRef::new(topic.name(), topic.is_internal())).collect();
        let kind = NodeKind::Source { topics, offset_reset: consumed.offset_reset };
        let recipe = Arc::new(SourceRecipe::from(consumed));
        self.add(Node {
            name: name.to_owned(),
            kind,
            parents: Vec::new(),
            input: None,
            output: Some(TypeId::of::<(K, V)>()),
            stores: Vec::new(),
            recipe,
        })
    }
    /// Adds user logic.
    pub fn add_processor<P, KI, VI, KO, VO>(
        &mut self,
        name: &str,
        parents: impl Into<Parents<KI, VI>>,
        supplier: impl Fn() -> P + Send + Sync + 'static,
    ) -> NodeRef<KO, VO>
    where
        P: Processor<In = Record<KI, VI>, Out = Record<KO, VO>>,
        KI: Data,
        VI: Data,
        KO: Data,
        VO: Data,
    {
        self.add_processor_with(name, parents, (), move |()| supplier())
    }
    /// Adds user logic with stores: each task's supplier call is given that task's.
    pub fn add_processor_with<P, S, KI, VI, KO, VO>(
        &mut self,
        name: &str,
        parents: impl Into<Parents<KI, VI>>,
        stores: S,
        supplier: impl Fn(S::Live) -> P + Send + Sync + 'static,
    ) -> NodeRef<KO, VO>
    where
        P: Processor<In = Record<KI, VI>, Out = Record<KO, VO>>,
        S: Stores,
        KI: Data,
        VI: Data,
        KO: Data,
        VO: Data,
    {
        let (stores, open) = self.stores(name, stores);
        let recipe = ProcessorRecipe::new(move |live| supplier(open(live)));
        self.add_inner(name, parents.into(), stores, Arc::new(recipe))
    }
    /// Adds user logic that keeps the key: see [`SameKey`].
    pub fn add_fixed_key_processor<P, K, VI, VO>(
        &mut self,
        name: &str,
        parents: impl Into<Parents<K, VI>>,
        supplier: impl Fn() -> P + Send + Sync + 'static,
    ) -> NodeRef<K, VO>
    where
        P: Processor<In = Record<K, VI>, Out = SameKey<VO>>,
        K: Data,
        VI: Data,
        VO: Data,
    {
        self.add_fixed_key_processor_with(name, parents, (), move |()| supplier())
    }
    /// Adds user logic that keeps the key, with stores.
    pub fn add_fixed_key_processor_with<P, S, K, VI, VO>(
        &mut self,
        name: &str,
        parents: impl Into<Parents<K, VI>>,
        stores: S,
        supplier: impl Fn(S::Live) -> P + Send + Sync + 'static,
    ) -> NodeRef<K, VO>
    where
        P: Processor<In = Record<K, VI>, Out = SameKey<VO>>,
        S: Stores,
        K: Data,
        VI: Data,
        VO: Data,
    {
        let (stores, open) = self.stores(name, stores);
        let recipe = FixedKeyRecipe::new(move |live| supplier(open(live)));
        self.add_inner(name, parents.into(), stores, Arc::new(recipe))
    }
    /// Writes a topic.
    pub fn add_sink<K: Data, V: Data>(
        &mut self,
        name: &str,
        parents: impl Into<Parents<K, V>>,
        topic: impl Into<Produced<K, V>>,
    ) {
        self.add_sink_node(name, parents.into(), topic.into());
    }
    /// Adds a store.
    pub fn add_state_store<S: StateStore>(&mut self, store: StoreBuilder<S>) -> StoreRef<S> {
        let index = self.graph.stores.len();
        self.graph
            .stores
            .push(Store { name: store.spec().name().to_owned(), recipe: Arc::new(BuilderRecipe::new(store)) });
        StoreRef::new(self.id, index)
    }
    /// Checks the graph.
    ///
    /// # Errors
    /// All that is wrong with it, at once.
    pub fn build(mut self) -> Result<Topology, TopologyError> {
        if self.problems.is_empty() {
            return Topology::new(self.graph);
        }
        self.problems.extend(self.graph.problems());
        Err(TopologyError::new(self.problems))
    }

    pub(crate) fn add_sink_node<K: Data, V: Data>(
        &mut self,
        name: &str,
        parents: Parents<K, V>,
        produced: Produced<K, V>,
    ) -> usize {
        let topic = match &produced.to {
            ProducedTo::Topic { name, is_internal } => Some(TopicRef::new(name, *is_internal)),
            ProducedTo::Chosen(_) => None,
        };
        let index = self.graph.nodes.len();
        self.add::<(), ()>(Node {
            name: name.to_owned(),
            kind: NodeKind::Sink { topic },
            parents: parents.list,
            input: Some(TypeId::of::<(K, V)>()),
            output: None,
            stores: Vec::new(),
            recipe: Arc::new(SinkRecipe::from(produced)),
        });
        index
    }
    pub(crate) fn problem(&mut self, problem: String) {
        self.problems.push(problem);
    }
    fn add_inner<KI: Data, VI: Data, KO: Data, VO: Data>(
        &mut self,
        name: &str,
        parents: Parents<KI, VI>,
        stores: Vec<usize>,
        recipe: Arc<dyn Recipe>,
    ) -> NodeRef<KO, VO> {
        self.add(Node {
            name: name.to_owned(),
            kind: NodeKind::Processor,
            parents: parents.list,
            input: Some(TypeId::of::<(KI, VI)>()),
            output: Some(TypeId::of::<(KO, VO)>()),
            stores,
            recipe,
        })
    }
    fn add<K, V>(&mut self, mut node: Node) -> NodeRef<K, V> {
        let foreign = node.parents.iter().any(|parent| parent.builder != self.id);
        if foreign {
            self.problems.push(format!("node `{}`: a parent is not of this topology", node.name));
            node.parents.retain(|parent| parent.builder == self.id);
        }
        let index = self.graph.nodes.len();
        self.graph.nodes.push(node);
        NodeRef::new(Parent { builder: self.id, index, side: None })
    }
    /// The stores' places in the graph, and how a task opens them.
    fn stores<S: Stores>(&mut self, node: &str, stores: S) -> (Vec<usize>, crate::store_ref::Open<S::Live>) {
        let mut keys = Vec::new();
        stores.keys(&mut keys);
        if keys.iter().any(|key| key.builder != self.id) {
            self.problems.push(format!("node `{node}`: a store is not of this topology"));
            keys.retain(|key| key.builder == self.id);
        }
        let mut indexes: Vec<usize> = keys.into_iter().map(|key| key.index).collect();
        indexes.sort_unstable();
        indexes.dedup();
        (indexes, stores.open())
    }
}
impl Default for TopologyBuilder {
    fn default() -> Self {
        Self { id: NEXT_ID.fetch_add(1, Ordering::Relaxed), graph: Graph::default(), problems: Vec::new() }
    }
}
impl fmt::Debug for TopologyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.graph.nodes.iter().map(|node| &node.name)).finish()
    }
}
