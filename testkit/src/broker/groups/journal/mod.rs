//! What the coordinator writes down in `__consumer_offsets`: one record per fact that changed, a tombstone for each that is gone. The groups
//! themselves live in memory; the records are for whoever reads the topic.

mod classic;
mod consumer;
mod offsets;

pub(super) use offsets::position;

use super::classic::ClassicGroup;
use super::{Body, Group};
use crate::broker::Broker;
use crate::broker::coordinating::Records;
use crate::broker::java_hash::partition_for;
use crate::broker::topics::{OFFSETS_TOPIC, PartitionKey};
use bytes::Bytes;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::record::Stamp;
use std::collections::BTreeMap;

/// Facts by their keys, both as bytes.
pub(super) type Facts = BTreeMap<Bytes, Bytes>;

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
        self.write_records(id, &records, &Stamp::plain());
    }
    /// Writes down that there is a group of the classic protocol now, whatever becomes of who wanted to join it.
    pub(super) fn write_new_group(&mut self, id: &str) {
        let now = self.now;
        let Some(group) = self.groups.find_mut(id) else { return };
        let Some(classic) = group.classic() else { return };
        let facts = classic::record(&ClassicGroup::new(classic.id.clone()), now);
        let records = facts.map(|facts| group.written.changes(facts)).unwrap_or_default();
        self.write_records(id, &records, &Stamp::plain());
    }
    /// Writes down that a group is gone, and all that it had committed.
    pub(in crate::broker) fn write_group_end(&mut self, mut group: Group) {
        let positions = group.offsets.keys();
        let mut records: Records =
            positions.iter().filter_map(|key| offsets::key(&group.id, key)).map(|key| (key, None)).collect();
        records.extend(group.written.changes(Facts::new()));
        self.write_records(&group.id, &records, &Stamp::plain());
    }
    /// What is told of the groups of a partition is what it was when something was last written there.
    fn hide_forgotten_groups(&mut self, id: &str) {
        if !self.groups.has_forgotten() {
            return;
        }
        let partitions = self.internal_partitions(OFFSETS_TOPIC);
        let written = partition_for(id, partitions);
        self.groups.hide_forgotten(|other| partition_for(other, partitions) == written);
    }
    /// The partition of `__consumer_offsets` that belongs to a group.
    pub(in crate::broker) fn group_partition(&self, id: &str) -> Option<PartitionKey> {
        self.internal_partition(OFFSETS_TOPIC, id)
    }
    /// Appends records to a group's partition, and lets its readers know.
    pub(super) fn write_records(&mut self, id: &str, records: &Records, stamp: &Stamp) {
        if !records.is_empty() {
            self.hide_forgotten_groups(id);
        }
        self.write_down(OFFSETS_TOPIC, id, records, stamp);
    }
}
