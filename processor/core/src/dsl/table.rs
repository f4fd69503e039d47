//! A table of latest values.

use super::graph::Graph;
use super::names::Kind;
use super::serdes::Known;
use super::stream::KStream;
use crate::io::ProducedTo;
use crate::topic::Serdes;
use crate::{Data, NodeRef, Produced, Record, StoreRef, processor_fn};
use bytes::{Bytes, BytesMut};
use millstream_state::{Serde, SerdeContext, SerdeError, TimestampedStore};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// A table of latest values: a key has a value, or is not there.
pub struct KTable<K, V> {
    pub(super) graph: Graph,
    pub(super) node: NodeRef<K, Option<V>>,
    pub(super) anchor: Rc<str>,
    pub(super) serdes: Serdes<K, V>,
    pub(super) store: StoreRef<TimestampedStore<K, V>>,
}
impl<K, V> Clone for KTable<K, V> {
    fn clone(&self) -> Self {
        let (graph, anchor) = (self.graph.clone(), Rc::clone(&self.anchor));
        Self { graph, node: self.node, anchor, serdes: self.serdes.clone(), store: self.store }
    }
}
impl<K, V> fmt::Debug for KTable<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KTable").field(&self.node).finish()
    }
}
impl<K: Data, V: Data> KTable<K, V> {
    /// Its changes as facts; `None` is a row deleted.
    pub fn to_stream(&self) -> KStream<K, Option<V>> {
        let name = self.graph.state().names.operator(Kind::TO_STREAM, &self.anchor, None);
        let node = self.graph.state().topology.add_processor(&name, &self.node, || {
            processor_fn(|record: Record<K, Option<V>>, ctx| {
                ctx.forward(record);
                Ok(())
            })
        });
        KStream {
            graph: self.graph.clone(),
            node,
            anchor: Rc::clone(&self.anchor),
            serdes: Known::from(or_null(&self.serdes)),
            is_rekeyed: false,
        }
    }
    /// Writes its changes to a topic; a row deleted is a null.
    ///
    /// A partitioner or a topic chosen by record has no record to look at when a row is deleted: for those, write
    /// [`to_stream`](Self::to_stream).
    pub fn to(&self, topic: impl Into<Produced<K, V>>) {
        let Produced { to, serdes, partitioner, name } = topic.into();
        let (ProducedTo::Topic { name: topic, is_internal }, None) = (to, partitioner) else {
            let problem =
                "a table is written with a partitioner or to topics chosen by record: write its `to_stream()`";
            self.graph.state().topology.problem(problem.to_owned());
            return;
        };
        let to = ProducedTo::Topic { name: topic, is_internal };
        let stream = self.to_stream();
        stream.to(Produced { to, serdes: or_null(&serdes), partitioner: None, name });
    }
    /// Its store, for queries and processors.
    #[must_use]
    pub fn store(&self) -> StoreRef<TimestampedStore<K, V>> {
        self.store
    }
    /// Names the operator just before, and what it makes.
    pub fn named(mut self, name: &str) -> Self {
        self.graph.rename(self.node.parent().index, name);
        self.anchor = name.into();
        self
    }
}

fn or_null<K, V: 'static>(serdes: &Serdes<K, V>) -> Serdes<K, Option<V>> {
    Serdes { key: Arc::clone(&serdes.key), value: Arc::new(OrNull(Arc::clone(&serdes.value))) }
}
/// Null for a row that is deleted, and for what is null anyway.
struct OrNull<V>(Arc<dyn Serde<V>>);
impl<V: 'static> Serde<Option<V>> for OrNull<V> {
    fn serialize(&self, value: &Option<V>, ctx: &mut SerdeContext<'_>, out: &mut BytesMut) -> Result<(), SerdeError> {
        value.as_ref().map_or(Ok(()), |value| self.0.serialize(value, ctx, out))
    }
    fn deserialize(&self, bytes: &Bytes, ctx: &SerdeContext<'_>) -> Result<Option<V>, SerdeError> {
        self.0.deserialize(bytes, ctx).map(Some)
    }
    fn is_null(&self, value: &Option<V>) -> bool {
        value.as_ref().is_none_or(|value| self.0.is_null(value))
    }
    fn deserialize_null(&self, _ctx: &SerdeContext<'_>) -> Result<Option<V>, SerdeError> {
        Ok(None)
    }
}
