//! Fetches: long polls, sessions, isolation, errors.

use crate::client::{Connection, batch, fetch, text, values, write};
use millstream_protocol::messages::create_topics_request::{CreatableReplicaAssignment, CreatableTopic};
use millstream_protocol::messages::fetch_request::ForgottenTopic;
use millstream_protocol::messages::{BrokerId, CreateTopicsRequest, FetchRequest, MetadataRequest, TopicName};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ApiKey, ErrorCode};
use millstream_testkit::TestCluster;
use std::time::Duration;

#[tokio::test]
async fn a_long_poll_ends_when_data_comes() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut reader = Connection::to(&cluster, 0);
    let request = FetchRequest { max_wait_ms: 25_000, min_bytes: 1, ..fetch("t", 0, 0, 0) };
    reader.send(12, &request);
    write(&mut Connection::to(&cluster, 0), "t", batch(&["a"], &Stamp::plain()));
    assert_eq!(values(&reader.receive::<FetchRequest>(12)), ["a"]);
}

#[tokio::test]
async fn a_long_poll_ends_when_its_time_is_up() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let request = FetchRequest { max_wait_ms: 10, min_bytes: 1, ..fetch("t", 0, 0, 0) };
    assert_eq!(values(&Connection::to(&cluster, 0).call(12, &request)), Vec::<String>::new());
}

#[tokio::test]
async fn a_batch_comes_whole_and_larger_than_asked() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", batch(&["a", "b", "c"], &Stamp::plain()));
    write(&mut connection, "t", batch(&["d"], &Stamp::plain()));
    let mut request = fetch("t", 0, 1, 0);
    request.max_bytes = 1;
    request.topics[0].partitions[0].partition_max_bytes = 1;
    assert_eq!(values(&connection.call(12, &request)), ["a", "b", "c"]);
    assert_eq!(cluster.requests().fetched_records("t"), 2);
}

#[tokio::test]
async fn an_answer_is_quick_to_read_unless_more_is_the_least_that_is_asked_for() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let value = "x".repeat(400_000);
    for _ in 0..4 {
        write(&mut connection, "t", batch(&[&value], &Stamp::plain()));
    }
    let mut count = |min_bytes| {
        let mut request = FetchRequest { min_bytes, max_bytes: 50 << 20, ..fetch("t", 0, 0, 0) };
        request.topics[0].partitions[0].partition_max_bytes = 50 << 20;
        values(&connection.call(12, &request)).len()
    };
    assert_eq!((count(1), count(1_500_000)), (2, 4));
}

#[tokio::test]
async fn the_least_that_is_asked_for_is_counted_over_all_partitions() {
    let cluster = TestCluster::builder().topic("a", 1).topic("b", 1).start().await;
    let one = batch(&["x"], &Stamp::plain());
    let both = i32::try_from(2 * one.len()).expect("it is small");
    let mut reader = Connection::to(&cluster, 0);
    let mut request = FetchRequest { max_wait_ms: 60_000, min_bytes: both, ..fetch("a", 0, 0, 0) };
    request.topics.push(fetch("b", 0, 0, 0).topics.remove(0));
    reader.send(12, &request);
    let mut writer = Connection::to(&cluster, 0);
    write(&mut writer, "a", one.clone());
    assert!(!reader.has_input(Duration::from_millis(50)), "one of them has half of it");
    write(&mut writer, "b", one);
    let response = reader.receive::<FetchRequest>(12);
    let lengths = response.responses.iter().map(|topic| topic.partitions[0].records.len());
    assert_eq!(lengths.sum::<usize>(), 2 * batch(&["x"], &Stamp::plain()).len());
}

#[tokio::test]
async fn offsets_outside_the_log_are_refused() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", batch(&["a"], &Stamp::plain()));
    for (offset, expected) in
        [(-1, ErrorCode::OFFSET_OUT_OF_RANGE), (1, ErrorCode::NONE), (2, ErrorCode::OFFSET_OUT_OF_RANGE)]
    {
        let response = connection.call(12, &fetch("t", 0, offset, 0));
        assert_eq!(ErrorCode::new(response.responses[0].partitions[0].error_code), expected, "at {offset}");
    }
}

#[tokio::test]
async fn epochs_of_leaders_are_checked() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 1);
    cluster.move_leader(("t", 0), 2);
    let epoch = Connection::to(&cluster, 1).call(12, &MetadataRequest::default().with_topics(None)).topics[0]
        .partitions[0]
        .leader_epoch;
    for (asked, expected) in [
        (epoch - 1, ErrorCode::FENCED_LEADER_EPOCH),
        (epoch, ErrorCode::NONE),
        (epoch + 1, ErrorCode::UNKNOWN_LEADER_EPOCH),
    ] {
        let mut request = fetch("t", 0, 0, 0);
        request.topics[0].partitions[0].current_leader_epoch = asked;
        let response = Connection::to(&cluster, 1).call(12, &request);
        assert_eq!(ErrorCode::new(response.responses[0].partitions[0].error_code), expected);
    }
}

