//! A produce request before its version is known.

use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::{ProduceRequest, RecordData, StrBytes, Uuid};
use millstream_protocol::{NodeId, TopicName, TopicPartition};
use std::time::Duration;

/// A produce request before its version is known.
#[derive(Debug)]
#[non_exhaustive]
pub struct ProduceCall {
    /// Names it in the answer.
    pub id: u64,
    /// The broker.
    pub node: NodeId,
    /// As in the request; 0 has no answer (P-9).
    pub acks: i16,
    /// How long the broker may wait for its replicas.
    pub timeout: Duration,
    /// The highest version that may be used, if there is a limit.
    pub max_version: Option<i16>,
    pub(super) transactional_id: Option<String>,
    pub(super) entries: Vec<Entry>,
    pub(super) topic_ids: HashMap<TopicName, Uuid>,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) partition: TopicPartition,
    pub(super) records: RecordData,
}

impl ProduceCall {
    /// The request. Record bytes are shared, not copied.
    #[must_use]
    pub fn into_request(self, _version: i16) -> ProduceRequest {
        let mut topics: HashMap<TopicName, Vec<PartitionProduceData>> = HashMap::default();
        for entry in self.entries {
            let index = entry.partition.partition.get();
            let data = PartitionProduceData { index, records: entry.records, ..PartitionProduceData::default() };
            topics.entry(entry.partition.topic).or_default().push(data);
        }
        let ids = &self.topic_ids;
        let topic = |(name, partition_data): (TopicName, Vec<PartitionProduceData>)| TopicProduceData {
            topic_id: ids.get(&name).copied().unwrap_or_default(),
            name,
            partition_data,
            ..TopicProduceData::default()
        };
        ProduceRequest {
            transactional_id: self.transactional_id.map(StrBytes::from_string),
            acks: self.acks,
            timeout_ms: i32::try_from(self.timeout.as_millis()).unwrap_or(i32::MAX),
            topic_data: topics.into_iter().map(topic).collect(),
            ..ProduceRequest::default()
        }
    }
    /// How many batches it carries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Whether it carries none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
