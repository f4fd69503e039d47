//! What is built is read again, whatever it is.

use bytes::Bytes;
use millstream_protocol::messages::RecordData;
use millstream_protocol::record::{BatchBuilder, CrcCheck, Stamp, batches, rewrite};
use millstream_protocol::{
    Compression, Compressor, Decompressor, Headers, Offset, ProducerEpoch, ProducerId, Timestamp,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

type Data = Option<Vec<u8>>;

#[derive(Debug, Clone, PartialEq)]
struct Record {
    timestamp: i64,
    key: Data,
    value: Data,
    headers: Vec<(String, Data)>,
}

impl Record {
    fn headers(&self) -> Headers {
        let mut headers = Headers::new();
        self.headers.iter().for_each(|(name, value)| headers.push(name, value.clone().map(Bytes::from)));
        headers
    }
}

prop_compose! {
    fn record()(
        timestamp in prop_oneof![any::<i64>(), 1_700_000_000_000..1_700_000_900_000_i64],
        key in option::of(vec(any::<u8>(), 0..20)),
        value in option::of(vec(any::<u8>(), 0..300)),
        headers in vec(("[a-cä]{0,3}", option::of(vec(any::<u8>(), 0..80))), 0..4),
    ) -> Record {
        Record { timestamp, key, value, headers }
    }
}

fn build(records: &[Record]) -> BatchBuilder {
    let mut builder = BatchBuilder::new();
    for (index, record) in records.iter().enumerate() {
        let before = builder.size();
        let (key, value, headers) = (record.key.as_deref(), record.value.as_deref(), record.headers());
        let delta = builder.append(Timestamp::from_millis(record.timestamp), key, value, &headers).expect("it fits");
        assert_eq!(usize::try_from(delta), Ok(index));
        assert!(builder.size() - before <= BatchBuilder::upper_bound(key, value, &headers));
    }
    builder
}

fn read(batch: Bytes, base_offset: i64) -> Vec<Record> {
    let batch = batches(batch).next().expect("one batch").expect("sound");
    let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Check).expect("sound");
    let owned = |data: Option<&[u8]>| data.map(<[u8]>::to_vec);
    let mut cursor = decoded.cursor();
    let mut records = Vec::new();
    while let Some(record) = decoded.next(&mut cursor) {
        assert_eq!(record.offset, Offset::new(base_offset + records.len() as i64));
        let headers = record.headers.iter().map(|header| (header.name.to_owned(), owned(header.value))).collect();
        let timestamp = record.timestamp.as_millis();
        records.push(Record { timestamp, key: owned(record.key), value: owned(record.value), headers });
    }
    records
}

