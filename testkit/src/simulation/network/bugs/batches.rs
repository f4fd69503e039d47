//! What becomes of record batches by a bug.

use bytes::Bytes;
use millstream_protocol::messages::RecordData;
use millstream_protocol::record::{Batch, BatchBuilder, ControlKind, CrcCheck, RecordView, Stamp, batches, rewrite};
use millstream_protocol::{Compressor, Decompressor, Headers};

/// What tells a value that nobody has sent.
const UNSENT: u64 = 1 << 63;

/// The same records, but for those batches that are changed.
pub(super) fn rewritten(records: RecordData, change: impl Fn(&Batch) -> Option<Bytes>) -> RecordData {
    let Some(bytes) = records.into_bytes().filter(|bytes| !bytes.is_empty()) else { return RecordData::default() };
    let all = batches(bytes).filter_map(Result::ok);
    let all = all.map(|batch| change(&batch).unwrap_or_else(|| batch.bytes().clone()));
    RecordData::from(all.collect::<Vec<_>>())
}

/// The first batch and the last; those between them have lost their records.
pub(super) fn hollow(records: RecordData) -> RecordData {
    let Some(bytes) = records.into_bytes().filter(|bytes| !bytes.is_empty()) else { return RecordData::default() };
    let all: Vec<Batch> = batches(bytes).filter_map(Result::ok).collect();
    let last = all.len().saturating_sub(1);
    let emptied = all.iter().enumerate().map(|(index, batch)| {
        let is_between = index > 0 && index < last;
        is_between.then(|| rewrite::without_records(batch)).flatten().unwrap_or_else(|| batch.bytes().clone())
    });
    RecordData::from(emptied.collect::<Vec<_>>())
}

/// The same records of no producer that a broker would know again.
pub(super) fn unsequenced(batch: &Batch) -> Option<Bytes> {
    rebuilt(batch, |builder, base, record| builder.append_record(base, record).is_ok())
}

/// The same records with other values.
pub(super) fn mixed_up(batch: &Batch) -> Option<Bytes> {
    rebuilt(batch, |builder, base, record| {
        let mut value = record.value.unwrap_or_default().to_vec();
        value.first_mut().into_iter().for_each(|byte| *byte |= 0x80);
        let delta = i32::try_from(record.offset.get() - base).unwrap_or(0);
        builder.append_at(delta, record.timestamp, record.key, Some(&value), record.headers).is_ok()
    })
}

/// The marker of a commit as a record, with a value that nobody has sent.
pub(super) fn shown(batch: &Batch) -> Option<Bytes> {
    let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Check).ok()?;
    let is_commit = decoded.control().is_some_and(|control| control.kind == ControlKind::Commit);
    let header = batch.header();
    let value = UNSENT | header.producer_id.cast_unsigned() << 40 | header.base_offset.cast_unsigned();
    let mut builder = BatchBuilder::new();
    let at = decoded.iter().next()?.timestamp;
    builder.append(at, None, Some(&value.to_be_bytes()), &Headers::new()).ok()?;
    let sealed = builder.seal(&mut Compressor::none()).ok()?;
    is_commit.then(|| sealed.into_bytes(&Stamp::plain().at(header.base_offset, header.leader_epoch)))
}

/// A batch at the same place, of no producer, built of the records of one that is in no transaction.
fn rebuilt(batch: &Batch, append: impl Fn(&mut BatchBuilder, i64, &RecordView<'_>) -> bool) -> Option<Bytes> {
    let header = *batch.header();
    if header.is_transactional() || header.is_control() {
        return None;
    }
    let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Check).ok()?;
    let mut builder = BatchBuilder::new();
    for record in decoded.iter() {
        append(&mut builder, header.base_offset, &record).then_some(())?;
    }
    builder.reach(header.last_offset_delta);
    let sealed = builder.seal(&mut Compressor::none()).ok()?;
    Some(sealed.into_bytes(&Stamp::plain().at(header.base_offset, header.leader_epoch)))
}
