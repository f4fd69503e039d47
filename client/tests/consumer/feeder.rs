//! Writes batches as they are, by hand: so that a test may write what no producer would.

use bytes::Bytes;
use millstream_protocol::messages::{
    ProduceRequest, ProduceResponse, produce_request::PartitionProduceData, produce_request::TopicProduceData,
};
use millstream_protocol::record::{BatchBuilder, Stamp};
use millstream_protocol::{Compressor, ErrorCode, Headers, Timestamp, frame};
use std::io::{Read, Write};
use std::net::TcpStream;

pub(crate) struct Feeder(TcpStream);

impl Feeder {
    /// Connects to one broker of `host:port,…`.
    pub(crate) fn connect(bootstrap: &str, index: usize) -> Self {
        let address = bootstrap.split(',').nth(index).expect("an address");
        Self(TcpStream::connect(address).expect("a broker"))
    }
    /// Writes one batch with these values.
    pub(crate) fn write(&mut self, topic: &str, partition: i32, values: &[&str]) {
        let answer = self.send(topic, partition, batch(values, Compressor::none()));
        assert_eq!(answer, ErrorCode::NONE);
    }
    /// Writes bytes that are said to be batches.
    pub(crate) fn send(&mut self, topic: &str, partition: i32, records: Bytes) -> ErrorCode {
        let data = PartitionProduceData { index: partition, records: records.into(), ..Default::default() };
        let data = TopicProduceData { name: topic.into(), partition_data: vec![data], ..Default::default() };
        let request = ProduceRequest { acks: -1, timeout_ms: 10_000, topic_data: vec![data], ..Default::default() };
        let frame = frame::encode_request(9, 1, Some("feeder"), &request).expect("a request");
        self.0.write_all(&frame.to_bytes()).expect("sent");
        let mut size = [0; 4];
        self.0.read_exact(&mut size).expect("an answer");
        let mut payload = vec![0; usize::try_from(u32::from_be_bytes(size)).expect("a size")];
        self.0.read_exact(&mut payload).expect("an answer");
        let (_, answer): (_, ProduceResponse) =
            frame::decode_response::<ProduceRequest>(9, payload.into()).expect("an answer");
        ErrorCode::new(answer.responses[0].partition_responses[0].error_code)
    }
}

pub(crate) fn batch(values: &[&str], mut compressor: Compressor) -> Bytes {
    let mut builder = BatchBuilder::new();
    for value in values {
        let appended = builder.append(Timestamp::from_millis(1), None, Some(value.as_bytes()), &Headers::new());
        appended.expect("a record");
    }
    builder.seal(&mut compressor).expect("a batch").to_bytes(&Stamp::plain())
}
