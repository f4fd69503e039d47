//! The walk over a frame before a decoder may see it.
//!
//! A decoder reserves room by the counts on the wire: a frame of twenty bytes could make it ask for gigabytes, which ends
//! the process. So nothing is decoded before a walk after the message's shape has found every count and length to fit the
//! bytes that are there. The walk allocates nothing, unless it has an error to tell.
//!
//! It also refuses what a decoder must not make something of: varints of more than 32 bits, null where a field has none,
//! lengths below −1, tagged fields whose size is not their content's.

mod cost;
mod limits;
pub(crate) mod secrets;
pub(crate) mod shape;
#[rustfmt::skip]
mod shapes;
mod strip;
mod walk;
mod walker;

pub(crate) use limits::check_text;
pub use limits::{Limits, TEXT_BYTES};
pub(crate) use shape::Shape;
pub(crate) use shapes::{coordinator, embedded};
use walk::Walked;
pub(crate) use walk::{Value, Visit, walk};
pub(crate) use walker::Walker;

use crate::ApiKey;
use crate::codec::{Checked, Malformed};
use bytes::Bytes;

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Direction {
    /// From a client to a broker, or between brokers: what is asked.
    Request,
    /// The answer.
    Response,
}

/// The shape of an API's message; none for an API that Kafka does not have.
pub(crate) fn shape(api: ApiKey, direction: Direction) -> Option<&'static Shape> {
    let index = shapes::APIS.binary_search_by_key(&api.get(), |(key, ..)| *key).ok()?;
    let (_, request, response) = shapes::APIS.get(index)?;
    Some(if direction == Direction::Request { request } else { response })
}

/// Lets a body of this shape through, after a walk over it; also says how long it is.
///
/// Unknown tagged fields reach the decoder, which keeps them to be written again, unless they cost too much memory:
/// each takes it up to 420 bytes for two on the wire, and nobody reads them.
pub(crate) fn check(shape: &Shape, version: i16, body: Bytes, limits: &Limits) -> Result<(Checked, usize), Malformed> {
    let walked = walk(shape, version, &body, limits, &mut Blind)?;
    let limit = limits.memory(body.len());
    if walked.memory.saturating_add(walked.unknown_tags.saturating_mul(cost::UNKNOWN_TAG)) <= limit {
        return Ok((Checked::new(body), walked.length));
    }
    if walked.memory.saturating_add(if walked.unknown_tags > 0 { body.len() } else { 0 }) > limit {
        return Err(too_costly(&walked, body.len(), limits));
    }
    Ok((Checked::new(strip::without_unknown_tags(shape, version, &body, limits)?), walked.length))
}

/// Refuses what was written and nobody would read: encoders of compact texts do not look at their length. Only what is longer than a text may
/// be can have such a text in it.
pub(crate) fn check_written(shape: &Shape, version: i16, body: &[u8]) -> Result<(), Malformed> {
    if body.len() <= TEXT_BYTES {
        return Ok(());
    }
    walk(shape, version, body, &Limits::NONE, &mut Blind).map(drop)
}

#[cold]
fn too_costly(walked: &Walked, bytes: usize, limits: &Limits) -> Malformed {
    let Limits { memory_multiple, memory_base_bytes, .. } = limits;
    Malformed::new(format!(
        "{bytes} bytes of very many and very small parts would take {} bytes of memory; the limit is {memory_multiple} \
         times the frame and {memory_base_bytes} bytes",
        walked.memory
    ))
}

/// Why a decoder refused what the guard let through: text that is not UTF-8, in which field, if that is what it is.
pub(crate) fn explain(shape: &Shape, version: i16, body: &[u8], limits: &Limits) -> Option<Malformed> {
    walk(shape, version, body, limits, &mut Utf8).err()
}

/// Looks at nothing.
pub(crate) struct Blind;
impl Visit<'_> for Blind {}

