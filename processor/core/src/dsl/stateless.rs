//! One record in, some out.

use super::names::Kind;
use super::serdes::Known;
use super::stream::KStream;
use crate::{Data, ProcessorError};
use std::convert::Infallible;

/// One record in, some out.
impl<K: Data, V: Data> KStream<K, V> {
    /// Keeps some.
    pub fn filter(&self, keep: impl Fn(&K, &V) -> bool + Send + Sync + 'static) -> Self {
        self.try_filter(move |key, value| Ok::<_, Infallible>(keep(key, value)))
    }
    /// Keeps the others.
    pub fn filter_not(&self, drop: impl Fn(&K, &V) -> bool + Send + Sync + 'static) -> Self {
        self.filter(move |key, value| !drop(key, value))
    }
    /// New values under the same keys: nothing need be repartitioned.
    pub fn map_values<V2: Data>(&self, map: impl Fn(V) -> V2 + Send + Sync + 'static) -> KStream<K, V2> {
        self.map_values_with_key(move |_, value| map(value))
    }
    /// [`map_values`](Self::map_values), with a look at the key.
    pub fn map_values_with_key<V2: Data>(&self, map: impl Fn(&K, V) -> V2 + Send + Sync + 'static) -> KStream<K, V2> {
        self.try_map_values_with_key(move |key, value| Ok::<_, Infallible>(map(key, value)))
    }
    /// New keys and values: what groups or joins them repartitions.
    pub fn map<K2: Data, V2: Data>(&self, map: impl Fn(K, V) -> (K2, V2) + Send + Sync + 'static) -> KStream<K2, V2> {
        self.try_map(move |key, value| Ok::<_, Infallible>(map(key, value)))
    }
    /// New keys: what groups or joins them repartitions.
    pub fn select_key<K2: Data>(&self, key: impl Fn(&K, &V) -> K2 + Send + Sync + 'static) -> KStream<K2, V> {
        let node = self.then(Kind::SELECT_KEY, move |record, ctx| {
            let key = key(&record.key, &record.value);
            ctx.forward(record.with_key(key));
            Ok(())
        });
        self.other_key(node, self.serdes.of_value())
    }
    /// None, one or many for each.
    pub fn flat_map<K2: Data, V2: Data, I>(&self, map: impl Fn(K, V) -> I + Send + Sync + 'static) -> KStream<K2, V2>
    where
        I: IntoIterator<Item = (K2, V2)>,
    {
        let node = self.then(Kind::FLAT_MAP, move |record, ctx| {
            for (key, value) in map(record.key, record.value) {
                ctx.emit(key, value);
            }
            Ok(())
        });
        self.other_key(node, Known::none())
    }
    /// None, one or many under the same key.
    pub fn flat_map_values<V2: Data, I>(&self, map: impl Fn(V) -> I + Send + Sync + 'static) -> KStream<K, V2>
    where
        I: IntoIterator<Item = V2>,
    {
        let node = self.then(Kind::FLAT_MAP_VALUES, move |record, ctx| {
            for value in map(record.value) {
                ctx.emit(record.key.clone(), value);
            }
            Ok(())
        });
        self.same_key(node, self.serdes.of_key())
    }
    /// Looks at each and gives it on.
    pub fn peek(&self, look: impl Fn(&K, &V) + Send + Sync + 'static) -> Self {
        let node = self.then(Kind::PEEK, move |record, ctx| {
            look(&record.key, &record.value);
            ctx.forward(record);
            Ok(())
        });
        self.same_key(node, self.serdes.clone())
    }
    /// Does something with each, and ends here.
    pub fn for_each(&self, act: impl Fn(K, V) + Send + Sync + 'static) {
        self.try_for_each(move |key, value| {
            act(key, value);
            Ok::<_, Infallible>(())
        });
    }
}

/// The same, where the closure may fail.
impl<K: Data, V: Data> KStream<K, V> {
    /// As [`filter`](Self::filter).
    pub fn try_filter<E: Into<ProcessorError>>(
        &self,
        keep: impl Fn(&K, &V) -> Result<bool, E> + Send + Sync + 'static,
    ) -> Self {
        let node = self.then(Kind::FILTER, move |record, ctx| {
            if keep(&record.key, &record.value).map_err(Into::into)? {
                ctx.forward(record);
            }
            Ok(())
        });
        self.same_key(node, self.serdes.clone())
    }
    /// As [`map_values`](Self::map_values).
    pub fn try_map_values<V2: Data, E: Into<ProcessorError>>(
        &self,
        map: impl Fn(V) -> Result<V2, E> + Send + Sync + 'static,
    ) -> KStream<K, V2> {
        self.try_map_values_with_key(move |_, value| map(value))
    }
    /// As [`map`](Self::map).
    pub fn try_map<K2: Data, V2: Data, E: Into<ProcessorError>>(
        &self,
        map: impl Fn(K, V) -> Result<(K2, V2), E> + Send + Sync + 'static,
    ) -> KStream<K2, V2> {
        let node = self.then(Kind::MAP, move |record, ctx| {
            let (key, value) = map(record.key, record.value).map_err(Into::into)?;
            ctx.emit(key, value);
            Ok(())
        });
        self.other_key(node, Known::none())
    }
    /// As [`for_each`](Self::for_each).
    pub fn try_for_each<E: Into<ProcessorError>>(&self, act: impl Fn(K, V) -> Result<(), E> + Send + Sync + 'static) {
        self.then::<Infallible, Infallible>(Kind::FOR_EACH, move |record, _| {
            act(record.key, record.value).map_err(Into::into)
        });
    }

    fn try_map_values_with_key<V2: Data, E: Into<ProcessorError>>(
        &self,
        map: impl Fn(&K, V) -> Result<V2, E> + Send + Sync + 'static,
    ) -> KStream<K, V2> {
        let node = self.then(Kind::MAP_VALUES, move |record, ctx| {
            let value = map(&record.key, record.value).map_err(Into::into)?;
            ctx.emit(record.key, value);
            Ok(())
        });
        self.same_key(node, self.serdes.of_key())
    }
}
