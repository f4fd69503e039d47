//! The hostile corpus, sent to a broker's ports, also before clients have proved themselves and by TLS: nothing of it ends the broker or makes
//! it reserve what is not there. Alone in its binary, since it looks at the memory of the whole process.

mod doors;
#[cfg(feature = "tls")]
mod tls;

use bytes::Bytes;
use doors::{Door, House};
use millstream_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use millstream_protocol::messages::{ProduceRequest, RecordData};
use millstream_protocol::{ApiKey, api, frame};
use millstream_vectors::{bytes, int16, rows};

/// More than this is more than a small multiple of the largest row.
const MOST_MIB: usize = 64;

fn memory_mib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    // The most that it ever was: what was reserved and given back counts, too.
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it tells of memory");
    peak.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") / 1024
}

fn framed(payload: &[u8]) -> Vec<u8> {
    let size = u32::try_from(payload.len()).expect("rows are small");
    [&size.to_be_bytes()[..], payload].concat()
}
/// A request's header before a body of the corpus.
fn request(api: ApiKey, version: i16, body: &[u8]) -> Vec<u8> {
    let mut payload = [api.get().to_be_bytes(), version.to_be_bytes()].concat();
    payload.extend([0, 0, 0, 1, 0xff, 0xff]);
    if api::request_header_version(api, version) >= 2 {
        payload.push(0);
    }
    payload.extend(body);
    framed(&payload)
}
fn produce(records: Bytes) -> Vec<u8> {
    let partition = PartitionProduceData { records: RecordData::from(records), ..PartitionProduceData::default() };
    let topic = TopicProduceData { name: "t".into(), partition_data: vec![partition], ..TopicProduceData::default() };
    let request = ProduceRequest { acks: 1, timeout_ms: 1000, topic_data: vec![topic], ..ProduceRequest::default() };
    frame::encode_request(9, 1, None, &request).expect("it can be written").to_bytes().to_vec()
}
/// All that a broker can be sent: requests, records, and sizes that are none, by their names.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let name = |row: &serde_json::Value| row["id"].as_str().unwrap_or_default().to_owned();
    let messages = rows("hostile-messages").filter_map(|row| match row["target"].as_str()? {
        "request" => {
            let (api, version) = (ApiKey::new(int16(&row, "api")), int16(&row, "version"));
            Some((name(&row), request(api, version, &bytes(&row, "hex"))))
        }
        "frame" => Some((name(&row), bytes(&row, "hex"))),
        _ => None,
    });
    let records = rows("hostile-records").filter(|row| !row["hex"].is_null());
    messages.chain(records.map(|row| (name(&row), produce(bytes(&row, "hex").into())))).collect()
}

#[test]
fn the_hostile_corpus_is_survived_within_bounded_memory() {
    let house = House::open();
    Door::ALL.iter().for_each(|door| house.assert_serves(*door));
    let corpus = corpus();
    assert_eq!(corpus.iter().filter(|(name, _)| name.starts_with("frame/")).count(), 3);
    let before = memory_mib();
    for door in Door::ALL {
        let share = corpus.iter().enumerate().filter(|(at, (name, _))| door.is_for(*at, name));
        share.for_each(|(_, (name, frame))| house.survive(*door, frame, name));
    }
    let after = memory_mib();
    let (sent, doors) = (corpus.len(), Door::ALL.len());
    println!("{sent} rows by {doors} doors; the most memory was {before} MiB before and {after} MiB after");
    assert!(after < before + MOST_MIB, "{before} MiB before, {after} MiB after");
    Door::ALL.iter().for_each(|door| house.assert_serves(*door));
}
