//! Which record is next: the one with the lowest time among the first records of the partitions, by Kafka Streams' rules.

use super::queue::Queue;
use millstream_protocol::Timestamp;
use std::time::Duration;

/// The input partitions of a task.
#[derive(Debug, Default)]
pub(super) struct PartitionGroup {
    pub(super) queues: Vec<Queue>,
    /// How long to wait for a partition that has nothing while others have. None: not at all, whatever its lag.
    max_task_idle: Option<Duration>,
    idle_since: Option<Timestamp>,
}
impl PartitionGroup {
    pub(super) const fn new(queues: Vec<Queue>, max_task_idle: Option<Duration>) -> Self {
        Self { queues, max_task_idle, idle_since: None }
    }
    /// The partition whose first record has the lowest time.
    pub(super) fn choose(&self) -> Option<usize> {
        let heads = self.queues.iter().enumerate().filter_map(|(index, queue)| Some((queue.head.as_ref()?.1, index)));
        heads.min().map(|(_, index)| index)
    }
    /// Whether to go on although some partition has nothing: it is at its log's end, and has been waited for long enough.
    pub(super) fn is_ready(&mut self, now: Timestamp) -> bool {
        let Some(max_idle) = self.max_task_idle else { return true };
        let mut empty = self.queues.iter().filter(|queue| queue.is_drained()).peekable();
        if empty.peek().is_none() {
            self.idle_since = None;
            return true;
        }
        if empty.any(|queue| queue.is_caught_up != Some(true)) {
            self.idle_since = None;
            return false;
        }
        now >= *self.idle_since.get_or_insert(now) + max_idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_protocol::TopicPartition;

    fn group(max_task_idle: Option<Duration>) -> PartitionGroup {
        let queue = |partition| Queue::new(TopicPartition::new("in", partition), 0, 0);
        PartitionGroup::new(vec![queue(0), queue(1)], max_task_idle)
    }
    #[test]
    fn empty_partition_that_lags_is_waited_for() {
        let mut group = group(Some(Duration::ZERO));
        assert!(!group.is_ready(Timestamp::EPOCH), "its lag is not known");
        group.queues.iter_mut().for_each(|queue| queue.is_caught_up = Some(false));
        assert!(!group.is_ready(Timestamp::EPOCH), "there is more in the log");
        group.queues.iter_mut().for_each(|queue| queue.is_caught_up = Some(true));
        assert!(group.is_ready(Timestamp::EPOCH));
    }
    #[test]
    fn empty_partition_at_its_end_is_waited_for_as_long_as_was_asked() {
        let mut group = group(Some(Duration::from_millis(10)));
        group.queues.iter_mut().for_each(|queue| queue.is_caught_up = Some(true));
        let ready: Vec<_> = [5, 14, 15].map(|now| group.is_ready(Timestamp::from_millis(now))).into();
        assert_eq!(ready, [false, false, true]);
    }
    #[test]
    fn nothing_is_waited_for_when_that_is_switched_off() {
        assert!(group(None).is_ready(Timestamp::EPOCH));
    }
}