fn codecs() -> impl Iterator<Item = Compression> {
    Compression::ALL.into_iter().filter(|codec| codec.is_compiled_in())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn records_come_back_as_they_were(records in vec(record(), 1..40), base_offset in 0..i64::MAX / 2) {
        for codec in codecs() {
            let mut compressor = Compressor::new(codec, None).expect("compiled in");
            let sealed = build(&records).seal(&mut compressor).expect("compresses");
            let batch = sealed.to_bytes(&Stamp::plain().at(base_offset, 3));
            prop_assert_eq!(batch.len(), sealed.size());
            let back = read(batch, base_offset);
            prop_assert_eq!(&back, &records);
        }
    }

    #[test]
    fn a_stamp_changes_the_header_alone(records in vec(record(), 1..10), id: i64, epoch: i16, sequence: i32) {
        let sealed = build(&records).seal(&mut Compressor::none()).expect("nothing to compress");
        let stamp = Stamp::transactional(ProducerId::new(id), ProducerEpoch::new(epoch), sequence);
        let pieces = sealed.stamp(&stamp);
        prop_assert_eq!(RecordData::from(sealed.to_bytes(&stamp)), pieces.clone());
        let whole = pieces.into_bytes().expect("not null");
        prop_assert_eq!(&whole[61..], &sealed.to_bytes(&Stamp::plain())[61..]);
        let batch = batches(whole).next().expect("one batch").expect("sound");
        prop_assert_eq!(batch.check_crc(), Ok(()));
        let header = *batch.header();
        prop_assert_eq!((header.producer_id, header.producer_epoch, header.base_sequence), (id, epoch, sequence));
        prop_assert!(header.is_transactional());
    }

    #[test]
    fn a_log_changes_place_and_time_alone(records in vec(record(), 1..10), at: i64, base_offset in 0..i64::MAX / 2) {
        let sealed = build(&records).seal(&mut Compressor::none()).expect("nothing to compress");
        let batch = batches(sealed.to_bytes(&Stamp::plain())).next().expect("one batch").expect("sound");
        let kept = read(rewrite::for_log(&batch, base_offset, 7, None).expect("magic 2"), base_offset);
        prop_assert_eq!(&kept, &records);
        let timed = rewrite::for_log(&batch, base_offset, 7, Some(Timestamp::from_millis(at))).expect("magic 2");
        prop_assert!(read(timed, base_offset).iter().all(|record| record.timestamp == at));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(mut bytes in vec(any::<u8>(), 0..200), magic in 0..3_u8) {
        if let Some(byte) = bytes.get_mut(16) {
            *byte = magic;
            let length = i32::try_from(bytes.len()).expect("short") - 12;
            bytes[8..12].copy_from_slice(&length.to_be_bytes());
        }
        for batch in batches(bytes.into()).flatten() {
            if let Ok(decoded) = batch.decode(&mut Decompressor::new(), CrcCheck::Skip) {
                prop_assert_eq!(decoded.iter().count(), decoded.len());
            }
        }
    }
}

#[test]
fn a_batch_cut_short_is_left_over() {
    let record = Record { timestamp: 1, key: None, value: Some(b"value".to_vec()), headers: Vec::new() };
    let batch = build(&[record]).seal(&mut Compressor::none()).expect("nothing to compress").to_bytes(&Stamp::plain());
    let mut two = batch.to_vec();
    two.extend_from_slice(&batch[..batch.len() - 1]);
    let mut batches = batches(two.into());
    assert_eq!(batches.by_ref().filter(Result::is_ok).count(), 1);
    assert_eq!(batches.left_over(), batch.len() - 1);
}

#[test]
fn headers_read_from_one_batch_are_copied_into_another() {
    let headers = Headers::new().with("twice", "a").with("twice", "b");
    let mut builder = BatchBuilder::new();
    builder.append(Timestamp::EPOCH, None, None, &headers).expect("it fits");
    let first = builder.seal(&mut Compressor::none()).expect("nothing to compress").to_bytes(&Stamp::plain());
    let batch = batches(first.clone()).next().expect("one batch").expect("sound");
    let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Check).expect("sound");
    let mut builder = BatchBuilder::new();
    for record in &decoded {
        assert_eq!(record.headers.to_headers(decoded.payload()), headers);
        builder.append(record.timestamp, record.key, record.value, record.headers).expect("it fits");
    }
    let second = builder.seal(&mut Compressor::none()).expect("nothing to compress").to_bytes(&Stamp::plain());
    assert_eq!(second, first);
}

#[test]
fn header_names_that_are_no_text_are_read_as_kafka_reads_them() {
    let mut builder = BatchBuilder::new();
    builder.append(Timestamp::EPOCH, None, Some(b"v"), &Headers::new().with("ab", "x")).expect("it fits");
    let batch = builder.seal(&mut Compressor::none()).expect("nothing to compress").to_bytes(&Stamp::plain());
    let mut bytes = batch.to_vec();
    let name = bytes.len() - 4;
    bytes[name] = 0xff;
    let batch = batches(bytes.into()).next().expect("one batch").expect("sound");
    let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Skip).expect("sound");
    let record = decoded.iter().next().expect("one record");
    assert_eq!(record.headers.last("\u{fffd}b"), Some(&b"x"[..]));
    assert_eq!(record.value, Some(&b"v"[..]));
}
