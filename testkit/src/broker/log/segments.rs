//! Where Kafka would roll a log's segments: by their size and by the time between records. Nothing else of segments can be seen, so that they
//! are found when they are asked for. Left out: rolling by the size of an index, and of records without a time.

use super::Log;
use super::batch::Batch;

/// When a segment is full (`segment.bytes`, `segment.ms`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rolls {
    pub(crate) bytes: usize,
    /// Between its first batch and one that opens the next.
    pub(crate) ms: i64,
}

/// Some batches in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) bytes: usize,
    pub(super) first_timestamp: i64,
    pub(super) max_timestamp: i64,
}

impl Segment {
    /// With one batch.
    pub(super) fn of(batch: &Batch) -> Self {
        Self {
            start: batch.base_offset,
            end: batch.next_offset(),
            bytes: batch.size(),
            first_timestamp: batch.max_timestamp,
            max_timestamp: batch.max_timestamp,
        }
    }
    pub(super) fn extend(&mut self, batch: &Batch) {
        self.end = batch.next_offset();
        self.bytes += batch.size();
        self.max_timestamp = self.max_timestamp.max(batch.max_timestamp);
    }
}

impl Log {
    /// All, the active one last. The first begins with what was deleted of it.
    pub(super) fn segments(&self, rolls: &Rolls) -> Vec<Segment> {
        let mut segments: Vec<Segment> = self.deleted.iter().map(|deleted| deleted.segment).collect();
        for batch in self.batches() {
            let (len, time) = (batch.size(), batch.max_timestamp);
            // What the cleaner has made smaller takes in nothing that came later.
            let is_kept_apart =
                |segment: &Segment| segment.start < self.clean_end && batch.base_offset >= self.clean_end;
            let has_room = |segment: &&mut Segment| {
                segment.bytes + len <= rolls.bytes
                    && time.saturating_sub(segment.first_timestamp) <= rolls.ms
                    && !is_kept_apart(segment)
            };
            if let Some(segment) = segments.last_mut().filter(has_room) {
                segment.extend(batch);
            } else {
                segments.push(Segment::of(batch));
            }
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::{Marker, marker};
    use super::*;

    /// Batches of one offset each, at these times.
    fn log(times: &[i64]) -> Log {
        let mut log = Log::default();
        for time in times {
            log.append_marker(Marker::Commit, marker(Marker::Commit, 1, 0, 0, *time), 0, 0);
        }
        log
    }
    fn ends(log: &Log, rolls: Rolls) -> Vec<i64> {
        log.segments(&rolls).iter().map(|segment| segment.end).collect()
    }

    #[test]
    fn a_segment_ends_before_what_it_has_no_room_for() {
        let log = log(&[0, 0, 0, 0, 0]);
        let bytes = log.size_bytes() / 5 * 2;
        assert_eq!(ends(&log, Rolls { bytes, ms: i64::MAX }), [2, 4, 5]);
    }

    #[test]
    fn a_segment_ends_before_a_batch_that_is_too_much_younger_than_its_first() {
        let log = log(&[0, 10, 11, 5, 30]);
        assert_eq!(ends(&log, Rolls { bytes: usize::MAX, ms: 10 }), [2, 4, 5]);
    }
}
