//! One value per key, with its time: what tables keep.

use super::ReadOnlyKeyValueStore;
use super::key_value::open_for_test;
use crate::{DefaultSerde, LayeredStore, StoreError};
use millstream_protocol::Timestamp;
use std::fmt;
use std::ops::Deref;

/// Keeps one value per key, with its time. Reading gives values; `get_with_time` gives both.
///
/// ```
/// use millstream_protocol::Timestamp;
/// use millstream_state::TimestampedStore;
/// let mut counts = TimestampedStore::<String, i64>::for_test();
/// let (word, time) = ("kafka".to_owned(), Timestamp::from_millis(5));
/// counts.put(&word, &1, time)?;
/// assert_eq!(counts.get(&word)?, Some(1));
/// assert_eq!(counts.get_with_time(&word)?, Some((1, time)));
/// # Ok::<(), millstream_state::StoreError>(())
/// ```
pub struct TimestampedStore<K, V> {
    read: ReadOnlyKeyValueStore<K, V>,
    layers: LayeredStore,
}
impl<K: 'static, V: 'static> TimestampedStore<K, V> {
    /// A store of its own in memory, for the unit test of a processor.
    #[must_use]
    pub fn for_test() -> Self
    where
        K: DefaultSerde,
        V: DefaultSerde,
    {
        open_for_test(&crate::timestamped("test"))
    }
    pub(crate) const fn over(read: ReadOnlyKeyValueStore<K, V>, layers: LayeredStore) -> Self {
        Self { read, layers }
    }

    /// A value and its time.
    ///
    /// # Errors
    /// If the medium fails, or the key or the value is not what its serde expects.
    pub fn get_with_time(&self, key: &K) -> Result<Option<(V, Timestamp)>, StoreError> {
        self.read.with_key(key, |key| self.read.value_and_time_at(key))?
    }
    /// Sets a value as of `time`. A value that its serde writes as null deletes.
    ///
    /// # Errors
    /// If the key or the value has no bytes.
    pub fn put(&mut self, key: &K, value: &V, time: Timestamp) -> Result<(), StoreError> {
        let value = self.read.value_bytes(value, Some(time))?;
        self.read.with_key(key, |key| self.layers.put_at(key, value, time))
    }
    /// Removes a value and gives it. The changelog's record bears the time of what is being processed.
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
impl<K, V> Deref for TimestampedStore<K, V> {
    type Target = ReadOnlyKeyValueStore<K, V>;
    fn deref(&self) -> &ReadOnlyKeyValueStore<K, V> {
        &self.read
    }
}
impl<K, V> fmt::Debug for TimestampedStore<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TimestampedStore").field(&self.read).finish()
    }
}
