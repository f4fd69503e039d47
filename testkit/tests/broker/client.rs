//! The smallest client there is: one connection, one request at a time, any version. What it sends is up to the test.

use bytes::Bytes;
use millstream_protocol::frame::{self, FrameBuffer};
use millstream_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::{
    ApiVersionsRequest, FetchRequest, FetchResponse, ProduceRequest, ProduceResponse, RecordData, Request, RequestKind,
    StrBytes,
};
use millstream_protocol::record::{BatchBuilder, CrcCheck, Stamp, batches};
use millstream_protocol::{Compressor, Decompressor, Headers, Timestamp};
use millstream_testkit::TestCluster;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// How long anything may take on a machine that is busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// What a connection runs over.
pub(crate) trait Stream: Read + Write {
    /// The socket below.
    fn socket(&self) -> &TcpStream;
}
impl Stream for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}
#[cfg(feature = "tls")]
impl Stream for rustls::StreamOwned<rustls::ClientConnection, TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref()
    }
}

/// One connection.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    buffer: FrameBuffer,
    sent: i32,
    answered: i32,
}
impl Connection {
    /// Connects to the cluster's `index`-th broker, from 0.
    pub(crate) fn to(cluster: &TestCluster, index: usize) -> Self {
        let servers = cluster.bootstrap_servers();
        Self::at(servers.split(',').nth(index).expect("the cluster has such a broker"))
    }
    /// Connects to the first address in a list.
    pub(crate) fn at(bootstrap: &str) -> Self {
        Self::over(connect(bootstrap))
    }
    pub(crate) fn over(stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), buffer: FrameBuffer::new(64 << 20), sent: 0, answered: 0 }
    }
    /// What it runs over.
    #[cfg(feature = "tls")]
    pub(crate) fn into_stream(self) -> Box<dyn Stream> {
        self.stream
    }
    /// Asks, and waits for the answer.
    pub(crate) fn call<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        self.send(version, request);
        self.receive::<R>(version)
    }
    /// Asks only.
    pub(crate) fn send<R: Request>(&mut self, version: i16, request: &R) {
        self.sent += 1;
        let frame =
            frame::encode_request(version, self.sent, Some("test"), request).expect("the request can be written");
        self.stream.write_all(&frame.to_bytes()).expect("the connection takes it");
    }
    /// Sends a request that has no answer.
    pub(crate) fn send_unanswered<R: Request>(&mut self, version: i16, request: &R) {
        self.send(version, request);
        self.answered += 1;
    }
    /// Sends a request of any kind.
    pub(crate) fn send_any(&mut self, version: i16, request: &RequestKind) {
        self.sent += 1;
        let frame =
            frame::encode_any_request(version, self.sent, Some("test"), request).expect("the request can be written");
        self.stream.write_all(&frame.to_bytes()).expect("the connection takes it");
    }
    /// Sends bytes as they are.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the connection takes them");
    }
    /// Waits for the answer to the oldest question that has none.
    pub(crate) fn receive<R: Request>(&mut self, version: i16) -> R::Response {
        let payload = self.payload().unwrap_or_else(|| panic!("{} {version} is answered, not hung up on", R::KEY));
        self.answered += 1;
        let (id, response) = frame::decode_response::<R>(version, payload).expect("the answer can be read");
        assert_eq!(id, self.answered, "answers come in the order of the questions");
        response
    }
    /// Whether anything comes within this time: bytes, or the end.
    pub(crate) fn has_input(&mut self, within: Duration) -> bool {
        self.stream.socket().set_read_timeout(Some(within)).expect("a timeout can be set");
        let peeked = self.stream.socket().peek(&mut [0]);
        self.stream.socket().set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        peeked.is_ok()
    }
    /// The next frame, if its bytes make one within this time.
    pub(crate) fn try_payload(&mut self, within: Duration) -> Option<Bytes> {
        loop {
            match self.buffer.next_frame() {
                Ok(Some(payload)) => return Some(payload),
                Ok(None) if self.has_input(within) => {}
                Ok(None) | Err(_) => return None,
            }
            let mut chunk = [0; 64 << 10];
            match self.stream.read(&mut chunk) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.buffer.extend(&chunk[..count]),
            }
        }
    }
    /// The next frame; none when the broker hangs up.
    pub(crate) fn payload(&mut self) -> Option<Bytes> {
        loop {
            if let Some(payload) = self.buffer.next_frame().expect("frames") {
                return Some(payload);
            }
            let mut chunk = [0; 64 << 10];
            match self.stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(count) => self.buffer.extend(&chunk[..count]),
                Err(error) if is_end(&error) => return None,
                Err(error) => panic!("the broker neither answers nor hangs up: {error}"),
            }
        }
    }
}

