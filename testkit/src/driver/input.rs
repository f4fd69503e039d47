//! A typed input topic.

use super::{TopologyTestDriver, or_panic};
use bytes::{Bytes, BytesMut};
use millstream_processor_core::failure::TaskError;
use millstream_processor_core::{Record, Topic};
use millstream_protocol::{Headers, Timestamp};
use millstream_state::serde::Part;
use millstream_state::{Serde, SerdeContext};

/// A typed input topic.
#[derive(Debug)]
pub struct TestInput<'d, K, V> {
    driver: &'d TopologyTestDriver,
    topic: Topic<K, V>,
}
impl<'d, K: 'static, V: 'static> TestInput<'d, K, V> {
    pub(super) const fn new(driver: &'d TopologyTestDriver, topic: Topic<K, V>) -> Self {
        Self { driver, topic }
    }
    /// Pipes one in, at the driver's time.
    ///
    /// # Panics
    /// If the task stops, or the key or value has no bytes.
    pub fn pipe(&self, key: impl Into<K>, value: impl Into<V>) {
        let now = self.driver.run.borrow().wall_clock();
        self.pipe_at(now, key, value);
    }
    /// Pipes one in, at this time.
    ///
    /// # Panics
    /// If the task stops, or the key or value has no bytes.
    pub fn pipe_at(&self, time: Timestamp, key: impl Into<K>, value: impl Into<V>) {
        self.pipe_record(Record::new(key.into(), value.into(), time));
    }
    /// Pipes one in, headers and all.
    ///
    /// # Panics
    /// If the task stops, or the key or value has no bytes.
    pub fn pipe_record(&self, record: Record<K, V>) {
        or_panic(self.try_pipe_record(record));
    }
    /// Pipes one in, where the task may stop.
    ///
    /// # Errors
    /// If the task stops. It goes on no more then.
    ///
    /// # Panics
    /// If the key or value has no bytes.
    pub fn try_pipe_record(&self, record: Record<K, V>) -> Result<(), TaskError> {
        let Record { key, value, timestamp, mut headers, .. } = record;
        let key = self.bytes(&**self.topic.key_serde(), Part::Key, &key, &mut headers);
        let value = self.bytes(&**self.topic.value_serde(), Part::Value, &value, &mut headers);
        self.driver.try_pipe_bytes(self.topic.name().as_str(), key, value, timestamp, &headers)
    }

    fn bytes<T: 'static>(&self, serde: &dyn Serde<T>, part: Part, value: &T, headers: &mut Headers) -> Option<Bytes> {
        if serde.is_null(value) {
            return None;
        }
        let mut out = BytesMut::new();
        let mut ctx = SerdeContext::new(self.topic.name(), part).writing(headers);
        serde.serialize(value, &mut ctx, &mut out).expect("a test's keys and values have bytes");
        Some(out.freeze())
    }
}
