//! A stream grouped by key.

use super::aggregate::{Aggregate, Fold};
use super::names::Kind;
use super::options::Materialized;
use super::stream::KStream;
use super::table::KTable;
use crate::topic::Serdes;
use crate::{Data, NodeRef, ProcessorError};
use millstream_state::{DefaultSerde, StoreBuilder, TimestampedStore, timestamped_with};
use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// A stream grouped by key.
#[must_use]
pub struct KGroupedStream<K, V> {
    stream: KStream<K, V>,
    serdes: Serdes<K, V>,
    name: Option<String>,
    /// The repartition topic under a given name: one serves all aggregates of this grouping.
    through: Rc<RefCell<Option<NodeRef<K, V>>>>,
}
impl<K, V> fmt::Debug for KGroupedStream<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KGroupedStream").field(&self.stream).finish()
    }
}
impl<K: Data, V: Data> KGroupedStream<K, V> {
    /// How many per key.
    pub fn count(&self) -> KTable<K, i64>
    where
        K: DefaultSerde,
    {
        self.count_with(Materialized::of(self.result_serdes()))
    }
    /// As [`count`](Self::count): `count_with("counts")`.
    pub fn count_with(&self, store: impl Into<Materialized<K, i64>>) -> KTable<K, i64> {
        let store = store.into();
        if store.name.is_none() {
            // Kafka Streams once named something here, and keeps the numbers behind it as they were.
            self.stream.graph.state().names.burn();
        }
        self.fold(Kind::COUNT, Kind::AGGREGATE_STORE, store, Arc::new(|_, _, count| Ok(count.unwrap_or(0) + 1)))
    }
    /// Combines the values of a key, two by two.
    pub fn reduce(&self, combine: impl Fn(V, V) -> V + Send + Sync + 'static) -> KTable<K, V>
    where
        K: DefaultSerde,
        V: DefaultSerde,
    {
        self.reduce_with(combine, Materialized::of(self.serdes.clone()))
    }
    /// As [`reduce`](Self::reduce).
    pub fn reduce_with(
        &self,
        combine: impl Fn(V, V) -> V + Send + Sync + 'static,
        store: impl Into<Materialized<K, V>>,
    ) -> KTable<K, V> {
        let fold = move |_: &K, value: V, old: Option<V>| match old {
            Some(old) => Ok(combine(old, value)),
            None => Ok(value),
        };
        self.fold(Kind::REDUCE, Kind::REDUCE_STORE, store.into(), Arc::new(fold))
    }
    /// Folds the values of a key into one of another type, in place.
    pub fn aggregate<A: Data + DefaultSerde>(
        &self,
        init: impl Fn() -> A + Send + Sync + 'static,
        add: impl Fn(&K, V, &mut A) + Send + Sync + 'static,
    ) -> KTable<K, A>
    where
        K: DefaultSerde,
    {
        self.aggregate_with(init, add, Materialized::of(self.result_serdes()))
    }
    /// As [`aggregate`](Self::aggregate).
    pub fn aggregate_with<A: Data>(
        &self,
        init: impl Fn() -> A + Send + Sync + 'static,
        add: impl Fn(&K, V, &mut A) + Send + Sync + 'static,
        store: impl Into<Materialized<K, A>>,
    ) -> KTable<K, A> {
        let add = move |key: &K, value, aggregate: &mut A| {
            add(key, value, aggregate);
            Ok::<_, Infallible>(())
        };
        self.try_aggregate_with(init, add, store)
    }
    /// As [`aggregate`](Self::aggregate), where adding may fail.
    pub fn try_aggregate<A: Data + DefaultSerde, E: Into<ProcessorError>>(
        &self,
        init: impl Fn() -> A + Send + Sync + 'static,
        add: impl Fn(&K, V, &mut A) -> Result<(), E> + Send + Sync + 'static,
    ) -> KTable<K, A>
    where
        K: DefaultSerde,
    {
        self.try_aggregate_with(init, add, Materialized::of(self.result_serdes()))
    }
    /// As [`try_aggregate`](Self::try_aggregate).
    pub fn try_aggregate_with<A: Data, E: Into<ProcessorError>>(
        &self,
        init: impl Fn() -> A + Send + Sync + 'static,
        add: impl Fn(&K, V, &mut A) -> Result<(), E> + Send + Sync + 'static,
        store: impl Into<Materialized<K, A>>,
    ) -> KTable<K, A> {
        let fold = move |key: &K, value: V, old: Option<A>| {
            let mut aggregate = old.unwrap_or_else(&init);
            add(key, value, &mut aggregate).map_err(Into::into)?;
            Ok(aggregate)
        };
        self.fold(Kind::AGGREGATE, Kind::AGGREGATE_STORE, store.into(), Arc::new(fold))
    }
    /// Names the grouping's repartition topic.
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    pub(super) fn new(stream: KStream<K, V>, serdes: Serdes<K, V>, name: Option<String>) -> Self {
        Self { stream, serdes, name, through: Rc::default() }
    }
    fn result_serdes<A: DefaultSerde>(&self) -> Serdes<K, A> {
        Serdes { key: Arc::clone(&self.serdes.key), value: Arc::new(A::Serde::default()) }
    }
    fn fold<A: Data>(
        &self,
        kind: Kind,
        store_kind: Kind,
        store: Materialized<K, A>,
        fold: Fold<K, V, A>,
    ) -> KTable<K, A> {
        let graph = &self.stream.graph;
        let given = store.name.clone();
        let store_name = given.clone().unwrap_or_else(|| self.stream.name(store_kind));
        let name = self.stream.name(kind);
        let parent = self.parent(&store_name, given.is_some());
        let mut state = graph.state();
        let result = store.serdes.clone();
        let store = state.store(builder(&store_name, store), given.is_some());
        let grouped = self.serdes.clone();
        let serdes = result.clone();
        let node = state.topology.add_processor_with(&name, &parent, &store, move |store| Aggregate {
            store,
            fold: Arc::clone(&fold),
            grouped: grouped.clone(),
            result: serdes.clone(),
        });
        drop(state);
        KTable { graph: graph.clone(), node, anchor: Rc::clone(&self.stream.anchor), serdes: result, store }
    }
    /// Where the records of a key are in one task. What is about to be added makes the repartition topic, unless it has a name of
    /// its own and is there already.
    fn parent(&self, store_name: &str, is_store_named: bool) -> NodeRef<K, V> {
        if !self.stream.is_rekeyed {
            return self.stream.node;
        }
        let graph = &self.stream.graph;
        if let Some(source) = *self.through.borrow() {
            for _ in 0..NUMBERS_OF_A_REPARTITION {
                graph.state().names.burn();
            }
            return source;
        }
        let base = self.name.as_deref().unwrap_or(store_name);
        let is_named = self.name.is_some() || is_store_named;
        let through = self.stream.through(base, is_named, self.serdes.clone());
        if !is_named {
            let mut state = graph.state();
            let node = state.next_node();
            state.repartition_made(node, &through);
        }
        if self.name.is_some() {
            *self.through.borrow_mut() = Some(through.source);
        }
        through.source
    }
}
/// Its sink, filter and source have one each, also where they are used again.
const NUMBERS_OF_A_REPARTITION: usize = 3;

fn builder<K: Data, A: Data>(name: &str, store: Materialized<K, A>) -> StoreBuilder<TimestampedStore<K, A>> {
    let mut builder = timestamped_with(name, store.serdes.key, store.serdes.value);
    if store.in_memory {
        builder = builder.in_memory();
    }
    match store.changelog {
        Some(options) => builder.changelog(options),
        None => builder,
    }
}
