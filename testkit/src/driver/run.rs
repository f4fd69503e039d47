//! A task, its stores, and the loop that takes a record to its last consequence.

use super::topics::{Logs, Written};
use super::{DriverOptions, DriverRecord};
use bytes::Bytes;
use millstream_processor_core::failure::TaskError;
use millstream_processor_core::task::{Progress, TaskFreeze, TaskOptions, TaskPosition};
use millstream_processor_core::{StoreInfo, Task, TaskId, Topology};
use millstream_protocol::hash::HashMap;
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
    topology: Topology,
    options: TaskOptions,
    task: Task,
    /// The topics that the topology reads.
    sources: Vec<TopicName>,
    written: Written,
    logs: Logs,
    /// What was committed, by store.
    bases: HashMap<String, Arc<dyn OrderedStore>>,
    wall_clock: Timestamp,
    commits: u64,
    requested_commits: u64,
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
        let start = sources.iter().map(|topic| TaskPosition::new(partition(topic), None, None)).collect();
        let task = make_task(&topology, start, &mut bases, &written, &options)?;
        let mut run = Self {
            topology,
            options,
            task,
            sources,
            written,
            logs: Logs::default(),
            bases,
            wall_clock: Timestamp::EPOCH,
            commits: 0,
            requested_commits: 0,
        };
        run.start()?;
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
        self.commit();
        self.feed_back(start);
        self.run()
    }
    pub(super) fn crash_and_restart(&mut self) -> Result<(), TaskError> {
        let positions = self.task.commits().positions();
        self.task.close();
        let stores = self.topology.subtopologies().iter().flat_map(|each| each.stores());
        for store in stores.filter(|store| store.medium() == Medium::Memory) {
            self.bases.remove(store.name());
        }
        self.task = make_task(&self.topology, positions, &mut self.bases, &self.written, &self.options)?;
        for store in self.task.commits().stores() {
            if store.spec().medium() == Medium::Memory && !matches!(store.spec().changelog(), ChangelogOptions::Off) {
                self.restore(&store);
            }
        }
        self.start()
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

    fn start(&mut self) -> Result<(), TaskError> {
        let start = self.written.len();
        self.task.start(self.wall_clock)?;
        self.commit();
        self.feed_back(start);
        self.run()
    }
    /// Record by record until nothing is left; what each has written for the topology itself goes in behind it.
    fn run(&mut self) -> Result<(), TaskError> {
        loop {
            let start = self.written.len();
            let step = self.task.process(self.wall_clock, 1)?;
            self.commit();
            self.feed_back(start);
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
        self.task.feed(&partition(topic), [batch], next);
    }
    fn commit(&mut self) {
        let commits = self.task.commits();
        self.requested_commits += u64::from(commits.is_commit_requested());
        let freeze = commits.freeze().expect("commits are decided before the next one begins");
        if let Some(TaskFreeze { stores, .. }) = freeze {
            self.commits += 1;
            let commit = CommitId::new(self.commits, 1);
            for frozen in stores {
                self.write_changelog(frozen.store(), frozen.changelog());
                frozen.prepare(commit, &self.position()).expect("memory does not fail");
                frozen.apply(commit).expect("memory does not fail");
            }
        }
    }
    fn write_changelog<'a>(&self, store: &LayeredStore, changelog: impl Iterator<Item = ChangelogRecord<'a>>) {
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
    fn position(&self) -> ChangelogPosition {
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
