//! What a broker changes in a batch before it goes into its log.

use super::Batch;
use super::header::{ATTRIBUTES_AT, CRC_AT};
use crate::Timestamp;
use bytes::{Bytes, BytesMut};

/// A copy of a magic 2 batch at its place in a log: first offset, leader epoch and, under `LogAppendTime`, the broker's time. Nothing is inflated.
#[must_use]
pub fn for_log(batch: &Batch, base_offset: i64, leader_epoch: i32, append_time: Option<Timestamp>) -> Bytes {
    let mut bytes = BytesMut::from(&batch.bytes()[..]);
    bytes[..8].copy_from_slice(&base_offset.to_be_bytes());
    bytes[12..16].copy_from_slice(&leader_epoch.to_be_bytes());
    if let Some(at) = append_time {
        let mut header = *batch.header();
        header.set_append_time(at.as_millis());
        bytes[ATTRIBUTES_AT..ATTRIBUTES_AT + 2].copy_from_slice(&header.attributes.to_be_bytes());
        bytes[35..43].copy_from_slice(&header.max_timestamp.to_be_bytes());
        let crc = crc32c::crc32c(&bytes[ATTRIBUTES_AT..]);
        bytes[CRC_AT..ATTRIBUTES_AT].copy_from_slice(&crc.to_be_bytes());
    }
    bytes.freeze()
}
