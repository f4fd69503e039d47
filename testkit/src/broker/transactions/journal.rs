//! What the coordinator writes down in `__transaction_state`: a record whenever a transactional id's state or partitions have changed, a
//! tombstone when the id is forgotten. The ids themselves live in memory; the records are for whoever reads the topic.

use super::transaction::{Edition, State, Transaction};
use crate::broker::Broker;
use crate::broker::log::batch::Marker;
use crate::broker::topics::TRANSACTIONS_TOPIC;
use bytes::Bytes;
use millstream_protocol::embedded::transaction_log_value::PartitionsSchema;
use millstream_protocol::embedded::{Embedded, TransactionLogKey, TransactionLogValue};
use millstream_protocol::messages::StrBytes;
use millstream_protocol::record::Stamp;
use std::collections::{BTreeMap, BTreeSet};

/// What was written last of an id.
pub(super) type Written = TransactionLogValue;

/// The key's only version, and the value's with tagged fields, which come with the feature `transaction.version`.
const KEY_VERSION: i16 = 0;
const PLAIN: i16 = 0;
const TAGGED: i16 = 1;
/// An id or a time that there is not.
const NONE: i64 = -1;

impl Broker {
    /// Writes down how far a transactional id is, if that is not written yet.
    pub(super) fn write_transaction(&mut self, id: &str) {
        let Some(transaction) = self.transactions.find(id) else { return };
        let value = self.value_of(transaction);
        if transaction.written.as_ref().is_some_and(|written| tells_the_same(written, &value)) {
            return;
        }
        let version = self.transaction_log_version();
        if let (Ok(transaction), Ok(bytes)) = (self.transactions.find_mut(id), value.encode(version)) {
            transaction.written = Some(value);
            self.write_transaction_record(id, Some(bytes));
        }
    }
    /// Writes down that a transactional id is forgotten.
    pub(super) fn write_transaction_end(&mut self, id: &str) {
        self.write_transaction_record(id, None);
    }
    fn write_transaction_record(&mut self, id: &str, value: Option<Bytes>) {
        let key = TransactionLogKey {
            transactional_id: StrBytes::from_string(id.to_owned()),
            ..TransactionLogKey::default()
        };
        if let Ok(key) = key.encode(KEY_VERSION) {
            self.write_down(TRANSACTIONS_TOPIC, id, &vec![(key, value)], &Stamp::plain());
        }
    }
    fn transaction_log_version(&self) -> i16 {
        if self.features.transaction_version() >= 1 { TAGGED } else { PLAIN }
    }
    fn value_of(&self, transaction: &Transaction) -> TransactionLogValue {
        let holder = match transaction.state {
            State::Prepared { .. } => transaction.marker_identity,
            _ => transaction.identity,
        };
        let value = TransactionLogValue {
            producer_id: holder.id,
            producer_epoch: holder.epoch,
            transaction_timeout_ms: i32::try_from(transaction.timeout.as_millis()).unwrap_or(i32::MAX),
            transaction_status: status(transaction.state),
            transaction_partitions: self.partitions_of(transaction),
            transaction_last_update_timestamp_ms: self.now.as_millis(),
            transaction_start_timestamp_ms: transaction.started.map_or(NONE, |at| at.as_millis()),
            ..TransactionLogValue::default()
        };
        if self.transaction_log_version() == PLAIN {
            return value;
        }
        TransactionLogValue {
            previous_producer_id: transaction.written.as_ref().map_or(holder.id, |written| written.producer_id),
            next_producer_id: if transaction.identity.id == holder.id { NONE } else { transaction.identity.id },
            client_transaction_version: match transaction.edition {
                Edition::First => 0,
                Edition::Second => 2,
            },
            ..value
        }
    }
    /// By topic; none where nothing has begun.
    fn partitions_of(&self, transaction: &Transaction) -> Option<Vec<PartitionsSchema>> {
        if transaction.state == State::Empty {
            return None;
        }
        let groups = transaction.groups.iter().filter_map(|group| self.group_partition(group));
        let mut by_topic: BTreeMap<StrBytes, BTreeSet<i32>> = BTreeMap::new();
        for (topic, partition) in transaction.partitions.iter().copied().chain(groups) {
            if let Some(name) = self.topics.name_of(topic) {
                by_topic.entry(name.clone()).or_default().insert(partition);
            }
        }
        let each = by_topic.into_iter().map(|(topic, partitions)| PartitionsSchema {
            topic,
            partition_ids: partitions.into_iter().collect(),
            ..PartitionsSchema::default()
        });
        Some(each.collect())
    }
}

/// Kafka's `TransactionState.id`.
fn status(state: State) -> i8 {
    match state {
        State::Empty => 0,
        State::Ongoing { .. } => 1,
        State::Prepared { marker: Marker::Commit, .. } => 2,
        State::Prepared { marker: Marker::Abort, .. } => 3,
        State::Complete(Marker::Commit) => 4,
        State::Complete(Marker::Abort) => 5,
    }
}
/// Whether nothing has changed but the time.
fn tells_the_same(written: &TransactionLogValue, value: &TransactionLogValue) -> bool {
    let of_now = TransactionLogValue {
        transaction_last_update_timestamp_ms: value.transaction_last_update_timestamp_ms,
        previous_producer_id: value.previous_producer_id,
        ..written.clone()
    };
    of_now == *value
}
