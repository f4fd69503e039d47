//! The task engine alone: a batch of [`RECORDS`] records in, output into a counter, a commit for each batch.

use crate::RECORDS;
use bytes::Bytes;
use millstream_processor_core::task::{Collector, OutputRecord, TaskOptions, TaskPosition};
use millstream_processor_core::{ProcessorError, StoreInfo, StreamsBuilder, Task, TaskId, Topology};
use millstream_protocol::record::{Batch, BatchBuilder, Stamp, batches};
use millstream_protocol::{Compressor, Headers, Offset, PartitionId, Timestamp, TopicName, TopicPartition};
use millstream_state::{ChangelogPosition, CommitId, MemoryStore, OrderedStore};
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

const KEYS: usize = 250;

/// Looks at what it is given, and forgets it.
struct Nowhere(usize);
impl Collector for Nowhere {
    fn is_ready(&mut self) -> bool {
        true
    }
    fn partition_count(&mut self, _topic: &TopicName) -> Option<usize> {
        None
    }
    fn send(&mut self, record: OutputRecord<'_>) -> Result<(), ProcessorError> {
        self.0 += black_box(record.value).map_or(0, <[u8]>::len);
        Ok(())
    }
}

/// A task of one partition, and a batch that it gets again and again.
pub struct Bench {
    task: Task,
    batch: Batch,
    commits: u64,
}
impl Bench {
    /// A task of this topology, which reads `in`.
    ///
    /// # Panics
    /// If it is none that can be run.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        let position = TaskPosition::new(input(), None, None);
        let base = |store: &StoreInfo| Arc::new(MemoryStore::new(store.name())) as Arc<dyn OrderedStore>;
        let (id, options) = (TaskId::new(0, PartitionId::new(0)), TaskOptions::new("bench"));
        let task = Task::new(topology, id, vec![position], base, Box::new(Nowhere(0)), &options);
        let mut task = task.expect("the topology reads `in`");
        task.start(Timestamp::EPOCH).expect("there is nothing that fails");
        Self { task, batch: batch(), commits: 0 }
    }
    /// Processes the batch, and commits.
    ///
    /// # Panics
    /// If something fails.
    pub fn run(&mut self) {
        self.task.feed(&input(), [self.batch.clone()], Offset::new(RECORDS as i64));
        let step = self.task.process(Timestamp::EPOCH, usize::MAX).expect("there is nothing that fails");
        assert_eq!(step.records, RECORDS);
        self.commit();
    }
    fn commit(&mut self) {
        let freeze = self.task.commits().freeze().expect("the one before is decided");
        self.commits += 1;
        let commit = CommitId::new(self.commits, 1);
        for frozen in freeze.iter().flat_map(|freeze| &freeze.stores) {
            let position = ChangelogPosition::new(Offset::new(0), Timestamp::EPOCH);
            frozen.prepare(commit, &position).expect("memory does not fail");
            frozen.apply(commit).expect("memory does not fail");
        }
    }
}

fn input() -> TopicPartition {
    TopicPartition::new("in", 0)
}
fn batch() -> Batch {
    let (mut builder, headers) = (BatchBuilder::new(), Headers::new());
    for index in 0..RECORDS {
        let (key, time) = (format!("key-{:06}", index * 7 % KEYS), Timestamp::from_millis(1_790_000_000_000));
        builder.append(time, Some(key.as_bytes()), Some(&[b'v'; 90]), &headers).expect("it fits");
    }
    let sealed = builder.seal(&mut Compressor::none()).expect("nothing to compress");
    batches(sealed.into_bytes(&Stamp::plain())).next().expect("there is one").expect("sound")
}
/// A source and a sink.
///
/// # Panics
/// Never: it is sound.
#[must_use]
pub fn pass() -> Topology {
    let builder = StreamsBuilder::new();
    builder.stream::<Bytes, Bytes>("in").to("out");
    builder.build().expect("sound")
}
/// Counts keys.
///
/// # Panics
/// Never: it is sound.
#[must_use]
pub fn count() -> Topology {
    let builder = StreamsBuilder::new();
    builder.stream::<Bytes, Bytes>("in").group_by_key().count_with("counts").to("out");
    builder.build().expect("sound")
}

impl fmt::Debug for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bench").field("commits", &self.commits).finish_non_exhaustive()
    }
}
