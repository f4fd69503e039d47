//! What was written, and where reading stands: the driver's whole cluster.

use super::DriverRecord;
use bytes::Bytes;
use millstream_processor_core::ProcessorError;
use millstream_processor_core::task::{Collector, OutputRecord};
use millstream_protocol::hash::HashMap;
use millstream_protocol::record::{Batch, BatchBuilder, RecordError, Stamp, batches};
use millstream_protocol::{Compression, Compressor, Headers, Offset, Timestamp, TopicName};
use std::sync::{Arc, Mutex, PoisonError};

/// All records that were written, in order. The task writes through a clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Written(Arc<Mutex<Vec<DriverRecord>>>);
impl Written {
    pub(super) fn push(&self, record: DriverRecord) {
        self.with(|records| records.push(record));
    }
    /// Forgets what was written from a place on: it is aborted.
    pub(super) fn truncate(&self, len: usize) {
        self.with(|records| records.truncate(len));
    }
    pub(super) fn len(&self) -> usize {
        self.with(|records| records.len())
    }
    pub(super) fn after(&self, start: usize) -> Vec<DriverRecord> {
        self.with(|records| records[start..].to_vec())
    }
    /// The first record of a topic at or behind a place, with the place behind it.
    pub(super) fn next_of(&self, topic: &TopicName, start: usize) -> Option<(DriverRecord, usize)> {
        self.with(|records| {
            let place = records[start..].iter().position(|record| record.topic == *topic)? + start;
            Some((records[place].clone(), place + 1))
        })
    }
    fn with<R>(&self, look: impl FnOnce(&mut Vec<DriverRecord>) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
impl Collector for Written {
    fn is_ready(&mut self) -> bool {
        true
    }
    fn partition_count(&mut self, _topic: &TopicName) -> Option<usize> {
        Some(1)
    }
    fn send(&mut self, record: OutputRecord<'_>) -> Result<(), ProcessorError> {
        self.push(DriverRecord {
            topic: record.topic.clone(),
            key: record.key.map(Bytes::copy_from_slice),
            value: record.value.map(Bytes::copy_from_slice),
            timestamp: record.timestamp,
            headers: record.headers.clone(),
        });
        Ok(())
    }
}

/// The topics that are read: the next offset of each.
#[derive(Debug, Default)]
pub(super) struct Logs(HashMap<TopicName, i64>);
impl Logs {
    /// A record as a fetch would bring it, and the offset behind it.
    pub(super) fn append(
        &mut self,
        topic: &TopicName,
        (key, value): (Option<&[u8]>, Option<&[u8]>),
        timestamp: Timestamp,
        headers: &Headers,
    ) -> Result<(Batch, Offset), RecordError> {
        let offset = self.0.entry_ref(topic).or_default();
        let mut builder = BatchBuilder::new();
        builder.append(timestamp, key, value, headers)?;
        let mut compressor = Compressor::new(Compression::None, None).expect("no codec is asked for");
        let sealed = builder.seal(&mut compressor)?;
        let bytes = sealed.into_bytes(&Stamp::plain().at(*offset, 0));
        *offset += 1;
        let batch = batches(bytes).next().expect("one batch was written")?;
        Ok((batch, Offset::new(*offset)))
    }
}
