//! A task's nodes as they are put together, the last one first.

use super::edge::{Child, Children, Outputs, Shared, Side};
use crate::Data;
use crate::operator::SourceInstance;
use crate::store_ref::LiveStores;
use crate::topology::{Graph, NodeKind, Parent};
use millstream_protocol::TopicName;
use millstream_state::LayeredStore;

pub(crate) struct Parts<'t> {
    graph: &'t Graph,
    application_id: &'t str,
    layers: &'t [Option<LayeredStore>],
    outputs: Vec<Outputs>,
    pub(super) sources: Vec<Box<dyn SourceInstance>>,
}
impl<'t> Parts<'t> {
    pub(super) fn new(graph: &'t Graph, application_id: &'t str, layers: &'t [Option<LayeredStore>]) -> Self {
        let outputs = graph.nodes.iter().map(|_| Outputs::default()).collect();
        Self { graph, application_id, layers, outputs, sources: Vec::new() }
    }
    /// Builds these nodes, which are all that is joined with them, in the order of the graph.
    pub(super) fn build(&mut self, nodes: &[usize]) {
        for &node in nodes.iter().rev() {
            self.graph.nodes[node].recipe.build(node, self);
        }
        self.sources.reverse();
    }
    /// The children that were built for a node.
    pub(crate) fn outputs<K: Data, V: Data>(&mut self, node: usize) -> (Children<K, V>, Vec<Side>) {
        std::mem::take(&mut self.outputs[node]).take()
    }
    /// Hands a node to its parents.
    pub(crate) fn attach<K: Data, V: Data>(&mut self, node: usize, child: Box<dyn Child<K, V>>) {
        let graph = self.graph;
        if let [Parent { index, side, .. }] = graph.nodes[node].parents[..] {
            self.outputs[index].add(side, child);
            return;
        }
        let shared = Shared::new(child);
        for Parent { index, side, .. } in &graph.nodes[node].parents {
            self.outputs[*index].add::<K, V>(*side, Box::new(shared.clone()));
        }
    }
    pub(crate) fn add_source(&mut self, source: Box<dyn SourceInstance>) {
        self.sources.push(source);
    }
    pub(crate) const fn live_stores(&self) -> LiveStores<'t> {
        LiveStores { recipes: self.graph.stores.as_slice(), layers: self.layers }
    }
    /// The topic of a sink that is not chosen by record: the graph's word counts, since a topic may be named late.
    pub(crate) fn sink_topic(&self, node: usize) -> TopicName {
        match &self.graph.nodes[node].kind {
            NodeKind::Sink { topic: Some(topic) } => topic.full_name(self.application_id),
            _ => unreachable!("asked for by the recipe of a sink with a topic"),
        }
    }
}
