//! A task, its stores, and the loop that takes a record to its last consequence.

use super::topics::{Logs, Written};
use super::{CommitStep, DriverOptions, DriverRecord};
use bytes::Bytes;
use millstream_processor_core::failure::TaskError;
use millstream_processor_core::task::{Progress, TaskOptions, TaskPosition};
use millstream_processor_core::{StoreInfo, Task, TaskId, Topology};
use millstream_protocol::hash::HashMap;
use millstream_protocol::record::Batch;
use millstream_protocol::{Headers, Offset, PartitionId, Timestamp, TopicName, TopicPartition};
use millstream_state::{
    ChangelogOptions, ChangelogPosition, ChangelogRecord, CommitId, LayeredStore, Medium, MemoryStore, OrderedStore,
    ValueFormat, WriteBatch,
};
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct Run {
    pub(super) topology: Topology,
    options: TaskOptions,
    pub(super) task: Task,
    /// The topics that the topology reads.
    sources: Vec<TopicName>,
    pub(super) written: Written,
    logs: Logs,
    /// What was committed, by store.
    pub(super) bases: HashMap<String, Arc<dyn OrderedStore>>,
    /// How far the task is with what is committed.
    pub(super) committed: Vec<TaskPosition>,
    /// How much of what is written is committed.
    pub(super) settled: usize,
    /// What the task was given and has not committed.
    pub(super) fed: Vec<Fed>,
    /// Where the next commit crashes.
    crash: Option<CommitStep>,
    wall_clock: Timestamp,
    commits: u64,
    requested_commits: u64,
}
/// A record on its way into the task.
#[derive(Debug)]
pub(super) struct Fed {
    pub(super) partition: TopicPartition,
    pub(super) batch: Batch,
    pub(super) next: Offset,
}
impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("task", &self.task).finish_non_exhaustive()
    }
}

impl Run {
    pub(super) fn new(topology: Topology, options: DriverOptions) -> Result<Self, TaskError> {
        let topology = topology.into_one();
        let DriverOptions { application_id, handlers } = options;
        let sources: Vec<_> = topology.source_topics(&application_id).into_iter().map(|(topic, _)| topic).collect();
        let options = TaskOptions::new(&application_id).handlers(handlers);
        let (written, mut bases) = (Written::default(), HashMap::default());
        let start: Vec<_> = sources.iter().map(|topic| TaskPosition::new(partition(topic), None, None)).collect();
        let task = make_task(&topology, start.clone(), &mut bases, &written, &options)?;
        let mut run = Self {
            topology,
            options,
            task,
            sources,
            written,
            logs: Logs::default(),
            bases,
            committed: start,
            settled: 0,
            fed: Vec::new(),
            crash: None,
            wall_clock: Timestamp::EPOCH,
            commits: 0,
            requested_commits: 0,
        };
        run.start()?;
        run.run()?;
        Ok(run)
    }
    pub(super) fn pipe(
        &mut self,
        topic: &str,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        timestamp: Timestamp,
        headers: &Headers,
    ) -> Result<(), TaskError> {
        let topic = self.sources.iter().find(|source| **source == *topic).cloned();
        let topic = topic.unwrap_or_else(|| panic!("the topology reads no such topic: {:?} are read", self.sources));
        self.feed(&topic, (key, value), timestamp, headers);
        self.run()
    }
    pub(super) fn advance_wall_clock(&mut self, by: Duration) -> Result<(), TaskError> {
        self.wall_clock = self.wall_clock + by;
        let start = self.written.len();
        self.task.punctuate(self.wall_clock)?;
        self.commit(start)?;
        self.run()
    }
    pub(super) fn crash_and_restart(&mut self) -> Result<(), TaskError> {
        self.start_again()?;
        self.run()
    }
    /// Has the next commit crash after a step.
    pub(super) const fn crash_at(&mut self, step: CommitStep) {
        self.crash = Some(step);
    }
    pub(super) fn build(&mut self, positions: Vec<TaskPosition>) -> Result<(), TaskError> {
        self.task = make_task(&self.topology, positions, &mut self.bases, &self.written, &self.options)?;
        for store in self.task.commits().stores() {
            if store.spec().medium() == Medium::Memory && !matches!(store.spec().changelog(), ChangelogOptions::Off) {
                self.restore(&store);
            }
        }
        Ok(())
    }
    /// What a store has written to its changelog, committed records alone.
    pub(super) fn changelog(&self, store: &str) -> Vec<DriverRecord> {
        let stores = self.task.commits().stores();
        let found = stores.iter().find(|each| each.spec().name() == store);
        let topic = found.unwrap_or_else(|| panic!("the topology has no store `{store}`")).changelog().clone();
        self.written.after(0).into_iter().filter(|record| record.topic == topic).collect()
    }
    pub(super) fn close(mut self) {
        self.task.close();
    }
    pub(super) fn records(&self, start: usize) -> Vec<DriverRecord> {
        self.written.after(start)
    }
    pub(super) fn next_of(&self, topic: &TopicName, start: usize) -> Option<(DriverRecord, usize)> {
        self.written.next_of(topic, start)
    }
    pub(super) const fn wall_clock(&self) -> Timestamp {
        self.wall_clock
    }
    pub(super) const fn task(&self) -> &Task {
        &self.task
    }
    pub(super) const fn requested_commits(&self) -> u64 {
        self.requested_commits
    }
    pub(super) fn store_entries(&self, name: &str) -> Vec<DriverRecord> {
        let store =
            self.topology.subtopologies().iter().flat_map(|each| each.stores()).find(|store| store.name() == name);
        let store = store.unwrap_or_else(|| panic!("the topology has no store `{name}`"));
        let topic = TopicName::from(name);
        entries(&*self.bases[name]).map(|(key, value)| plain(&topic, store.format(), key, &value)).collect()
    }

