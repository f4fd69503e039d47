//! What a leader takes, and what it refuses.

use crate::client::{Connection, batch, fetch, produce, produced, text, values, write};
use bytes::Bytes;
use millstream_protocol::messages::{InitProducerIdRequest, MetadataRequest};
use millstream_protocol::record::{Stamp, TimestampType, batches};
use millstream_protocol::{ApiKey, Compression, Compressor, ErrorCode, ProducerEpoch, ProducerId};
use millstream_testkit::TestCluster;

fn stamp(id: i64, epoch: i16, sequence: i32) -> Stamp {
    Stamp::idempotent(ProducerId::new(id), ProducerEpoch::new(epoch), sequence)
}

#[tokio::test]
async fn a_repeated_batch_is_stored_once_and_answered_as_before() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let id = connection.call(4, &InitProducerIdRequest::default().with_transactional_id(None)).producer_id.0;
    let first = batch(&["a", "b"], &stamp(id, 0, 0));
    assert_eq!(write(&mut connection, "t", first.clone()), (0, 0));
    assert_eq!(write(&mut connection, "t", batch(&["c"], &stamp(id, 0, 2))), (0, 2));
    assert_eq!(write(&mut connection, "t", first), (0, 0));
    assert_eq!(cluster.values("t"), ["a", "b", "c"]);
}

#[tokio::test]
async fn a_gap_in_the_sequence_is_out_of_order() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", batch(&["a"], &stamp(1, 0, 0)));
    let (code, _) = write(&mut connection, "t", batch(&["c"], &stamp(1, 0, 2)));
    assert_eq!(ErrorCode::new(code), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
    let (code, _) = write(&mut connection, "t", batch(&["x"], &stamp(1, 1, 0)));
    assert_eq!(code, 0, "a new epoch begins at zero");
    let (code, _) = write(&mut connection, "t", batch(&["b"], &stamp(1, 0, 1)));
    assert_eq!(ErrorCode::new(code), ErrorCode::INVALID_PRODUCER_EPOCH);
}

#[tokio::test]
async fn what_is_wrong_with_a_batch_is_told() {
    let cluster = TestCluster::builder().topic("t", 1).config("message.max.bytes", "200").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let good = batch(&["a"], &Stamp::plain());
    let flipped = {
        let mut bytes = good.to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        Bytes::from(bytes)
    };
    let twice = Bytes::from([good.as_ref(), good.as_ref()].concat());
    let cases = [
        (flipped, ErrorCode::CORRUPT_MESSAGE),
        (good.slice(..good.len() - 1), ErrorCode::INVALID_RECORD),
        (Bytes::new(), ErrorCode::INVALID_RECORD),
        (changed(&good, |bytes| bytes[16] = 3), ErrorCode::CORRUPT_MESSAGE),
        (changed(&good, |bytes| bytes[16] = 1), ErrorCode::INVALID_RECORD),
        (changed(&good, |bytes| bytes[11] = 13), ErrorCode::CORRUPT_MESSAGE),
        (changed(&good, |bytes| bytes[22] |= 6), ErrorCode::UNKNOWN_SERVER_ERROR),
        (changed(&good, |bytes| bytes[22] |= 2), ErrorCode::UNKNOWN_SERVER_ERROR),
        (twice, ErrorCode::INVALID_RECORD),
        (batch(&[&"x".repeat(300)], &Stamp::plain()), ErrorCode::MESSAGE_TOO_LARGE),
    ];
    for (records, expected) in cases {
        assert_eq!(ErrorCode::new(write(&mut connection, "t", records).0), expected);
    }
    let and_a_bit = Bytes::from([good.as_ref(), &good[..20]].concat());
    assert_eq!(write(&mut connection, "t", and_a_bit), (0, 0), "a batch cut short is passed over behind a whole one");
    assert_eq!(write(&mut connection, "t", good), (0, 1));
}
/// Found beside a real Kafka: what cannot be in a version is seen before what cannot be at all.
#[tokio::test]
async fn a_codec_that_is_too_new_is_told_before_a_second_batch() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let zstd = changed(&batch(&["a"], &Stamp::plain()), |bytes| bytes[22] |= 4);
    let twice = Bytes::from([zstd.as_ref(), zstd.as_ref()].concat());
    for (version, expected) in [(6, ErrorCode::UNSUPPORTED_COMPRESSION_TYPE), (7, ErrorCode::INVALID_RECORD)] {
        let response = Connection::to(&cluster, 0).call(version, &produce("t", 0, twice.clone(), None));
        assert_eq!(ErrorCode::new(produced(&response).0), expected);
    }
}
/// Found beside a real Kafka: a key's or a value's length that is below zero says null, whichever it is.
#[tokio::test]
async fn whatever_length_is_negative_is_null() {
    const KEY_LENGTH: usize = 65;
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let good = batch(&["a"], &Stamp::plain());
    assert_eq!(good[KEY_LENGTH], 1, "minus one in zigzag");
    let minus_nine = changed(&good, |bytes| bytes[KEY_LENGTH] = 17);
    assert_eq!(write(&mut connection, "t", minus_nine), (0, 0));
    assert_eq!((cluster.records("t")[0].key.clone(), cluster.values("t")), (None, vec!["a".to_owned()]));
}
/// A batch of which something was changed before its checksum was made.
fn changed(batch: &Bytes, change: impl FnOnce(&mut [u8])) -> Bytes {
    let mut bytes = batch.to_vec();
    change(&mut bytes);
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    Bytes::from(bytes)
}

