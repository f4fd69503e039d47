//! How to write topics.

use crate::topic::Serdes;
use crate::{Record, RecordMetadata, Topic};
use millstream_protocol::{PartitionId, TopicName};
use millstream_state::DefaultSerde;
use std::fmt;
use std::sync::Arc;

/// Chooses a record's topic.
pub(crate) type TopicChooser<K, V> = Arc<dyn Fn(&Record<K, V>, Option<RecordMetadata<'_>>) -> TopicName + Send + Sync>;
/// Chooses a record's partitions, of this many.
pub(crate) type Partitioner<K, V> = Arc<dyn Fn(&Record<K, V>, usize) -> Partitions + Send + Sync>;

/// How to write: to a name, a [`Topic`], or by a function of the record.
#[must_use]
pub struct Produced<K, V> {
    pub(crate) to: ProducedTo<K, V>,
    pub(crate) serdes: Serdes<K, V>,
    pub(crate) partitioner: Option<Partitioner<K, V>>,
    pub(crate) name: Option<String>,
}
/// The topic of a sink.
pub(crate) enum ProducedTo<K, V> {
    Topic { name: TopicName, is_internal: bool },
    Chosen(TopicChooser<K, V>),
}
impl<K, V> Produced<K, V> {
    /// Writes this topic.
    pub fn to_topic(topic: impl Into<Topic<K, V>>) -> Self {
        let topic = topic.into();
        let to = ProducedTo::Topic { name: topic.name().clone(), is_internal: topic.is_internal() };
        Self { to, serdes: topic.serdes().clone(), partitioner: None, name: None }
    }
    /// Writes the topic that `choose` names, by the serdes of `like`. The topics must exist.
    pub fn to_chosen_topic<F>(like: impl Into<Topic<K, V>>, choose: F) -> Self
    where
        F: Fn(&Record<K, V>, Option<RecordMetadata<'_>>) -> TopicName + Send + Sync + 'static,
    {
        let serdes = like.into().serdes().clone();
        Self { to: ProducedTo::Chosen(Arc::new(choose)), serdes, partitioner: None, name: None }
    }
    /// Chooses the partitions: several copy the record, none drops it. Default: Kafka's, by the key's bytes.
    pub fn partitioner<F>(mut self, choose: F) -> Self
    where
        F: Fn(&Record<K, V>, usize) -> Partitions + Send + Sync + 'static,
    {
        self.partitioner = Some(Arc::new(choose));
        self
    }
    /// Names the node.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }
    /// The topic, unless it is chosen for each record.
    #[must_use]
    pub fn topic(&self) -> Option<Topic<K, V>> {
        match &self.to {
            ProducedTo::Topic { name, is_internal: true } => Some(Topic::internal(name, self.serdes.clone())),
            ProducedTo::Topic { name, is_internal: false } => Some(Topic::shared(name.clone(), self.serdes.clone())),
            ProducedTo::Chosen(_) => None,
        }
    }
}
impl<K, V> fmt::Debug for Produced<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let topic = match &self.to {
            ProducedTo::Topic { name, .. } => Some(name),
            ProducedTo::Chosen(_) => None,
        };
        f.debug_struct("Produced").field("topic", &topic).field("name", &self.name).finish_non_exhaustive()
    }
}
impl<K: DefaultSerde, V: DefaultSerde> From<&str> for Produced<K, V> {
    fn from(topic: &str) -> Self {
        Self::to_topic(topic)
    }
}
impl<K, V> From<&Topic<K, V>> for Produced<K, V> {
    fn from(topic: &Topic<K, V>) -> Self {
        Self::to_topic(topic)
    }
}
impl<K, V> From<Topic<K, V>> for Produced<K, V> {
    fn from(topic: Topic<K, V>) -> Self {
        Self::to_topic(topic)
    }
}

/// Where a record goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Partitions {
    /// Where the default partitioner says.
    Default,
    /// There.
    One(PartitionId),
    /// To each of these (KIP-873).
    Many(Vec<PartitionId>),
    /// Nowhere; counted as dropped.
    Drop,
}