    /// Starts the processors, and commits what that did.
    pub(super) fn start(&mut self) -> Result<(), TaskError> {
        let start = self.written.len();
        self.task.start(self.wall_clock)?;
        self.commit(start)
    }
    /// Record by record until nothing is left; what each has written for the topology itself goes in behind it.
    fn run(&mut self) -> Result<(), TaskError> {
        loop {
            let start = self.written.len();
            let step = self.task.process(self.wall_clock, 1)?;
            self.commit(start)?;
            match step.progress {
                Progress::Retrying(at) => self.wall_clock = at,
                _ if step.records == 0 && self.task.is_drained() => return Ok(()),
                _ => {}
            }
        }
    }
    fn feed_back(&mut self, start: usize) {
        for record in self.written.after(start) {
            if self.sources.contains(&record.topic) {
                let parts = (record.key.as_deref(), record.value.as_deref());
                self.feed(&record.topic, parts, record.timestamp, &record.headers);
            }
        }
    }
    fn feed(
        &mut self,
        topic: &TopicName,
        parts: (Option<&[u8]>, Option<&[u8]>),
        timestamp: Timestamp,
        headers: &Headers,
    ) {
        let (batch, next) = self
            .logs
            .append(topic, parts, timestamp, headers)
            .expect("a record of a test is not too large for a batch");
        let partition = partition(topic);
        self.task.feed(&partition, [batch.clone()], next);
        self.fed.push(Fed { partition, batch, next });
    }
    /// Commits what is finished; what it wrote from `start` on for the topology itself goes in behind what is there.
    fn commit(&mut self, start: usize) -> Result<(), TaskError> {
        let commits = self.task.commits();
        self.requested_commits += u64::from(commits.is_commit_requested());
        let freeze = commits.freeze().expect("commits are decided before the next one begins");
        if let Some(freeze) = freeze {
            self.commits += 1;
            let commit = CommitId::new(self.commits, 1);
            if let Some(step) = self.crash.take() {
                if step >= CommitStep::Committed {
                    self.crash_in_commit(step, commit, freeze)?;
                    self.feed_back(start);
                    return Ok(());
                }
                return self.crash_in_commit(step, commit, freeze);
            }
            for frozen in &freeze.stores {
                self.write_changelog(frozen.store(), frozen.changelog());
                frozen.prepare(commit, &self.position()).expect("memory does not fail");
                frozen.apply(commit).expect("memory does not fail");
            }
            self.settle(freeze.positions);
        }
        self.feed_back(start);
        Ok(())
    }
    pub(super) fn write_changelog<'a>(
        &self,
        store: &LayeredStore,
        changelog: impl Iterator<Item = ChangelogRecord<'a>>,
    ) {
        if matches!(store.spec().changelog(), ChangelogOptions::Off) {
            return;
        }
        for record in changelog {
            self.written.push(DriverRecord {
                topic: store.changelog().clone(),
                key: Some(Bytes::copy_from_slice(record.key)),
                value: record.value.map(Bytes::copy_from_slice),
                timestamp: record.timestamp,
                headers: Headers::new(),
            });
        }
    }
    /// Fills a store that is empty from its changelog.
    fn restore(&self, store: &LayeredStore) {
        let mut batch = WriteBatch::default();
        for record in self.written.after(0).iter().filter(|record| record.topic == *store.changelog()) {
            let key = record.key.as_deref().unwrap_or_default();
            store.push_changelog(&mut batch, &ChangelogRecord::new(key, record.value.as_deref(), record.timestamp));
        }
        store.base().restore(batch, &self.position()).expect("memory does not fail");
    }
    pub(super) fn position(&self) -> ChangelogPosition {
        ChangelogPosition::new(Offset::new(0), self.wall_clock)
    }
}

fn make_task(
    topology: &Topology,
    positions: Vec<TaskPosition>,
    bases: &mut HashMap<String, Arc<dyn OrderedStore>>,
    written: &Written,
    options: &TaskOptions,
) -> Result<Task, TaskError> {
    let base = |store: &StoreInfo| {
        let new = || Arc::new(MemoryStore::new(store.name())) as Arc<dyn OrderedStore>;
        Arc::clone(bases.entry_ref(store.name()).or_insert_with(new))
    };
    let id = TaskId::new(0, PartitionId::new(0));
    Task::new(topology, id, positions, base, Box::new(written.clone()), options)
}
fn partition(topic: &TopicName) -> TopicPartition {
    TopicPartition::new(topic, 0)
}
fn entries(base: &dyn OrderedStore) -> impl Iterator<Item = (Bytes, Bytes)> {
    let snapshot = base.snapshot().expect("memory does not fail");
    snapshot.range(Bound::Unbounded, Bound::Unbounded).map(|entry| {
        let (key, value) = entry.expect("memory does not fail");
        (Bytes::copy_from_slice(&key), Bytes::copy_from_slice(&value))
    })
}
/// An entry as its changelog record would be.
fn plain(topic: &TopicName, format: ValueFormat, key: Bytes, value: &Bytes) -> DriverRecord {
    let (timestamp, value) = match (format, value.split_first_chunk()) {
        (ValueFormat::Timestamped, Some((time, _))) => {
            (Timestamp::from_millis(i64::from_be_bytes(*time)), value.slice(size_of::<i64>()..))
        }
        _ => (Timestamp::NONE, value.clone()),
    };
    DriverRecord { topic: topic.clone(), key: Some(key), value: Some(value), timestamp, headers: Headers::new() }
}
