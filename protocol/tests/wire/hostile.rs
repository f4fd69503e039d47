//! Frames that somebody meddled with: refused by an error where Kafka refuses them, within bounded memory always.

use crate::corpus::forget_unaligned_records;
use crate::memory;
use bytes::Bytes;
use millstream_protocol::frame::{self, FrameBuffer};
use millstream_protocol::picture::Picture;
use millstream_protocol::{ApiKey, api};
use millstream_vectors::{bytes, int16, rows};
use serde_json::Value;

struct Row {
    id: String,
    api: ApiKey,
    version: i16,
    is_request: bool,
    body: Bytes,
    row: Value,
}

impl Row {
    fn of(row: Value) -> Self {
        Self {
            id: row["id"].as_str().expect("an id").to_owned(),
            api: ApiKey::new(int16(&row, "api")),
            version: int16(&row, "version"),
            is_request: row["target"] == "request",
            body: bytes(&row, "hex").into(),
            row,
        }
    }
    /// Whether the message is read, and the most memory that it took.
    fn decode(&self) -> (usize, Result<(), String>) {
        let (api, version, body) = (self.api, self.version, self.body.clone());
        if self.is_request {
            return memory::peak_of(|| {
                frame::decode_any_request(api, version, body).map(drop).map_err(|e| e.to_string())
            });
        }
        let flexible = api::response_header_version(api, version) == 1;
        let payload = Bytes::from([if flexible { &[0; 5][..] } else { &[0; 4] }, &body].concat());
        memory::peak_of(|| frame::decode_any_response(api, version, payload).map(drop).map_err(|e| e.to_string()))
    }
    fn picture(&self) -> Picture<'_> {
        let of = if self.is_request { Picture::of_request } else { Picture::of_response };
        of(self.api, self.version, &self.body).expect("Kafka has it")
    }
    /// Whether `accepted` is right, by Kafka's verdict.
    fn check_verdict(&self, who: &str, accepted: &Result<(), String>) {
        match self.row["expect"].as_str() {
            Some("error") => assert!(accepted.is_err(), "{who} takes {}", self.id),
            _ if self.row["strict_may_refuse"] == true => {}
            _ => assert_eq!(accepted, &Ok(()), "{who} refuses {}", self.id),
        }
    }
    /// What the shapes read must be what Kafka reads.
    fn check_picture(&self) {
        let json = self.picture().whole().json();
        self.check_verdict("the guard", &json.as_ref().map(drop).map_err(ToString::to_string));
        let Ok(json) = json else { return };
        let mut json: Value = serde_json::from_str(&json).expect("JSON");
        forget_unaligned_records(self.api, &mut json);
        if let Some(kafkas) = self.row.get("json") {
            assert_eq!(&json, kafkas, "{}", self.id);
        }
        let left_over = self.row["left_over"].as_u64().and_then(|bytes| usize::try_from(bytes).ok());
        assert_eq!(
            self.picture().length().map(|length| self.body.len() - length),
            Ok(left_over.unwrap_or(0)),
            "{}",
            self.id
        );
    }
}

fn message_rows() -> impl Iterator<Item = Row> {
    rows("hostile-messages").filter(|row| row["target"] != "frame").map(Row::of)
}

#[test]
fn what_kafka_refuses_is_refused_within_bounded_memory() {
    let mut count = 0;
    for row in message_rows() {
        let (peak, accepted) = row.decode();
        row.check_verdict("the decoder", &accepted);
        let budget = 8 * row.body.len() + (64 << 10);
        assert!(peak <= budget, "{peak} bytes held for {} bytes: {}", row.body.len(), row.id);
        count += 1;
    }
    println!("{count} rows decoded");
    assert!(count > 0, "the corpus is empty");
}

#[test]
fn the_shapes_read_what_kafka_reads_of_hostile_frames() {
    let count = message_rows().map(|row| row.check_picture()).count();
    assert!(count > 0, "the corpus is empty");
}

#[test]
fn sizes_before_frames_are_judged_as_kafka_judges_them() {
    let mut judged = 0;
    for row in rows("hostile-messages").filter(|row| row["target"] == "frame") {
        let mut buffer = FrameBuffer::new(usize::MAX);
        buffer.extend(&bytes(&row, "hex"));
        let verdict = match buffer.next_frame() {
            Ok(None) => "incomplete",
            Ok(Some(payload)) if frame::correlation_id(&payload).is_ok() => "ok",
            _ => "error",
        };
        assert_eq!(row["expect"], verdict, "{}", row["id"]);
        judged += 1;
    }
    assert!(judged > 0, "the corpus has no frames");
}
