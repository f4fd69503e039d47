//! Kafka's own messages, every API at every version: read as Kafka reads them, written as Kafka writes them.

use crate::corpus::forget_unaligned_records;
use bytes::Bytes;
use millstream_protocol::picture::Picture;
use millstream_protocol::{ApiKey, api, frame};
use millstream_vectors::{bytes, int16, rows};
use serde_json::Value;

/// A row, taken apart.
struct Row {
    about: String,
    api: ApiKey,
    version: i16,
    body: Bytes,
    json: Value,
}

impl Row {
    fn of(row: &Value) -> Self {
        let (api, version) = (ApiKey::new(int16(row, "api")), int16(row, "version"));
        let about = format!("{} version {version}, {}, {}", row["name"], row["kind"], row["hex"]);
        Self { about, api, version, body: bytes(row, "hex").into(), json: row["json"].clone() }
    }
    fn check_picture(&self, picture: Option<Picture<'_>>) {
        let picture = picture.unwrap_or_else(|| panic!("no picture of {}", self.about));
        let json = picture.whole().json().unwrap_or_else(|error| panic!("{error}: {}", self.about));
        let mut json: Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
        forget_unaligned_records(self.api, &mut json);
        assert_eq!(json, self.json, "{}", self.about);
        assert_eq!(picture.length(), Ok(self.body.len()), "{}", self.about);
    }
}

/// Checks all rows.
fn check(corpus: &str, codec: impl Fn(&Row)) {
    let rows = rows(corpus).map(|row| codec(&Row::of(&row))).count();
    println!("{corpus}: {rows} rows decoded and encoded");
    assert!(rows > 0, "the corpus is empty");
}

#[test]
fn requests_are_written_again_as_kafka_writes_them() {
    check("messages-requests", |row| {
        let read = frame::decode_any_request(row.api, row.version, row.body.clone());
        let request = read.unwrap_or_else(|error| panic!("{error}: {}", row.about));
        let frame = frame::encode_any_request(row.version, 7, Some("me"), &request).expect("it was read");
        let payload = frame.payload();
        let header = frame::decode_request_header(&payload).expect("a header");
        assert_eq!((header.api(), header.version(), header.correlation_id()), (row.api, row.version, 7));
        assert_eq!(header.body_of(&payload), row.body, "{}", row.about);
    });
}

#[test]
fn responses_are_written_again_as_kafka_writes_them() {
    check("messages-responses", |row| {
        let header: &[u8] =
            if api::response_header_version(row.api, row.version) == 1 { &[0, 0, 0, 7, 0] } else { &[0, 0, 0, 7] };
        let payload = Bytes::from([header, &row.body].concat());
        let read = frame::decode_any_response(row.api, row.version, payload.clone());
        let (id, response) = read.unwrap_or_else(|error| panic!("{error}: {}", row.about));
        let written = frame::encode_any_response(row.version, id, &response).expect("it was read");
        assert_eq!((id, written.payload()), (7, payload), "{}", row.about);
    });
}

#[test]
fn the_shapes_read_what_kafka_reads() {
    check("messages-requests", |row| row.check_picture(Picture::of_request(row.api, row.version, &row.body)));
    check("messages-responses", |row| row.check_picture(Picture::of_response(row.api, row.version, &row.body)));
}

#[test]
fn header_versions_are_kafkas() {
    for (corpus, version) in [
        ("messages-requests", api::request_header_version as fn(ApiKey, i16) -> i16),
        ("messages-responses", api::response_header_version),
    ] {
        let count = rows(corpus)
            .map(|row| {
                let (api, of) = (ApiKey::new(int16(&row, "api")), int16(&row, "version"));
                assert_eq!(version(api, of), int16(&row, "header_version"), "{api} {of}");
            })
            .count();
        assert!(count > 0, "{corpus} is empty");
    }
}

#[test]
fn headers_are_pictured_as_kafka_reads_them() {
    let mut pictured = 0;
    for row in rows("messages-headers") {
        let (body, version) = (bytes(&row, "hex"), int16(&row, "version"));
        let name = row["name"].as_str().expect("a name");
        let picture = Picture::of_embedded(name, version, &body).expect("Kafka has it");
        let json: Value = serde_json::from_str(&picture.json().expect("Kafka wrote it")).expect("JSON");
        assert_eq!((json, picture.length()), (row["json"].clone(), Ok(body.len())), "{row}");
        pictured += 1;
    }
    assert!(pictured > 0, "the corpus is empty");
}

#[test]
fn request_headers_are_read_as_kafka_reads_them() {
    let mut read = 0;
    for row in rows("messages-headers").filter(|row| row["name"] == "RequestHeader") {
        // The API and version in it are by chance; those that decide the header's version are put in their place.
        let (api, version) = if row["version"] == 2 { (3_i16, 9_i16) } else { (3, 8) };
        let rest = bytes(&row, "hex").split_off(4);
        let payload = Bytes::from([&api.to_be_bytes()[..], &version.to_be_bytes(), &rest].concat());
        let header = frame::decode_request_header(&payload).unwrap_or_else(|error| panic!("{error}: {row}"));
        assert_eq!((header.api(), header.version()), (ApiKey::METADATA, version));
        assert_eq!(Some(header.correlation_id().into()), row["json"]["correlationId"].as_i64(), "{row}");
        assert_eq!(header.client_id(), row["json"]["clientId"].as_str(), "{row}");
        assert_eq!(header.len(), payload.len(), "{row}");
        read += 1;
    }
    assert!(read > 0, "the corpus is empty");
}
