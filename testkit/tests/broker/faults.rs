//! Faults of requests: which requests they are for, and what a client sees of them.

use crate::client::{Connection, PATIENCE, batch, fetch, produce, produced, text, values, write};
use millstream_protocol::messages::{
    FetchRequest, FindCoordinatorRequest, HeartbeatRequest, MetadataRequest, MetadataResponse, ProduceRequest, Request,
};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ApiKey, ErrorCode, frame};
use millstream_testkit::faults::{Effect, FaultPlan, FaultStep, Malformation, PartitionScope, Then};
use millstream_testkit::{Reaction, TestCluster};
use std::time::{Duration, Instant};

const TENTH: Duration = Duration::from_millis(100);

async fn cluster() -> TestCluster {
    TestCluster::builder().topic("t", 2).start().await
}
fn one() -> bytes::Bytes {
    batch(&["a"], &Stamp::plain())
}
fn codes(connection: &mut Connection, count: usize) -> Vec<i16> {
    (0..count).map(|_| write(connection, "t", one()).0).collect()
}

#[tokio::test]
async fn a_rule_is_used_as_often_as_it_says() {
    let cluster = cluster().await;
    let rule = cluster.on::<ProduceRequest>().times(2).effect(Effect::Error(ErrorCode::NOT_ENOUGH_REPLICAS));
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(codes(&mut connection, 3), [19, 19, 0]);
    let state = cluster.fault(rule).unwrap();
    assert_eq!((state.used, state.left, state.text.as_str()), (2, Some(0), "Produce: used up"));
    cluster.assert_faults_used();
}

#[tokio::test]
#[should_panic(expected = "these faults were not used up")]
async fn a_fault_that_did_not_happen_fails_the_test() {
    let cluster = cluster().await;
    cluster.on::<ProduceRequest>().disconnect();
    cluster.assert_faults_used();
}

#[tokio::test]
async fn a_closure_sees_the_request_by_its_type() {
    let cluster = cluster().await;
    cluster.on::<ProduceRequest>().always().when(|request| request.acks == 1).error(ErrorCode::UNKNOWN_SERVER_ERROR);
    let mut connection = Connection::to(&cluster, 0);
    let mut request = produce("t", 0, one(), None);
    assert_eq!(produced(&connection.call(9, &request)), (0, 0));
    request.acks = 1;
    assert_eq!(produced(&connection.call(9, &request)).0, -1);
}

#[tokio::test]
async fn a_closure_decides_request_by_request() {
    let cluster = cluster().await;
    let mut seen = 0;
    cluster.on::<MetadataRequest>().always().react(move |_| {
        seen += 1;
        match seen {
            1 => Reaction::pass(),
            2 => Reaction::reply(MetadataResponse::default().with_cluster_id(Some(text("mine")))),
            _ => Effect::Disconnect.into(),
        }
    });
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(connection.call(12, &MetadataRequest::default()).brokers.len(), 1);
    assert_eq!(connection.call(12, &MetadataRequest::default()).cluster_id, Some(text("mine")));
    connection.send(12, &MetadataRequest::default());
    assert_eq!(connection.payload(), None);
}

#[tokio::test]
async fn a_typed_answer_is_written_in_the_version_that_was_asked_for() {
    let cluster = cluster().await;
    cluster.on::<MetadataRequest>().times(2).reply(MetadataResponse::default().with_controller_id(9.into()));
    let mut connection = Connection::to(&cluster, 0);
    for version in [1, 12] {
        assert_eq!(connection.call(version, &MetadataRequest::default()).controller_id.0, 9);
    }
}

#[tokio::test]
async fn a_rule_holds_for_its_node_group_and_client() {
    let cluster = TestCluster::builder().brokers(2).start().await;
    cluster.on::<MetadataRequest>().node(2).disconnect();
    cluster.on::<HeartbeatRequest>().group("g").error(ErrorCode::NOT_COORDINATOR);
    cluster.on_any().client_id("another").disconnect();
    assert_eq!(Connection::to(&cluster, 0).call(12, &MetadataRequest::default()).brokers.len(), 2);
    let mut second = Connection::to(&cluster, 1);
    second.send(12, &MetadataRequest::default());
    assert_eq!(second.payload(), None);
    cluster.move_coordinator("g", 1);
    cluster.move_coordinator("h", 1);
    let mut first = Connection::to(&cluster, 0);
    let beat = |group: &str| HeartbeatRequest::default().with_group_id(text(group).into());
    assert_eq!(first.call(4, &beat("h")).error_code, ErrorCode::UNKNOWN_MEMBER_ID.get());
    assert_eq!(first.call(4, &beat("g")).error_code, ErrorCode::NOT_COORDINATOR.get());
    assert_eq!(first.call(4, &beat("g")).error_code, ErrorCode::UNKNOWN_MEMBER_ID.get());
    let unused: Vec<String> =
        cluster.faults().into_iter().filter(|state| state.used == 0).map(|state| state.text).collect();
    assert_eq!(unused, ["any request from another: once hung up on"]);
}