/// Kafka looks for transactional records before it looks at anything else, and stumbles over what it cannot cut off: then the partition may
/// as well not be there.
#[tokio::test]
async fn a_request_with_a_batch_that_cannot_be_cut_off_is_refused_as_a_whole() {
    let cluster = TestCluster::builder().start().await;
    let bytes = changed(&batch(&["a"], &Stamp::plain()), |bytes| bytes[16] = 3);
    let response = Connection::to(&cluster, 0).call(9, &produce("none", 0, bytes, None));
    let partition = &response.responses[0].partition_responses[0];
    assert_eq!(ErrorCode::new(partition.error_code), ErrorCode::CORRUPT_MESSAGE);
    assert_eq!(partition.error_message.as_deref(), Some("Invalid magic found in record: 3"));
}

/// Found beside a real Kafka: it asks for the kind of time only where a record has none, and then puts the topic's kind in its place.
#[tokio::test]
async fn whose_time_it_is_the_topic_says_and_not_the_producer() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let good = batch(&["a"], &Stamp::plain());
    let claims_to_be_the_logs = changed(&good, |bytes| bytes[22] |= 8);
    assert_eq!(write(&mut connection, "t", claims_to_be_the_logs), (0, 0));
    let lies_about_the_latest = changed(&good, |bytes| bytes[42] = bytes[42].wrapping_add(9));
    assert_eq!(write(&mut connection, "t", lies_about_the_latest), (0, 1));
    let fetched = connection.call(12, &fetch("t", 0, 0, 0));
    let stored = fetched.responses[0].partitions[0].records.clone().into_bytes().unwrap();
    for stored in batches(stored) {
        let header = *stored.unwrap().header();
        let sent = *batches(good.clone()).next().unwrap().unwrap().header();
        assert_eq!((header.timestamp_type(), header.max_timestamp), (TimestampType::CreateTime, sent.max_timestamp));
    }
}
#[tokio::test]
async fn a_topic_of_append_time_takes_no_time_for_its_own() {
    let cluster =
        TestCluster::builder().config("log.message.timestamp.type", "LogAppendTime").topic("t", 1).start().await;
    let claims_to_be_the_logs = changed(&batch(&["a"], &Stamp::plain()), |bytes| bytes[22] |= 8);
    let response = Connection::to(&cluster, 0).call(9, &produce("t", 0, claims_to_be_the_logs, None));
    let partition = &response.responses[0].partition_responses[0];
    assert_eq!(ErrorCode::new(partition.error_code), ErrorCode::INVALID_TIMESTAMP);
    let told = partition.record_errors[0].batch_index_error_message.as_deref().unwrap_or_default();
    assert!(told.starts_with("Invalid timestamp type in message DefaultRecord(offset=0, timestamp="), "{told}");
    assert!(told.ends_with("Producer should not set timestamp type to LogAppendTime."), "{told}");
}

#[tokio::test]
async fn a_compacted_topic_names_the_record_without_a_key() {
    let cluster = TestCluster::builder().config("log.cleanup.policy", "compact").topic("t", 1).start().await;
    let response = Connection::to(&cluster, 0).call(9, &produce("t", 0, batch(&["a"], &Stamp::plain()), None));
    let partition = &response.responses[0].partition_responses[0];
    assert_eq!(ErrorCode::new(partition.error_code), ErrorCode::INVALID_RECORD);
    assert_eq!(partition.record_errors[0].batch_index, 0);
}

#[tokio::test]
async fn append_time_replaces_the_producers() {
    let cluster =
        TestCluster::builder().config("log.message.timestamp.type", "LogAppendTime").topic("t", 1).start().await;
    let response = Connection::to(&cluster, 0).call(9, &produce("t", 0, batch(&["a", "b"], &Stamp::plain()), None));
    let time = response.responses[0].partition_responses[0].log_append_time_ms;
    assert!(time > 1_700_000_000_000);
    let stored: Vec<i64> = cluster.records("t").iter().map(|record| record.timestamp.as_millis()).collect();
    assert_eq!(stored, [time, time]);
}

