//! Batches that somebody meddled with: refused by an error where Kafka refuses them, within bounded memory always.

use crate::batch_json::{decode, to_json};
use crate::memory;
use bytes::Bytes;
use millstream_protocol::Decompressor;
use millstream_protocol::record::batches;
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
