//! Compaction (Kafka's `Cleaner`): of each key the newest record stays, tombstones and markers until their delete horizon has passed.
//! Offsets do not move, so that gaps are left; a batch whose records are all gone stays, empty, while it bears its producer's last
//! sequence or epoch. On demand all below the last stable offset is compacted, as if the active segment had just been rolled; what the
//! cleaner does by itself is `cleaning.rs`'s.

use super::Log;
use super::batch::Batch;
use bytes::Bytes;
use millstream_protocol::record::{BatchBuilder, DecodedBatch, RecordView};
use millstream_protocol::{Compressor, Decompressor, Timestamp};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One pass over a log.
struct Pass {
    now: i64,
    delete_retention_ms: i64,
    /// Of each key the offset of its newest record.
    newest: BTreeMap<Bytes, i64>,
    /// Producers of whose transaction batches were seen, so that its marker is still needed.
    seen: BTreeSet<i64>,
}

impl Log {
    /// Compacts all that may be: what lies below the last stable offset.
    pub(crate) fn compact(&mut self, now: i64, delete_retention_ms: i64) {
        self.compact_below(self.last_stable_offset(), now, delete_retention_ms);
    }
    /// Compacts what lies below an offset, which is the last stable one or less.
    pub(super) fn compact_below(&mut self, bound: i64, now: i64, delete_retention_ms: i64) {
        let newest = self.newest(bound);
        let mut pass = Pass { now, delete_retention_ms, newest, seen: BTreeSet::new() };
        let mut kept = VecDeque::with_capacity(self.batches.len());
        for batch in std::mem::take(&mut self.batches) {
            let is_in_reach = batch.last_offset() < bound;
            kept.extend(if is_in_reach { self.clean(&mut pass, batch) } else { Some(batch) });
        }
        self.batches = kept.into();
        self.clean_end = bound;
    }
    fn newest(&self, bound: i64) -> BTreeMap<Bytes, i64> {
        let mut newest = BTreeMap::new();
        let readable = self.batches.iter().take_while(|batch| batch.last_offset() < bound);
        for batch in readable.filter(|batch| !batch.is_control() && !self.is_aborted(batch)) {
            let Ok(decoded) = batch.decode(&mut Decompressor::new()) else { continue };
            for record in decoded.iter() {
                let key = record.key.map(Bytes::copy_from_slice);
                newest.extend(key.map(|key| (key, record.offset.get())));
            }
        }
        newest
    }
    fn is_aborted(&self, batch: &Batch) -> bool {
        let lies_in = |aborted: &super::Aborted| {
            aborted.producer_id == batch.producer_id
                && (aborted.first_offset..aborted.marker_offset).contains(&batch.base_offset)
        };
        batch.is_transactional()
            && self.producers.aborted_between(batch.base_offset, batch.next_offset()).iter().any(lies_in)
    }
    /// What is left of a batch.
    fn clean(&self, pass: &mut Pass, batch: Batch) -> Option<Batch> {
        let Ok(decoded) = batch.decode(&mut Decompressor::new()) else { return Some(batch) };
        let is_over = batch.delete_horizon().is_some_and(|horizon| horizon.as_millis() <= pass.now);
        let is_data = !batch.is_control();
        let may_go = pass.may_go(&batch);
        let drops_all = if is_data { self.is_aborted(&batch) } else { may_go && is_over };
        let stays = |record: &RecordView<'_>| !drops_all && (!is_data || pass.keeps(record, is_over));
        let left: Vec<RecordView<'_>> = decoded.iter().filter(stays).collect();
        let has_tombstone = is_data && left.iter().any(|record| record.value.is_none());
        let wants_horizon = batch.delete_horizon().is_none() && (has_tombstone || !is_data && may_go && !drops_all);
        if left.is_empty() && !self.producers.needs(&batch) {
            return None;
        }
        if left.len() == decoded.len() && !wants_horizon {
            return Some(batch);
        }
        let fresh = wants_horizon.then(|| Timestamp::from_millis(pass.now.saturating_add(pass.delete_retention_ms)));
        let horizon = batch.delete_horizon().or(fresh);
        Some(rebuilt(&batch, &decoded, &left, horizon).unwrap_or_else(|| batch.clone()))
    }
}

impl Pass {
    /// Whether a marker is needed no more, since its transaction has no batches left. Notes the batches on the way.
    fn may_go(&mut self, batch: &Batch) -> bool {
        if batch.is_control() {
            return !self.seen.remove(&batch.producer_id);
        }
        if batch.is_transactional() {
            self.seen.insert(batch.producer_id);
        }
        false
    }
    fn keeps(&self, record: &RecordView<'_>, is_over: bool) -> bool {
        let newest = record.key.and_then(|key| self.newest.get(key));
        newest.is_some_and(|newest| *newest <= record.offset.get()) && (record.value.is_some() || !is_over)
    }
}

