//! The task engine alone: a batch of 1000 records in, output into a counter. `pass` is a source and a sink, `count` what is between
//! them in a word count, with a commit for each batch; allocations are per record.
#![expect(missing_docs, reason = "criterion's macros make public functions")]

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use millstream_benches::allocations::{Counting, allocations_of};
use millstream_processor_core::task::{Collector, OutputRecord, TaskOptions, TaskPosition};
use millstream_processor_core::{ProcessorError, StoreInfo, StreamsBuilder, Task, TaskId, Topology};
use millstream_protocol::record::{Batch, BatchBuilder, Stamp, batches};
use millstream_protocol::{Compressor, Headers, Offset, PartitionId, Timestamp, TopicName, TopicPartition};
use millstream_state::{ChangelogPosition, CommitId, MemoryStore, OrderedStore};
use std::hint::black_box;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

const RECORDS: usize = 1000;
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

struct Bench {
    task: Task,
    batch: Batch,
    commits: u64,
}
impl Bench {
    fn new(topology: &Topology) -> Self {
        let position = TaskPosition::new(input(), None, None);
        let base = |store: &StoreInfo| Arc::new(MemoryStore::new(store.name())) as Arc<dyn OrderedStore>;
        let (id, options) = (TaskId::new(0, PartitionId::new(0)), TaskOptions::new("bench"));
        let task = Task::new(topology, id, vec![position], base, Box::new(Nowhere(0)), &options);
        let mut task = task.expect("the topology reads `in`");
        task.start(Timestamp::EPOCH).expect("there is nothing that fails");
        Self { task, batch: batch(), commits: 0 }
    }
    fn run(&mut self) {
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
fn pass() -> Topology {
    let builder = StreamsBuilder::new();
    builder.stream::<Bytes, Bytes>("in").to("out");
    builder.build().expect("sound")
}
fn count() -> Topology {
    let builder = StreamsBuilder::new();
    builder.stream::<Bytes, Bytes>("in").group_by_key().count_with("counts").to("out");
    builder.build().expect("sound")
}

fn task(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("task");
    group.throughput(Throughput::Elements(RECORDS as u64));
    for (name, topology) in [("pass", pass()), ("count", count())] {
        let mut bench = Bench::new(&topology);
        bench.run();
        bench.run();
        let allocations = allocations_of(|| bench.run());
        println!("task/{name}: {} allocations for {RECORDS} records", allocations);
        group.bench_function(name, |bencher| bencher.iter(|| bench.run()));
    }
    group.finish();
}

criterion_group!(benches, task);
criterion_main!(benches);
