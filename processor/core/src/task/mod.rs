//! A task: a sub-topology's share of one partition, as a machine without I/O. Batches go in by [`Task::feed`], what it writes goes to
//! its [`Collector`], what it has finished is taken by [`TaskCommits::freeze`].
//!
//! ```text
//!            feed          lowest time first           end of record, under one lock
//!  batches ───────▶ queues ─────────────────▶ nodes ─────────────────────────────────▶ collector
//!                                               │                                      stores' epoch
//!                                               │ failed: stores, outputs, schedules   positions ──▶ freeze
//!                                               ▼ of the record are taken back
//!                                            handler: fail, skip, retry, dead letter
//! ```

mod collector;
mod commit;
mod edge;
mod failing;
mod frame;
mod options;
mod output;
mod partition_group;
mod parts;
mod processing;
mod punctuation;
mod queue;

pub use collector::{Collector, OutputRecord};
pub use commit::{TaskCommits, TaskFreeze, TaskPosition};
pub use options::TaskOptions;
pub use processing::{Progress, Step};

pub(crate) use edge::{Call, Child, Children, Port, Side, Visit};
pub(crate) use frame::Frame;
pub(crate) use output::Written;
pub(crate) use parts::Parts;
pub(crate) use queue::RawRecord;

use crate::TaskId;
use crate::failure::TaskError;
use crate::operator::SourceInstance;
use crate::store_ref::{LiveStores, StoreRef};
use crate::topology::{Graph, NodeKind, StoreInfo, Subtopology, Topology, internal_name};
use millstream_protocol::hash::HashMap;
use millstream_protocol::record::Batch;
use millstream_protocol::{Decompressor, Offset, Timestamp, TopicName, TopicPartition};
use millstream_state::{LayeredStore, OrderedStore, RecordScope, StateStore};
use partition_group::PartitionGroup;
use queue::Queue;
use std::fmt;
use std::sync::Arc;

/// A task. It may be moved between threads; one runs it at a time.
///
/// It is made with its stores restored and its positions known, then [started](Self::start). After an error it stands at a boundary:
/// what finished before can be committed, and a new task is made to go on. So also after an abort.
pub struct Task {
    frame: Frame,
    group: PartitionGroup,
    sources: Vec<Box<dyn SourceInstance>>,
    /// The processors, in the order of the graph.
    processors: Vec<usize>,
    commits: TaskCommits,
    decompressor: Decompressor,
    retry: Option<processing::Retry>,
    /// Its stores, by their place in the graph.
    layers: Vec<Option<LayeredStore>>,
}
impl Task {
    /// Builds the instance of a sub-topology's nodes for one task.
    ///
    /// `positions` are the task's partitions, with where to start; `base` gives each store what is committed, restored.
    ///
    /// # Errors
    /// If the topology has no such sub-topology, or a partition is not of one of its topics.
    pub fn new(
        topology: &Topology,
        id: TaskId,
        positions: Vec<TaskPosition>,
        base: impl FnMut(&StoreInfo) -> Arc<dyn OrderedStore>,
        collector: Box<dyn Collector>,
        options: &TaskOptions,
    ) -> Result<Self, TaskError> {
        let subtopology = topology.subtopologies().iter().find(|each| each.id() == id.subtopology);
        let subtopology =
            subtopology.ok_or_else(|| cannot_build(id, "the topology has no such sub-topology".to_owned()))?;
        let graph = topology.graph();
        let scope = RecordScope::new();
        let layers = layers(graph, subtopology, &options.application_id, &scope, base);
        let mut parts = Parts::new(graph, &options.application_id, &layers);
        parts.build(subtopology.nodes());
        let sources = parts.sources;
        let queues = queues(id, graph, &sources, &options.application_id, &positions)?;
        let stores = subtopology.stores().iter().filter_map(|store| layers[store.index].clone()).collect();
        let partitions = positions.iter().map(|position| position.partition.clone()).collect();
        let mut frame = Frame::new(id, graph, options, collector, scope, partitions);
        frame.stream_time = positions.iter().filter_map(|each| each.partition_time).max().unwrap_or(Timestamp::NONE);
        let is_processor = |node: &usize| matches!(graph.nodes[*node].kind, NodeKind::Processor);
        Ok(Self {
            frame,
            group: PartitionGroup::new(queues, options.max_task_idle),
            sources,
            processors: subtopology.nodes().iter().copied().filter(is_processor).collect(),
            commits: TaskCommits::new(id, stores, positions),
            decompressor: Decompressor::new(),
            retry: None,
            layers,
        })
    }
    /// Adds batches to a partition, in the order of the log and without those of aborted transactions. `next_offset` is the offset
    /// after them. They are decoded when it is their turn. A partition that is not the task's is ignored.
    pub fn feed(&mut self, partition: &TopicPartition, batches: impl IntoIterator<Item = Batch>, next_offset: Offset) {
        if let Some(queue) = self.queue(partition) {
            queue.feed(batches, next_offset);
        }
    }
    /// Says whether what was fed reaches the log's end: a task with `max.task.idle.ms` waits for partitions that lag.
    pub fn set_caught_up(&mut self, partition: &TopicPartition, is_caught_up: bool) {
        if let Some(queue) = self.queue(partition) {
            queue.is_caught_up = Some(is_caught_up);
        }
    }

