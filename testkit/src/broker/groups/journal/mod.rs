//! What the coordinator writes down in `__consumer_offsets`: one record per fact that changed, a tombstone for each that is gone. The groups
//! themselves live in memory; the records are for whoever reads the topic.

mod classic;
mod consumer;
mod offsets;

pub(super) use offsets::position;

use super::{Body, Group};
use crate::broker::Broker;
use crate::broker::java_hash::partition_for;
use crate::broker::log::batch::Batch;
use crate::broker::topics::{OFFSETS_TOPIC, PartitionKey};
use bytes::Bytes;
use millstream_protocol::Headers;
use millstream_protocol::Timestamp;
use millstream_protocol::compression::Compressor;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::record::{BatchBuilder, Stamp};
use std::collections::BTreeMap;

/// Facts by their keys, both as bytes.
pub(super) type Facts = BTreeMap<Bytes, Bytes>;
/// What is to be written: a key, and its value if it is not gone.
pub(super) type Records = Vec<(Bytes, Option<Bytes>)>;

/// What was written last of a group.
#[derive(Debug, Default)]
pub(crate) struct Written {
    facts: Facts,
    /// A classic group's generation and members, by whose change alone a heartbeat would not be told from anything else.
    stage: Option<(i32, Vec<StrBytes>)>,
}
impl Written {
    /// What differs from what was written: what is gone first, as Kafka does it.
    fn changes(&mut self, facts: Facts) -> Records {
        let gone = self.facts.keys().rev().filter(|key| !facts.contains_key(*key)).map(|key| (key.clone(), None));
        let changed = facts.iter().filter(|(key, value)| self.facts.get(*key) != Some(*value));
        let records = gone.chain(changed.map(|(key, value)| (key.clone(), Some(value.clone())))).collect();
        self.facts = facts;
        records
    }
}

impl Broker {
    /// Writes down what has changed in a group's members and epochs.
    pub(super) fn write_group(&mut self, id: &str) {
        let now = self.now;
        let Some(group) = self.groups.find_mut(id) else { return };
        let facts = match &group.body {
            Body::Classic(body) => classic::facts(body, &mut group.written, now),
            Body::Consumer(body) => {
                group.written.stage = None;
                Some(consumer::facts(body))
            }
        };
        let records = facts.map(|facts| group.written.changes(facts)).unwrap_or_default();
        self.write_records(id, records, &Stamp::plain());
    }
    /// Writes down that a group is gone, and all that it had committed.
    pub(in crate::broker) fn write_group_end(&mut self, mut group: Group) {
        let positions = group.offsets.keys();
        let mut records: Records =
            positions.iter().filter_map(|key| offsets::key(&group.id, key)).map(|key| (key, None)).collect();
        records.extend(group.written.changes(Facts::new()));
        self.write_records(&group.id, records, &Stamp::plain());
    }
    /// The partition of `__consumer_offsets` that belongs to a group.
    pub(in crate::broker) fn group_partition(&self, id: &str) -> Option<PartitionKey> {
        let topic = self.topics.find(OFFSETS_TOPIC)?;
        Some((topic.id, i32::try_from(partition_for(id, topic.partitions.len())).ok()?))
    }
    /// Appends records to a group's partition, and lets its readers know.
    pub(super) fn write_records(&mut self, id: &str, records: Records, stamp: &Stamp) {
        let Some(batch) = batch(&records, self.now, stamp) else { return };
        self.ensure_internal(OFFSETS_TOPIC);
        let Some(key) = self.group_partition(id) else { return };
        let partition = self.topics.find_mut(OFFSETS_TOPIC).and_then(|topic| topic.partition_mut(key.1));
        let Some(partition) = partition else { return };
        let leader_epoch = partition.leader_epoch;
        if let Err(code) = partition.log.append(batch, leader_epoch, None) {
            tracing::error!(group = id, ?code, "the coordinator's own record is refused");
        }
        self.replicate(key);
    }
}

fn batch(records: &Records, now: Timestamp, stamp: &Stamp) -> Option<Batch> {
    if records.is_empty() {
        return None;
    }
    let mut builder = BatchBuilder::new();
    for (key, value) in records {
        builder.append(now, Some(key), value.as_deref(), &Headers::new()).ok()?;
    }
    Batch::parse(&builder.seal(&mut Compressor::none()).ok()?.to_bytes(stamp)).ok()
}
