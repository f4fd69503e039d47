//! A graph of sources, processors and sinks.

mod builder;
mod check;
mod describe;
mod graph;
mod internal_topics;
mod java_order;
mod node;
mod partition_groups;
mod subtopology;
mod trailer_check;

pub use builder::TopologyBuilder;
pub use graph::TopicRef;
pub use internal_topics::{InternalTopic, InternalTopicKind};
pub use node::{NodeRef, Parents, SideOutput};
pub use subtopology::{StoreInfo, Subtopology};

pub(crate) use graph::{Graph, NodeKind, Parent, Recipe, Store, internal_name};

use crate::OffsetReset;
use millstream_protocol::TopicName;
use std::fmt;
use std::sync::Arc;

/// A checked graph: a recipe from which each task builds its own instance. Cloning shares it.
///
/// ```
/// use millstream_processor_core::Topology;
///
/// let mut topology = Topology::builder();
/// let lines = topology.add_source::<String, String>("lines", "lines");
/// topology.add_sink("copies", &lines, "copies");
/// let topology = topology.build().unwrap();
/// assert!(topology.describe().contains("Source: lines (topics: [lines])"));
/// ```
#[derive(Clone)]
pub struct Topology {
    graph: Arc<Graph>,
    subtopologies: Arc<[Subtopology]>,
}
impl Topology {
    /// Starts a graph.
    pub fn builder() -> TopologyBuilder {
        TopologyBuilder::default()
    }
    /// Subtopologies, nodes and stores, in the text that Kafka's tools draw.
    #[must_use]
    pub fn describe(&self) -> String {
        describe::describe(&self.graph, &self.subtopologies)
    }
    /// Its sub-topologies, by number.
    #[must_use]
    pub fn subtopologies(&self) -> &[Subtopology] {
        &self.subtopologies
    }
    /// Every topic that is read, with where to start without a committed offset (`None`: as the configuration says).
    #[must_use]
    pub fn source_topics(&self, application_id: &str) -> Vec<(TopicName, Option<OffsetReset>)> {
        let sources = self.graph.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Source { topics, offset_reset } => Some((topics, *offset_reset)),
            NodeKind::Processor | NodeKind::Sink { .. } => None,
        });
        sources
            .flat_map(|(topics, reset)| topics.iter().map(move |topic| (topic.full_name(application_id), reset)))
            .collect()
    }

    /// The same as one sub-topology, so that one task runs all of it: what a test driver does, as Kafka's. Stream time is then one
    /// for all, and records are taken by time across all topics.
    #[must_use]
    pub fn into_one(mut self) -> Self {
        self.subtopologies = [Subtopology::whole(&self.graph)].into();
        self
    }

    pub(crate) fn new(graph: Graph) -> Result<Self, TopologyError> {
        let problems = graph.problems();
        if !problems.is_empty() {
            return Err(TopologyError { problems });
        }
        let subtopologies = subtopology::subtopologies(&graph);
        let problems = trailer_check::problems(&subtopologies);
        if !problems.is_empty() {
            return Err(TopologyError { problems });
        }
        Ok(Self { graph: Arc::new(graph), subtopologies: subtopologies.into() })
    }
    pub(crate) const fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }
}
impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Topology").field(&self.describe()).finish()
    }
}

/// Why a graph cannot run: all that is wrong with it, a line each.
#[derive(Debug, thiserror::Error)]
#[error("{}", problems.join("\n"))]
pub struct TopologyError {
    problems: Vec<String>,
}
impl TopologyError {
    pub(crate) const fn new(problems: Vec<String>) -> Self {
        Self { problems }
    }
    /// All that is wrong, a sentence each.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}