    /// Its name.
    #[must_use]
    pub const fn id(&self) -> TaskId {
        self.frame.task()
    }
    /// Its committing side, which other threads may use while this one processes.
    #[must_use]
    pub fn commits(&self) -> TaskCommits {
        self.commits.clone()
    }
    /// A view of one of its stores, if it has that one. Read it only while nobody else runs the task.
    #[must_use]
    pub fn open_store<S: StateStore>(&self, store: &StoreRef<S>) -> Option<S> {
        let live = LiveStores { recipes: &self.frame.graph.stores, layers: &self.layers };
        self.layers.get(store.index())?.is_some().then(|| live.open(store.index()))
    }
    /// Its partitions, with how many bytes wait in each.
    pub fn buffered(&self) -> impl Iterator<Item = (&TopicPartition, usize)> {
        self.group.queues.iter().map(|queue| (&queue.partition, queue.bytes()))
    }
    /// Whether there is nothing left of what was fed.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.group.queues.iter().all(Queue::is_drained)
    }
    /// The highest time of the records taken; [`Timestamp::NONE`] before the first.
    #[must_use]
    pub const fn stream_time(&self) -> Timestamp {
        self.frame.stream_time
    }
    /// How many records were left out, the metric `dropped-records-total`.
    #[must_use]
    pub const fn dropped_records(&self) -> u64 {
        self.frame.dropped
    }
    /// When the next wall-clock schedule is due.
    #[must_use]
    pub fn next_wall_clock_punctuation(&self) -> Option<Timestamp> {
        self.frame.schedules.next_wall_clock()
    }

    fn queue(&mut self, partition: &TopicPartition) -> Option<&mut Queue> {
        self.group.queues.iter_mut().find(|queue| queue.partition == *partition)
    }
}
impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.id()).field("queues", &self.group.queues).finish_non_exhaustive()
    }
}

/// The task's stores, by their place in the graph.
fn layers(
    graph: &Graph,
    subtopology: &Subtopology,
    application_id: &str,
    scope: &RecordScope,
    mut base: impl FnMut(&StoreInfo) -> Arc<dyn OrderedStore>,
) -> Vec<Option<LayeredStore>> {
    let mut layers: Vec<Option<LayeredStore>> = graph.stores.iter().map(|_| None).collect();
    for store in subtopology.stores() {
        // Serdes are told this name also where there is no changelog.
        let changelog = internal_name(application_id, &format!("{}-changelog", store.name()));
        layers[store.index] = Some(LayeredStore::new(store.spec().clone(), base(store), changelog, scope.clone()));
    }
    layers
}
/// A queue for each partition, which knows the source that reads it.
fn queues(
    id: TaskId,
    graph: &Graph,
    sources: &[Box<dyn SourceInstance>],
    application_id: &str,
    positions: &[TaskPosition],
) -> Result<Vec<Queue>, TaskError> {
    let mut readers: HashMap<TopicName, (usize, usize)> = HashMap::default();
    for (place, source) in sources.iter().enumerate() {
        if let NodeKind::Source { topics, .. } = &graph.nodes[source.node()].kind {
            let names = topics.iter().enumerate();
            readers.extend(names.map(|(input, topic)| (topic.full_name(application_id), (place, input))));
        }
    }
    let queue = |position: &TaskPosition| {
        let reader = readers.get(&position.partition.topic);
        let (source, input) =
            reader.ok_or_else(|| cannot_build(id, format!("no source reads {}", position.partition)))?;
        let mut queue = Queue::new(position.partition.clone(), *source, *input);
        queue.start_at(position.next, position.partition_time);
        Ok(queue)
    };
    positions.iter().map(queue).collect()
}
fn cannot_build(id: TaskId, why: String) -> TaskError {
    TaskError::new(id, None, "build it".to_owned(), why.into())
}
