//! What a record's time is.

use crate::{ProcessorError, Record};
use millstream_protocol::Timestamp;

/// Says what a record's time is. Closures are extractors.
pub trait TimestampExtractor<K, V>: Send + Sync + 'static {
    /// The time; `None`, or a negative one, drops the record and counts it. `partition_time` is the highest so far in its partition.
    ///
    /// # Errors
    /// If there is no going on without a time: the task stops.
    fn extract(
        &self,
        record: &Record<K, V>,
        partition_time: Option<Timestamp>,
    ) -> Result<Option<Timestamp>, ProcessorError>;
}
impl<K, V, F> TimestampExtractor<K, V> for F
where
    F: Fn(&Record<K, V>, Option<Timestamp>) -> Option<Timestamp> + Send + Sync + 'static,
{
    fn extract(
        &self,
        record: &Record<K, V>,
        partition_time: Option<Timestamp>,
    ) -> Result<Option<Timestamp>, ProcessorError> {
        Ok(self(record, partition_time))
    }
}

/// The record's own time; without one the task stops. The default.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "nothing to configure")]
pub struct FailOnInvalidTimestamp;
impl<K, V> TimestampExtractor<K, V> for FailOnInvalidTimestamp {
    fn extract(&self, record: &Record<K, V>, _: Option<Timestamp>) -> Result<Option<Timestamp>, ProcessorError> {
        valid(record).map(Some).ok_or_else(|| {
            format!(
                "the record's timestamp is {}: give its source another timestamp extractor, or have its producer write times",
                record.timestamp.as_millis()
            )
            .into()
        })
    }
}

/// The record's own time; without one the record is left out and counted. Kafka's `LogAndSkipOnInvalidTimestamp`.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "nothing to configure")]
pub struct SkipOnInvalidTimestamp;
impl<K, V> TimestampExtractor<K, V> for SkipOnInvalidTimestamp {
    fn extract(&self, record: &Record<K, V>, _: Option<Timestamp>) -> Result<Option<Timestamp>, ProcessorError> {
        Ok(valid(record))
    }
}

/// The record's own time; without one the highest of its partition so far, and with none of these the task stops.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "nothing to configure")]
pub struct UsePartitionTimeOnInvalidTimestamp;
impl<K, V> TimestampExtractor<K, V> for UsePartitionTimeOnInvalidTimestamp {
    fn extract(
        &self,
        record: &Record<K, V>,
        partition_time: Option<Timestamp>,
    ) -> Result<Option<Timestamp>, ProcessorError> {
        valid(record)
            .or(partition_time)
            .map(Some)
            .ok_or_else(|| "the record has no timestamp, and none came before it in its partition".into())
    }
}

fn valid<K, V>(record: &Record<K, V>) -> Option<Timestamp> {
    (record.timestamp >= Timestamp::EPOCH).then_some(record.timestamp)
}
