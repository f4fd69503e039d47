//! The hostile corpus, sent to a broker's port: nothing of it ends the broker or makes it reserve what is not there.
//! Alone in its binary, since it looks at the memory of the whole process.

use bytes::Bytes;
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::{ProduceRequest, RecordData};
use millstream_protocol::{ApiKey, api, frame};
use millstream_testkit::TestCluster;
use millstream_vectors::{bytes, int16, rows};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// More than this is more than a small multiple of the largest row.
const MOST_MIB: usize = 64;

fn memory_mib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    // The most that it ever was: what was reserved and given back counts, too.
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it tells of memory");
    peak.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") / 1024
}
fn connect(cluster: &TestCluster) -> TcpStream {
    let stream = TcpStream::connect(cluster.bootstrap_servers()).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(180))).expect("a timeout can be set");
    stream
}
/// Sends a payload; says whether an answer or the end of the connection came, and not nothing.
fn survive(cluster: &TestCluster, payload: &[u8], what: &str) {
    let mut stream = connect(cluster);
    let size = u32::try_from(payload.len()).expect("rows are small");
    let sent = stream.write_all(&[&size.to_be_bytes()[..], payload].concat());
    assert!(sent.is_ok(), "{what}: {sent:?}");
    // What is read as a request that waits has no answer: the other half of the connection is closed, so that the broker lets it go.
    stream.shutdown(std::net::Shutdown::Write).expect("a connection has two halves");
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(error) => panic!("{what}: the broker neither answers nor hangs up: {error}"),
    }
}
/// A request's header before a body of the corpus.
fn request(api: ApiKey, version: i16, body: &[u8]) -> Vec<u8> {
    let mut payload = [api.get().to_be_bytes(), version.to_be_bytes()].concat();
    payload.extend([0, 0, 0, 1, 0xff, 0xff]);
    if api::request_header_version(api, version) >= 2 {
        payload.push(0);
    }
    payload.extend(body);
    payload
}
fn produce(records: Bytes) -> Vec<u8> {
    let partition = PartitionProduceData { records: RecordData::from(records), ..PartitionProduceData::default() };
    let topic = TopicProduceData { name: "t".into(), partition_data: vec![partition], ..TopicProduceData::default() };
    let request = ProduceRequest { acks: 1, timeout_ms: 1000, topic_data: vec![topic], ..ProduceRequest::default() };
    frame::encode_request(9, 1, None, &request).expect("it can be written").payload().to_vec()
}

#[test]
fn the_hostile_corpus_is_survived_within_bounded_memory() {
    let builder = TestCluster::builder().topic("t", 1).topic("compacted", 1);
    let cluster = builder.config("log.cleanup.policy", "compact").try_start().expect("loopback has free ports");
    survive(&cluster, &request(ApiKey::API_VERSIONS, 0, &[]), "a first request");
    let (messages, records) = (rows("hostile-messages"), rows("hostile-records"));
    let before = memory_mib();
    let mut sent = 0;
    for row in messages.into_iter().filter(|row| row["target"] == "request") {
        let (api, version) = (ApiKey::new(int16(&row, "api")), int16(&row, "version"));
        survive(&cluster, &request(api, version, &bytes(&row, "hex")), row["id"].as_str().unwrap_or_default());
        sent += 1;
    }
    for row in records.into_iter().filter(|row| !row["hex"].is_null()) {
        survive(&cluster, &produce(bytes(&row, "hex").into()), row["id"].as_str().unwrap_or_default());
        sent += 1;
    }
    let after = memory_mib();
    println!("{sent} hostile requests; the most memory was {before} MiB before and {after} MiB after");
    assert!(sent > 0 && after < before + MOST_MIB, "{before} MiB before, {after} MiB after");
    // It still serves.
    let mut stream = connect(&cluster);
    stream.write_all(&[0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 0xff, 0xff]).expect("it takes the request");
    let mut head = [0; 8];
    stream.read_exact(&mut head).expect("it answers");
    assert_eq!(head[4..], [0, 0, 0, 7]);
}
