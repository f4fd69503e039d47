//! A record inside a topology.

use millstream_protocol::{Headers, Timestamp};
use std::convert::Infallible;

/// What can be a key or a value: a record with two children is cloned for the first. Wrap what is big in `Arc`.
pub trait Data: Clone + Send + 'static {}
impl<T: Clone + Send + 'static> Data for T {}

/// A record inside a topology.
///
/// ```
/// use millstream_processor_core::Record;
/// use millstream_protocol::Timestamp;
///
/// let record = Record::new("alice", 12, Timestamp::from_millis(5));
/// assert_eq!(record.with_value("twelve").value, "twelve");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record<K, V> {
    /// The key.
    pub key: K,
    /// The value.
    pub value: V,
    /// Event time. It may not be negative when the record is forwarded.
    pub timestamp: Timestamp,
    /// The headers.
    pub headers: Headers,
}
impl<K, V> Record<K, V> {
    /// A record without headers.
    #[must_use]
    pub const fn new(key: K, value: V, timestamp: Timestamp) -> Self {
        Self { key, value, timestamp, headers: Headers::new() }
    }
    /// The same record with another key.
    #[must_use]
    pub fn with_key<K2>(self, key: K2) -> Record<K2, V> {
        Record { key, value: self.value, timestamp: self.timestamp, headers: self.headers }
    }
    /// The same record with another value.
    #[must_use]
    pub fn with_value<V2>(self, value: V2) -> Record<K, V2> {
        Record { key: self.key, value, timestamp: self.timestamp, headers: self.headers }
    }
    /// The same record at another time.
    #[must_use]
    pub fn with_timestamp(mut self, timestamp: Timestamp) -> Self {
        self.timestamp = timestamp;
        self
    }
    /// The same record with other headers.
    #[must_use]
    pub fn with_headers(mut self, headers: Headers) -> Self {
        self.headers = headers;
        self
    }
}

/// Output of a processor that keeps the input's key: the next operator need not repartition.
#[derive(Debug)]
pub struct SameKey<V> {
    pub(crate) value: V,
    /// None: that of what is being processed.
    pub(crate) timestamp: Option<Timestamp>,
}
/// Output of a processor that forwards nothing.
pub type NoOutput = Record<Infallible, Infallible>;