#[tokio::test]
async fn without_acknowledgement_there_is_no_answer() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut silent = produce("t", 0, batch(&["a"], &Stamp::plain()), None);
    silent.acks = 0;
    connection.send_unanswered(9, &silent);
    assert_eq!(write(&mut connection, "t", batch(&["b"], &Stamp::plain())), (0, 1));
    assert_eq!(cluster.values("t"), ["a", "b"]);
    let mut wrong = produce("no such topic", 0, batch(&["a"], &Stamp::plain()), None);
    wrong.acks = 0;
    connection.send_unanswered(9, &wrong);
    assert_eq!(connection.payload(), None, "an error ends the connection");
}

#[tokio::test]
async fn who_does_not_lead_names_who_does_and_its_rack() {
    let cluster = TestCluster::builder().brokers(2).racks(["a", "b"]).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 1);
    cluster.move_leader(("t", 0), 2);
    let response = Connection::to(&cluster, 0).call(10, &produce("t", 0, batch(&["a"], &Stamp::plain()), None));
    let partition = &response.responses[0].partition_responses[0];
    assert_eq!(ErrorCode::new(partition.error_code), ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!(partition.current_leader.leader_id, 2);
    let leader = &response.node_endpoints[0];
    assert_eq!((leader.node_id, leader.rack.as_ref()), (2, Some(&text("b"))));
    let topics = Connection::to(&cluster, 1).call(12, &MetadataRequest::default().with_topics(None)).topics;
    let mut asked = fetch("t", 0, 0, 0);
    asked.topics[0].topic_id = topics[0].topic_id;
    asked.topics[0].partitions[0].current_leader_epoch = 0;
    let fetched = Connection::to(&cluster, 0).call(16, &asked);
    assert_eq!(fetched.node_endpoints[0].rack, Some(text("b")));
    assert_eq!(topics[0].partitions[0].leader_id.0, 2);
    assert_eq!(write(&mut Connection::to(&cluster, 1), "t", batch(&["a"], &Stamp::plain())), (0, 0));
}

#[tokio::test]
async fn faults_are_used_up() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    cluster.on_api(ApiKey::PRODUCE).times(2).error(ErrorCode::NOT_ENOUGH_REPLICAS);
    let records = batch(&["a"], &Stamp::plain());
    for expected in [ErrorCode::NOT_ENOUGH_REPLICAS, ErrorCode::NOT_ENOUGH_REPLICAS, ErrorCode::NONE] {
        let response = connection.call(9, &produce("t", 0, records.clone(), None));
        assert_eq!(ErrorCode::new(produced(&response).0), expected);
    }
    cluster.on_api(ApiKey::FETCH).disconnect();
    connection.send(12, &fetch("t", 0, 0, 0));
    assert_eq!(connection.payload(), None);
    assert_eq!(values(&Connection::to(&cluster, 0).call(12, &fetch("t", 0, 0, 0))), ["a"]);
    assert_eq!(cluster.requests().count(ApiKey::PRODUCE), 3);
}

/// Two records without keys in a batch, each of which says that it is so much longer than it is.
fn with_lengths(codec: Compression, errors: [i8; 2]) -> Bytes {
    let mut bytes = batch(&["a", "b"], &Stamp::plain()).to_vec();
    let records = bytes.split_off(HEADER);
    let length = usize::from(records[0] >> 1) + 1;
    let mut wrong = records.clone();
    for (at, error) in [0, length].into_iter().zip(errors) {
        // Zig-zag: what is below zero is odd.
        let length = (wrong[at] >> 1).cast_signed() + error;
        wrong[at] = ((length << 1) ^ (length >> 7)).cast_unsigned();
    }
    bytes.extend(Compressor::new(codec, None).expect("it is compiled in").compress(&wrong).expect("it is small"));
    bytes[22] = codec.id();
    let length = i32::try_from(bytes.len() - 12).expect("it is small");
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    changed(&bytes.into(), |_| {})
}

// Kafka reads over what stays compressed by its fields alone; so did a real 4.4 with all codecs, and seed 521 of transactions.
#[tokio::test]
async fn how_long_a_record_says_that_it_is_counts_only_where_it_is_read_whole() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut send = |codec, errors| ErrorCode::new(write(&mut connection, "t", with_lengths(codec, errors)).0);
    for codec in Compression::ALL {
        let is_read_whole = codec == Compression::None;
        assert_eq!(send(codec, [0, 0]), ErrorCode::NONE, "{codec:?}");
        for errors in [[1, 0], [-1, 0], [0, 1], [0, -1], [0, 20], [0, -7]] {
            let expected = if is_read_whole { ErrorCode::INVALID_RECORD } else { ErrorCode::NONE };
            assert_eq!(send(codec, errors), expected, "{codec:?} {errors:?}");
        }
        assert_eq!(send(codec, [0, -20]), ErrorCode::INVALID_RECORD, "{codec:?}: it is below zero");
    }
}

/// A batch's header.
const HEADER: usize = 61;
