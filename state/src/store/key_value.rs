//! One value per key.

use super::Entries;
use super::reads::{Reads, bytes_of, with_key_buffer, with_value_buffer};
use crate::serde::{Part, SerdeContext, SerdeError};
use crate::{
    Blob, DefaultSerde, LayeredStore, MemoryStore, RecordScope, Serde, StateStore, StoreBuilder, StoreError,
    ValueFormat,
};
use bytes::{Buf, Bytes};
use millstream_protocol::{Timestamp, TopicName};
use std::fmt;
use std::ops::{Bound, Deref, RangeBounds};
use std::sync::Arc;

/// Reads one value per key. Order is that of the serialized keys.
pub struct ReadOnlyKeyValueStore<K, V> {
    reads: Reads,
    key: Arc<dyn Serde<K>>,
    value: Arc<dyn Serde<V>>,
    format: ValueFormat,
}
impl<K: 'static, V: 'static> ReadOnlyKeyValueStore<K, V> {
    pub(crate) fn new(reads: Reads, key: Arc<dyn Serde<K>>, value: Arc<dyn Serde<V>>, format: ValueFormat) -> Self {
        Self { reads, key, value, format }
    }

    /// The value of a key.
    ///
    /// # Errors
    /// If the medium fails, or the key or the value is not what its serde expects.
    pub fn get(&self, key: &K) -> Result<Option<V>, StoreError> {
        self.with_key(key, |bytes| self.value_at(bytes))?
    }
    /// Everything.
    pub fn all(&self) -> Entries<'_, K, V> {
        self.between(Bound::Unbounded, Bound::Unbounded)
    }
    /// The keys between two, in byte order. A range that ends before it starts is empty.
    pub fn range(&self, keys: impl RangeBounds<K>) -> Entries<'_, K, V> {
        let bounds =
            self.bytes_of_bound(keys.start_bound()).and_then(|from| Ok((from, self.bytes_of_bound(keys.end_bound())?)));
        match bounds {
            Ok((from, to)) => self.between(from.as_ref().map(Blob::as_slice), to.as_ref().map(Blob::as_slice)),
            Err(error) => Entries::failed(self, error),
        }
    }
    /// The keys whose bytes start so.
    pub fn prefix(&self, bytes: &[u8]) -> Entries<'_, K, V> {
        let end = after_prefix(bytes);
        self.between(Bound::Included(bytes), end.as_deref().map_or(Bound::Unbounded, Bound::Excluded))
    }
    /// About how many. Keys that are not committed yet are counted one by one.
    #[must_use]
    pub fn approximate_len(&self) -> u64 {
        self.reads.approximate_len()
    }

    pub(super) fn with_key<R>(&self, key: &K, work: impl FnOnce(&[u8]) -> R) -> Result<R, StoreError> {
        with_key_buffer(|buffer| {
            if self.key.is_null(key) {
                return Err(
                    self.unreadable(Part::Key, SerdeError::new("the key is null, and a store has no place for that"))
                );
            }
            self.key
                .serialize(key, &mut SerdeContext::new(self.reads.changelog(), Part::Key), buffer)
                .map_err(|error| self.unreadable(Part::Key, error))?;
            Ok(work(buffer))
        })
    }
    pub(super) fn value_at(&self, key: &[u8]) -> Result<Option<V>, StoreError> {
        let Some(blob) = self.reads.get(key)? else { return Ok(None) };
        self.read_value(blob).map(|(value, _)| Some(value))
    }
    pub(super) fn value_and_time_at(&self, key: &[u8]) -> Result<Option<(V, Timestamp)>, StoreError> {
        self.reads.get(key)?.map(|blob| self.read_value(blob)).transpose()
    }
    /// The bytes to keep for a value, none for null; with `time`, those of a store with times.
    pub(super) fn value_bytes(&self, value: &V, time: Option<Timestamp>) -> Result<Option<Blob>, StoreError> {
        if self.value.is_null(value) {
            return Ok(None);
        }
        with_value_buffer(|buffer| {
            if let Some(time) = time {
                buffer.extend_from_slice(&time.as_millis().to_be_bytes());
            }
            self.value
                .serialize(value, &mut SerdeContext::new(self.reads.changelog(), Part::Value), buffer)
                .map_err(|error| self.unreadable(Part::Value, error))?;
            Ok(Some(Blob::from(&buffer[..])))
        })
    }
    pub(super) fn read_key(&self, blob: Blob) -> Result<K, StoreError> {
        let ctx = SerdeContext::new(self.reads.changelog(), Part::Key);
        self.key.deserialize(&bytes_of(blob), &ctx).map_err(|error| self.unreadable(Part::Key, error))
    }
    pub(super) fn read_value(&self, blob: Blob) -> Result<(V, Timestamp), StoreError> {
        let mut bytes = bytes_of(blob);
        let time = self.take_time(&mut bytes)?;
        let ctx = SerdeContext::new(self.reads.changelog(), Part::Value);
        let value = self.value.deserialize(&bytes, &ctx).map_err(|error| self.unreadable(Part::Value, error))?;
        Ok((value, time))
    }

    fn between(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Entries<'_, K, V> {
        match self.reads.range(from, to) {
            Ok(merged) => Entries::new(self, merged),
            Err(error) => Entries::failed(self, error),
        }
    }
    fn bytes_of_bound(&self, bound: Bound<&K>) -> Result<Bound<Blob>, StoreError> {
        Ok(match bound {
            Bound::Unbounded => Bound::Unbounded,
            Bound::Included(key) => Bound::Included(self.with_key(key, |bytes| Blob::from(bytes))?),
            Bound::Excluded(key) => Bound::Excluded(self.with_key(key, |bytes| Blob::from(bytes))?),
        })
    }
    fn take_time(&self, bytes: &mut Bytes) -> Result<Timestamp, StoreError> {
        if self.format == ValueFormat::Plain {
            return Ok(Timestamp::NONE);
        }
        let short = |_| self.unreadable(Part::Value, SerdeError::new("has no room for the time before the value"));
        bytes.try_get_i64().map(Timestamp::from_millis).map_err(short)
    }
    fn unreadable(&self, part: Part, source: SerdeError) -> StoreError {
        StoreError::Serde { store: self.reads.name().to_owned(), part, source }
    }
}
impl<K, V> fmt::Debug for ReadOnlyKeyValueStore<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadOnlyKeyValueStore").field(&self.reads.name()).finish()
    }
}