#[tokio::test]
async fn one_partition_fails_and_the_others_are_served() {
    let cluster = cluster().await;
    let scope = |partition| Some(PartitionScope { topic: "t".to_owned(), partition });
    let plan = |api, partition| FaultPlan {
        partition: scope(partition),
        ..FaultPlan::new(api, [FaultStep::error(ErrorCode::NOT_LEADER_OR_FOLLOWER)])
    };
    cluster.add_faults(plan(ApiKey::PRODUCE, 1)).unwrap();
    cluster.add_faults(plan(ApiKey::FETCH, 0)).unwrap();
    let mut connection = Connection::to(&cluster, 0);
    let mut request = produce("t", 0, one(), None);
    request.topic_data[0].partition_data.push(produce("t", 1, one(), None).topic_data[0].partition_data[0].clone());
    let response = connection.call(9, &request);
    let codes: Vec<i16> = response.responses[0].partition_responses.iter().map(|each| each.error_code).collect();
    assert_eq!(codes, [0, ErrorCode::NOT_LEADER_OR_FOLLOWER.get()]);
    assert_eq!(cluster.values("t"), ["a"], "nothing is written where it failed");

    let failed = connection.call(12, &fetch("t", 0, 0, 0));
    assert_eq!(failed.responses[0].partitions[0].error_code, ErrorCode::NOT_LEADER_OR_FOLLOWER.get());
    assert_eq!(values(&connection.call(12, &fetch("t", 0, 0, 0))), ["a"]);
    cluster.assert_faults_used();
}

#[tokio::test]
async fn a_stack_is_used_from_its_top_and_the_narrower_scope_first() {
    let cluster = cluster().await;
    let step = |code| FaultStep::error(ErrorCode::new(code));
    cluster.add_faults(FaultPlan::new(ApiKey::PRODUCE, [step(5), step(6).times(2)])).unwrap();
    cluster.add_faults(FaultPlan { node: Some(1), ..FaultPlan::new(ApiKey::PRODUCE, [step(19)]) }).unwrap();
    let left = || cluster.faults().iter().map(|state| state.left.unwrap()).collect::<Vec<_>>();
    assert_eq!(left(), [3, 1]);
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(codes(&mut connection, 2), [19, 5]);
    assert_eq!(left(), [2, 0]);
    assert_eq!(codes(&mut connection, 3), [6, 6, 0]);
}

#[tokio::test]
async fn an_answer_takes_its_round_trip() {
    let cluster = cluster().await;
    let plan = r#"{"api": "Produce", "steps": [{"do": "pass", "rtt_ms": 100}, {"do": {"error": 19}, "rtt_ms": 100}]}"#;
    cluster.add_faults(serde_json::from_str(plan).unwrap()).unwrap();
    cluster.on::<ProduceRequest>().delay(TENTH);
    let mut connection = Connection::to(&cluster, 0);
    for expected in [(0, 0), (19, -1), (0, 1)] {
        let before = Instant::now();
        assert_eq!(write(&mut connection, "t", one()), expected);
        assert!(before.elapsed() >= TENTH);
    }
}

#[tokio::test]
async fn a_request_may_be_served_and_its_answer_lost() {
    let cluster = cluster().await;
    cluster.on::<ProduceRequest>().apply_then(Then::Disconnect);
    let mut connection = Connection::to(&cluster, 0);
    connection.send(9, &produce("t", 0, one(), None));
    assert_eq!(connection.payload(), None);
    assert_eq!(cluster.values("t"), ["a"]);
    // Not served at all.
    cluster.on::<ProduceRequest>().disconnect();
    let mut connection = Connection::to(&cluster, 0);
    connection.send(9, &produce("t", 0, one(), None));
    assert_eq!(connection.payload(), None);
    assert_eq!(cluster.values("t"), ["a"]);
}

#[tokio::test]
async fn silence_leaves_the_connection_open() {
    let cluster = cluster().await;
    cluster.on::<ProduceRequest>().silence();
    cluster.on::<ProduceRequest>().apply_then(Then::Silence);
    let mut silent: Vec<Connection> = (0..2).map(|_| Connection::to(&cluster, 0)).collect();
    silent.iter_mut().for_each(|connection| connection.send(9, &produce("t", 0, one(), None)));
    cluster.wait_for_records("t", 1).await;
    assert_eq!(write(&mut Connection::to(&cluster, 0), "t", one()), (0, 1));
    for connection in &mut silent {
        assert!(!connection.has_input(TENTH), "neither an answer nor an end");
    }
}