/// A socket to the first address in a list.
pub(crate) fn connect(bootstrap: &str) -> TcpStream {
    let address = bootstrap.split(',').next().expect("an address");
    let stream = TcpStream::connect(address).expect("the broker listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
    stream
}
fn is_end(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionReset, InvalidData, UnexpectedEof};
    // TLS tells an alert as invalid data.
    matches!(error.kind(), ConnectionReset | InvalidData | UnexpectedEof)
}

/// A batch whose records' values are given; all timestamps are 1000, 1001, …
pub(crate) fn batch(values: &[&str], stamp: &Stamp) -> Bytes {
    let mut builder = BatchBuilder::new();
    for (at, value) in (1000..).zip(values) {
        builder.append(Timestamp::from_millis(at), None, Some(value.as_bytes()), &Headers::new()).expect("it fits");
    }
    builder.seal(&mut Compressor::none()).expect("no codec, no error").to_bytes(stamp)
}

/// Short for a string of the wire.
pub(crate) fn text(value: &str) -> StrBytes {
    StrBytes::from_string(value.to_owned())
}

/// ApiVersions of a client that says what it is, as Kafka wants it from version 3 on.
pub(crate) fn versions_request() -> ApiVersionsRequest {
    ApiVersionsRequest::default().with_client_software_name(text("test")).with_client_software_version(text("1"))
}

/// A Produce request for one partition.
pub(crate) fn produce(topic: &str, index: i32, records: Bytes, transactional_id: Option<&str>) -> ProduceRequest {
    let partition =
        PartitionProduceData { index, records: RecordData::from(records), ..PartitionProduceData::default() };
    let topic = TopicProduceData { name: topic.into(), partition_data: vec![partition], ..TopicProduceData::default() };
    ProduceRequest {
        transactional_id: transactional_id.map(text),
        acks: -1,
        timeout_ms: 1000,
        topic_data: vec![topic],
        ..ProduceRequest::default()
    }
}

/// A Fetch request for one partition, without a session.
pub(crate) fn fetch(topic: &str, index: i32, offset: i64, isolation_level: i8) -> FetchRequest {
    let partition = FetchPartition {
        partition: index,
        fetch_offset: offset,
        partition_max_bytes: 1 << 20,
        ..FetchPartition::default()
    };
    let topic = FetchTopic { topic: topic.into(), partitions: vec![partition], ..FetchTopic::default() };
    FetchRequest { max_bytes: 1 << 20, isolation_level, topics: vec![topic], ..FetchRequest::default() }
}

/// Code and base offset of the one partition in a Produce answer.
pub(crate) fn produced(response: &ProduceResponse) -> (i16, i64) {
    let partition = &response.responses[0].partition_responses[0];
    (partition.error_code, partition.base_offset)
}

/// Writes a batch and returns code and base offset.
pub(crate) fn write(connection: &mut Connection, topic: &str, records: Bytes) -> (i16, i64) {
    produced(&connection.call(9, &produce(topic, 0, records, None)))
}

/// The values of the one partition in a Fetch answer, control batches left out.
pub(crate) fn values(response: &FetchResponse) -> Vec<String> {
    let Some(topic) = response.responses.first() else { return Vec::new() };
    let bytes = topic.partitions[0].records.clone().into_bytes().unwrap_or_default();
    let mut values = Vec::new();
    for batch in batches(bytes) {
        let batch = batch.expect("whole batches");
        if batch.header().is_control() {
            continue;
        }
        let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Check).expect("a valid batch");
        values.extend(
            decoded.iter().map(|record| String::from_utf8_lossy(record.value.unwrap_or_default()).into_owned()),
        );
    }
    values
}
