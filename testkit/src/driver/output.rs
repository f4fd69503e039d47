//! A typed output topic.

use super::TopologyTestDriver;
use bytes::Bytes;
use millstream_processor_core::{Record, Topic};
use millstream_protocol::{Headers, Timestamp, TopicName};
use millstream_state::serde::Part;
use millstream_state::{Serde, SerdeContext};
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::Hash;

/// A record that the topology wrote, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverRecord {
    /// The topic.
    pub topic: TopicName,
    /// Its key.
    pub key: Option<Bytes>,
    /// Its value.
    pub value: Option<Bytes>,
    /// Its time.
    pub timestamp: Timestamp,
    /// Its headers.
    pub headers: Headers,
}

/// A typed output topic.
#[derive(Debug)]
pub struct TestOutput<'d, K, V> {
    driver: &'d TopologyTestDriver,
    topic: Topic<K, V>,
    /// The place behind the last record read, among all that were written.
    next: Cell<usize>,
}
impl<'d, K: 'static, V: 'static> TestOutput<'d, K, V> {
    pub(super) const fn new(driver: &'d TopologyTestDriver, topic: Topic<K, V>) -> Self {
        Self { driver, topic, next: Cell::new(0) }
    }
    /// Takes the next record out.
    ///
    /// # Panics
    /// If the bytes are no key or value.
    pub fn read(&self) -> Option<Record<K, V>> {
        let (record, next) = self.driver.run.borrow().next_of(self.topic.name(), self.next.get())?;
        self.next.set(next);
        let key = self.part(&**self.topic.key_serde(), Part::Key, record.key.as_ref(), &record.headers);
        let value = self.part(&**self.topic.value_serde(), Part::Value, record.value.as_ref(), &record.headers);
        Some(Record::new(key, value, record.timestamp).with_headers(record.headers))
    }
    /// Takes all out.
    ///
    /// # Panics
    /// If the bytes of one are no key or value.
    #[must_use]
    pub fn read_all(&self) -> Vec<Record<K, V>> {
        std::iter::from_fn(|| self.read()).collect()
    }
    /// Takes all out, as pairs.
    ///
    /// # Panics
    /// If the bytes of one are no key or value.
    #[must_use]
    pub fn read_pairs(&self) -> Vec<(K, V)> {
        self.read_all().into_iter().map(|record| (record.key, record.value)).collect()
    }
    /// Takes all out; the last value of each key.
    ///
    /// # Panics
    /// If the bytes of one are no key or value.
    #[must_use]
    pub fn read_table(&self) -> HashMap<K, V>
    where
        K: Eq + Hash,
    {
        self.read_pairs().into_iter().collect()
    }

    fn part<T: 'static>(&self, serde: &dyn Serde<T>, part: Part, bytes: Option<&Bytes>, headers: &Headers) -> T {
        let ctx = SerdeContext::new(self.topic.name(), part).reading(headers);
        let value = match bytes {
            Some(bytes) => serde.deserialize(bytes, &ctx),
            None => serde.deserialize_null(&ctx),
        };
        value.unwrap_or_else(|error| {
            panic!("topic {}: the {part} is not what the test reads: {error}", self.topic.name())
        })
    }
}
