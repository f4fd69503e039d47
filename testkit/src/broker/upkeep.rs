//! What a broker does to its logs by itself or when a test asks for it: retention and compaction.

use super::Broker;
use super::log::retention::Retention;
use super::timers::TimerKey;
use super::topics::topic::Topic;

impl Broker {
    /// Compacts the partitions of a topic, as if every segment were full; says whether there is such a topic.
    pub(crate) fn compact(&mut self, topic: &str) -> bool {
        let now = self.now.as_millis();
        let Some(topic) = self.topics.find_mut(topic) else { return false };
        let delete_retention_ms = topic.number("delete.retention.ms");
        topic.partitions.iter_mut().for_each(|partition| partition.log.compact(now, delete_retention_ms));
        true
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
    /// The time for retention has come (`log.retention.check.interval.ms`).
    pub(crate) fn handle_retention_time(&mut self) {
        self.apply_retention();
        self.arm_retention();
    }
    /// Sets the next time for retention.
    pub(crate) fn arm_retention(&mut self) {
        self.timers.arm(TimerKey::Retention, Some(self.now + self.settings.retention_check_interval));
    }
}

impl Topic {
    fn number(&self, option: &str) -> i64 {
        self.config(option).parse().unwrap_or(-1)
    }
    fn retention(&self) -> Retention {
        Retention {
            ms: self.number("retention.ms"),
            bytes: self.number("retention.bytes"),
            segment_bytes: usize::try_from(self.number("segment.bytes")).unwrap_or(usize::MAX),
        }
    }
}
