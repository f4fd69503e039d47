//! When the cleaner compacts a log by itself (Kafka's `LogCleanerManager`): full segments alone, once enough of the log is dirty
//! (`min.cleanable.dirty.ratio`) or something dirty is too old (`max.compaction.lag.ms`). What is too young (`min.compaction.lag.ms`) stays.

use super::Log;
use super::segments::{Rolls, Segment};

/// What a compacted topic asks of the cleaner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cleaning {
    pub(crate) rolls: Rolls,
    pub(crate) min_dirty_ratio: f64,
    pub(crate) min_lag_ms: i64,
    pub(crate) max_lag_ms: i64,
    pub(crate) delete_retention_ms: i64,
}

impl Log {
    /// Compacts the full segments, if it is time.
    pub(crate) fn clean_if_due(&mut self, now: i64, cleaning: &Cleaning) {
        let segments = self.segments(&cleaning.rolls);
        let bound = self.cleanable_end(&segments, now, cleaning);
        if bound > self.clean_end && self.is_due(&segments, bound, now, cleaning) {
            self.compact_below(bound, now, cleaning.delete_retention_ms);
        }
    }
    /// Where the first segment begins that may not be compacted: the active one, or one that is too young.
    fn cleanable_end(&self, segments: &[Segment], now: i64, cleaning: &Cleaning) -> i64 {
        let Some((active, full)) = segments.split_last() else { return self.clean_end };
        let is_young = |segment: &&Segment| {
            cleaning.min_lag_ms > 0
                && segment.end > self.clean_end
                && segment.max_timestamp > now.saturating_sub(cleaning.min_lag_ms)
        };
        let first_kept = full.iter().find(is_young).unwrap_or(active);
        first_kept.start.min(self.last_stable_offset())
    }
    fn is_due(&self, segments: &[Segment], bound: i64, now: i64, cleaning: &Cleaning) -> bool {
        let size = |from: i64, to: i64| -> f64 {
            let bytes = self.readable(from, to).map(|batch| batch.size()).sum::<usize>();
            u32::try_from(bytes).map_or(f64::from(u32::MAX), f64::from)
        };
        let (clean, dirty) = (size(self.start, self.clean_end), size(self.clean_end.max(self.start), bound));
        let must_go_before = now.saturating_sub(cleaning.max_lag_ms);
        let is_old = |segment: &Segment| {
            segment.end > self.clean_end
                && segment.start < bound
                && (1..must_go_before).contains(&segment.first_timestamp)
        };
        dirty > 0.0 && (dirty / (clean + dirty) > cleaning.min_dirty_ratio || segments.iter().any(is_old))
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::Batch;
    use super::*;
    use bytes::Bytes;
    use millstream_protocol::record::{BatchBuilder, Stamp};
    use millstream_protocol::{Compressor, Decompressor, Headers, Timestamp};

    const EACH_ALONE: Rolls = Rolls { bytes: 1, ms: i64::MAX };
    const CLEANING: Cleaning = Cleaning {
        rolls: EACH_ALONE,
        min_dirty_ratio: 0.5,
        min_lag_ms: 0,
        max_lag_ms: i64::MAX,
        delete_retention_ms: 0,
    };

    /// A log of batches of one record each, all with one key, at these times.
    fn log(times: &[i64]) -> Log {
        let mut log = Log::default();
        times.iter().for_each(|time| append(&mut log, *time));
        log
    }
    fn append(log: &mut Log, time: i64) {
        let mut builder = BatchBuilder::new();
        builder.append(Timestamp::from_millis(time), Some(b"k"), Some(b"v"), &Headers::new()).unwrap();
        let bytes: Bytes = builder.seal(&mut Compressor::none()).unwrap().into_bytes(&Stamp::plain());
        log.append(Batch::parse(&bytes).unwrap(), 0, None).unwrap();
        log.replicated_to(log.end());
    }
    fn offsets(log: &Log) -> Vec<i64> {
        let records = |batch: &Batch| batch.decode(&mut Decompressor::new()).unwrap().len();
        log.batches().filter(|batch| records(batch) > 0).map(|batch| batch.base_offset).collect()
    }

    #[test]
    fn the_active_segment_is_left_alone() {
        let mut log = log(&[1, 2, 3]);
        log.clean_if_due(9, &CLEANING);
        assert_eq!(offsets(&log), [1, 2], "the newest of the full segments stays beside the active one");
        log.clean_if_due(9, &Cleaning { rolls: Rolls { bytes: 1 << 20, ms: i64::MAX }, ..CLEANING });
        assert_eq!(offsets(&log), [1, 2]);
    }

    #[test]
    fn a_log_is_compacted_when_enough_of_it_is_dirty() {
        let mut log = log(&[1, 2, 3]);
        log.clean_if_due(9, &CLEANING);
        append(&mut log, 4);
        log.clean_if_due(9, &CLEANING);
        assert_eq!(offsets(&log), [1, 2, 3], "half is no more than half");
        append(&mut log, 5);
        log.clean_if_due(9, &CLEANING);
        assert_eq!(offsets(&log), [3, 4]);
    }

    #[test]
    fn what_is_left_of_full_segments_does_not_grow_into_the_active_one() {
        let mut log = log(&[1, 2, 3]);
        let cleaning = Cleaning { rolls: Rolls { bytes: log.size_bytes() / 3 * 2, ms: i64::MAX }, ..CLEANING };
        log.clean_if_due(9, &cleaning);
        assert_eq!(offsets(&log), [1, 2]);
        append(&mut log, 4);
        append(&mut log, 5);
        log.clean_if_due(9, &cleaning);
        assert_eq!(offsets(&log), [3, 4], "the third and the fourth batch are a full segment");
    }

    #[test]
    fn what_is_young_is_not_compacted_and_what_is_old_is_whatever_the_ratio() {
        let mut log = log(&[10, 20, 30, 40]);
        log.clean_if_due(50, &Cleaning { min_lag_ms: 25, ..CLEANING });
        assert_eq!(offsets(&log), [1, 2, 3], "the one of 30 is younger than 25");
        let lazy = Cleaning { min_dirty_ratio: 1.0, max_lag_ms: 30, ..CLEANING };
        log.clean_if_due(60, &lazy);
        assert_eq!(offsets(&log), [1, 2, 3], "the dirty one is exactly 30 old");
        log.clean_if_due(61, &lazy);
        assert_eq!(offsets(&log), [2, 3]);
    }
}
