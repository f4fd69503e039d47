//! Batches that Kafka wrote: read as Kafka reads them, and written as Kafka writes them.

use crate::batch_json::{decode, to_json};
use bytes::Bytes;
use millstream_protocol::record::{
    Batch, BatchBuilder, CrcCheck, DecodedBatch, Stamp, TimestampType, batches, rewrite,
};
use millstream_protocol::{Compression, Compressor, Decompressor, Timestamp};
use millstream_vectors::{bytes, rows};
use serde_json::Value;

fn id(row: &Value) -> &str {
    row["id"].as_str().expect("an id")
}

#[test]
fn batches_are_read_as_kafka_reads_them() {
    let mut decompressor = Decompressor::new();
    let mut records = 0;
    for row in rows("records") {
        let buffer = Bytes::from(bytes(&row, "hex"));
        let sizes: Vec<usize> = batches(buffer.clone()).flatten().map(|batch| batch.size()).collect();
        let (decoded, left_over) =
            decode(buffer, &mut decompressor).unwrap_or_else(|error| panic!("{}: {error}", id(&row)));
        let read: Value = decoded.iter().zip(sizes).map(|(batch, size)| to_json(batch, size)).collect();
        assert_eq!(read, row["batches"], "{}", id(&row));
        assert_eq!(Value::from(left_over), row["left_over"], "{}", id(&row));
        records += decoded.iter().map(DecodedBatch::len).sum::<usize>();
    }
    println!("{records} records");
    assert!(records > 0, "the corpus is empty");
}

/// The records of a batch in a builder.
fn rebuild(decoded: &DecodedBatch) -> BatchBuilder {
    let header = decoded.header();
    let mut builder = BatchBuilder::new();
    if let Some(at) = header.delete_horizon() {
        builder = builder.with_delete_horizon(at);
    }
    for record in decoded {
        let delta = i32::try_from(record.offset.get() - header.base_offset).expect("an int32 on the wire");
        let headers = record.headers.to_headers(decoded.payload());
        builder.append_at(delta, record.timestamp, record.key, record.value, &headers).expect("it fits");
    }
    builder.reach(header.last_offset_delta);
    builder
}

fn stamp_of(decoded: &DecodedBatch) -> Stamp {
    let header = decoded.header();
    let mut stamp = Stamp::plain().at(header.base_offset, header.leader_epoch);
    (stamp.producer_id, stamp.producer_epoch) = (header.producer_id, header.producer_epoch);
    stamp.base_sequence = header.base_sequence;
    (stamp.transactional, stamp.control) = (header.is_transactional(), header.is_control());
    stamp
}

fn magic_2(row: &Value) -> impl Iterator<Item = Batch> {
    batches(bytes(row, "hex").into()).flatten().filter(|batch| batch.header().magic == 2)
}

#[test]
fn batches_are_written_as_kafka_writes_them() {
    let mut decompressor = Decompressor::new();
    let mut rebuilt = 0;
    for row in rows("records") {
        for batch in magic_2(&row) {
            let decoded = batch.decode(&mut decompressor, CrcCheck::Check).expect("it was read before");
            // What only a log holds: time that replaced the records' own, headers over nothing.
            if decoded.header().timestamp_type() == TimestampType::LogAppendTime || decoded.is_empty() {
                continue;
            }
            // Compressed bytes are each library's own; what is compressed must be the same.
            let compressed = decoded.header().compression() != Some(Compression::None);
            let sealed = rebuild(&decoded).seal(&mut Compressor::none()).expect("nothing to compress");
            let written = sealed.to_bytes(&stamp_of(&decoded));
            let written_records = &written[written.len() - decoded.payload().len()..];
            assert_eq!(written_records, &decoded.payload()[..], "{}", id(&row));
            assert!(compressed || written == *batch.bytes(), "{}: the header differs", id(&row));
            rebuilt += 1;
        }
    }
    println!("{rebuilt} batches");
    assert!(rebuilt > 0, "the corpus is empty");
}

#[test]
fn a_log_that_sets_its_time_writes_what_kafka_writes() {
    let (mut decompressor, mut count) = (Decompressor::new(), 0);
    for row in rows("records").filter(|row| id(row).contains("append-time-set-later")) {
        for batch in magic_2(&row) {
            let header = batch.header();
            let at = Timestamp::from_millis(header.max_timestamp);
            let written = rewrite::for_log(&batch, header.base_offset, header.leader_epoch, Some(at));
            assert_eq!(written.as_ref(), Some(batch.bytes()), "{}", id(&row));
            let decoded = batch.decode(&mut decompressor, CrcCheck::Check).expect("it was read before");
            assert!(decoded.iter().all(|record| record.timestamp == at), "{}", id(&row));
            count += 1;
        }
    }
    assert!(count > 0, "there is none in the corpus");
}

