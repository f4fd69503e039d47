//! Batches that somebody meddled with: refused by an error where Kafka refuses them, within bounded memory always.

use crate::batch_json::{decode, to_json};
use crate::memory;
use bytes::Bytes;
use millstream_protocol::record::{BatchBuilder, RecordError, Stamp, batches};
use millstream_protocol::{Compression, Compressor, Decompressor, Timestamp};
use millstream_vectors::{bytes, rows};
use serde_json::Value;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

fn id(row: &Value) -> &str {
    row["id"].as_str().expect("an id")
}

/// What a buffer may cost: eight times itself; where it is a bomb, what a batch may inflate to, everything included.
fn budget(row: &Value, buffer: &Bytes) -> usize {
    if id(row).starts_with("records/bomb/") { Decompressor::DEFAULT_LIMIT } else { 8 * buffer.len() + 64 * KIB }
}

/// A decompressor whose tables are there already: they are kept from batch to batch, and no frame sizes them.
fn warm() -> Decompressor {
    let mut decompressor = Decompressor::new();
    for row in rows("records").filter(|row| id(row).starts_with("v2/") && id(row).contains("/create/")) {
        decode(bytes(&row, "hex").into(), &mut decompressor).expect("sound");
    }
    decompressor
}

#[test]
fn what_kafka_refuses_is_refused_within_bounded_memory() {
    let mut decompressor = warm();
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows("hostile-records") {
        let buffer = Bytes::from(bytes(&row, "hex"));
        let (peak, outcome) = memory::peak_of(|| decode(buffer.clone(), &mut decompressor).map(drop));
        if peak > budget(&row, &buffer) {
            wrong.push(format!("{}: {peak} bytes for {}", id(&row), buffer.len()));
        }
        match (row["expect"].as_str(), &outcome) {
            (Some("error"), Ok(())) => wrong.push(format!("{} is taken", id(&row))),
            (Some("ok"), Err(error)) if row["strict_may_refuse"] != true => {
                wrong.push(format!("{}: {error}", id(&row)))
            }
            _ => {}
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 0, "the corpus is empty");
}

#[test]
fn what_kafka_reads_leniently_is_read_the_same_or_refused() {
    let mut decompressor = Decompressor::new();
    for row in rows("hostile-records").filter(|row| row["expect"] == "ok") {
        let buffer = Bytes::from(bytes(&row, "hex"));
        let sizes: Vec<usize> = batches(buffer.clone()).flatten().map(|batch| batch.size()).collect();
        let Ok((decoded, left_over)) = decode(buffer, &mut decompressor) else { continue };
        let read: Value = decoded.iter().zip(sizes).map(|(batch, size)| to_json(batch, size)).collect();
        if let Some(kafkas) = row.get("batches") {
            assert_eq!(&read, kafkas, "{}", id(&row));
        }
        assert_eq!(left_over as u64, row["left_over"].as_u64().unwrap_or(0), "{}", id(&row));
    }
}

#[test]
fn a_bomb_is_refused_at_the_limit() {
    for row in rows("hostile-records").filter(|row| id(row).starts_with("records/bomb/")) {
        let buffer = Bytes::from(bytes(&row, "hex"));
        let mut small = Decompressor::with_limit(MIB);
        let (peak, outcome) = memory::peak_of(|| decode(buffer.clone(), &mut small).map(drop));
        assert!(outcome.is_err(), "{}", id(&row));
        assert!(peak < 12 * MIB, "{}: {peak} bytes", id(&row));
    }
}

/// A message of magic 0 or 1 without its offset and length.
fn old_message(magic: u8, codec: u8, value: Option<&[u8]>) -> Vec<u8> {
    let mut covered = vec![magic, codec];
    covered.extend([0; 8].iter().take(if magic == 0 { 0 } else { 8 }));
    covered.extend((-1_i32).to_be_bytes());
    covered.extend(value.map_or(-1, |value| i32::try_from(value.len()).expect("short")).to_be_bytes());
    covered.extend(value.unwrap_or_default());
    [&crc32fast::hash(&covered).to_be_bytes()[..], &covered].concat()
}

/// A buffer with one message at an offset.
fn at_offset(offset: i64, message: &[u8]) -> Vec<u8> {
    let length = i32::try_from(message.len()).expect("short");
    [&offset.to_be_bytes()[..], &length.to_be_bytes(), message].concat()
}

/// A gzip wrapper around so many messages without key and value, all at offset 0.
fn wrapper_of(magic: u8, messages: usize) -> Bytes {
    let inner = at_offset(0, &old_message(magic, 0, None)).repeat(messages);
    let deflated = Compressor::new(Compression::Gzip, Some(9)).and_then(|mut gzip| gzip.compress(&inner));
    at_offset(7, &old_message(magic, 1, Some(&deflated.expect("compresses")))).into()
}

/// Twenty lines, streamed by `zstd --ultra -22 --no-content-size`: a window of 128 MiB.
const LEVEL_22: &str = "28b52ffd04888d0100c2c20911b0a90380bb8b768fa901a54d9a981e00042084cfd26eeccd8ad7d81862396a54c612dcd2356f01000cfa2a550604659c3a";

#[test]
fn a_window_costs_no_memory_that_is_not_filled() {
    let frame = bytes(&serde_json::json!({ "hex": LEVEL_22 }), "hex");
    let (peak, inflated) = memory::peak_of(|| Decompressor::new().decompress(Compression::Zstd, &frame));
    assert_eq!(inflated.map(|bytes| bytes.len()), Ok(20 * 44));
    assert!(peak < MIB, "{peak} bytes");
}

#[test]
fn a_wrapper_of_many_tiny_messages_is_read_within_the_limit() {
    const LIMIT: usize = 2 * MIB;
    for magic in [0, 1] {
        let inner = at_offset(0, &old_message(magic, 0, None)).len();
        // A record is 7 bytes where its message was more.
        let most = LIMIT / (inner + 7);
        for (messages, fits) in [(most, true), (most + 1, false), (LIMIT / inner, false)] {
            let (buffer, mut small) = (wrapper_of(magic, messages), Decompressor::with_limit(LIMIT));
            let (peak, outcome) = memory::peak_of(|| decode(buffer, &mut small));
            // The inflated bytes' buffer doubles while there are few; the decoder has tables.
            assert!(peak <= 2 * LIMIT, "{magic}, {messages}: {peak} bytes");
            match outcome {
                Ok((decoded, _)) => assert!(fits && decoded[0].len() == messages, "{magic}, {messages}"),
                Err(error) => assert!(!fits && matches!(error, RecordError::TooLarge { .. }), "{messages}: {error}"),
            }
        }
    }
}

/// A batch of one record whose one header has such a name, by the tail of a batch with a name of as many letters.
fn with_header_name(name: &[u8], codec: Compression) -> Bytes {
    let mut headers = millstream_protocol::Headers::new();
    headers.push(&"n".repeat(name.len()), None);
    let mut builder = BatchBuilder::new();
    builder.append(Timestamp::EPOCH, None, None, &headers).expect("it fits");
    let plain = builder.seal(&mut Compressor::none()).expect("nothing to compress").to_bytes(&Stamp::plain());
    let mut records = plain[61..].to_vec();
    let at = records.len() - 1 - name.len();
    records[at..][..name.len()].copy_from_slice(name);
    let records = Compressor::new(codec, None).and_then(|mut codec| codec.compress(&records)).expect("compresses");
    let mut batch = [&plain[..61], &records].concat();
    let length = i32::try_from(batch.len() - 12).expect("short");
    batch[8..12].copy_from_slice(&length.to_be_bytes());
    batch[22] |= codec.id();
    let crc = crc32c::crc32c(&batch[21..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
    batch.into()
}

#[test]
fn header_names_that_are_not_text_are_made_text_within_the_limit() {
    let name = [b"h\xe9 \xff".as_slice(), &vec![0xff; 300_000]].concat();
    let text = String::from_utf8_lossy(&name).into_owned();
    for codec in [Compression::None, Compression::Lz4] {
        let batch = with_header_name(&name, codec);
        let cost = text.len() + if codec == Compression::None { 0 } else { name.len() };
        let mut decompressor = Decompressor::with_limit(cost + 64);
        let (peak, outcome) = memory::peak_of(|| decode(batch.clone(), &mut decompressor));
        let (decoded, _) = outcome.unwrap_or_else(|error| panic!("{codec}: {error}"));
        assert!(peak < 2 * cost, "{codec}: {peak} bytes");
        let record = decoded[0].iter().next().expect("one record");
        assert!(record.headers.iter().map(|header| header.name).eq([&text[..]]), "{codec}");
        let refused = decode(batch, &mut Decompressor::with_limit(cost - 1));
        assert_eq!(refused.err(), Some(RecordError::TooLarge { base_offset: 0, limit: cost - 1 }), "{codec}");
    }
}
