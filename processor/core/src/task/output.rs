//! What the record in hand has written: serialized into one buffer, sent when the record ends, dropped if it fails.

use super::collector::OutputRecord;
use bytes::BytesMut;
use millstream_protocol::{Headers, PartitionId, Timestamp, TopicName};
use millstream_state::serde::Part;
use millstream_state::{Serde, SerdeContext, SerdeError};
use std::ops::Range;

/// A record to be serialized.
pub(crate) struct Written<'a, K, V> {
    pub(crate) topic: TopicName,
    pub(crate) partition: Option<PartitionId>,
    pub(crate) timestamp: Timestamp,
    pub(crate) headers: Headers,
    pub(crate) key: (&'a dyn Serde<K>, &'a K),
    pub(crate) value: (&'a dyn Serde<V>, &'a V),
}

#[derive(Default)]
pub(super) struct Outputs {
    bytes: BytesMut,
    records: Vec<Output>,
}
struct Output {
    topic: TopicName,
    partition: Option<PartitionId>,
    timestamp: Timestamp,
    headers: Headers,
    key: Option<Range<usize>>,
    value: Option<Range<usize>>,
}
impl Outputs {
    pub(super) fn write<K: 'static, V: 'static>(
        &mut self,
        written: Written<'_, K, V>,
    ) -> Result<(), (Part, SerdeError)> {
        let start = self.bytes.len();
        let Written { topic, partition, timestamp, mut headers, key, value } = written;
        let key = self
            .serialize(key, SerdeContext::new(&topic, Part::Key).writing(&mut headers))
            .map_err(|error| (Part::Key, error));
        let parts = key.and_then(|key| {
            let ctx = SerdeContext::new(&topic, Part::Value).writing(&mut headers);
            self.serialize(value, ctx).map(|value| (key, value)).map_err(|error| (Part::Value, error))
        });
        match parts {
            Ok((key, value)) => self.records.push(Output { topic, partition, timestamp, headers, key, value }),
            Err(error) => {
                self.bytes.truncate(start);
                return Err(error);
            }
        }
        Ok(())
    }
    /// A record whose bytes are there already.
    pub(super) fn write_raw(&mut self, record: OutputRecord<'_>) {
        let key = record.key.map(|bytes| self.append(bytes));
        let value = record.value.map(|bytes| self.append(bytes));
        let OutputRecord { topic, partition, timestamp, headers, .. } = record;
        let (topic, headers) = (topic.clone(), headers.clone());
        self.records.push(Output { topic, partition, timestamp, headers, key, value });
    }
    /// Gives each record to `send`, and forgets them.
    pub(super) fn drain(&mut self, mut send: impl FnMut(OutputRecord<'_>)) {
        for record in &self.records {
            let bytes = |range: &Option<Range<usize>>| range.clone().map(|range| &self.bytes[range]);
            send(OutputRecord {
                topic: &record.topic,
                partition: record.partition,
                timestamp: record.timestamp,
                key: bytes(&record.key),
                value: bytes(&record.value),
                headers: &record.headers,
            });
        }
        self.clear();
    }
    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.bytes.clear();
    }
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    fn serialize<T: 'static>(
        &mut self,
        (serde, value): (&dyn Serde<T>, &T),
        mut ctx: SerdeContext<'_>,
    ) -> Result<Option<Range<usize>>, SerdeError> {
        if serde.is_null(value) {
            return Ok(None);
        }
        let start = self.bytes.len();
        serde.serialize(value, &mut ctx, &mut self.bytes)?;
        Ok(Some(start..self.bytes.len()))
    }
    fn append(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }
}
