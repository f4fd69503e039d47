//! Where streams begin.

use super::graph::Graph;
use super::names::Scheme;
use super::serdes::Known;
use super::stream::KStream;
use crate::{Consumed, Data, StoreRef, Topology, TopologyError};
use millstream_state::{StateStore, StoreBuilder};
use std::fmt;

/// Builds a topology from streams and tables. Its streams hold on to it, so one `&` is enough.
pub struct StreamsBuilder {
    graph: Graph,
}
impl StreamsBuilder {
    /// Starts.
    #[must_use]
    pub fn new() -> Self {
        Self::with_options(TopologyOptions::default())
    }
    /// Starts, with what changes the shape of the graph.
    #[must_use]
    pub fn with_options(options: TopologyOptions) -> Self {
        Self { graph: Graph::new(options.scheme, options.require_names) }
    }
    /// Topics as a stream of facts: `builder.stream::<String, i64>("numbers")`, `builder.stream(&orders)`.
    ///
    /// Topics that were read before, as the same types, are not read again: both streams are the same.
    pub fn stream<K: Data, V: Data>(&self, topics: impl Into<Consumed<K, V>>) -> KStream<K, V> {
        let consumed = topics.into();
        let serdes = match &consumed.topics[..] {
            [topic] => Known::from(topic.serdes().clone()),
            _ => Known::none(),
        };
        let mut state = self.graph.state();
        let node = state.source(consumed);
        let anchor = state.topology.graph.nodes[node.parent().index].name.as_str().into();
        drop(state);
        KStream { graph: self.graph.clone(), node, anchor, serdes, is_rekeyed: false }
    }
    /// A store for `process_with`.
    pub fn add_state_store<S: StateStore>(&self, store: StoreBuilder<S>) -> StoreRef<S> {
        self.graph.state().topology.add_state_store(store)
    }
    /// Checks the graph.
    ///
    /// # Errors
    /// All that is wrong with it, at once.
    pub fn build(self) -> Result<Topology, TopologyError> {
        self.graph.finish().build()
    }
}
impl Default for StreamsBuilder {
    fn default() -> Self {
        Self::new()
    }
}
impl fmt::Debug for StreamsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamsBuilder").field(&self.graph.state().topology).finish()
    }
}

/// What changes the shape of a graph, and so must be known when it is built.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct TopologyOptions {
    scheme: Scheme,
    require_names: bool,
}
impl TopologyOptions {
    /// Names what has no name exactly as Kafka Streams numbers it, to take over a JVM application's topics and state. In this scheme
    /// `.named(…)` names a node, not the store and topic behind it, as there.
    pub const fn kafka_names(mut self) -> Self {
        self.scheme = Scheme::Kafka;
        self
    }
    /// Refuses internal topics and stores without a name (KIP-1111).
    pub const fn require_names(mut self) -> Self {
        self.require_names = true;
        self
    }
}
