//! Record batches: append, read, checksum and codecs, for records of 100 bytes in batches of about a megabyte; `kafka-protocol`'s record code beside ours.
#![expect(missing_docs, reason = "criterion's macros make public functions")]

use bytes::Bytes;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use kafka_protocol::records as theirs;
use millstream_benches::allocations::{Counting, allocations_of};
use millstream_benches::payload;
use millstream_protocol::record::{BatchBuilder, BufferPool, CrcCheck, SealedBatch, Stamp, batches};
use millstream_protocol::{Compression, Compressor, Decompressor, Headers, Timestamp};
use std::hint::black_box;

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

const RECORDS: usize = 9000;
const NOW: i64 = 1_790_000_000_000;

fn fill(values: &[Vec<u8>], mut builder: BatchBuilder) -> BatchBuilder {
    let headers = Headers::new();
    let mut now = NOW;
    for (index, value) in values.iter().enumerate() {
        now += i64::from(index % 16 == 0);
        builder.append(Timestamp::from_millis(now), None, Some(value), &headers).expect("it fits");
    }
    builder
}

fn seal(values: &[Vec<u8>], codec: Compression, level: Option<i32>) -> SealedBatch {
    let mut compressor = Compressor::new(codec, level).expect("compiled in");
    fill(values, BatchBuilder::new()).seal(&mut compressor).expect("compresses")
}

fn read(records: &Bytes, decompressor: &mut Decompressor, crc: CrcCheck) -> usize {
    let mut bytes = 0;
    for batch in batches(records.clone()) {
        let decoded = batch.expect("sound").decode(decompressor, crc).expect("sound");
        bytes += decoded.iter().map(|record| record.value.map_or(0, <[u8]>::len)).sum::<usize>();
    }
    bytes
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(RECORDS as u64));
    group
}

fn append(criterion: &mut Criterion) {
    let values = payload::values(RECORDS);
    let mut group = group(criterion, "append");
    let pool = BufferPool::new();
    let pooled = || fill(&values, BatchBuilder::pooled(&pool, 1 << 20)).seal(&mut Compressor::none());
    group.bench_function("ours, with crc", |bencher| bencher.iter(pooled));
    group.bench_function("ours, growing", |bencher| bencher.iter(|| fill(&values, BatchBuilder::new())));
    group.bench_function("kafka-protocol", |bencher| bencher.iter(|| their_batch(&values)));
    let builder = fill(&values, BatchBuilder::new());
    let sealed = builder.seal(&mut Compressor::none()).expect("nothing to compress");
    group.bench_function("stamp", |bencher| bencher.iter(|| sealed.stamp(&Stamp::plain())));
    group.finish();
    let allocations = allocations_of(|| drop(black_box(pooled())));
    println!("append: {allocations} allocations for {RECORDS} records, {} bytes a record", sealed.size() / RECORDS);
}

fn decode(criterion: &mut Criterion) {
    let values = payload::values(RECORDS);
    let records = seal(&values, Compression::None, None).to_bytes(&Stamp::plain());
    let mut decompressor = Decompressor::new();
    let mut group = group(criterion, "read");
    group.bench_function("ours", |bencher| bencher.iter(|| read(&records, &mut decompressor, CrcCheck::Skip)));
    group.bench_function("ours, with crc", |bencher| {
        bencher.iter(|| read(&records, &mut decompressor, CrcCheck::Check))
    });
    let batch = batches(records.clone()).next().expect("one batch").expect("sound");
    let decoded = batch.decode(&mut decompressor, CrcCheck::Skip).expect("sound");
    group.bench_function("ours, iteration alone", |bencher| {
        bencher.iter(|| decoded.iter().map(|record| record.value.map_or(0, <[u8]>::len)).sum::<usize>());
    });
    group.bench_function("kafka-protocol", |bencher| {
        bencher.iter(|| theirs::RecordBatchDecoder::decode(&mut records.clone()).expect("sound"));
    });
    group.bench_function("crc alone", |bencher| bencher.iter(|| batch.check_crc()));
    group.finish();
    let allocations = allocations_of(|| {
        black_box(read(&records, &mut decompressor, CrcCheck::Check));
    });
    println!("read: {allocations} allocations for {RECORDS} records");
}

fn codecs(criterion: &mut Criterion) {
    let values = payload::values(RECORDS);
    let plain = seal(&values, Compression::None, None);
    let raw = plain.to_bytes(&Stamp::plain()).slice(61..);
    let levels = |codec| match codec {
        Compression::Gzip => vec![Some(1), Some(3), Some(6), Some(9)],
        Compression::Zstd => vec![Some(1), Some(2), Some(3), Some(5), Some(7), Some(9)],
        _ => vec![None],
    };
    for codec in [Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        for level in levels(codec) {
            let mut group = group(criterion, &format!("{codec} {}", level.unwrap_or(0)));
            let mut compressor = Compressor::new(codec, level).expect("compiled in");
            let deflated = compressor.compress(&raw).expect("compresses");
            println!("{codec} {level:?}: {:.1} bytes a record", deflated.len() as f64 / RECORDS as f64);
            group.bench_function("deflate", |bencher| bencher.iter(|| compressor.compress(&raw).expect("compresses")));
            let mut decompressor = Decompressor::new();
            group.bench_function("inflate", |bencher| {
                bencher.iter(|| decompressor.decompress(codec, &deflated).expect("sound"));
            });
            group.finish();
        }
    }
}

fn their_batch(values: &[Vec<u8>]) -> bytes::BytesMut {
    let record = |(offset, value): (i64, &Vec<u8>)| theirs::Record {
        transactional: false,
        delete_horizon: false,
        control: false,
        partition_leader_epoch: -1,
        producer_id: -1,
        producer_epoch: -1,
        timestamp_type: theirs::TimestampType::Creation,
        offset,
        sequence: -1,
        timestamp: NOW + offset / 16,
        key: None,
        value: Some(Bytes::copy_from_slice(value)),
        headers: Default::default(),
    };
    let records: Vec<_> = (0..).zip(values).map(record).collect();
    let options = theirs::RecordEncodeOptions { version: 2, compression: theirs::Compression::None };
    let mut out = bytes::BytesMut::new();
    theirs::RecordBatchEncoder::encode(&mut out, &records, &options).expect("sound");
    out
}

criterion_group!(records, append, decode, codecs);
criterion_main!(records);
