//! The graph as it is built: nodes, edges and stores, without their types. What is typed lies in recipes.

use super::check;
use crate::OffsetReset;
use crate::store_ref::StoreRecipe;
use crate::task::Parts;
use millstream_protocol::TopicName;
use std::any::TypeId;
use std::sync::Arc;

/// Builds a node's instance for a task, its children already being there.
pub(crate) trait Recipe: Send + Sync {
    fn build(&self, index: usize, parts: &mut Parts<'_>);
}

#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) stores: Vec<Store>,
}
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) kind: NodeKind,
    pub(crate) parents: Vec<Parent>,
    /// The key and value that it takes, unless it is a source.
    pub(crate) input: Option<TypeId>,
    /// The key and value that it forwards, unless it is a sink.
    pub(crate) output: Option<TypeId>,
    /// The stores that it works on, by their place in the graph.
    pub(crate) stores: Vec<usize>,
    pub(crate) recipe: Arc<dyn Recipe>,
}
pub(crate) enum NodeKind {
    Source {
        topics: Vec<TopicRef>,
        offset_reset: Option<OffsetReset>,
    },
    Processor,
    /// No topic: a function of the record chooses it.
    Sink {
        topic: Option<TopicRef>,
    },
}
pub(crate) struct Store {
    pub(crate) name: String,
    pub(crate) recipe: Arc<dyn StoreRecipe>,
}

/// A parent, and which of its outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parent {
    /// The builder that made it.
    pub(crate) builder: u32,
    pub(crate) index: usize,
    pub(crate) side: Option<&'static str>,
}

/// A topic as a topology names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TopicRef {
    /// Its name; an internal topic's is without the application's id.
    pub name: TopicName,
    /// Whether it is the application's own, made by it.
    pub is_internal: bool,
    /// How many partitions it is to have, where the topology says so.
    pub partitions: Option<usize>,
}
impl TopicRef {
    pub(crate) fn new(name: impl Into<TopicName>, is_internal: bool) -> Self {
        Self { name: name.into(), is_internal, partitions: None }
    }
    /// The name on the cluster: an internal topic's begins with the application's id.
    #[must_use]
    pub fn full_name(&self, application_id: &str) -> TopicName {
        if self.is_internal { internal_name(application_id, self.name.as_str()) } else { self.name.clone() }
    }
}

/// `<application>-<name>`.
pub(crate) fn internal_name(application_id: &str, name: &str) -> TopicName {
    TopicName::from(format!("{application_id}-{name}"))
}
/// What a changelog topic's name is without the application's id.
pub(crate) fn changelog_base(store: &str) -> String {
    format!("{store}-changelog")
}

impl Graph {
    /// All that is wrong with it, a line each.
    pub(crate) fn problems(&self) -> Vec<String> {
        check::problems(self)
    }
}