/// Looks at text.
struct Utf8;
impl<'a> Visit<'a> for Utf8 {
    fn value(&mut self, value: Value<'a>) -> Result<(), Malformed> {
        match value {
            Value::Text(text) if std::str::from_utf8(text).is_err() => Err(Malformed::new("text that is not UTF-8")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame;
    use crate::messages::{FetchSnapshotRequest, RequestKind, fetch_snapshot_request::*};
    use std::fmt::Write;

    fn snapshot_request(unknown: i32) -> FetchSnapshotRequest {
        let tags = || (100..100 + unknown).map(|tag| (tag, Bytes::from_static(b"new"))).collect();
        let partition = PartitionSnapshot::default().with_partition(3).with_unknown_tagged_fields(tags());
        let topic = TopicSnapshot::default().with_partitions(vec![partition; 2]).with_unknown_tagged_fields(tags());
        let request = FetchSnapshotRequest::default().with_topics(vec![topic; 2]).with_unknown_tagged_fields(tags());
        // A known tagged field beside the unknown ones.
        request.with_cluster_id(Some(crate::messages::StrBytes::from_static_str("c")))
    }

    #[test]
    fn many_unknown_tags_are_dropped_and_few_are_kept() {
        let read_back = |unknown| {
            let sent = RequestKind::from(snapshot_request(unknown));
            let payload = frame::encode_any_request(1, 0, None, &sent).expect("written").payload();
            let body = frame::decode_request_header(&payload).expect("a header").body_of(&payload);
            frame::decode_request::<FetchSnapshotRequest>(1, body).expect("read")
        };
        assert_eq!(read_back(9), snapshot_request(9));
        assert_eq!(read_back(200), snapshot_request(0));
    }

    fn refusal(api: ApiKey, direction: Direction, version: i16, body: Bytes) -> Malformed {
        let shape = shape(api, direction).expect("Kafka has it");
        check(shape, version, body, &Limits::DEFAULT).expect_err("refused")
    }

    #[test]
    fn errors_name_the_field_and_the_byte() {
        // (API, direction, version, body as hex, what is wrong)
        let cases = [
            (
                ApiKey::METADATA,
                Direction::Response,
                1,
                "7fffffff",
                "field brokers at byte 0: 2147483647 elements, and room for 0 at most in the bytes left",
            ),
            (
                ApiKey::METADATA,
                Direction::Response,
                0,
                "0000000100000007ffff",
                "field brokers[0].host at byte 8: null, which this field cannot be",
            ),
            (ApiKey::METADATA, Direction::Request, 0, "00000001fffe", "field topics[0].name at byte 4: a length of -2"),
            (
                ApiKey::HEARTBEAT,
                Direction::Request,
                4,
                "0278000000010279 00 ffffffff7f",
                "byte 9: a varint of more than 32 bits",
            ),
            (
                ApiKey::HEARTBEAT,
                Direction::Response,
                4,
                "0000000000000102",
                "byte 8: 1 bytes are needed here and 0 are left",
            ),
            (
                ApiKey::HEARTBEAT,
                Direction::Response,
                4,
                "000000000000d00f",
                "byte 8: 1 bytes are needed here and 0 are left",
            ),
            (
                ApiKey::HEARTBEAT,
                Direction::Response,
                4,
                "000000000000914e",
                "byte 6: 10001 tagged fields; the limit is 10000",
            ),
            (
                ApiKey::API_VERSIONS,
                Direction::Response,
                3,
                "00000100000000010302 00000000",
                "field zkMigrationReady at byte 10: a tagged field of 2 bytes holds 1",
            ),
            // Found by fuzzing: the guard saw a struct where the decoder saw null, and read on from its inside.
            (
                ApiKey::CONSUMER_GROUP_HEARTBEAT,
                Direction::Response,
                0,
                "00000000 0000 00 00 00000000 00000000 02 01 00 00",
                "field assignment at byte 16: a struct marked 2, neither 1 nor -1",
            ),
            // Kafka throws `string field groupId had invalid length 32768`, before it looks at how many bytes there are.
            (
                ApiKey::HEARTBEAT,
                Direction::Request,
                4,
                "818002",
                "field groupId at byte 0: a text of 32768 bytes; Kafka's limit is 32767",
            ),
            (
                ApiKey::HEARTBEAT,
                Direction::Request,
                4,
                "808002",
                "field groupId at byte 3: 32767 bytes are needed here and 0 are left",
            ),
            (ApiKey::METADATA, Direction::Request, 99, "", "there is no such version, only 0 to 13"),
        ];
        let mut wrong = String::new();
        for (api, direction, version, hex, expected) in cases {
            let hex = hex.replace(' ', "");
            let body: Vec<u8> =
                (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect();
            let error = refusal(api, direction, version, body.into()).to_string();
            if error != expected {
                writeln!(wrong, "{error}\n  not {expected}").expect("text");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }
}
