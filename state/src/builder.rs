//! What a store is to be. The functions here start one; `_with` forms take serdes, the others take the types' own.

use crate::store::{KeyValueStore, ReadOnlyKeyValueStore, Reads, StateStore, TimestampedStore};
use crate::{DefaultSerde, LayeredStore, OrderedStore, Serde};
use millstream_protocol::TopicName;
use std::fmt;
use std::sync::Arc;

/// Where a store keeps what is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Medium {
    /// In memory: it is restored from its changelog when its task comes.
    Memory,
    /// In memory, journaled to files: a restart reads only what it has missed.
    Journaled,
}

/// A changelog topic.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangelogOptions {
    /// None: what it holds does not follow its task to another process, and in memory ends with this one.
    Off,
    /// With these topic options, by Kafka's keys, over the defaults.
    On(Vec<(String, String)>),
}

/// How a store's values look in its changelog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueFormat {
    /// The same bytes.
    Plain,
    /// The store has the time (8 bytes, big-endian milliseconds) before the value; the changelog has the value, and the time as its
    /// record's timestamp. Kafka Streams' form.
    Timestamped,
}

/// What a store is to be, without the types of its keys and values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSpec {
    name: Arc<str>,
    medium: Medium,
    format: ValueFormat,
    changelog: ChangelogOptions,
}
impl StoreSpec {
    /// The store's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Where it keeps what is committed.
    #[must_use]
    pub const fn medium(&self) -> Medium {
        self.medium
    }
    /// How its values look in its changelog.
    #[must_use]
    pub const fn format(&self) -> ValueFormat {
        self.format
    }
    /// Its changelog topic.
    #[must_use]
    pub const fn changelog(&self) -> &ChangelogOptions {
        &self.changelog
    }
}

/// Options of a store.
///
/// ```
/// use millstream_state::{ChangelogOptions, KeyValueStore, Medium, StoreBuilder, key_value};
/// let sums: StoreBuilder<KeyValueStore<String, i64>> = key_value("sums").in_memory();
/// assert_eq!((sums.spec().name(), sums.spec().medium()), ("sums", Medium::Memory));
/// ```
#[must_use]
pub struct StoreBuilder<S: StateStore> {
    spec: StoreSpec,
    open: Arc<dyn Fn(Reads) -> S::ReadOnly + Send + Sync>,
    live: fn(S::ReadOnly, LayeredStore) -> S,
}
impl<S: StateStore> StoreBuilder<S> {
    /// Keeps it in memory only; it is restored from its changelog. Default: memory, journaled to files.
    pub fn in_memory(mut self) -> Self {
        self.spec.medium = Medium::Memory;
        self
    }
    /// How its changelog topic is made. Default: on, compacted.
    pub fn changelog(mut self, options: ChangelogOptions) -> Self {
        self.spec.changelog = options;
        self
    }
    /// Changes its name: for an operator that is named after it was made.
    pub fn named(mut self, name: &str) -> Self {
        self.spec.name = name.into();
        self
    }
    /// What was asked for.
    #[must_use]
    pub const fn spec(&self) -> &StoreSpec {
        &self.spec
    }
    /// A view for a processor of the task that `layers` belongs to. Several may be made: they share what they write.
    #[must_use]
    pub fn open(&self, layers: &LayeredStore) -> S {
        (self.live)((self.open)(Reads::live(layers)), layers.clone())
    }
    /// A reading view of what is committed, for queries. `changelog` is the topic that serdes are told.
    #[must_use]
    pub fn open_committed(&self, base: Arc<dyn OrderedStore>, changelog: TopicName) -> S::ReadOnly {
        (self.open)(Reads::committed(base, changelog))
    }
}
impl<S: StateStore> Clone for StoreBuilder<S> {
    fn clone(&self) -> Self {
        Self { spec: self.spec.clone(), open: Arc::clone(&self.open), live: self.live }
    }
}
impl<S: StateStore> fmt::Debug for StoreBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreBuilder").field(&self.spec).finish()
    }
}

/// One value per key.
pub fn key_value<K: DefaultSerde, V: DefaultSerde>(name: &str) -> StoreBuilder<KeyValueStore<K, V>> {
    key_value_with(name, K::Serde::default(), V::Serde::default())
}
/// One value per key, by these serdes.
pub fn key_value_with<K: 'static, V: 'static>(
    name: &str,
    key: impl Serde<K>,
    value: impl Serde<V>,
) -> StoreBuilder<KeyValueStore<K, V>> {
    start(name, ValueFormat::Plain, key, value, KeyValueStore::over)
}
/// One value per key, with its time.
pub fn timestamped<K: DefaultSerde, V: DefaultSerde>(name: &str) -> StoreBuilder<TimestampedStore<K, V>> {
    timestamped_with(name, K::Serde::default(), V::Serde::default())
}
/// One value per key, with its time, by these serdes.
pub fn timestamped_with<K: 'static, V: 'static>(
    name: &str,
    key: impl Serde<K>,
    value: impl Serde<V>,
) -> StoreBuilder<TimestampedStore<K, V>> {
    start(name, ValueFormat::Timestamped, key, value, TimestampedStore::over)
}

fn start<K: 'static, V: 'static, S: StateStore<ReadOnly = ReadOnlyKeyValueStore<K, V>>>(
    name: &str,
    format: ValueFormat,
    key: impl Serde<K>,
    value: impl Serde<V>,
    live: fn(S::ReadOnly, LayeredStore) -> S,
) -> StoreBuilder<S> {
    let (key, value): (Arc<dyn Serde<K>>, Arc<dyn Serde<V>>) = (Arc::new(key), Arc::new(value));
    let open = move |reads| ReadOnlyKeyValueStore::new(reads, Arc::clone(&key), Arc::clone(&value), format);
    let changelog = ChangelogOptions::On(Vec::new());
    let spec = StoreSpec { name: name.into(), medium: Medium::Journaled, format, changelog };
    StoreBuilder { spec, open: Arc::new(open), live }
}
