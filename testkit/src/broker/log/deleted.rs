//! What is left of batches that were deleted before their segment could go. Kafka moves the log's start at once and keeps the bytes until a later
//! segment begins at or before it: till then they count in the log's size, and ListOffsets still tells the newest of their times.

use super::Log;
use super::batch::Batch;
use super::segments::{Rolls, Segment};

/// Deleted batches whose segment is still there.
#[derive(Debug)]
pub(super) struct Deleted {
    pub(super) segment: Segment,
    /// The first of those with the newest time; of the others the numbers are enough.
    newest: Batch,
}

impl Log {
    /// The batch that has the newest time, of equals the first; a marker has a time, too. It may lie before the log's start.
    pub(crate) fn newest_batch(&self) -> Option<&Batch> {
        let deleted = self.deleted.iter().map(|deleted| &deleted.newest);
        deleted.chain(self.batches.iter()).reduce(newer)
    }
    /// Takes a batch for deleted that was the first.
    pub(super) fn bury(&mut self, batch: Batch) {
        let Some(deleted) = &mut self.deleted else {
            self.deleted = Some(Deleted { segment: Segment::of(&batch), newest: batch });
            return;
        };
        deleted.segment.extend(&batch);
        if batch.max_timestamp > deleted.newest.max_timestamp {
            deleted.newest = batch;
        }
    }
    /// Forgets deleted batches whose segment holds nothing else and is not the last.
    pub(super) fn release_deleted(&mut self, rolls: &Rolls) {
        if self.deleted.is_none() {
            return;
        }
        let segments = self.segments(rolls);
        if segments.len() > 1 && segments.first().is_some_and(|segment| segment.end <= self.start) {
            self.deleted = None;
        }
    }
    pub(super) fn deleted_bytes(&self) -> usize {
        self.deleted.as_ref().map_or(0, |deleted| deleted.segment.bytes)
    }
    pub(super) fn deleted_weight(&self) -> usize {
        self.deleted.as_ref().map_or(0, |deleted| deleted.newest.weight())
    }
}

fn newer<'a>(newest: &'a Batch, batch: &'a Batch) -> &'a Batch {
    if batch.max_timestamp > newest.max_timestamp { batch } else { newest }
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::with_header;
    use super::super::batch::{Marker, marker};
    use super::super::retention::Retention;
    use super::*;

    const KEPT: Retention = Retention { ms: -1, bytes: -1, rolls: Rolls { bytes: usize::MAX, ms: i64::MAX } };

    /// Batches of one record each, of these times.
    fn log(times: &[i64]) -> Log {
        let mut log = Log::default();
        times.iter().for_each(|time| append(&mut log, *time));
        log
    }
    fn append(log: &mut Log, time: i64) {
        let batch = with_header(-1, -1, |header| {
            header.attributes = 0;
            header.base_sequence = -1;
            header.max_timestamp = time;
        });
        log.append(batch, 0, None).unwrap();
        log.replicated_to(log.end());
    }
    fn newest(log: &Log) -> Option<i64> {
        log.newest_batch().map(|batch| batch.base_offset)
    }

    #[test]
    fn the_newest_time_is_that_of_a_deleted_record_until_its_segment_goes() {
        let mut log = log(&[10, 30, 30, 20]);
        log.delete_before(3);
        assert_eq!(newest(&log), Some(1), "of equals the first");
        log.retain(0, &KEPT);
        assert_eq!(newest(&log), Some(1), "its segment is not full");
        let rolls = Rolls { bytes: log.deleted_bytes(), ms: i64::MAX };
        log.retain(0, &Retention { rolls, ..KEPT });
        assert_eq!(newest(&log), Some(3), "the next segment begins where the log does");
    }

    /// Found beside a real Kafka (answers, seed 33, 1000 steps).
    #[test]
    fn a_marker_may_have_the_newest_time() {
        let mut log = log(&[10]);
        log.append_marker(Marker::Commit, marker(Marker::Commit, 1, 0, 0, 20), 0, 0);
        assert_eq!(newest(&log), Some(1));
    }

    #[test]
    fn a_log_of_deleted_records_alone_has_a_newest_time_and_a_size() {
        let mut log = log(&[10, 20]);
        let size = log.size_bytes();
        log.delete_before(2);
        log.retain(0, &Retention { rolls: Rolls { bytes: 1, ms: 0 }, ..KEPT });
        assert_eq!((newest(&log), log.size_bytes()), (Some(1), size), "the last segment stays");
    }

    #[test]
    fn what_retention_takes_leaves_no_newest_time() {
        let mut log = log(&[10, 20]);
        log.delete_before(1);
        log.retain(100, &Retention { ms: 15, ..KEPT });
        assert_eq!((newest(&log), log.size_bytes()), (None, 0));
    }
}
