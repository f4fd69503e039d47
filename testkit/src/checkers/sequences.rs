//! K-10: of each producer, epoch and partition the sequence numbers that were sent begin with 0, have no gap, and each has one meaning.

use super::{Checker, Frame, FrameKind, History, Violation};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::{ProduceRequest, RequestKind, ResponseKind};
use millstream_protocol::record::{BatchHeader, batches};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
    let taken = taken(history);
    for (key, batches) in &sent {
        let mut next = first_of(key, batches, &sent);
        // A batch whose connection broke before it went, and whose time was over then, leaves its number unused. Nobody passes such a gap.
        let last_taken = taken.as_ref().map(|taken| taken.get(key).copied().unwrap_or(-1));
        for (sequence, (_, count)) in batches {
            if *sequence != next && last_taken.is_none_or(|last| last >= *sequence) {
                violate(format!("sequence {sequence} of {key:?} comes where {next} should"));
            }
            next = sequence.saturating_add(*count);
        }
    }
}

/// Of each producer, epoch and partition the last sequence that a broker took; none at all, if the history has no answers.
fn taken(history: &History) -> Option<BTreeMap<Key, i32>> {
    let mut taken = None;
    let mut asked: BTreeMap<u64, VecDeque<Vec<(Key, i32)>>> = BTreeMap::new();
    for frame in history.frames.iter().filter(|frame| frame.api == ApiKey::PRODUCE) {
        match frame.kind {
            FrameKind::Request => {
                let request = read(frame).filter(|request| request.acks != 0);
                asked.entry(frame.connection).or_default().extend(request.map(|request| numbers(&request)));
            }
            FrameKind::Response => {
                let numbers = asked.get_mut(&frame.connection).and_then(VecDeque::pop_front).unwrap_or_default();
                let taken: &mut BTreeMap<Key, i32> = taken.get_or_insert_default();
                let partitions = if numbers.is_empty() { BTreeSet::new() } else { partitions_taken(frame) };
                for (key, sequence) in numbers.into_iter().filter(|(key, _)| partitions.contains(&key.2)) {
                    let last = taken.entry(key).or_insert(sequence);
                    *last = sequence.max(*last);
                }
            }
            _ => {}
        }
    }
    taken
}
fn numbers(request: &ProduceRequest) -> Vec<(Key, i32)> {
    let number = |(partition, header): (String, BatchHeader)| {
        ((header.producer_id, header.producer_epoch, partition), header.base_sequence)
    };
    headers(request).into_iter().map(number).collect()
}
/// The partitions that took their batches, by an answer's word.
fn partitions_taken(frame: &Frame) -> BTreeSet<String> {
    let Some(ResponseKind::Produce(response)) = frame.response() else { return BTreeSet::new() };
    let taken = response.responses.iter().flat_map(|topic| {
        let good = topic.partition_responses.iter().filter(|each| each.error_code == 0);
        good.map(move |each| format!("{}{}-{}", topic.name, topic.topic_id, each.index))
    });
    taken.collect()
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
