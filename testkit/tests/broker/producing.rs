//! What a leader takes, and what it refuses.

use crate::client::{Connection, batch, fetch, produce, produced, values, write};
use bytes::Bytes;
use millstream_protocol::messages::{InitProducerIdRequest, MetadataRequest};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ApiKey, ErrorCode, ProducerEpoch, ProducerId};
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
        (good.slice(..good.len() - 1), ErrorCode::CORRUPT_MESSAGE),
        (Bytes::new(), ErrorCode::INVALID_RECORD),
        (twice, ErrorCode::INVALID_RECORD),
        (batch(&[&"x".repeat(300)], &Stamp::plain()), ErrorCode::MESSAGE_TOO_LARGE),
    ];
    for (records, expected) in cases {
        assert_eq!(ErrorCode::new(write(&mut connection, "t", records).0), expected);
    }
    assert_eq!(write(&mut connection, "t", good), (0, 0));
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
async fn who_does_not_lead_names_who_does() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 2);
    let response = Connection::to(&cluster, 0).call(10, &produce("t", 0, batch(&["a"], &Stamp::plain()), None));
    let partition = &response.responses[0].partition_responses[0];
    assert_eq!(ErrorCode::new(partition.error_code), ErrorCode::NOT_LEADER_OR_FOLLOWER);
    assert_eq!(partition.current_leader.leader_id, 2);
    assert_eq!(response.node_endpoints[0].node_id, 2);
    let topics = Connection::to(&cluster, 1).call(12, &MetadataRequest::default().with_topics(None)).topics;
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
