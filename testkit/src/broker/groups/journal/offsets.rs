//! Committed positions as records. Those of an open transaction are part of it, and count with its marker.

use crate::broker::Broker;
use crate::broker::coordinating::Records;
use crate::broker::groups::offsets::{Committed, OffsetKey};
use bytes::Bytes;
use millstream_protocol::embedded::{Embedded, OffsetCommitKey, OffsetCommitValue};
use millstream_protocol::record::Stamp;

/// The version with an instant of expiry, and the newest, which has a topic id instead.
const WITH_EXPIRY: i16 = 1;
const NEWEST: i16 = 4;

pub(super) fn key(group: &str, of: &OffsetKey) -> Option<Bytes> {
    let key = OffsetCommitKey {
        group: millstream_protocol::messages::StrBytes::from_string(group.to_owned()),
        topic: of.0.clone(),
        partition: of.1,
        ..OffsetCommitKey::default()
    };
    key.encode(0).ok()
}
fn value(committed: &Committed) -> Option<Bytes> {
    let value = OffsetCommitValue {
        offset: committed.offset,
        leader_epoch: committed.leader_epoch,
        metadata: committed.metadata.clone(),
        commit_timestamp: committed.committed_at.as_millis(),
        expire_timestamp: committed.expires_at.map_or(-1, |at| at.as_millis()),
        topic_id: committed.topic_id,
        ..OffsetCommitValue::default()
    };
    value.encode(if committed.expires_at.is_some() { WITH_EXPIRY } else { NEWEST }).ok()
}

/// A position as a record.
pub(in crate::broker::groups) fn position(
    group: &str,
    of: &OffsetKey,
    committed: &Committed,
) -> Option<(Bytes, Option<Bytes>)> {
    Some((key(group, of)?, Some(value(committed)?)))
}

impl Broker {
    /// Writes down that positions are gone.
    pub(in crate::broker) fn write_positions_end(&mut self, group: &str, gone: &[OffsetKey]) {
        let records: Records = gone.iter().filter_map(|of| key(group, of)).map(|key| (key, None)).collect();
        self.write_records(group, &records, &Stamp::plain());
    }
}
