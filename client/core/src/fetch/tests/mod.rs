//! Conversations with brokers, by direct calls and a clock that jumps.

mod budget;
mod lives;
mod records;
mod sessions;
mod sources;
mod truncation;

use super::*;
use crate::cluster::Image;
use bytes::Bytes;
use millstream_protocol::messages::fetch_response::{
    AbortedTransaction, EpochEndOffset, FetchableTopicResponse, PartitionData,
};
use millstream_protocol::messages::list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use millstream_protocol::messages::metadata_response::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use millstream_protocol::messages::{BrokerId, FetchRequest, FetchResponse, ListOffsetsResponse, StrBytes, Uuid};
use millstream_protocol::record::{BatchBuilder, ControlKind, Stamp, end_transaction_marker};
use millstream_protocol::{
    Compressor, ErrorCode, Headers, LeaderEpoch, NodeId, Offset, ProducerEpoch, ProducerId, Timestamp,
};
use std::time::Duration;

const NODE: NodeId = NodeId::new(1);
const STREAM: Stream = Stream::of_session(NODE);
const VERSION: i16 = 16;

#[expect(clippy::disallowed_methods, reason = "an Instant can be had from nowhere else; tests only add to it")]
fn start() -> Instant {
    Instant::now()
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn place(partition: i32) -> TopicPartition {
    ("t", partition).into()
}

/// Two brokers; topic `t` of three partitions, all led by `leader` in this term.
fn image(leader: i32, epoch: i32) -> Image {
    image_of(leader, epoch, Uuid::from_u128(7))
}

fn image_of(leader: i32, epoch: i32, topic_id: Uuid) -> Image {
    let mut answer = MetadataResponse::default();
    for id in [1, 2] {
        let mut broker = MetadataResponseBroker::default();
        (broker.node_id, broker.host, broker.port) = (BrokerId(id), text("b"), 9092);
        answer.brokers.push(broker);
    }
    let mut topic = MetadataResponseTopic::default();
    topic.name = Some(text("t").into());
    topic.topic_id = topic_id;
    for index in 0..3 {
        let mut partition = MetadataResponsePartition::default();
        partition.partition_index = index;
        (partition.leader_id, partition.leader_epoch) = (BrokerId(leader), epoch);
        topic.partitions.push(partition);
    }
    answer.topics.push(topic);
    Image::default().merged(&answer)
}

struct Bench {
    fetcher: Fetcher,
    image: Image,
    now: Instant,
}

impl Bench {
    fn new(change: impl FnOnce(&mut FetchConfig)) -> Self {
        let mut config = FetchConfig::default();
        change(&mut config);
        Self { fetcher: Fetcher::new(config), image: image(1, 5), now: start() }
    }
    /// Reads partition 0 from this offset.
    fn at(offset: i64) -> Self {
        let mut bench = Self::new(|_| {});
        bench.fetcher.add_at(place(0), Position::at(Offset::new(offset)));
        bench
    }
    fn fetch(&mut self) -> FetchRequest {
        self.try_fetch().expect("something to fetch")
    }
    fn try_fetch(&mut self) -> Option<FetchRequest> {
        Some(self.fetcher.poll_fetch(self.now, STREAM, &self.image)?.request(VERSION))
    }
    fn fetch_in(&mut self, stream: Stream) -> FetchRequest {
        self.fetcher.poll_fetch(self.now, stream, &self.image).expect("something to fetch").request(VERSION)
    }
    fn streams(&mut self) -> Vec<Stream> {
        self.fetcher.streams_to_fetch(self.now, &self.image).into_iter().collect()
    }
    fn answer(&mut self, session_id: i32, partitions: Vec<PartitionData>) -> FetchFollowUp {
        self.answer_in(STREAM, session_id, partitions)
    }
    fn answer_in(&mut self, stream: Stream, session_id: i32, partitions: Vec<PartitionData>) -> FetchFollowUp {
        let topic = FetchableTopicResponse { topic_id: Uuid::from_u128(7), partitions, ..Default::default() };
        let answer = FetchResponse { session_id, responses: vec![topic], ..Default::default() };
        self.fetcher.handle_fetch(self.now, stream, Outcome::Answered(VERSION, Box::new(answer)))
    }
    /// Takes everything; per take the offsets of the batches, and where the application stands after.
    fn take(&mut self) -> Vec<(Vec<i64>, i64)> {
        let mut all = Vec::new();
        while let Some(taken) = self.fetcher.take(self.now, |_| true) {
            let Taken::Fetched(fetched) = taken else { panic!("{taken:?}") };
            let offsets = fetched.batches.iter().map(|batch| batch.header().base_offset).collect();
            assert!(self.fetcher.advance(&fetched.partition, fetched.generation, fetched.next));
            all.push((offsets, fetched.next.offset));
        }
        all
    }
    fn problem(&mut self) -> FetchFailure {
        match self.fetcher.take(self.now, |_| true) {
            Some(Taken::Failed(failure)) => failure,
            other => panic!("{other:?}"),
        }
    }
}

fn data(partition: i32, records: Vec<Bytes>) -> PartitionData {
    PartitionData {
        partition_index: partition,
        high_watermark: 100,
        last_stable_offset: 90,
        records: Bytes::from(records.concat()).into(),
        ..Default::default()
    }
}

/// The partitions that a request names.
fn asked(request: &FetchRequest) -> Vec<i32> {
    request.topics.iter().flat_map(|topic| &topic.partitions).map(|partition| partition.partition).collect()
}

fn refused(partition: i32, code: ErrorCode) -> PartitionData {
    PartitionData { partition_index: partition, error_code: code.get(), ..Default::default() }
}

/// All of one term, if nothing else is said.
fn batch(base: i64, count: usize, stamp: &Stamp) -> Bytes {
    batch_of_term(5, base, count, stamp)
}

fn batch_of_term(epoch: i32, base: i64, count: usize, stamp: &Stamp) -> Bytes {
    let mut builder = BatchBuilder::new();
    for _ in 0..count {
        builder.append(Timestamp::from_millis(0), None, Some(b"v"), &Headers::new()).expect("a record");
    }
    builder.seal(&mut Compressor::none()).expect("a batch").to_bytes(&stamp.at(base, epoch))
}

fn plain(base: i64, count: usize) -> Bytes {
    batch(base, count, &Stamp::plain())
}

fn in_transaction(base: i64, count: usize, producer: i64) -> Bytes {
    batch(base, count, &Stamp::transactional(ProducerId::new(producer), ProducerEpoch::new(0), 0))
}

fn marker(base: i64, producer: i64, kind: ControlKind) -> Bytes {
    let stamp = Stamp::transactional(ProducerId::new(producer), ProducerEpoch::new(0), -1).at(base, 5);
    end_transaction_marker(kind, 0, Timestamp::from_millis(0), &stamp).expect("a marker")
}
