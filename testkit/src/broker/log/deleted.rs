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
    newest: Option<Batch>,
}

impl Log {
    /// The batch that has the newest time, of equals the first; a marker has none. It may lie before the log's start.
    pub(crate) fn newest_batch(&self) -> Option<&Batch> {
        let deleted = self.deleted.iter().filter_map(|deleted| deleted.newest.as_ref());
        let batches = deleted.chain(&self.batches).filter(|batch| !batch.is_control());
        batches.reduce(|newest, batch| if batch.max_timestamp > newest.max_timestamp { batch } else { newest })
    }
    /// Takes a batch for deleted that was the first.
    pub(super) fn bury(&mut self, batch: Batch) {
        match &mut self.deleted {
            Some(deleted) => deleted.segment.extend(&batch),
            None => self.deleted = Some(Deleted { segment: Segment::of(&batch), newest: None }),
        }
        if let Some(deleted) = self.deleted.as_mut().filter(|_| !batch.is_control())
            && deleted.newest.as_ref().is_none_or(|newest| newest.max_timestamp < batch.max_timestamp)
        {
            deleted.newest = Some(batch);
        }
    }
    /// Forgets deleted batches whose segment holds nothing else and is not the last.
    pub(super) fn release_deleted(&mut self, rolls: &Rolls) {
        let segments = self.segments(rolls);
        if segments.len() > 1 && segments.first().is_some_and(|segment| segment.end <= self.start) {
            self.deleted = None;
        }
    }
    pub(super) fn deleted_bytes(&self) -> usize {
        self.deleted.as_ref().map_or(0, |deleted| deleted.segment.bytes)
    }
    pub(super) fn deleted_weight(&self) -> usize {
        self.deleted.as_ref().and_then(|deleted| deleted.newest.as_ref()).map_or(0, Batch::weight)
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::with_header;
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