#[tokio::test]
async fn a_waiting_fetch_hears_of_a_new_leader() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 1);
    let mut reader = Connection::to(&cluster, 0);
    let topics = reader.call(12, &MetadataRequest::default().with_topics(None)).topics;
    let mut waiting = FetchRequest { max_wait_ms: 25_000, min_bytes: 1, ..fetch("t", 0, 0, 0) };
    waiting.topics[0].topic_id = topics[0].topic_id;
    waiting.topics[0].partitions[0].current_leader_epoch = topics[0].partitions[0].leader_epoch;
    reader.send(16, &waiting);
    // The request is on its way: it is being waited for, or comes after the move; both end the same.
    cluster.move_leader(("t", 0), 2);
    let response = reader.receive::<FetchRequest>(16);
    let partition = &response.responses[0].partitions[0];
    // A follower would serve the reader, too (KIP-392), but for the epoch that it knows.
    assert_eq!(ErrorCode::new(partition.error_code), ErrorCode::FENCED_LEADER_EPOCH);
    assert_eq!((partition.current_leader.leader_id, response.node_endpoints[0].node_id), (2, 2));
    // Kafka has had the field since version 12, and fills it since it tells endpoints, too.
    let told = reader.call(15, &waiting).responses.remove(0).partitions.remove(0);
    assert_eq!((ErrorCode::new(told.error_code), told.current_leader.leader_id), (ErrorCode::FENCED_LEADER_EPOCH, -1));
}

#[tokio::test]
async fn a_session_tells_only_what_changed() {
    let cluster = TestCluster::builder().topic("a", 1).topic("b", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut open = FetchRequest { session_epoch: 0, ..fetch("a", 0, 0, 0) };
    open.topics.push(fetch("b", 0, 0, 0).topics.remove(0));
    let opened = connection.call(12, &open);
    assert!(opened.session_id > 0);
    assert_eq!(opened.responses.len(), 2);

    let next = |epoch| FetchRequest {
        session_id: opened.session_id,
        session_epoch: epoch,
        max_bytes: 1 << 20,
        ..FetchRequest::default()
    };
    assert!(connection.call(12, &next(1)).responses.is_empty(), "nothing changed");
    write(&mut connection, "b", batch(&["x"], &Stamp::plain()));
    let changed = connection.call(12, &next(2));
    assert_eq!(
        (changed.session_id, changed.responses.len(), values(&changed)),
        (opened.session_id, 1, vec!["x".to_owned()])
    );

    let mut forgets = next(3);
    forgets.forgotten_topics_data =
        vec![ForgottenTopic { topic: "b".into(), partitions: vec![0], ..ForgottenTopic::default() }];
    assert!(connection.call(12, &forgets).responses.is_empty(), "what was forgotten is not told");
    assert_eq!(ErrorCode::new(connection.call(12, &next(3)).error_code), ErrorCode::INVALID_FETCH_SESSION_EPOCH);

    connection.call(12, &next(-1));
    assert_eq!(ErrorCode::new(connection.call(12, &next(4)).error_code), ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
}

#[tokio::test]
async fn topics_are_found_by_id() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let id = connection.call(12, &MetadataRequest::default().with_topics(None)).topics[0].topic_id;
    let mut request = fetch("t", 0, 0, 0);
    request.topics[0].topic_id = id;
    assert_eq!(connection.call(13, &request).responses[0].partitions[0].error_code, 0);
    request.topics[0].topic_id = millstream_protocol::messages::Uuid::from_u64_pair(1, 2);
    let response = connection.call(13, &request);
    assert_eq!(ErrorCode::new(response.responses[0].partitions[0].error_code), ErrorCode::UNKNOWN_TOPIC_ID);
}

#[tokio::test]
async fn a_connection_is_served_one_request_at_a_time() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut reader = Connection::to(&cluster, 0);
    reader.send(12, &FetchRequest { max_wait_ms: 25_000, min_bytes: 1, ..fetch("t", 0, 0, 0) });
    reader.send(12, &MetadataRequest::default().with_topics(None));
    cluster.requests().wait_for_count(ApiKey::FETCH, 1).await;
    write(&mut Connection::to(&cluster, 0), "t", batch(&["x"], &Stamp::plain()));
    assert_eq!(values(&reader.receive::<FetchRequest>(12)), ["x"]);
    assert_eq!(reader.receive::<MetadataRequest>(12).topics.len(), 1);
    let asked = cluster.requests().all();
    let apis: Vec<ApiKey> = asked.iter().map(|logged| logged.api()).collect();
    assert_eq!(apis, [ApiKey::FETCH, ApiKey::PRODUCE, ApiKey::METADATA], "what comes behind a long poll waits for it");
}

/// Found beside three nodes of a real Kafka: an epoch is compared by who has a replica, and by nobody else.
#[tokio::test]
async fn a_node_without_a_replica_compares_no_epochs() {
    let cluster = TestCluster::builder().brokers(2).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let assignment = CreatableReplicaAssignment::default().with_broker_ids(vec![BrokerId(1)]);
    let topic = CreatableTopic::default()
        .with_name(TopicName(text("t")))
        .with_num_partitions(-1)
        .with_replication_factor(-1)
        .with_assignments(vec![assignment]);
    assert_eq!(connection.call(5, &CreateTopicsRequest::default().with_topics(vec![topic])).topics[0].error_code, 0);
    let code = |node: usize, epoch: i32| {
        let mut request = fetch("t", 0, 0, 0);
        request.topics[0].partitions[0].current_leader_epoch = epoch;
        ErrorCode::new(Connection::to(&cluster, node).call(12, &request).responses[0].partitions[0].error_code)
    };
    assert_eq!((code(0, 9), code(0, 0)), (ErrorCode::UNKNOWN_LEADER_EPOCH, ErrorCode::NONE));
    assert_eq!((code(1, 9), code(1, 0)), (ErrorCode::NOT_LEADER_OR_FOLLOWER, ErrorCode::NOT_LEADER_OR_FOLLOWER));
}
