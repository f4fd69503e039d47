//! Makes an answer into what no Kafka would send.

use crate::broker::call::Outcome;
use crate::faults::Malformation;
use bytes::{BufMut, Bytes, BytesMut};
use millstream_protocol::frame::{self, Frame};
use millstream_protocol::messages::{FetchResponse, RecordData, ResponseKind};
use millstream_protocol::record::{BatchBuilder, Stamp};
use millstream_protocol::{ApiKey, Compression, Compressor, Headers, Timestamp, api};

const SIZE: usize = 4;
/// The size and the correlation id.
const HEADER: usize = 8;
/// What one record of a bomb has, all zeros, and how many records there are.
const BOMB_RECORD: usize = 8 << 20;
const BOMB_RECORDS: usize = 12;

/// The answer, spoilt; as it was if this API cannot be spoilt so.
pub(super) fn apply(how: Malformation, (api, version): (ApiKey, i16), whole: &Frame, seed: u64) -> Outcome {
    let mut bytes = BytesMut::from(whole.to_bytes().as_ref());
    match how {
        Malformation::NegativeSize => put(&mut bytes, 0, &(-1_i32).to_be_bytes()),
        Malformation::HugeSize => put(&mut bytes, 0, &i32::MAX.to_be_bytes()),
        Malformation::WrongCorrelationId => bytes.get_mut(SIZE).into_iter().for_each(|first| *first ^= 0x40),
        Malformation::Truncated => cut(&mut bytes),
        Malformation::NegativeLength => spoil_length(&mut bytes, (api, version), Length::Negative),
        Malformation::HugeCount => spoil_length(&mut bytes, (api, version), Length::Huge),
        Malformation::TrailingBytes => {
            bytes.put_slice(&[0xff; 16]);
            set_size(&mut bytes);
        }
        Malformation::TruncatedTags if api::is_flexible(api, version) => {
            bytes.last_mut().into_iter().for_each(|last| *last = 1);
        }
        Malformation::TruncatedTags => {}
        Malformation::Noise => noise(&mut bytes, seed),
        Malformation::DuplicatePartitions | Malformation::Bomb | Malformation::BadChecksum => {
            return rewritten(how, (api, version), whole);
        }
    }
    Outcome::Raw(bytes.freeze())
}

fn put(bytes: &mut BytesMut, at: usize, with: &[u8]) {
    bytes.iter_mut().skip(at).zip(with).for_each(|(byte, new)| *byte = *new);
}
fn set_size(bytes: &mut BytesMut) {
    let size = u32::try_from(bytes.len().saturating_sub(SIZE)).unwrap_or(u32::MAX);
    put(bytes, 0, &size.to_be_bytes());
}
fn cut(bytes: &mut BytesMut) {
    bytes.truncate(HEADER + bytes.len().saturating_sub(HEADER) / 2);
    set_size(bytes);
}
fn noise(bytes: &mut BytesMut, seed: u64) {
    let mut state = seed | 1;
    for byte in bytes.iter_mut().skip(HEADER) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *byte = state.to_le_bytes()[3];
    }
}

#[derive(Debug, Clone, Copy)]
enum Length {
    Negative,
    Huge,
}
impl Length {
    /// As it stands on the wire, with tagged fields or without.
    fn bytes(self, is_flexible: bool) -> &'static [u8] {
        match (self, is_flexible) {
            // Compact lengths count from one and are unsigned: what comes next to a negative one is the largest.
            (Self::Negative, true) => &[0xff, 0xff, 0xff, 0xff, 0x0f],
            (Self::Huge, true) => &[0xff, 0xff, 0xff, 0xff, 0x07],
            (Self::Negative, false) => &[0xff, 0xff, 0xff, 0xfe],
            (Self::Huge, false) => &[0x7f, 0xff, 0xff, 0xff],
        }
    }
}
/// Overwrites the first place where a length makes the message unreadable: a length or a count lies there.
fn spoil_length(bytes: &mut BytesMut, (api, version): (ApiKey, i16), length: Length) {
    let with = length.bytes(api::is_flexible(api, version));
    for at in HEADER..bytes.len() {
        let mut spoilt = bytes.clone();
        spoilt.resize(spoilt.len().max(at + with.len()), 0);
        put(&mut spoilt, at, with);
        let payload = spoilt.clone().freeze().slice(SIZE..);
        if frame::decode_any_response(api, version, payload).is_err() {
            set_size(&mut spoilt);
            *bytes = spoilt;
            return;
        }
    }
}

/// Spoils what has to be read and written again.
fn rewritten(how: Malformation, (api, version): (ApiKey, i16), whole: &Frame) -> Outcome {
    let untouched = || Outcome::Frame(whole.clone());
    let Ok((correlation_id, mut response)) = frame::decode_any_response(api, version, whole.payload()) else {
        return untouched();
    };
    match (&mut response, how) {
        (ResponseKind::Fetch(fetch), Malformation::DuplicatePartitions) => {
            fetch.responses.iter_mut().for_each(|topic| twice(&mut topic.partitions));
        }
        (ResponseKind::Produce(produce), Malformation::DuplicatePartitions) => {
            produce.responses.iter_mut().for_each(|topic| twice(&mut topic.partition_responses));
        }
        (ResponseKind::Metadata(metadata), Malformation::DuplicatePartitions) => {
            metadata.topics.iter_mut().for_each(|topic| twice(&mut topic.partitions));
        }
        (ResponseKind::Fetch(fetch), Malformation::Bomb) => replace_records(fetch, |_| bomb()),
        (ResponseKind::Fetch(fetch), Malformation::BadChecksum) => replace_records(fetch, flipped),
        _ => return untouched(),
    }
    frame::encode_any_response(version, correlation_id, &response).map_or_else(|_| untouched(), Outcome::Frame)
}
fn twice<T: Clone>(items: &mut Vec<T>) {
    items.extend_from_within(..);
}
fn replace_records(fetch: &mut FetchResponse, with: impl Fn(Bytes) -> Bytes) {
    for partition in fetch.responses.iter_mut().flat_map(|topic| &mut topic.partitions) {
        let records = partition.records.clone().into_bytes().filter(|records| !records.is_empty());
        if let Some(records) = records {
            partition.records = RecordData::from(with(records));
        }
    }
}
/// The last bit of the last record is another: the checksum does not hold.
fn flipped(records: Bytes) -> Bytes {
    let mut records = BytesMut::from(records.as_ref());
    records.last_mut().into_iter().for_each(|last| *last ^= 1);
    records.freeze()
}
fn bomb() -> Bytes {
    let zeros = vec![0; BOMB_RECORD];
    let mut builder = BatchBuilder::new();
    for _ in 0..BOMB_RECORDS {
        // A batch holds them easily; one that did not would only be smaller.
        if builder.append(Timestamp::EPOCH, None, Some(&zeros), &Headers::new()).is_err() {
            break;
        }
    }
    let sealed = Compressor::new(Compression::Gzip, None).ok().and_then(|mut gzip| builder.seal(&mut gzip).ok());
    sealed.map_or_else(Bytes::new, |sealed| sealed.to_bytes(&Stamp::plain()))
}
