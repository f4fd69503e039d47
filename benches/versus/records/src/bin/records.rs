//! Records into a batch and out of one, beside the record code of `kafka-protocol`, krafka and rskafka. No codec.

use bytes::{Bytes, BytesMut};
use kafka_protocol::records as kp;
use krafka::__private::protocol as kr;
use millstream_protocol::record::{BatchBuilder, BufferPool, CrcCheck, Stamp, batches};
use millstream_protocol::{Compressor, Decompressor};
use rskafka::protocol::record as rs;
use rskafka::protocol::traits::{ReadType, WriteType};
use std::hint::black_box;
use versus_records::allocations::Counting;
use versus_records::{Contestant, NOW, RECORDS, contestant, fill, payload, sealed, timestamp};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

fn main() {
    let values = payload::values(RECORDS);
    let shared: Vec<Bytes> = values.iter().map(|value| Bytes::copy_from_slice(value)).collect();
    let batch = sealed(&values).to_bytes(&Stamp::plain());
    let mut races = vec![
        ("write".to_owned(), writers(&values, &shared)),
        ("read".to_owned(), readers(&batch)),
        ("append".to_owned(), appends(&values)),
        ("iterate".to_owned(), iterations(&batch)),
        ("crc".to_owned(), checksums(&batch)),
    ];
    versus_records::main(&mut races);
}

/// From values to a whole batch with its checksum. The others are given values that they can share, or move in.
fn writers<'a>(values: &'a [Vec<u8>], shared: &'a [Bytes]) -> Vec<Contestant<'a>> {
    let pool = BufferPool::new();
    vec![
        contestant("ours", move || {
            let builder = BatchBuilder::pooled(&pool, 1 << 20);
            let sealed = fill(values, builder).seal(&mut Compressor::none()).expect("nothing to compress");
            drop(black_box(sealed.stamp(&Stamp::plain())));
        }),
        contestant("kafka-protocol", move || drop(black_box(with_kafka_protocol(shared)))),
        contestant("krafka", move || drop(black_box(with_krafka(shared)))),
        contestant("rskafka", move || drop(black_box(with_rskafka(values)))),
    ]
}

fn with_kafka_protocol(values: &[Bytes]) -> BytesMut {
    let record = |(offset, value): (usize, &Bytes)| kp::Record {
        transactional: false,
        delete_horizon: false,
        control: false,
        partition_leader_epoch: -1,
        producer_id: -1,
        producer_epoch: -1,
        timestamp_type: kp::TimestampType::Creation,
        offset: offset as i64,
        sequence: -1,
        timestamp: timestamp(offset),
        key: None,
        value: Some(value.clone()),
        headers: Default::default(),
    };
    let records: Vec<_> = values.iter().enumerate().map(record).collect();
    let options = kp::RecordEncodeOptions { version: 2, compression: kp::Compression::None };
    let mut out = BytesMut::new();
    kp::RecordBatchEncoder::encode(&mut out, &records, &options).expect("sound");
    out
}

fn with_krafka(values: &[Bytes]) -> Bytes {
    let mut batch = kr::RecordBatch::new();
    batch.base_timestamp = NOW;
    for (offset, value) in values.iter().enumerate() {
        let record = kr::Record::new(None, Some(value.clone()));
        batch.add_record(record.with_offset_delta(offset as i32).with_timestamp_delta(timestamp(offset) - NOW));
    }
    batch.encode().expect("sound")
}

fn with_rskafka(values: &[Vec<u8>]) -> Vec<u8> {
    let record = |(offset, value): (usize, &Vec<u8>)| rs::Record {
        timestamp_delta: timestamp(offset) - NOW,
        offset_delta: offset as i32,
        key: None,
        value: Some(value.clone()),
        headers: Vec::new(),
    };
    let batch = rs::RecordBatch {
        base_offset: 0,
        partition_leader_epoch: -1,
        last_offset_delta: values.len() as i32 - 1,
        first_timestamp: NOW,
        max_timestamp: timestamp(values.len() - 1),
        producer_id: -1,
        producer_epoch: -1,
        base_sequence: -1,
        records: rs::ControlBatchOrRecords::Records(values.iter().enumerate().map(record).collect()),
        compression: rs::RecordBatchCompression::NoCompression,
        is_transactional: false,
        timestamp_type: rs::RecordBatchTimestampType::CreateTime,
    };
    let mut out = Vec::new();
    batch.write(&mut out).expect("sound");
    out
}

/// From a batch, its checksum looked at, to the length of every value.
fn readers(batch: &Bytes) -> Vec<Contestant<'_>> {
    let mut decompressor = Decompressor::new();
    vec![
        contestant("ours", move || {
            let whole = batches(batch.clone()).next().expect("one batch").expect("sound");
            let decoded = whole.decode(&mut decompressor, CrcCheck::Check).expect("sound");
            black_box(decoded.iter().map(|record| record.value.map_or(0, <[u8]>::len)).sum::<usize>());
        }),
        contestant("kafka-protocol, no checksum", move || {
            let set = kp::RecordBatchDecoder::decode(&mut batch.clone()).expect("sound");
            black_box(set.records.iter().map(|record| record.value.as_ref().map_or(0, Bytes::len)).sum::<usize>());
        }),
        contestant("krafka", move || {
            let set = kr::RecordBatch::decode(&mut batch.clone()).expect("sound");
            black_box(set.records.iter().map(|record| record.value.as_ref().map_or(0, Bytes::len)).sum::<usize>());
        }),
        contestant("rskafka", move || {
            let set = rs::RecordBatch::read(&mut &batch[..]).expect("sound");
            let rs::ControlBatchOrRecords::Records(records) = set.records else { return };
            black_box(records.iter().map(|record| record.value.as_ref().map_or(0, Vec::len)).sum::<usize>());
        }),
    ]
}

/// Appending alone, with and without a lock taken for each record.
fn appends(values: &[Vec<u8>]) -> Vec<Contestant<'_>> {
    let (pool, mut again) = (BufferPool::new(), Vec::new());
    vec![
        contestant("ours, under a lock, with the checksum", move || {
            let shard = std::sync::Mutex::new(BatchBuilder::pooled(&pool, 1 << 20));
            let headers = millstream_protocol::Headers::new();
            for (index, value) in values.iter().enumerate() {
                let at = millstream_protocol::Timestamp::from_millis(timestamp(index));
                let mut builder = shard.lock().expect("nobody panicked");
                builder.append(at, None, Some(value), &headers).expect("it fits");
            }
            drop(black_box(shard.into_inner().expect("nobody panicked").seal(&mut Compressor::none())));
        }),
        contestant("the bytes alone, copied", move || {
            again.clear();
            values.iter().for_each(|value| black_box(&mut again).extend_from_slice(value));
        }),
    ]
}

/// Reading what was checked before.
fn iterations(batch: &Bytes) -> Vec<Contestant<'_>> {
    let whole = batches(batch.clone()).next().expect("one batch").expect("sound");
    let decoded = whole.decode(&mut Decompressor::new(), CrcCheck::Skip).expect("sound");
    vec![
        contestant("decode, no checksum", move || {
            drop(black_box(whole.decode(&mut Decompressor::new(), CrcCheck::Skip).expect("sound")));
        }),
        contestant("iterate", move || {
            black_box(decoded.iter().map(|record| record.value.map_or(0, <[u8]>::len)).sum::<usize>());
        }),
    ]
}

fn checksums(batch: &Bytes) -> Vec<Contestant<'_>> {
    let whole = batches(batch.clone()).next().expect("one batch").expect("sound");
    vec![contestant("ours", move || whole.check_crc().expect("sound"))]
}
