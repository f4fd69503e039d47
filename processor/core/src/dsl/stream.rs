//! A stream of facts.

use super::graph::Graph;
use super::grouped::KGroupedStream;
use super::names::Kind;
use super::options::Grouped;
use super::serdes::Known;
use crate::{Data, NodeRef, ProcessorContext, ProcessorResult, Produced, Record, SideOutput, processor_fn};
use millstream_state::DefaultSerde;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// A stream of facts. Using one twice feeds both uses.
pub struct KStream<K, V> {
    pub(super) graph: Graph,
    pub(super) node: NodeRef<K, V>,
    /// The last name before this that is one.
    pub(super) anchor: Rc<str>,
    pub(super) serdes: Known<K, V>,
    /// Whether the key may be another than the one that the records were partitioned by.
    pub(super) is_rekeyed: bool,
}
impl<K, V> Clone for KStream<K, V> {
    fn clone(&self) -> Self {
        Self {
            graph: self.graph.clone(),
            node: self.node,
            anchor: Rc::clone(&self.anchor),
            serdes: self.serdes.clone(),
            is_rekeyed: self.is_rekeyed,
        }
    }
}
impl<K, V> fmt::Debug for KStream<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KStream").field(&self.node).finish()
    }
}

/// Several streams, and topics.
impl<K: Data, V: Data> KStream<K, V> {
    /// Both, in no promised order between them.
    pub fn merge(&self, other: &Self) -> Self {
        let name = self.name(Kind::MERGE);
        let parents = [&self.node, &other.node];
        let node = self.graph.state().topology.add_processor(&name, parents, || {
            processor_fn(|record: Record<K, V>, ctx| {
                ctx.forward(record);
                Ok(())
            })
        });
        Self { node, is_rekeyed: self.is_rekeyed || other.is_rekeyed, ..self.clone() }
    }
    /// Writes a topic: `stream.to("counts")`, `stream.to(&counts)`.
    pub fn to(&self, topic: impl Into<Produced<K, V>>) {
        self.graph.state().sink(&self.anchor, &self.node, topic.into());
    }
    /// Groups by the key there is.
    pub fn group_by_key(&self) -> KGroupedStream<K, V>
    where
        K: DefaultSerde,
        V: DefaultSerde,
    {
        KGroupedStream::new(self.clone(), self.serdes.or_default(), None)
    }
    /// As [`group_by_key`](Self::group_by_key).
    pub fn group_by_key_with(&self, options: Grouped<K, V>) -> KGroupedStream<K, V> {
        KGroupedStream::new(self.clone(), options.serdes, options.name)
    }
    /// Groups by another key.
    pub fn group_by<K2>(&self, key: impl Fn(&K, &V) -> K2 + Send + Sync + 'static) -> KGroupedStream<K2, V>
    where
        K2: Data + DefaultSerde,
        V: DefaultSerde,
    {
        self.select_key(key).group_by_key()
    }
    /// As [`group_by`](Self::group_by).
    pub fn group_by_with<K2: Data>(
        &self,
        key: impl Fn(&K, &V) -> K2 + Send + Sync + 'static,
        options: Grouped<K2, V>,
    ) -> KGroupedStream<K2, V> {
        let rekeyed = self.select_key(key);
        if let Some(name) = &options.name {
            self.graph.rename(rekeyed.node.parent().index, name);
        }
        rekeyed.group_by_key_with(options)
    }
}
impl<K, V> KStream<K, V> {
    /// What the processor just before sent to a side output.
    pub fn side<K2, V2>(&self, output: &SideOutput<K2, V2>) -> KStream<K2, V2> {
        KStream {
            graph: self.graph.clone(),
            node: self.node.side(output),
            anchor: Rc::clone(&self.anchor),
            serdes: Known::none(),
            is_rekeyed: true,
        }
    }
    /// Names the operator just before, and what it makes.
    pub fn named(mut self, name: &str) -> Self {
        self.graph.rename(self.node.parent().index, name);
        self.anchor = name.into();
        self
    }
}

impl<K: Data, V: Data> KStream<K, V> {
    pub(super) fn name(&self, kind: Kind) -> String {
        self.graph.state().names.operator(kind, &self.anchor, None)
    }
    /// An operator without stores.
    pub(super) fn then<K2: Data, V2: Data>(
        &self,
        kind: Kind,
        process: impl Fn(Record<K, V>, &mut ProcessorContext<'_, Record<K2, V2>>) -> ProcessorResult + Send + Sync + 'static,
    ) -> NodeRef<K2, V2> {
        let (name, process) = (self.name(kind), Arc::new(process));
        self.graph.state().topology.add_processor(&name, &self.node, move || {
            let process = Arc::clone(&process);
            processor_fn(move |record, ctx: &mut ProcessorContext<'_, Record<K2, V2>>| process(record, ctx))
        })
    }
    /// What comes of this with the same keys.
    pub(super) fn same_key<V2>(&self, node: NodeRef<K, V2>, serdes: Known<K, V2>) -> KStream<K, V2> {
        let (graph, anchor) = (self.graph.clone(), Rc::clone(&self.anchor));
        KStream { graph, node, anchor, serdes, is_rekeyed: self.is_rekeyed }
    }
    /// What comes of this with other keys.
    pub(super) fn other_key<K2, V2>(&self, node: NodeRef<K2, V2>, serdes: Known<K2, V2>) -> KStream<K2, V2> {
        KStream { graph: self.graph.clone(), node, anchor: Rc::clone(&self.anchor), serdes, is_rekeyed: true }
    }
}