#[tokio::test]
async fn something_happens_while_a_request_is_under_way() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 1);
    let parked = cluster.on::<ProduceRequest>().park();
    let mut connection = Connection::to(&cluster, 0);
    connection.send(9, &produce("t", 0, one(), None));
    parked.arrived().await;
    cluster.move_leader(("t", 0), 2);
    parked.release();
    let response = connection.receive::<ProduceRequest>(9);
    assert_eq!(produced(&response).0, ErrorCode::NOT_LEADER_OR_FOLLOWER.get());
}

#[tokio::test]
async fn corrupt_records_fail_their_checksum_once() {
    let cluster = cluster().await;
    write(&mut Connection::to(&cluster, 0), "t", one());
    cluster.on::<FetchRequest>().corrupt_records();
    let mut connection = Connection::to(&cluster, 0);
    let spoilt = connection.call(12, &fetch("t", 0, 0, 0));
    let records = spoilt.responses[0].partitions[0].records.clone().into_bytes().unwrap();
    let batch = millstream_protocol::record::batches(records).next().unwrap().unwrap();
    assert!(batch.check_crc().is_err());
    assert_eq!(values(&connection.call(12, &fetch("t", 0, 0, 0))), ["a"]);
}

/// The payload of an answer that was made hostile; none when not even a frame came.
fn malformed<R: Request>(cluster: &TestCluster, how: Malformation, version: i16, request: &R) -> Option<bytes::Bytes> {
    cluster.on::<R>().malform(how);
    let mut connection = Connection::to(cluster, 0);
    connection.send(version, request);
    assert!(connection.has_input(PATIENCE), "{how:?}: nothing comes");
    // Of what is announced as huge the rest never comes; all else does, however long a busy machine takes to make it.
    connection.try_payload(if how == Malformation::HugeSize { TENTH } else { PATIENCE })
}

#[tokio::test]
async fn every_malformation_bites() {
    let cluster = cluster().await;
    write(&mut Connection::to(&cluster, 0), "t", one());
    let ask = fetch("t", 0, 0, 0);
    for how in Malformation::ALL {
        let payload = malformed(&cluster, how, 12, &ask);
        let read = payload.map(|payload| frame::decode_response::<FetchRequest>(12, payload));
        let bites = match (how, read) {
            (Malformation::NegativeSize | Malformation::HugeSize, None) => true,
            (Malformation::WrongCorrelationId, Some(Ok((id, _)))) => id != 1,
            (Malformation::DuplicatePartitions, Some(Ok((_, answer)))) => answer.responses[0].partitions.len() == 2,
            (Malformation::Bomb, Some(Ok((_, answer)))) => answer.responses[0].partitions[0].records.len() > 50_000,
            (Malformation::BadChecksum, Some(Ok((_, answer)))) => {
                let records = answer.responses[0].partitions[0].records.clone().into_bytes().unwrap();
                millstream_protocol::record::batches(records).next().unwrap().unwrap().check_crc().is_err()
            }
            (Malformation::TrailingBytes, Some(_)) => true,
            (_, Some(Err(_))) => true,
            _ => false,
        };
        assert!(bites, "{how:?}");
    }
    cluster.assert_faults_used();
}

#[tokio::test]
async fn coordinators_are_found_where_they_were_moved() {
    let cluster = TestCluster::builder().brokers(3).start().await;
    for node in [1, 2, 3, 1] {
        cluster.move_coordinator("g", node);
        let ask = FindCoordinatorRequest::default().with_coordinator_keys(vec![text("g")]);
        assert_eq!(Connection::to(&cluster, 0).call(4, &ask).coordinators[0].node_id.0, node);
    }
}

#[tokio::test]
async fn a_panic_is_told_with_its_request_and_fails_the_test() {
    let cluster = cluster().await;
    cluster.on::<MetadataRequest>().react(|_| panic!("no such luck"));
    let mut connection = Connection::to(&cluster, 0);
    connection.send(12, &MetadataRequest::default().with_topics(None));
    assert_eq!(connection.payload(), None, "it ends");
    assert_eq!(write(&mut Connection::to(&cluster, 0), "t", one()).0, 0, "others are served");
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || drop(cluster)));
    let told = *ended.expect_err("the test fails").downcast::<String>().expect("a sentence");
    assert!(told.starts_with("a broker panicked: no such luck, while it served #0 "), "{told}");
    assert!(told.contains("MetadataRequest, version 12"), "{told}");
}

// What is left was summed up without a bound: two steps for half of all numbers ended the request that asked, or told of none.
#[tokio::test]
async fn a_plan_for_more_requests_than_can_be_counted_is_told() {
    let cluster = TestCluster::start().await;
    let step = || FaultStep::error(ErrorCode::NOT_COORDINATOR).times(u64::MAX / 2 + 1);
    let plan = FaultPlan::new(ApiKey::HEARTBEAT, [step(), step()]);
    cluster.add_faults(plan).expect("it can be");
    assert_eq!(cluster.faults()[0].left, Some(u64::MAX));
}
