//! What batches cost once everything is warm: nothing is allocated for a record, and nothing for a batch but by zstd's
//! encoder.

use crate::memory::allocations_of;
use bytes::Bytes;
use millstream_protocol::record::{BatchBuilder, BufferPool, CrcCheck, SealedBatch, Stamp, batches, headers};
use millstream_protocol::{Compression, Compressor, Decompressor, Headers, Timestamp};

const RECORDS: i64 = 2000;
const BATCH: usize = 256 << 10;

/// A batch of records that compress somewhat.
fn written(pool: &BufferPool, compressor: &mut Compressor) -> SealedBatch {
    let none = Headers::new();
    let mut builder = BatchBuilder::pooled(pool, BATCH);
    let mut value = *b"a value that is there again and again: 00000000, and something else behind it";
    for number in 0..RECORDS {
        value[39..47].copy_from_slice(&number.wrapping_mul(0x1E37_79B9_7F4A_7C15).to_be_bytes());
        builder.append(Timestamp::from_millis(number), Some(b"key"), Some(&value), &none).expect("it fits");
    }
    builder.seal(compressor).expect("compresses")
}

fn read(records: &Bytes, decompressor: &mut Decompressor) {
    for batch in batches(records.clone()) {
        let decoded = batch.expect("sound").decode(decompressor, CrcCheck::Check).expect("sound");
        assert_eq!(decoded.iter().filter(|record| record.key == Some(b"key")).count(), decoded.len());
    }
}

#[test]
fn a_batch_that_is_written_allocates_nothing_in_the_steady_state() {
    for codec in Compression::ALL {
        let (pool, mut compressor) = (BufferPool::new(), Compressor::new(codec, None).expect("compiled in"));
        (0..5).for_each(|_| drop(written(&pool, &mut compressor)));
        let allocations = allocations_of(|| (0..10).for_each(|_| drop(written(&pool, &mut compressor))));
        // structured-zstd's encoder makes one for each block of 128 KiB, of which a batch has two here.
        let most = if codec == Compression::Zstd { 20 } else { 0 };
        assert!(allocations <= most, "{codec}: {allocations} allocations for 10 batches");
    }
}

#[test]
fn a_batch_that_is_read_allocates_nothing_in_the_steady_state() {
    for codec in Compression::ALL {
        let mut compressor = Compressor::new(codec, None).expect("compiled in");
        let batch = written(&BufferPool::new(), &mut compressor).to_bytes(&Stamp::plain());
        let mut decompressor = Decompressor::new();
        (0..5).for_each(|_| read(&batch, &mut decompressor));
        let allocations = allocations_of(|| (0..10).for_each(|_| read(&batch, &mut decompressor)));
        assert_eq!(allocations, 0, "{codec}: allocations for 10 batches");
    }
}

#[test]
fn a_batch_that_is_kept_is_not_written_over() {
    for codec in Compression::ALL {
        let (pool, mut compressor) = (BufferPool::new(), Compressor::new(codec, None).expect("compiled in"));
        let sealed: Vec<_> = (0..30).map(|_| written(&pool, &mut compressor)).collect();
        let first = sealed[0].to_bytes(&Stamp::plain());
        assert!(sealed.iter().all(|each| each.to_bytes(&Stamp::plain()) == first), "{codec}");
        let mut decompressor = Decompressor::new();
        let decode = |_| {
            let batch = batches(first.clone()).next().expect("one batch").expect("sound");
            batch.decode(&mut decompressor, CrcCheck::Check).expect("sound")
        };
        let decoded: Vec<_> = (0..30).map(decode).collect();
        assert!(decoded.iter().all(|each| each.payload() == decoded[0].payload()), "{codec}");
    }
}

#[test]
fn headers_are_read_without_their_records() {
    let mut compressor = Compressor::new(Compression::Zstd, None).expect("compiled in");
    let sealed = written(&BufferPool::new(), &mut compressor);
    let log: Vec<_> = (0..100).flat_map(|number| sealed.to_bytes(&Stamp::plain().at(number * RECORDS, 7))).collect();
    let mut broken = log.clone();
    for (at, byte) in broken.iter_mut().enumerate() {
        // All that is no header.
        *byte = if at % sealed.size() < 61 { *byte } else { 0xff };
    }
    let allocations = allocations_of(|| {
        let offsets = headers(&broken).map(|header| header.expect("headers are whole").0.base_offset);
        assert!(offsets.eq((0..100).map(|number| number * RECORDS)));
    });
    assert_eq!(allocations, 0);
    let cut = &log[..log.len() - 1];
    assert_eq!(headers(cut).count(), 99);
    assert_eq!(headers(cut).map(|header| header.expect("sound").1.len()).sum::<usize>(), cut.len() + 1 - sealed.size());
}
