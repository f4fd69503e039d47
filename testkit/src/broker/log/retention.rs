//! Retention (`retention.ms`, `retention.bytes`): whole segments go, the oldest first.

use super::Log;
use super::segments::{Rolls, Segment};

/// What a topic keeps. Negative limits are none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retention {
    pub(crate) ms: i64,
    pub(crate) bytes: i64,
    pub(crate) rolls: Rolls,
}

impl Log {
    /// Deletes what is too old or too much; says whether anything was.
    pub(crate) fn retain(&mut self, now: i64, retention: &Retention) -> bool {
        self.release_deleted(&retention.rolls);
        let segments = self.segments(&retention.rolls);
        let is_old = |segment: &&Segment| retention.ms >= 0 && now - segment.max_timestamp > retention.ms;
        let by_time = segments.iter().take_while(is_old).last().map(|segment| segment.end);
        let mut excess = i64::try_from(self.size_bytes()).unwrap_or(i64::MAX).saturating_sub(retention.bytes);
        let is_too_much = |segment: &&Segment| {
            excess = excess.saturating_sub(i64::try_from(segment.bytes).unwrap_or(i64::MAX));
            retention.bytes >= 0 && excess >= 0
        };
        let by_size = segments.iter().take_while(is_too_much).last().map(|segment| segment.end);
        // Nothing goes that followers do not have.
        let until = by_time.max(by_size).filter(|until| *until <= self.high_watermark());
        let before = self.start();
        if let Some(until) = until {
            self.delete_before(until);
            self.deleted = None;
        }
        self.start() > before
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::{Marker, marker};
    use super::*;

    const EACH_ALONE: Rolls = Rolls { bytes: 1, ms: i64::MAX };

    /// Four batches of one offset each, of the times 0, 10, 20 and 30, each a segment of its own.
    fn log() -> (Log, i64) {
        let mut log = Log::default();
        for time in [0, 10, 20, 30] {
            log.append_marker(Marker::Commit, marker(Marker::Commit, 1, 0, 0, time), 0, 0);
        }
        log.replicated_to(4);
        let size = i64::try_from(log.size_bytes()).unwrap() / 4;
        (log, size)
    }

    #[test]
    fn old_segments_go() {
        let (mut log, _) = log();
        let retention = Retention { ms: 15, bytes: -1, rolls: EACH_ALONE };
        assert!(log.retain(30, &retention));
        assert_eq!((log.start(), log.end()), (2, 4));
        assert!(!log.retain(30, &retention));
    }

    #[test]
    fn segments_beyond_the_size_go_and_the_one_that_crosses_it_stays() {
        let (mut log, size) = log();
        log.retain(0, &Retention { ms: -1, bytes: size * 2 + 1, rolls: EACH_ALONE });
        assert_eq!(log.start(), 1);
    }

    #[test]
    fn one_segment_stays_while_its_newest_record_is_young() {
        let (mut log, _) = log();
        assert!(!log.retain(40, &Retention { ms: 15, bytes: 1, rolls: Rolls { bytes: 1 << 30, ms: i64::MAX } }));
    }
}