/// The batch with these records alone, at the offsets that it had.
fn rebuilt(
    batch: &Batch,
    decoded: &DecodedBatch,
    left: &[RecordView<'_>],
    horizon: Option<Timestamp>,
) -> Option<Batch> {
    let mut builder = BatchBuilder::new();
    if let Some(horizon) = horizon.filter(|_| !left.is_empty()) {
        builder = builder.with_delete_horizon(horizon);
    }
    for record in left {
        let delta = i32::try_from(record.offset.get() - batch.base_offset).ok()?;
        let headers = record.headers.to_headers(decoded.payload());
        builder.append_at(delta, record.timestamp, record.key, record.value, &headers).ok()?;
    }
    builder.reach(batch.last_offset_delta);
    let mut compressor = Compressor::new(batch.compression()?, None).ok()?;
    let sealed = builder.seal(&mut compressor).ok()?;
    let mut stamp = batch.stamp();
    stamp.control = batch.is_control();
    Batch::parse(&sealed.into_bytes(&stamp.at(batch.base_offset, batch.leader_epoch))).ok()
}

#[cfg(test)]
mod tests {
    use super::super::batch::{Marker, marker};
    use super::*;
    use millstream_protocol::record::Stamp;
    use millstream_protocol::{Headers, ProducerEpoch, ProducerId};

    const RETENTION: i64 = 1000;

    fn batch(records: &[(&str, Option<&str>)], stamp: &Stamp) -> Batch {
        let mut builder = BatchBuilder::new();
        for (key, value) in records {
            let (key, value) = (Some(key.as_bytes()), value.map(str::as_bytes));
            builder.append(Timestamp::from_millis(5), key, value, &Headers::new()).unwrap();
        }
        Batch::parse(&builder.seal(&mut Compressor::none()).unwrap().into_bytes(stamp)).unwrap()
    }
    fn append(log: &mut Log, records: &[(&str, Option<&str>)], stamp: &Stamp) {
        log.append(batch(records, stamp), 0, None).unwrap();
        log.replicated_to(log.end());
    }
    fn finish(log: &mut Log, kind: Marker, id: i64) {
        log.append_marker(kind, marker(kind, id, 0, 0, 5), 0, 0);
        log.replicated_to(log.end());
    }
    fn transactional(id: i64) -> Stamp {
        Stamp::transactional(ProducerId::new(id), ProducerEpoch::new(0), 0)
    }
    /// The records as `offset key=value`, an empty batch as `first-last`, a marker as `offset marker`.
    fn told(log: &Log) -> Vec<String> {
        let mut told = Vec::new();
        for batch in log.batches() {
            let decoded = batch.decode(&mut Decompressor::new()).unwrap();
            if decoded.is_empty() {
                told.push(format!("{}-{}", batch.base_offset, batch.last_offset()));
            }
            for record in decoded.iter() {
                let text =
                    |part: Option<&[u8]>| part.map_or("null".into(), |part| String::from_utf8_lossy(part).into_owned());
                told.push(if batch.is_control() {
                    format!("{} marker", record.offset)
                } else {
                    format!("{} {}={}", record.offset, text(record.key), text(record.value))
                });
            }
        }
        told
    }

    #[test]
    fn the_newest_record_of_each_key_stays_where_it_was() {
        let mut log = Log::default();
        append(&mut log, &[("a", Some("1")), ("b", Some("1")), ("a", Some("2"))], &Stamp::plain());
        append(&mut log, &[("b", Some("2"))], &Stamp::plain());
        log.compact(0, RETENTION);
        assert_eq!(told(&log), ["2 a=2", "3 b=2"]);
        assert_eq!((log.start(), log.end()), (0, 4));
        assert_eq!(log.read(0, 4, 1 << 20, true).end, 4);
    }

    #[test]
    fn a_tombstone_goes_once_its_horizon_has_passed() {
        let mut log = Log::default();
        append(&mut log, &[("a", Some("1")), ("a", None), ("b", Some("1"))], &Stamp::plain());
        log.compact(100, RETENTION);
        assert_eq!(told(&log), ["1 a=null", "2 b=1"]);
        log.compact(1099, RETENTION);
        assert_eq!(told(&log), ["1 a=null", "2 b=1"]);
        log.compact(1100, RETENTION);
        assert_eq!(told(&log), ["2 b=1"]);
    }

    #[test]
    fn an_emptied_batch_stays_while_it_bears_its_producers_last_sequence() {
        let mut log = Log::default();
        append(
            &mut log,
            &[("a", Some("1")), ("b", Some("1"))],
            &Stamp::idempotent(ProducerId::new(7), ProducerEpoch::new(0), 0),
        );
        append(&mut log, &[("a", Some("2")), ("b", Some("2"))], &Stamp::plain());
        log.compact(0, RETENTION);
        assert_eq!(told(&log), ["0-1", "2 a=2", "3 b=2"]);
        let kept = log.batches().next().unwrap();
        assert_eq!((kept.producer_id, kept.last_sequence()), (7, 1));
        append(&mut log, &[("c", Some("1"))], &Stamp::idempotent(ProducerId::new(7), ProducerEpoch::new(0), 2));
        log.compact(0, RETENTION);
        assert_eq!(told(&log), ["2 a=2", "3 b=2", "4 c=1"]);
    }

    #[test]
    fn what_was_aborted_goes_and_its_marker_follows_after_the_horizon() {
        let mut log = Log::default();
        append(&mut log, &[("a", Some("1"))], &Stamp::plain());
        append(&mut log, &[("a", Some("2"))], &transactional(7));
        finish(&mut log, Marker::Abort, 7);
        append(&mut log, &[("b", Some("1"))], &transactional(8));
        finish(&mut log, Marker::Commit, 8);
        // An open transaction: nothing from here on is touched.
        append(&mut log, &[("b", Some("2"))], &transactional(9));
        log.compact(0, RETENTION);
        assert_eq!(told(&log), ["0 a=1", "1-1", "2 marker", "3 b=1", "4 marker", "5 b=2"]);
        finish(&mut log, Marker::Commit, 9);
        log.compact(0, RETENTION);
        assert_eq!(told(&log), ["0 a=1", "1-1", "2 marker", "3-3", "4 marker", "5 b=2", "6 marker"]);
    }
}