/// Keeps one value per key. A value that its serde writes as null deletes, as in Kafka.
///
/// ```
/// use millstream_state::KeyValueStore;
/// let mut sums = KeyValueStore::<String, i64>::for_test();
/// let alice = "alice".to_owned();
/// sums.put(&alice, &12)?;
/// assert_eq!(sums.update(&alice, |sum| Some(sum.unwrap_or(0) + 1))?, Some(13));
/// assert_eq!(sums.all().next().transpose()?, Some((alice, 13)));
/// # Ok::<(), millstream_state::StoreError>(())
/// ```
pub struct KeyValueStore<K, V> {
    read: ReadOnlyKeyValueStore<K, V>,
    layers: LayeredStore,
}
impl<K: 'static, V: 'static> KeyValueStore<K, V> {
    /// A store of its own in memory, for the unit test of a processor.
    #[must_use]
    pub fn for_test() -> Self
    where
        K: DefaultSerde,
        V: DefaultSerde,
    {
        open_for_test(&crate::key_value("test"))
    }
    pub(crate) const fn over(read: ReadOnlyKeyValueStore<K, V>, layers: LayeredStore) -> Self {
        Self { read, layers }
    }

    /// Sets a value.
    ///
    /// # Errors
    /// If the key or the value has no bytes.
    pub fn put(&mut self, key: &K, value: &V) -> Result<(), StoreError> {
        let value = self.read.value_bytes(value, None)?;
        self.read.with_key(key, |key| self.layers.put(key, value))
    }
    /// Sets a value if there is none; else gives the one there is.
    ///
    /// # Errors
    /// If the medium fails, or the key or a value is not what its serde expects.
    pub fn put_if_absent(&mut self, key: &K, value: &V) -> Result<Option<V>, StoreError> {
        let there = self.read.get(key)?;
        if there.is_none() {
            self.put(key, value)?;
        }
        Ok(there)
    }
    /// Reads, changes and writes one value, and gives the new one; `None` deletes.
    ///
    /// # Errors
    /// If the medium fails, or the key or a value is not what its serde expects.
    pub fn update(&mut self, key: &K, change: impl FnOnce(Option<V>) -> Option<V>) -> Result<Option<V>, StoreError> {
        self.read.with_key(key, |key| {
            let changed = change(self.read.value_at(key)?);
            let bytes = changed.as_ref().map(|value| self.read.value_bytes(value, None)).transpose()?.flatten();
            self.layers.put(key, bytes);
            Ok(changed)
        })?
    }
    /// Removes a value and gives it.
    ///
    /// # Errors
    /// If the medium fails, or the key or the value is not what its serde expects.
    pub fn delete(&mut self, key: &K) -> Result<Option<V>, StoreError> {
        self.read.with_key(key, |key| {
            let there = self.read.value_at(key)?;
            self.layers.put(key, None);
            Ok(there)
        })?
    }
}
impl<K, V> Deref for KeyValueStore<K, V> {
    type Target = ReadOnlyKeyValueStore<K, V>;
    fn deref(&self) -> &ReadOnlyKeyValueStore<K, V> {
        &self.read
    }
}
impl<K, V> fmt::Debug for KeyValueStore<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyValueStore").field(&self.read.reads.name()).finish()
    }
}

pub(super) fn open_for_test<S: StateStore>(builder: &StoreBuilder<S>) -> S {
    let (base, changelog) = (Arc::new(MemoryStore::new("test")), TopicName::from_static("test-changelog"));
    builder.open(&LayeredStore::new(builder.spec().clone(), base, changelog, RecordScope::new()))
}

/// The first bytes after all that start with `prefix`; none if nothing is.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}
