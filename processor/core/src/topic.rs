//! A topic with its types: said once, used wherever the topic is read, written or tested.

use millstream_protocol::TopicName;
use millstream_state::{DefaultSerde, Serde};
use std::fmt;
use std::sync::Arc;

/// A topic's name and how its keys and values are written. Cheap to clone.
///
/// Reads (`builder.stream(&orders)`), writes (`stream.to(&orders)`, `ctx.send(&orders, …)`) and tests (`driver.input(&orders)`)
/// take the same value, so the two ends of a topic cannot disagree.
#[must_use]
pub struct Topic<K, V> {
    name: TopicName,
    is_internal: bool,
    serdes: Serdes<K, V>,
}
impl<K: 'static, V: 'static> Topic<K, V> {
    /// A topic of types with serdes of their own.
    pub fn new(name: impl Into<TopicName>) -> Self
    where
        K: DefaultSerde,
        V: DefaultSerde,
    {
        Self::with(name, K::Serde::default(), V::Serde::default())
    }
    /// A topic with these serdes.
    pub fn with(name: impl Into<TopicName>, key: impl Serde<K>, value: impl Serde<V>) -> Self {
        Self { name: name.into(), is_internal: false, serdes: Serdes { key: Arc::new(key), value: Arc::new(value) } }
    }
}
impl<K, V> Topic<K, V> {
    /// A topic of the application's own, whose full name begins with the application's.
    pub(crate) fn internal(name: impl Into<TopicName>, serdes: Serdes<K, V>) -> Self {
        Self { name: name.into(), is_internal: true, serdes }
    }
    pub(crate) const fn shared(name: TopicName, serdes: Serdes<K, V>) -> Self {
        Self { name, is_internal: false, serdes }
    }
    /// The name.
    #[must_use]
    pub const fn name(&self) -> &TopicName {
        &self.name
    }
    /// How keys are written.
    #[must_use]
    pub fn key_serde(&self) -> &Arc<dyn Serde<K>> {
        &self.serdes.key
    }
    /// How values are written.
    #[must_use]
    pub fn value_serde(&self) -> &Arc<dyn Serde<V>> {
        &self.serdes.value
    }
    pub(crate) const fn is_internal(&self) -> bool {
        self.is_internal
    }
    pub(crate) const fn serdes(&self) -> &Serdes<K, V> {
        &self.serdes
    }
}
impl<K, V> Clone for Topic<K, V> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), is_internal: self.is_internal, serdes: self.serdes.clone() }
    }
}
impl<K, V> fmt::Debug for Topic<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Topic").field(&self.name).finish()
    }
}
impl<K: DefaultSerde, V: DefaultSerde> From<&str> for Topic<K, V> {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}
impl<K, V> From<&Self> for Topic<K, V> {
    fn from(topic: &Self) -> Self {
        topic.clone()
    }
}

/// How a key and a value are written.
pub(crate) struct Serdes<K, V> {
    pub(crate) key: Arc<dyn Serde<K>>,
    pub(crate) value: Arc<dyn Serde<V>>,
}
impl<K, V> Clone for Serdes<K, V> {
    fn clone(&self) -> Self {
        Self { key: Arc::clone(&self.key), value: Arc::clone(&self.value) }
    }
}
impl<K: DefaultSerde, V: DefaultSerde> Default for Serdes<K, V> {
    fn default() -> Self {
        Self { key: Arc::new(K::Serde::default()), value: Arc::new(V::Serde::default()) }
    }
}

/// Where a processor sends: a `&Topic<K, V>`, or a name when key and value have serdes of their own. Looking one up allocates nothing.
pub trait Destination<K, V> {
    /// The topic's name.
    fn name(&self) -> &str;
    /// Hands the serdes of key and value to `write`.
    fn with_serdes<R>(&self, write: impl FnOnce(&dyn Serde<K>, &dyn Serde<V>) -> R) -> R;
}
impl<K, V> Destination<K, V> for &Topic<K, V> {
    fn name(&self) -> &str {
        self.name.as_str()
    }
    fn with_serdes<R>(&self, write: impl FnOnce(&dyn Serde<K>, &dyn Serde<V>) -> R) -> R {
        write(&*self.serdes.key, &*self.serdes.value)
    }
}
impl<K: DefaultSerde, V: DefaultSerde> Destination<K, V> for &str {
    fn name(&self) -> &str {
        self
    }
    fn with_serdes<R>(&self, write: impl FnOnce(&dyn Serde<K>, &dyn Serde<V>) -> R) -> R {
        write(&K::Serde::default(), &V::Serde::default())
    }
}
