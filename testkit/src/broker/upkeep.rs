//! What a broker does to its logs again and again, or when a test asks for it: retention, compaction, and forgetting who has gone.

use super::Broker;
use super::log::cleaning::Cleaning;
use super::log::retention::Retention;
use super::log::segments::Rolls;
use super::timers::TimerKey;
use super::topics::topic::Topic;
use std::time::Duration;

/// What is done again and again, each at its own interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Chore {
    /// Deletes what topics keep no longer (`log.retention.check.interval.ms`).
    Retention,
    /// Compacts logs that are due (`log.cleaner.backoff.ms`).
    Cleaning,
    /// Forgets producers that have gone (`producer.id.expiration.check.interval.ms`).
    Producers,
    /// Forgets transactional ids (`transaction.remove.expired.transaction.cleanup.interval.ms`).
    TransactionalIds,
}
impl Chore {
    const ALL: [Self; 4] = [Self::Retention, Self::Cleaning, Self::Producers, Self::TransactionalIds];
}

/// An interval of zero would never end.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);
/// Internal topics are compacted in pieces of a size that a test's memory can spare, however large their segments are said to be.
const INTERNAL_SEGMENT_BYTES: usize = 1 << 20;

impl Broker {
    /// Sets the first time for each chore.
    pub(crate) fn arm_chores(&mut self) {
        Chore::ALL.into_iter().for_each(|chore| self.arm_chore(chore));
    }
    fn arm_chore(&mut self, chore: Chore) {
        let interval = match chore {
            Chore::Retention => self.settings.retention_check_interval,
            Chore::Cleaning => self.settings.cleaner_backoff,
            Chore::Producers => self.settings.producer_id_check_interval,
            Chore::TransactionalIds => self.settings.transactional_id_check_interval,
        };
        self.timers.arm(TimerKey::Chore(chore), Some(self.now + interval.max(LEAST_INTERVAL)));
    }
    /// The time for a chore has come.
    pub(crate) fn handle_chore_time(&mut self, chore: Chore) {
        match chore {
            Chore::Retention => self.apply_retention(),
            Chore::Cleaning => self.clean(),
            Chore::Producers => self.expire_producers(),
            Chore::TransactionalIds => self.expire_transactions(),
        }
        self.arm_chore(chore);
    }
    /// Compacts the partitions of a topic, as if every segment were full; says whether there is such a topic.
    pub(crate) fn compact(&mut self, topic: &str) -> bool {
        let now = self.now.as_millis();
        let Some(topic) = self.topics.find_mut(topic) else { return false };
        let delete_retention_ms = topic.number("delete.retention.ms");
        topic.partitions.iter_mut().for_each(|partition| partition.log.compact(now, delete_retention_ms));
        true
    }
    /// Compacts what the cleaner would compact by now.
    fn clean(&mut self) {
        let now = self.now.as_millis();
        for topic in self.topics.all_mut().filter(|topic| topic.is_compacted()) {
            let cleaning = topic.cleaning();
            topic.partitions.iter_mut().for_each(|partition| partition.log.clean_if_due(now, &cleaning));
        }
    }
    /// Deletes what all topics keep no longer.
    pub(crate) fn apply_retention(&mut self) {
        let now = self.now.as_millis();
        let mut deleted = false;
        for topic in self.topics.all_mut().filter(|topic| topic.config("cleanup.policy").contains("delete")) {
            let retention = topic.retention();
            for partition in &mut topic.partitions {
                deleted |= partition.log.retain(now, &retention);
            }
        }
        if deleted {
            self.wake_all_fetches();
        }
    }
    fn expire_producers(&mut self) {
        let after = i64::try_from(self.settings.producer_id_expiration.as_millis()).unwrap_or(i64::MAX);
        let until = self.now.as_millis().saturating_sub(after);
        let partitions = self.topics.all_mut().flat_map(|topic| &mut topic.partitions);
        partitions.for_each(|partition| partition.log.producers.forget_until(until));
    }
}

impl Topic {
    fn number(&self, option: &str) -> i64 {
        self.config(option).parse().unwrap_or(-1)
    }
    fn retention(&self) -> Retention {
        Retention { ms: self.number("retention.ms"), bytes: self.number("retention.bytes"), rolls: self.rolls() }
    }
    fn cleaning(&self) -> Cleaning {
        Cleaning {
            rolls: self.rolls(),
            min_dirty_ratio: self.config("min.cleanable.dirty.ratio").parse().unwrap_or(1.0),
            min_lag_ms: self.number("min.compaction.lag.ms"),
            max_lag_ms: self.number("max.compaction.lag.ms"),
            delete_retention_ms: self.number("delete.retention.ms"),
        }
    }
    fn rolls(&self) -> Rolls {
        let bytes = usize::try_from(self.number("segment.bytes")).unwrap_or(usize::MAX);
        let ms = self.number("segment.ms");
        Rolls {
            bytes: if self.is_internal() { bytes.min(INTERNAL_SEGMENT_BYTES) } else { bytes },
            // What has to be compacted by a time has to leave the active segment by then.
            ms: if self.is_compacted() { ms.min(self.number("max.compaction.lag.ms")) } else { ms },
        }
    }
}
