//! What a broker changes in a batch before it goes into its log.

use super::Batch;
use super::checksum::Checksummed;
use super::header::{ATTRIBUTES_AT, BEFORE_LENGTH, BatchHeader, CRC_AT, SIZE};
use crate::{Compression, Timestamp};
use bytes::{Bytes, BytesMut};

/// A copy of a magic 2 batch at its place in a log: first offset, leader epoch and, under `LogAppendTime`, the broker's time. Nothing is inflated.
///
/// None for a message of magic 0 or 1, which has no place for them: decode it and build a batch of its records.
#[must_use]
#[expect(clippy::indexing_slicing, reason = "a magic 2 batch was cut from a buffer only if its whole header was there")]
pub fn for_log(batch: &Batch, base_offset: i64, leader_epoch: i32, append_time: Option<Timestamp>) -> Option<Bytes> {
    let mut header = *magic_2(batch)?;
    let mut bytes = BytesMut::from(&batch.bytes()[..]);
    bytes[..8].copy_from_slice(&base_offset.to_be_bytes());
    bytes[12..16].copy_from_slice(&leader_epoch.to_be_bytes());
    if let Some(at) = append_time {
        header.set_append_time(at.as_millis());
        stamp_time(&mut bytes, &header);
    }
    Some(bytes.freeze())
}

/// A copy of a magic 2 batch under `CreateTime`, with this as its largest time: a broker takes neither from the producer. Nothing is inflated.
///
/// None for a message of magic 0 or 1.
///
/// ```
/// use millstream_protocol::{Compressor, Headers, Timestamp};
/// use millstream_protocol::record::{BatchBuilder, Stamp, TimestampType, batches, rewrite};
/// let mut builder = BatchBuilder::new();
/// builder.append(Timestamp::from_millis(5), None, Some(b"value"), &Headers::new())?;
/// let sent = builder.seal(&mut Compressor::none())?.to_bytes(&Stamp::plain());
/// let batch = batches(sent.clone()).next().expect("one batch")?;
/// let stamped = rewrite::for_log(&batch, 0, 0, Some(Timestamp::from_millis(9))).expect("it is of magic 2");
/// let stamped = batches(stamped).next().expect("one batch")?;
/// let back = rewrite::with_create_time(&stamped, Timestamp::from_millis(5)).expect("it is of magic 2");
/// let back = batches(back).next().expect("one batch")?;
/// assert_eq!((back.header().timestamp_type(), back.header().max_timestamp), (TimestampType::CreateTime, 5));
/// back.check_crc()?;
/// # Ok::<(), millstream_protocol::record::RecordError>(())
/// ```
#[must_use]
pub fn with_create_time(batch: &Batch, latest: Timestamp) -> Option<Bytes> {
    let mut header = *magic_2(batch)?;
    header.set_create_time(latest.as_millis());
    let mut bytes = BytesMut::from(&batch.bytes()[..]);
    stamp_time(&mut bytes, &header);
    Some(bytes.freeze())
}

/// Writes what a header says of time over the one in front of these bytes, and seals them.
#[expect(clippy::indexing_slicing, reason = "a magic 2 batch was cut from a buffer only if its whole header was there")]
fn stamp_time(bytes: &mut [u8], header: &BatchHeader) {
    bytes[ATTRIBUTES_AT..ATTRIBUTES_AT + 2].copy_from_slice(&header.attributes.to_be_bytes());
    bytes[35..43].copy_from_slice(&header.max_timestamp.to_be_bytes());
    let crc = crc32c::crc32c(&bytes[ATTRIBUTES_AT..]);
    bytes[CRC_AT..ATTRIBUTES_AT].copy_from_slice(&crc.to_be_bytes());
}

/// The same under `CreateTime`, in two pieces: the header as it stands in the log, and the records as they came, which are shared and not copied.
///
/// None for a message of magic 0 or 1.
///
/// ```
/// use millstream_protocol::{Compressor, Headers, Timestamp};
/// use millstream_protocol::record::{BatchBuilder, Stamp, batches, rewrite};
/// let mut builder = BatchBuilder::new();
/// builder.append(Timestamp::from_millis(5), None, Some(b"value"), &Headers::new())?;
/// let sent = builder.seal(&mut Compressor::none())?.to_bytes(&Stamp::plain());
/// let batch = batches(sent.clone()).next().expect("one batch")?;
/// let [header, records] = rewrite::split_for_log(&batch, 40, 2).expect("it is of magic 2");
/// assert_eq!(records.as_ptr(), sent[header.len()..].as_ptr());
/// assert_eq!([header, records].concat(), rewrite::for_log(&batch, 40, 2, None).expect("it is of magic 2"));
/// # Ok::<(), millstream_protocol::record::RecordError>(())
/// ```
#[must_use]
pub fn split_for_log(batch: &Batch, base_offset: i64, leader_epoch: i32) -> Option<[Bytes; 2]> {
    magic_2(batch)?;
    let (header, records) = batch.bytes().split_first_chunk::<SIZE>()?;
    let mut header = *header;
    // Neither is under the checksum.
    *header.first_chunk_mut()? = base_offset.to_be_bytes();
    *header.get_mut(BEFORE_LENGTH..)?.first_chunk_mut()? = leader_epoch.to_be_bytes();
    Some([Bytes::copy_from_slice(&header), batch.bytes().slice_ref(records)])
}

fn magic_2(batch: &Batch) -> Option<&BatchHeader> {
    Some(batch.header()).filter(|header| header.magic == 2)
}

/// The header of a magic 2 batch over no records, as compaction leaves it where they are all gone: offsets, producer and sequence stay, so that a producer's next batch
/// still follows. None for a message of magic 0 or 1, which compaction takes away whole.
///
/// ```
/// use millstream_protocol::{Compressor, Decompressor, Headers, Timestamp};
/// use millstream_protocol::record::{BatchBuilder, CrcCheck, Stamp, batches, rewrite};
/// let mut builder = BatchBuilder::new();
/// builder.append(Timestamp::from_millis(5), None, Some(b"value"), &Headers::new())?;
/// let batch = builder.seal(&mut Compressor::none())?.to_bytes(&Stamp::plain().at(40, 2));
/// let batch = batches(batch).next().expect("one batch")?;
/// let emptied = rewrite::without_records(&batch).expect("it is of magic 2");
/// let emptied = batches(emptied).next().expect("one batch")?;
/// let decoded = emptied.decode(&mut Decompressor::new(), CrcCheck::Check)?;
/// assert_eq!((decoded.len(), decoded.next_offset().get()), (0, 41));
/// # Ok::<(), millstream_protocol::record::RecordError>(())
/// ```
#[must_use]
pub fn without_records(batch: &Batch) -> Option<Bytes> {
    let mut header = BatchHeader { count: 0, base_timestamp: -1, ..*magic_2(batch)? };
    header.set_compression(Compression::None);
    header.clear_delete_horizon();
    Some(Bytes::copy_from_slice(&header.write(Checksummed::of(&[]))))
}
