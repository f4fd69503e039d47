//! Producing without sockets: records into batches, batches into request frames, answers back.

use crate::RECORDS;
use crate::cluster::{TOPIC, image};
use crate::payload;
use millstream_client_core::backoff::Random;
use millstream_client_core::cluster::Image;
use millstream_client_core::produce::{
    Accumulator, AccumulatorOptions, Identity, ProduceCall, RecordFields, Sender, SenderOptions,
};
use millstream_protocol::messages::ProduceResponse;
use millstream_protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use millstream_protocol::{Headers, ProducerEpoch, ProducerId, Timestamp, TopicName, frame};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const VERSION: i16 = 11;
const PARTITIONS: i32 = 4;

/// A producer that has everything acknowledged at once.
#[derive(Debug)]
pub struct Bench {
    accumulator: Arc<Accumulator>,
    sender: Sender,
    image: Arc<Image>,
    values: Vec<Vec<u8>>,
    now: Instant,
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    /// A producer with the default options.
    ///
    /// # Panics
    /// Never: what it is made of is sound.
    #[must_use]
    pub fn new() -> Self {
        let accumulator =
            Accumulator::new(AccumulatorOptions::default(), || ()).expect("there is always a codec `none`");
        let accumulator = Arc::new(accumulator);
        let mut options = SenderOptions::default();
        options.linger = Duration::ZERO;
        let mut sender = Sender::new(options, Arc::clone(&accumulator), Random::new(1));
        sender.handle_identity(Some(Identity::new(ProducerId::new(1), ProducerEpoch::new(0))));
        accumulator.set_topic(&TopicName::from_static(TOPIC), 4, |_| true, 1);
        let now = Instant::now();
        Self { accumulator, sender, image: image(PARTITIONS), values: payload::values(RECORDS), now }
    }

    /// Takes the records, and sends them until nothing is left.
    ///
    /// # Panics
    /// If a record is not taken or not acknowledged.
    pub fn run(&mut self) {
        let headers = Headers::new();
        for value in &self.values {
            let topic = self.accumulator.topic(TOPIC).expect("it was set");
            let fields = RecordFields { key: None, value: Some(value), headers: &headers, timestamp: Timestamp::EPOCH };
            let shard = topic.choose(&fields).expect("there are partitions");
            black_box(self.accumulator.append(shard, &fields, 0, || self.now).expect("there is room"));
        }
        while !(self.send() && self.sender.is_idle()) {}
    }

    /// Sends what can go and acknowledges it; true if there was nothing.
    fn send(&mut self) -> bool {
        let calls = self.sender.poll_calls(self.now, &self.image);
        let nothing = calls.is_empty();
        for call in calls {
            self.acknowledge(call);
        }
        nothing
    }

    fn acknowledge(&mut self, call: ProduceCall) {
        let id = call.id;
        let request = call.into_request(VERSION);
        black_box(frame::encode_request(VERSION, 1, Some("bench"), &request).expect("sound"));
        let topic = |topic: &millstream_protocol::messages::produce_request::TopicProduceData| TopicProduceResponse {
            name: topic.name.clone(),
            partition_responses: topic
                .partition_data
                .iter()
                .map(|data| PartitionProduceResponse { index: data.index, ..Default::default() })
                .collect(),
            ..Default::default()
        };
        let responses = request.topic_data.iter().map(topic).collect();
        self.sender.handle_response(self.now, id, &ProduceResponse { responses, ..Default::default() });
    }
}
