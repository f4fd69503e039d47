//! The serdes that go down with a stream, as far as they are known.

use crate::topic::Serdes;
use millstream_state::{DefaultSerde, Serde};
use std::sync::Arc;

/// The serdes that a stream was read with, where they still fit.
pub(super) struct Known<K, V> {
    pub(super) key: Option<Arc<dyn Serde<K>>>,
    pub(super) value: Option<Arc<dyn Serde<V>>>,
}
impl<K, V> Known<K, V> {
    pub(super) const fn none() -> Self {
        Self { key: None, value: None }
    }
    /// Of the same keys and other values.
    pub(super) fn of_key<V2>(&self) -> Known<K, V2> {
        Known { key: self.key.clone(), value: None }
    }
    /// Of other keys and the same values.
    pub(super) fn of_value<K2>(&self) -> Known<K2, V> {
        Known { key: None, value: self.value.clone() }
    }
    /// These, or the types' own.
    pub(super) fn or_default(&self) -> Serdes<K, V>
    where
        K: DefaultSerde,
        V: DefaultSerde,
    {
        Serdes {
            key: self.key.clone().unwrap_or_else(|| Arc::new(K::Serde::default())),
            value: self.value.clone().unwrap_or_else(|| Arc::new(V::Serde::default())),
        }
    }
}
impl<K, V> Clone for Known<K, V> {
    fn clone(&self) -> Self {
        Self { key: self.key.clone(), value: self.value.clone() }
    }
}
impl<K, V> From<Serdes<K, V>> for Known<K, V> {
    fn from(serdes: Serdes<K, V>) -> Self {
        Self { key: Some(serdes.key), value: Some(serdes.value) }
    }
}
