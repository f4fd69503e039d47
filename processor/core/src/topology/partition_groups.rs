//! Which partitions belong to which task: task `s_p` takes partition `p` of every topic of sub-topology `s` that has one.

use super::Topology;
use crate::assign::{SubtopologyTopics, TaskPartitions};
use millstream_protocol::TopicName;

impl Topology {
    /// Every task with its partitions. `partition_count` says how many partitions a topic has, under its full name; a topic that it
    /// does not know has none.
    #[must_use]
    pub fn tasks(&self, application_id: &str, partition_count: impl Fn(&TopicName) -> Option<i32>) -> TaskPartitions {
        let topics = self.subtopologies().iter().map(|subtopology| SubtopologyTopics {
            subtopology: subtopology.id(),
            topics: subtopology.source_topics().iter().map(|topic| topic.full_name(application_id)).collect(),
        });
        TaskPartitions::new(topics.collect(), partition_count)
    }
}
