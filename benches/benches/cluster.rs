//! The test cluster: how long a cluster of three brokers takes to start and to end, and requests on loopback: time, and allocations of each.
#![expect(missing_docs, reason = "criterion's macros make public functions")]

use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use millstream_benches::allocations::{Counting, allocations_of};
use millstream_benches::payload::values;
use millstream_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::{ApiVersionsRequest, FetchRequest, MetadataRequest, ProduceRequest};
use millstream_protocol::record::{BatchBuilder, Stamp};
use millstream_protocol::{Compressor, Headers, Timestamp, frame};
use millstream_testkit::TestCluster;
use std::io::{Read, Write};
use std::net::TcpStream;

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

const TOPIC: &str = "orders";
/// Records of 100 bytes in a batch.
const RECORDS: usize = 1000;
/// Requests over which allocations are averaged.
const SAMPLE: u64 = 100;

fn start() -> TestCluster {
    TestCluster::builder().brokers(3).topic(TOPIC, 12).try_start().expect("loopback has free ports")
}
/// A broker that keeps about a mebibyte, however long it is written to.
fn start_small() -> TestCluster {
    let small = [
        ("log.retention.bytes", "1048576"),
        ("log.segment.bytes", "1048576"),
        ("log.retention.check.interval.ms", "50"),
    ];
    let builder = TestCluster::builder().topic(TOPIC, 1);
    small
        .iter()
        .fold(builder, |builder, (key, value)| builder.config(key, value))
        .try_start()
        .expect("loopback has free ports")
}

/// A connection, and room for its answers.
struct Asker {
    stream: TcpStream,
    answer: Vec<u8>,
}
impl Asker {
    fn to(cluster: &TestCluster) -> Self {
        let servers = cluster.bootstrap_servers();
        let address = servers.split(',').next().expect("there is a first broker");
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("an option of every socket");
        Self { stream, answer: vec![0; 4 << 20] }
    }
    fn ask(&mut self, request: &[u8]) {
        self.stream.write_all(request).expect("it takes the request");
        let mut size = [0; 4];
        self.stream.read_exact(&mut size).expect("it answers");
        let size = usize::try_from(u32::from_be_bytes(size)).expect("32 bits");
        let answer = self.answer.get_mut(..size).expect("there is room for it");
        self.stream.read_exact(answer).expect("all of it");
    }
}

fn batch() -> Bytes {
    let mut builder = BatchBuilder::new();
    for value in values(RECORDS) {
        builder.append(Timestamp::from_millis(5), None, Some(&value), &Headers::new()).expect("it fits");
    }
    builder.seal(&mut Compressor::none()).expect("there is always a codec `none`").to_bytes(&Stamp::plain())
}
fn produce() -> Bytes {
    let partition = PartitionProduceData { records: batch().into(), ..PartitionProduceData::default() };
    let mut topic = TopicProduceData::default();
    (topic.name, topic.partition_data) = (TOPIC.into(), vec![partition]);
    let mut request = ProduceRequest::default();
    (request.acks, request.timeout_ms, request.topic_data) = (1, 1000, vec![topic]);
    frame::encode_request(9, 1, Some("bench"), &request).expect("it can be written").to_bytes()
}
fn fetch() -> Bytes {
    let partition = FetchPartition { partition_max_bytes: 1 << 20, ..FetchPartition::default() };
    let mut topic = FetchTopic::default();
    (topic.topic, topic.partitions) = (TOPIC.into(), vec![partition]);
    let mut request = FetchRequest::default();
    (request.max_bytes, request.session_epoch, request.topics) = (1 << 20, -1, vec![topic]);
    frame::encode_request(11, 1, Some("bench"), &request).expect("it can be written").to_bytes()
}

fn clusters(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cluster");
    group.bench_function("start-3", |bencher| bencher.iter_with_large_drop(start));
    group.bench_function("start-and-drop-3", |bencher| bencher.iter(|| drop(start())));
    group.bench_function("reset-3", |bencher| {
        let cluster = start();
        bencher.iter(|| cluster.reset().expect("the ports are its own"));
    });
    group.finish();
}
fn requests(criterion: &mut Criterion) {
    let encode = |result: Result<frame::Frame, _>| result.map(|frame| frame.to_bytes()).expect("it can be written");
    let all = [
        ("api-versions", encode(frame::encode_request(4, 1, Some("bench"), &ApiVersionsRequest::default()))),
        ("metadata", encode(frame::encode_request(12, 1, Some("bench"), &MetadataRequest::default()))),
        ("produce-1000", produce()),
        ("fetch-1000", fetch()),
    ];
    let mut group = criterion.benchmark_group("request");
    for (name, request) in all {
        let cluster = start_small();
        let mut asker = Asker::to(&cluster);
        // What a fetch finds: nothing is deleted, as this is less than a segment.
        asker.ask(&produce());
        (0..SAMPLE).for_each(|_| asker.ask(&request));
        let allocations = allocations_of(|| (0..SAMPLE).for_each(|_| asker.ask(&request)));
        println!("request/{name}: {:.1} allocations", allocations as f64 / SAMPLE as f64);
        group.bench_function(name, |bencher| bencher.iter(|| asker.ask(&request)));
    }
    group.finish();
}

criterion_group!(benches, clusters, requests);
criterion_main!(benches);
