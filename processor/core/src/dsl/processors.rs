//! User logic in a stream.

use super::names::Kind;
use super::serdes::Known;
use super::stream::KStream;
use crate::{Data, Processor, Record, SameKey, Stores};

/// User logic.
impl<K: Data, V: Data> KStream<K, V> {
    /// A processor: keys may change, so what groups or joins them repartitions.
    pub fn process<P, K2, V2>(&self, supplier: impl Fn() -> P + Send + Sync + 'static) -> KStream<K2, V2>
    where
        P: Processor<In = Record<K, V>, Out = Record<K2, V2>>,
        K2: Data,
        V2: Data,
    {
        self.process_with((), move |()| supplier())
    }
    /// A processor with stores.
    pub fn process_with<P, S, K2, V2>(
        &self,
        stores: S,
        supplier: impl Fn(S::Live) -> P + Send + Sync + 'static,
    ) -> KStream<K2, V2>
    where
        P: Processor<In = Record<K, V>, Out = Record<K2, V2>>,
        S: Stores,
        K2: Data,
        V2: Data,
    {
        let name = self.name(Kind::PROCESS);
        let node = self.graph.state().topology.add_processor_with(&name, &self.node, stores, supplier);
        self.other_key(node, Known::none())
    }
    /// A processor that keeps the key.
    pub fn process_values<P, V2>(&self, supplier: impl Fn() -> P + Send + Sync + 'static) -> KStream<K, V2>
    where
        P: Processor<In = Record<K, V>, Out = SameKey<V2>>,
        V2: Data,
    {
        self.process_values_with((), move |()| supplier())
    }
    /// A processor with stores that keeps the key.
    pub fn process_values_with<P, S, V2>(
        &self,
        stores: S,
        supplier: impl Fn(S::Live) -> P + Send + Sync + 'static,
    ) -> KStream<K, V2>
    where
        P: Processor<In = Record<K, V>, Out = SameKey<V2>>,
        S: Stores,
        V2: Data,
    {
        let name = self.name(Kind::PROCESS_VALUES);
        let node = self.graph.state().topology.add_fixed_key_processor_with(&name, &self.node, stores, supplier);
        self.same_key(node, self.serdes.of_key())
    }
}
