//! Fetching without sockets: a response frame is checked, read, taken batch by batch, and its records looked at.

use crate::cluster::{NODE, TOPIC, image, topic_id};
use crate::{RECORDS, payload};
use bytes::Bytes;
use millstream_client_core::cluster::Image;
use millstream_client_core::fetch::{FetchConfig, Fetcher, Outcome, Position, Stream, Taken};
use millstream_protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use millstream_protocol::messages::{FetchRequest, FetchResponse};
use millstream_protocol::record::{BatchBuilder, CrcCheck, Stamp};
use millstream_protocol::{Compressor, Decompressor, Headers, Offset, Timestamp, TopicPartition, frame};
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const VERSION: i16 = 16;
const STREAM: Stream = Stream::of_session(NODE);

/// A fetcher that gets the same answer again and again.
pub struct Bench {
    fetcher: Fetcher,
    image: Arc<Image>,
    answer: Bytes,
    decompressor: Decompressor,
    partition: TopicPartition,
    now: Instant,
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    /// A fetcher of one partition.
    #[must_use]
    pub fn new() -> Self {
        let partition = TopicPartition::new(TOPIC, 0);
        let mut fetcher = Fetcher::new(FetchConfig::default());
        fetcher.add_at(partition.clone(), Position::at(Offset::new(0)));
        let (image, now, decompressor) = (image(1), Instant::now(), Decompressor::new());
        Self { fetcher, image, answer: answer(), decompressor, partition, now }
    }

    /// Asks, gets the records, and reads them.
    ///
    /// # Panics
    /// If they are not all there.
    pub fn run(&mut self) {
        self.fetcher.seek(&self.partition, Position::at(Offset::new(0)));
        let plan = self.fetcher.poll_fetch(self.now, STREAM, &self.image).expect("there is something to fetch");
        black_box(frame::encode_request(VERSION, 1, Some("bench"), &plan.request(VERSION)).expect("sound"));
        let (_, answer) = frame::decode_response::<FetchRequest>(VERSION, self.answer.clone()).expect("sound");
        self.fetcher.handle_fetch(self.now, STREAM, Outcome::Answered(VERSION, Box::new(answer)));
        assert_eq!(self.read(), RECORDS, "all records are read");
    }

    fn read(&mut self) -> usize {
        let mut count = 0;
        while let Some(taken) = self.fetcher.take(self.now, |_| true) {
            let Taken::Fetched(fetched) = taken else { panic!("{taken:?}") };
            for batch in &fetched.batches {
                let decoded = batch.decode(&mut self.decompressor, CrcCheck::Check).expect("sound");
                count += decoded.iter().filter(|record| black_box(record.value).is_some()).count();
            }
            self.fetcher.advance(&fetched.partition, fetched.generation, fetched.next);
        }
        count
    }
}

impl fmt::Debug for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bench").field("partition", &self.partition).finish_non_exhaustive()
    }
}

fn answer() -> Bytes {
    let (mut builder, headers) = (BatchBuilder::new(), Headers::new());
    for value in payload::values(RECORDS) {
        builder.append(Timestamp::EPOCH, None, Some(&value), &headers).expect("it fits");
    }
    let records = builder.seal(&mut Compressor::none()).expect("nothing to compress").into_bytes(&Stamp::plain());
    let partition =
        PartitionData { high_watermark: 1000, last_stable_offset: 1000, records: records.into(), ..Default::default() };
    let topic = FetchableTopicResponse { topic_id: topic_id(), partitions: vec![partition], ..Default::default() };
    let answer = FetchResponse { responses: vec![topic], ..Default::default() };
    frame::encode_response::<FetchRequest>(VERSION, 1, &answer).expect("sound").payload()
}
