//! K-10: of each producer, epoch and partition the sequence numbers that were sent begin with 0, have no gap, and each has one meaning.

use super::{Checker, Frame, FrameKind, History, Violation};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::{ProduceRequest, RequestKind};
use millstream_protocol::record::{BatchHeader, batches};
use std::collections::BTreeMap;

/// A producer id, an epoch and a partition.
type Key = (i64, i16, String);
/// What a batch is told by: its checksum, and how many records it has.
type Meaning = (u32, i32);

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let mut sent: BTreeMap<Key, BTreeMap<i32, Meaning>> = BTreeMap::new();
    let mut violate = |text: String| found.push(Violation::new(Checker::K10, "sequence", text));
    for frame in history.frames.iter().filter(|frame| frame.kind == FrameKind::Sent && frame.api == ApiKey::PRODUCE) {
        let Some(request) = read(frame) else { continue };
        for (partition, header) in headers(&request) {
            if header.producer_id < 0 || header.base_sequence < 0 {
                continue;
            }
            let key = (header.producer_id, header.producer_epoch, partition);
            let known = sent.entry(key.clone()).or_default();
            let meaning = (header.crc, header.count);
            if let Some(other) = known.insert(header.base_sequence, meaning).filter(|other| *other != meaning) {
                violate(format!(
                    "sequence {} of {key:?} is {meaning:?} at {:?}, and was {other:?}",
                    header.base_sequence, frame.at
                ));
            }
        }
    }
    for (key, batches) in &sent {
        let mut next = first_of(key, batches, &sent);
        for (sequence, (_, count)) in batches {
            if *sequence != next {
                violate(format!("sequence {sequence} of {key:?} comes where {next} should"));
            }
            next = sequence.saturating_add(*count);
        }
    }
}

/// The first sequence that a partition may have: 0, or where the producer was in a topic that was deleted and made anew meanwhile: Kafka takes
/// any first sequence of a producer that the new log does not know.
fn first_of(key: &Key, batches: &BTreeMap<i32, Meaning>, sent: &BTreeMap<Key, BTreeMap<i32, Meaning>>) -> i32 {
    let first = batches.keys().next().copied().unwrap_or(0);
    let index = |name: &str| name.rsplit('-').next().map(str::to_owned);
    let goes_on = sent.iter().any(|(other, known)| {
        let end = known.iter().next_back().map_or(0, |(sequence, (_, count))| sequence.saturating_add(*count));
        other != key && (other.0, other.1, index(&other.2)) == (key.0, key.1, index(&key.2)) && end >= first
    });
    if goes_on { first } else { 0 }
}

/// A produce request, if it is one that can be read.
pub(super) fn read(frame: &Frame) -> Option<ProduceRequest> {
    match frame.request()? {
        RequestKind::Produce(request) => Some(request),
        _ => None,
    }
}

/// Its batches' headers, with the names of their partitions.
pub(super) fn headers(request: &ProduceRequest) -> Vec<(String, BatchHeader)> {
    let mut headers = Vec::new();
    for topic in &request.topic_data {
        for partition in &topic.partition_data {
            let name = format!("{}{}-{}", topic.name, topic.topic_id, partition.index);
            let records = partition.records.clone().into_bytes().unwrap_or_default();
            headers.extend(batches(records).filter_map(Result::ok).map(|batch| (name.clone(), *batch.header())));
        }
    }
    headers
}
