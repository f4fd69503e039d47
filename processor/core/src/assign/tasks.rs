//! The tasks that a topology has on a cluster: one per sub-topology and partition.

use crate::TaskId;
use millstream_protocol::hash::HashMap;
use millstream_protocol::{PartitionId, TopicName, TopicPartition};

/// The topics that a sub-topology reads.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain facts that the caller collects")]
pub struct SubtopologyTopics {
    /// The sub-topology.
    pub subtopology: u32,
    /// Source and repartition topics.
    pub topics: Vec<TopicName>,
}

/// Every task with its partitions. A sub-topology has as many tasks as its widest topic has partitions; a narrower topic
/// has no input for the higher tasks.
#[derive(Debug, Clone)]
pub struct TaskPartitions {
    subtopologies: Vec<SubtopologyTopics>,
    counts: HashMap<TopicName, i32>,
    /// In order; with the index of the sub-topology.
    tasks: Vec<(TaskId, usize)>,
    positions: HashMap<TaskId, usize>,
    by_topic: HashMap<TopicName, usize>,
}

impl TaskPartitions {
    /// The tasks of these sub-topologies, given how many partitions each topic has. A topic that is not there has none.
    pub fn new(mut subtopologies: Vec<SubtopologyTopics>, counts: impl Fn(&TopicName) -> Option<i32>) -> Self {
        subtopologies.sort_by_key(|subtopology| subtopology.subtopology);
        let topics = subtopologies.iter().flat_map(|subtopology| &subtopology.topics);
        let counts: HashMap<TopicName, i32> = topics.map(|topic| (topic.clone(), counts(topic).unwrap_or(0))).collect();
        let mut tasks = Vec::new();
        let mut by_topic = HashMap::default();
        for (at, subtopology) in subtopologies.iter().enumerate() {
            by_topic.extend(subtopology.topics.iter().map(|topic| (topic.clone(), at)));
            let width = subtopology.topics.iter().map(|topic| counts[topic]).max().unwrap_or(0);
            tasks.extend(
                (0..width).map(|partition| (TaskId::new(subtopology.subtopology, PartitionId::new(partition)), at)),
            );
        }
        let positions = tasks.iter().enumerate().map(|(position, (id, _))| (*id, position)).collect();
        Self { subtopologies, counts, tasks, positions, by_topic }
    }

    /// The task that reads a partition.
    #[must_use]
    pub fn task_of(&self, partition: &TopicPartition) -> Option<TaskId> {
        self.position_of(partition).map(|position| self.id(position))
    }

    /// The partitions that a task reads; the first is its anchor. None for a task that there is not.
    #[must_use]
    pub fn partitions(&self, task: TaskId) -> Vec<TopicPartition> {
        self.position(task).map(|position| self.partitions_of(position).collect()).unwrap_or_default()
    }

    /// Every task, in order.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> {
        self.tasks.iter().map(|(id, _)| *id)
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn id(&self, position: usize) -> TaskId {
        self.tasks[position].0
    }

    pub(super) fn subtopology_of(&self, position: usize) -> usize {
        self.tasks[position].1
    }

    pub(super) fn subtopologies(&self) -> &[SubtopologyTopics] {
        &self.subtopologies
    }

    pub(super) fn position(&self, task: TaskId) -> Option<usize> {
        self.positions.get(&task).copied()
    }

    pub(super) fn position_of(&self, partition: &TopicPartition) -> Option<usize> {
        let at = *self.by_topic.get(&partition.topic)?;
        let inside = partition.partition.get() < *self.counts.get(&partition.topic)?;
        let id = TaskId::new(self.subtopologies[at].subtopology, partition.partition);
        if inside { self.position(id) } else { None }
    }

    pub(super) fn partitions_of(&self, position: usize) -> impl Iterator<Item = TopicPartition> {
        let (id, at) = self.tasks[position];
        let has = move |topic: &&TopicName| id.partition.get() < self.counts[*topic];
        self.subtopologies[at]
            .topics
            .iter()
            .filter(has)
            .map(move |topic| TopicPartition::new(topic.clone(), id.partition))
    }
}
