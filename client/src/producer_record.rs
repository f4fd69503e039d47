//! A record to send, borrowed from the caller: the producer encodes it straight into the open batch.

use crate::IntoField;
use millstream_protocol::{Headers, PartitionId, Timestamp};

/// A record to send. Without a value it is a tombstone.
///
/// ```
/// use millstream_client::ProducerRecord;
/// let record = ProducerRecord::to("orders").key("alice").value(b"12 apples");
/// assert_eq!(record.key, Some(&b"alice"[..]));
/// assert_eq!(record.partition, None);
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use]
#[non_exhaustive]
pub struct ProducerRecord<'a> {
    /// Where it goes.
    pub topic: &'a str,
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value.
    pub value: Option<&'a [u8]>,
    /// Its headers.
    pub headers: Option<&'a Headers>,
    /// Its partition; none leaves it to the partitioner.
    pub partition: Option<PartitionId>,
    /// Its time; none is the time of the call.
    pub timestamp: Option<Timestamp>,
}

impl<'a> ProducerRecord<'a> {
    /// A record for a topic: `"orders"`, `&string` or `&topic_name`.
    pub fn to(topic: &'a (impl AsRef<str> + ?Sized)) -> Self {
        Self { topic: topic.as_ref(), key: None, value: None, headers: None, partition: None, timestamp: None }
    }
    /// Sets the key.
    pub fn key(mut self, key: impl IntoField<'a>) -> Self {
        self.key = key.into_field();
        self
    }
    /// Sets the value.
    pub fn value(mut self, value: impl IntoField<'a>) -> Self {
        self.value = value.into_field();
        self
    }
    /// Sets the headers.
    pub fn headers(mut self, headers: &'a Headers) -> Self {
        self.headers = Some(headers);
        self
    }
    /// Sets the partition instead of asking the partitioner.
    pub fn partition(mut self, partition: impl Into<PartitionId>) -> Self {
        self.partition = Some(partition.into());
        self
    }
    /// Sets the time instead of taking the time of the call.
    pub fn timestamp(mut self, timestamp: impl Into<Timestamp>) -> Self {
        self.timestamp = Some(timestamp.into());
        self
    }
}
