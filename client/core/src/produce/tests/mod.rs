//! A producer by direct calls: facts in, requests out, and a clock that jumps.

mod batches;
mod endings;
mod leaders;
mod requests;
mod retries;
mod sequences;
mod splits;
mod transactions;

use super::*;
use crate::backoff::Random;
use crate::cluster::Image;
use millstream_protocol::compression::{Compression, Decompressor};
use millstream_protocol::messages::StrBytes;
use millstream_protocol::messages::metadata_response::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use millstream_protocol::messages::produce_response::{
    PartitionProduceResponse, ProduceResponse, TopicProduceResponse,
};
use millstream_protocol::record::{CrcCheck, batches};
use millstream_protocol::{ErrorCode, Headers, Offset, ProducerEpoch, ProducerId, Timestamp, TopicName};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A producer, its clock, and what the brokers look like.
struct World {
    now: Instant,
    accumulator: Arc<Accumulator>,
    sender: Sender,
    image: Image,
}

/// A batch in a request: whose it is, its number, its values.
#[derive(Debug, PartialEq, Eq)]
struct Sent {
    epoch: i16,
    sequence: i32,
    values: Vec<String>,
}

impl World {
    fn new(change: impl FnOnce(&mut SenderOptions, &mut AccumulatorOptions)) -> Self {
        let (mut options, mut sizes) = (SenderOptions::default(), AccumulatorOptions::default());
        options.linger = Duration::ZERO;
        change(&mut options, &mut sizes);
        sizes.transactional = options.transactional_id.is_some();
        let numbered = options.idempotent;
        let accumulator = Arc::new(Accumulator::new(sizes, || ()).unwrap());
        let mut sender = Sender::new(options, Arc::clone(&accumulator), Random::new(1));
        if numbered {
            sender.handle_identity(Some(identity(7, 0)));
        }
        accumulator.set_topic(&TopicName::from("t"), 2, |_| true, 1);
        Self { now: Instant::now_for_tests(), accumulator, sender, image: image(1) }
    }
    fn append(&self, value: &str) -> Result<Appended, AppendError> {
        self.append_to(0, value, 0)
    }
    fn append_to(&self, partition: i32, value: &str, transaction: TransactionNumber) -> Result<Appended, AppendError> {
        let topic = self.accumulator.topic("t").unwrap();
        let headers = Headers::new();
        let fields =
            RecordFields { key: None, value: Some(value.as_bytes()), headers: &headers, timestamp: Timestamp::EPOCH };
        self.accumulator.append(topic.shard(partition.into()).unwrap(), &fields, transaction, || self.now)
    }
    /// Sends what can go; each batch of partition 0.
    fn poll(&mut self) -> Vec<(u64, Sent)> {
        let calls = self.sender.poll_calls(self.now, &self.image);
        calls.into_iter().map(|call| (call.id, sent(call))).collect()
    }
    /// One record, one batch, one request.
    fn send(&mut self, value: &str) -> (Appended, u64, Sent) {
        let appended = self.append(value).unwrap();
        let mut calls = self.poll();
        assert_eq!(calls.len(), 1, "one request for `{value}`");
        let (id, sent) = calls.remove(0);
        (appended, id, sent)
    }
    fn answer(&mut self, id: u64, code: ErrorCode, base_offset: i64) {
        self.sender.handle_response(self.now, id, &response(code, base_offset));
    }
    /// The cluster says who leads.
    fn hear(&mut self, leader: i32) {
        self.image = self.image.merged(&metadata(leader));
    }
    /// A record that is acknowledged, so that the broker knows the producer.
    fn warm_up(&mut self) {
        let (_, id, _) = self.send("first");
        self.answer(id, ErrorCode::NONE, 0);
    }
    fn after(&mut self, time: Duration) {
        self.now += time;
    }
}

/// The clock starts where it likes; only differences matter.
trait Start {
    fn now_for_tests() -> Self;
}
impl Start for Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "there is no other way to make a first instant; the tests move it by hand"
    )]
    fn now_for_tests() -> Self {
        Self::now()
    }
}

fn identity(id: i64, epoch: i16) -> Identity {
    Identity::new(ProducerId::new(id), ProducerEpoch::new(epoch))
}

fn image(leader: i32) -> Image {
    Image::default().merged(&metadata(leader))
}
fn metadata(leader: i32) -> MetadataResponse {
    let mut answer = MetadataResponse::default();
    for id in [1, 2] {
        let mut broker = MetadataResponseBroker::default();
        broker.node_id = id.into();
        broker.host = StrBytes::from_static_str("broker");
        broker.port = 9092;
        answer.brokers.push(broker);
    }
    let mut topic = MetadataResponseTopic::default();
    topic.name = Some(StrBytes::from_static_str("t").into());
    for index in 0..2 {
        let mut partition = MetadataResponsePartition::default();
        partition.partition_index = index;
        partition.leader_id = leader.into();
        partition.leader_epoch = leader;
        topic.partitions.push(partition);
    }
    answer.topics.push(topic);
    answer
}

fn sent(call: ProduceCall) -> Sent {
    let request = call.into_request(9);
    let partition = &request.topic_data[0].partition_data[0];
    let bytes = partition.records.clone().into_bytes().unwrap();
    let batch = batches(bytes).next().unwrap().unwrap();
    let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Check).unwrap();
    let text = |value: Option<&[u8]>| String::from_utf8(value.unwrap().to_vec()).unwrap();
    let values = decoded.iter().map(|record| text(record.value)).collect();
    Sent { epoch: batch.header().producer_epoch, sequence: batch.header().base_sequence, values }
}

fn response(code: ErrorCode, base_offset: i64) -> ProduceResponse {
    let partition =
        PartitionProduceResponse { error_code: code.get(), base_offset, ..PartitionProduceResponse::default() };
    let topic = TopicProduceResponse {
        name: TopicName::from("t"),
        partition_responses: vec![partition],
        ..TopicProduceResponse::default()
    };
    ProduceResponse { responses: vec![topic], ..ProduceResponse::default() }
}

fn of(appended: &Appended) -> Outcome {
    appended.handle.record(appended.index).expect("resolved")
}
fn is_open(appended: &Appended) -> bool {
    appended.handle.record(appended.index).is_none()
}
