//! Sub-topologies: what is joined by edges or by stores, numbered as Kafka Streams numbers it.

use super::graph::{Graph, NodeKind, TopicRef, changelog_base};
use crate::store_ref::StoreRecipe;
use millstream_protocol::TopicName;
use millstream_state::{ChangelogOptions, Medium, StoreSpec, ValueFormat};
use std::fmt;
use std::sync::Arc;

/// Nodes that are joined by edges or by stores, and so run in one task for each partition.
///
/// They are numbered in the order in which the graph's nodes, as they were added, first belong to them: adding a source in front
/// renumbers what follows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Subtopology {
    id: u32,
    nodes: Vec<usize>,
    source_topics: Vec<TopicRef>,
    sink_topics: Vec<TopicRef>,
    stores: Vec<StoreInfo>,
}
impl Subtopology {
    /// Its number: the first half of its tasks' ids.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }
    /// The topics that it reads, in the order of its sources. Task `s_p` reads partition `p` of each that has one.
    #[must_use]
    pub fn source_topics(&self) -> &[TopicRef] {
        &self.source_topics
    }
    /// The topics that its sinks write, as far as they are named.
    #[must_use]
    pub fn sink_topics(&self) -> &[TopicRef] {
        &self.sink_topics
    }
    /// Its stores, in the order in which a task numbers them.
    #[must_use]
    pub fn stores(&self) -> &[StoreInfo] {
        &self.stores
    }
    pub(crate) fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// All nodes of a graph.
    pub(super) fn whole(graph: &Graph) -> Self {
        Self::new(0, graph, (0..graph.nodes.len()).collect())
    }
    fn new(id: u32, graph: &Graph, nodes: Vec<usize>) -> Self {
        let mut subtopology =
            Self { id, nodes, source_topics: Vec::new(), sink_topics: Vec::new(), stores: Vec::new() };
        for node in subtopology.nodes.iter().map(|index| &graph.nodes[*index]) {
            match &node.kind {
                NodeKind::Source { topics, .. } => subtopology.source_topics.extend(topics.iter().cloned()),
                NodeKind::Sink { topic: Some(topic) } if !subtopology.sink_topics.contains(topic) => {
                    subtopology.sink_topics.push(topic.clone());
                }
                NodeKind::Sink { .. } | NodeKind::Processor => {}
            }
            for &store in &node.stores {
                if !subtopology.stores.iter().any(|other| other.index == store) {
                    subtopology.stores.push(StoreInfo::new(graph, store));
                }
            }
        }
        subtopology
    }
}

/// A store of a sub-topology: each of its tasks has one.
#[derive(Clone)]
#[non_exhaustive]
pub struct StoreInfo {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) recipe: Arc<dyn StoreRecipe>,
}
impl StoreInfo {
    fn new(graph: &Graph, index: usize) -> Self {
        let store = &graph.stores[index];
        Self { index, name: store.name.clone(), recipe: Arc::clone(&store.recipe) }
    }
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
    /// How its changelog topic is made.
    #[must_use]
    pub fn changelog(&self) -> &ChangelogOptions {
        self.recipe.spec().changelog()
    }
    /// Its changelog topic, if it has one: `<application>-<store>-changelog`.
    #[must_use]
    pub fn changelog_topic(&self, application_id: &str) -> Option<TopicName> {
        (!matches!(self.changelog(), ChangelogOptions::Off))
            .then(|| super::graph::internal_name(application_id, &changelog_base(&self.name)))
    }
    /// What it was asked to be. Its name there is the one that its builder had.
    #[must_use]
    pub fn spec(&self) -> &StoreSpec {
        self.recipe.spec()
    }
    /// Where it keeps what is committed.
    #[must_use]
    pub fn medium(&self) -> Medium {
        self.recipe.spec().medium()
    }
    /// How its values look in its changelog.
    #[must_use]
    pub fn format(&self) -> ValueFormat {
        self.recipe.spec().format()
    }
}
impl fmt::Debug for StoreInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreInfo")
            .field("name", &self.name)
            .field("changelog", self.changelog())
            .finish_non_exhaustive()
    }
}

/// The graph's sub-topologies, by number.
pub(super) fn subtopologies(graph: &Graph) -> Vec<Subtopology> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let roots = roots(graph);
    let mut group_of = vec![None; graph.nodes.len()];
    for (node, &root) in roots.iter().enumerate() {
        let group = *group_of[root].get_or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(node);
    }
    (0..).zip(groups).map(|(id, nodes)| Subtopology::new(id, graph, nodes)).collect()
}

/// For each node, the one that stands for its group.
fn roots(graph: &Graph) -> Vec<usize> {
    let mut above: Vec<usize> = (0..graph.nodes.len()).collect();
    let mut store_user: Vec<Option<usize>> = vec![None; graph.stores.len()];
    for (index, node) in graph.nodes.iter().enumerate() {
        for parent in &node.parents {
            unite(&mut above, index, parent.index);
        }
        for &store in &node.stores {
            let user = *store_user[store].get_or_insert(index);
            unite(&mut above, index, user);
        }
    }
    (0..above.len()).map(|node| root(&above, node)).collect()
}
fn root(above: &[usize], mut node: usize) -> usize {
    while above[node] != node {
        node = above[node];
    }
    node
}
fn unite(above: &mut [usize], left: usize, right: usize) {
    let (left, right) = (root(above, left), root(above, right));
    above[left.max(right)] = left.min(right);
}
