//! Through a topic of the application's own, so that records of a key meet in one task.

use super::names::{Kind, Scheme};
use super::options::Repartitioned;
use super::serdes::Known;
use super::stream::KStream;
use crate::topic::{Serdes, Topic};
use crate::{Consumed, Data, NodeRef, Produced, Record, processor_fn};
use millstream_state::DefaultSerde;
use std::sync::Arc;

/// A repartition topic's name, without the application's id.
pub(super) fn topic_name(base: &str) -> String {
    format!("{base}-repartition")
}

/// Repartitioning.
impl<K: Data, V: Data> KStream<K, V> {
    /// Through a topic of the application's own, partitioned by the key. Records with a null key end here.
    pub fn repartition(&self) -> Self
    where
        K: DefaultSerde,
        V: DefaultSerde,
    {
        let serdes = self.serdes.or_default();
        self.repartition_with(Repartitioned { name: None, serdes, partitions: None })
    }
    /// As [`repartition`](Self::repartition).
    pub fn repartition_with(&self, options: Repartitioned<K, V>) -> Self {
        let Repartitioned { name: given, serdes, partitions } = options;
        let base = given.clone().unwrap_or_else(|| self.name(Kind::REPARTITION));
        let through = self.through(&base, given.is_some(), serdes.clone());
        let mut state = self.graph.state();
        if given.is_none() {
            state.repartition_made(through.source.parent().index, &through);
        }
        if let Some(count) = partitions {
            state.set_partitions(through.sink, count);
            state.set_partitions(through.source.parent().index, count);
        }
        drop(state);
        let mut stream = self.same_key(through.source, Known::from(serdes));
        stream.is_rekeyed = false;
        if let Some(name) = given {
            stream.anchor = name.into();
        }
        stream
    }
    /// Adds the topic's writer and reader, and before them a filter: a null key belongs to no partition. Kafka's names are numbers
    /// where the topic has one.
    pub(super) fn through(&self, base: &str, is_named: bool, serdes: Serdes<K, V>) -> Through<K, V> {
        let topic = Topic::internal(topic_name(base), serdes);
        let mut state = self.graph.state();
        let numbered = !is_named && state.names.scheme() == Scheme::Kafka;
        let mut name = |kind, role: &str| {
            let given = (!numbered).then(|| format!("{}-{role}", topic.name()));
            state.names.operator(kind, base, given.as_deref())
        };
        let (sink, filter, source) =
            (name(Kind::SINK, "sink"), name(Kind::FILTER, "filter"), name(Kind::SOURCE, "source"));
        let keys = Arc::clone(topic.key_serde());
        let filter = state.topology.add_processor(&filter, &self.node, move || {
            let keys = Arc::clone(&keys);
            processor_fn(move |record: Record<K, V>, ctx| {
                if !keys.is_null(&record.key) {
                    ctx.forward(record);
                }
                Ok(())
            })
        });
        let sink = state.topology.add_sink_node(&sink, (&filter).into(), Produced::to_topic(&topic));
        Through { sink, source: state.topology.add_source(&source, Consumed::from_topic(&topic)) }
    }
}
/// A repartition topic's writer and reader.
pub(super) struct Through<K, V> {
    pub(super) sink: usize,
    pub(super) source: NodeRef<K, V>,
}