#[test]
fn a_log_rewrites_no_message_of_an_old_format() {
    let old = |row: &Value| batches(bytes(row, "hex").into()).flatten().filter(|batch| batch.header().magic < 2);
    let mut count = 0;
    for (row, batch) in rows("records").flat_map(|row| old(&row).map(|batch| (row.clone(), batch)).collect::<Vec<_>>())
    {
        for at in [None, Some(Timestamp::from_millis(5))] {
            assert_eq!(rewrite::for_log(&batch, 3, 4, at), None, "{}", id(&row));
        }
        assert_eq!(rewrite::without_records(&batch), None, "{}", id(&row));
        count += 1;
    }
    assert!(count > 0, "there is none in the corpus");
}

#[test]
fn every_codec_gives_back_the_records_of_every_batch() {
    let (mut decompressor, mut count) = (Decompressor::new(), 0);
    for codec in Compression::ALL {
        let mut compressor = Compressor::new(codec, None).expect("compiled in");
        for row in rows("records").filter(|row| id(row).starts_with("v2/none/") && !id(row).contains("append")) {
            for batch in magic_2(&row) {
                let decoded = batch.decode(&mut decompressor, CrcCheck::Check).expect("it was read before");
                let sealed = rebuild(&decoded).seal(&mut compressor).expect("compresses");
                let written =
                    batches(sealed.into_bytes(&stamp_of(&decoded))).next().expect("one batch").expect("sound");
                let again = written.decode(&mut decompressor, CrcCheck::Check).expect("sound");
                assert_eq!(again.header().compression(), Some(codec));
                assert!(again.iter().eq(decoded.iter()), "{} with {codec}", id(&row));
                count += 1;
            }
        }
    }
    assert!(count > 0, "there is none in the corpus");
}

#[test]
fn what_is_left_of_a_batch_without_records_is_what_kafka_leaves() {
    let mut decompressor = Decompressor::new();
    let mut empty = 0;
    for batch in rows("records").flat_map(|row| magic_2(&row).collect::<Vec<_>>()) {
        let emptied = rewrite::without_records(&batch).expect("magic 2");
        if batch.header().count == 0 {
            assert_eq!(emptied, batch.bytes());
            empty += 1;
        }
        let emptied = batches(emptied).next().expect("one batch").expect("sound");
        let decoded = emptied.decode(&mut decompressor, CrcCheck::Check).expect("sound");
        assert!(decoded.is_empty());
        assert_eq!(decoded.next_offset().get(), batch.header().last_offset() + 1);
        assert_eq!(decoded.header().last_sequence(), batch.header().last_sequence());
    }
    assert!(empty > 0, "there is none in the corpus");
}

#[test]
fn records_are_read_backwards_as_forwards_and_put_into_another_batch_as_they_are() {
    let mut decompressor = Decompressor::new();
    for row in rows("records") {
        let (decoded, _) = decode(bytes(&row, "hex").into(), &mut decompressor).expect("it was read before");
        for batch in decoded {
            let mut forwards: Vec<_> = batch.iter().collect();
            let backwards = batch.iter_backwards();
            assert_eq!(backwards.len(), batch.len());
            let mut builder = BatchBuilder::new();
            let base_offset = batch.header().base_offset;
            for record in &batch {
                builder.append_record(base_offset, &record).expect("its offset is behind the last one's");
            }
            let again = builder.seal(&mut Compressor::none()).expect("nothing to compress");
            let again =
                batches(again.into_bytes(&Stamp::plain().at(base_offset, -1))).next().expect("one").expect("sound");
            let again = again.decode(&mut decompressor, CrcCheck::Check).expect("sound");
            assert!(again.iter().eq(batch.iter()), "{}", id(&row));
            forwards.reverse();
            assert!(backwards.eq(forwards), "{}", id(&row));
        }
    }
}

#[test]
fn a_record_that_is_not_behind_the_last_one_is_refused() {
    let mut builder = BatchBuilder::new();
    builder.append(Timestamp::EPOCH, None, Some(b"first"), &millstream_protocol::Headers::new()).expect("it fits");
    let batch = builder.seal(&mut Compressor::none()).expect("nothing to compress").to_bytes(&Stamp::plain().at(7, 0));
    let (decoded, _) = decode(batch, &mut Decompressor::new()).expect("sound");
    let record = decoded[0].iter().next().expect("one record");
    let mut builder = BatchBuilder::new();
    assert!(builder.append_record(8, &record).is_err());
    assert!(builder.append_record(i64::MIN, &record).is_err());
    assert_eq!(builder.append_record(3, &record), Ok(4));
    assert!(builder.append_record(3, &record).is_err());
    assert_eq!(builder.count(), 1);
}
