//! A broker's life: what a crash ends, what a stop says first, what a pause leaves, and who leads when somebody comes back.

use crate::client::{Connection, PATIENCE, batch, fetch, produce, produced, write};
use millstream_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use millstream_protocol::messages::{
    FetchRequest, GroupId, JoinGroupRequest, MetadataRequest, ProduceRequest, StrBytes,
};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ApiKey, ErrorCode};
use millstream_testkit::{SecurityProtocol, TestCluster};
use std::net::{Ipv4Addr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

fn one() -> bytes::Bytes {
    batch(&["a"], &Stamp::plain())
}
/// The brokers that Metadata names, and the leader of the first topic's first partition.
fn seen(connection: &mut Connection) -> (Vec<i32>, i32) {
    let response = connection.call(12, &MetadataRequest::default().with_topics(None));
    let ids = response.brokers.iter().map(|broker| broker.node_id.0).collect();
    (ids, response.topics[0].partitions[0].leader_id.0)
}
/// What a call that must panic says.
fn panic_of(act: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(act)).expect_err("it cannot be done");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

// A broker that had crashed was paused and resumed, and from then on the others took it for alive: it led what nobody could write to.
#[tokio::test]
async fn a_crashed_broker_is_neither_paused_nor_resumed_into_life() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 2);
    cluster.crash(2);
    assert_eq!(panic_of(|| cluster.pause(2)), "broker 2 is crashed and cannot become paused by this: restart it first");
    assert_eq!(
        panic_of(|| cluster.resume(2)),
        "broker 2 is crashed and cannot become running by this: restart it first"
    );
    assert_eq!(seen(&mut Connection::to(&cluster, 0)), (vec![1], 1));
    cluster.restart(2);
    assert_eq!(seen(&mut Connection::to(&cluster, 1)), (vec![1, 2], 1));
}

// The pause outlived the process: who came back after a crash answered nobody.
#[tokio::test]
async fn a_pause_ends_with_the_process() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut before = Connection::to(&cluster, 0);
    cluster.pause(1);
    before.send(9, &produce("t", 0, one(), None));
    assert!(!before.has_input(Duration::from_millis(50)));
    assert_eq!(
        panic_of(|| cluster.restart(1)),
        "broker 1 is paused and cannot become running by this: resume it, or crash it first"
    );
    cluster.crash(1);
    cluster.restart(1);
    assert!(cluster.values("t").is_empty(), "what came to the process that died is gone");
    assert_eq!(write(&mut Connection::to(&cluster, 0), "t", one()), (0, 0));
    // Its session is not over either, long after it was paused.
    cluster.advance_brokers(Duration::from_secs(60));
    assert_eq!(seen(&mut Connection::to(&cluster, 0)), (vec![1], 1));
}

#[tokio::test]
async fn a_broker_whose_session_is_over_leads_again_once_it_goes_on() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 2);
    let mut connection = Connection::to(&cluster, 1);
    cluster.pause(2);
    connection.send(9, &produce("t", 0, one(), None));
    cluster.pause(2);
    cluster.advance_brokers(Duration::from_secs(10));
    assert_eq!(seen(&mut Connection::to(&cluster, 0)), (vec![1], 1));
    cluster.resume(2);
    let refused = ErrorCode::NOT_LEADER_OR_FOLLOWER.get();
    assert_eq!(
        produced(&connection.receive::<ProduceRequest>(9)).0,
        refused,
        "what waited is served by what is so now"
    );
    cluster.crash(1);
    assert_eq!(seen(&mut connection), (vec![2], 2));
}

// A kill was all there was: who waited for an answer got none.
#[tokio::test]
async fn a_broker_that_is_stopped_answers_who_waits_before_it_hangs_up() {
    let builder = TestCluster::builder().brokers(2).config("group.initial.rebalance.delay.ms", "60000");
    let cluster = builder.topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 1);
    cluster.move_coordinator("g", 1);
    cluster.hold_follower(("t", 0), 2);
    let [mut writes, mut reads, mut joins, mut idles] = std::array::from_fn(|_| Connection::to(&cluster, 0));
    writes.send(9, &produce("t", 0, one(), None));
    // From version 11 on a follower may be read, and the broker goes before there is something.
    reads.send(10, &FetchRequest { max_wait_ms: 60_000, min_bytes: 1, ..fetch("t", 0, 0, 0) });
    joins.send(3, &join("g"));
    wait_until(|| cluster.requests().count(ApiKey::JOIN_GROUP) == 1 && cluster.requests().count(ApiKey::FETCH) == 1);
    cluster.stop(1);
    let refused = ErrorCode::NOT_LEADER_OR_FOLLOWER.get();
    assert_eq!(produced(&writes.receive::<ProduceRequest>(9)).0, refused);
    assert_eq!(reads.receive::<FetchRequest>(10).responses[0].partitions[0].error_code, refused);
    assert_eq!(joins.receive::<JoinGroupRequest>(3).error_code, ErrorCode::NOT_COORDINATOR.get());
    for connection in [&mut writes, &mut reads, &mut joins, &mut idles] {
        assert_eq!(connection.payload(), None, "its connections end");
    }
    assert_eq!(seen(&mut Connection::to(&cluster, 1)), (vec![2], 2));
}

/// A clean shutdown is told to the controller when the broker starts again: its disk has what it had (KIP-966).
#[tokio::test]
async fn a_broker_that_was_stopped_is_still_eligible_and_a_killed_one_is_not() {
    for (is_stopped, leader) in [(true, 2), (false, -1)] {
        let builder = TestCluster::builder().brokers(2).config("min.insync.replicas", "2");
        let cluster = builder.topic("t", 1).start().await;
        cluster.move_leader(("t", 0), 1);
        let go = if is_stopped { TestCluster::stop } else { TestCluster::crash };
        go(&cluster, 2);
        cluster.crash(1);
        cluster.restart(2);
        assert_eq!(seen(&mut Connection::to(&cluster, 1)), (vec![2], leader), "stopped: {is_stopped}");
    }
}

#[tokio::test]
async fn a_broker_that_stands_still_or_is_down_is_not_stopped() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    cluster.pause(2);
    let refused =
        |state: &str, advice: &str| format!("broker 2 is {state} and cannot become stopped by this: {advice}");
    assert_eq!(panic_of(|| cluster.stop(2)), refused("paused", "resume it, or crash it first"));
    cluster.crash(2);
    assert_eq!(panic_of(|| cluster.stop(2)), refused("crashed", "restart it first"));
    cluster.restart(2);
    cluster.stop(2);
    cluster.stop(2);
    cluster.restart(2);
    assert_eq!(seen(&mut Connection::to(&cluster, 1)).0, [1, 2]);
}

/// Who does not read what it is sent holds a broker up for a moment.
#[tokio::test]
async fn a_client_that_reads_nothing_does_not_keep_a_broker_from_stopping() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let big = "x".repeat(1 << 20);
    for _ in 0..24 {
        write(&mut Connection::to(&cluster, 0), "t", batch(&[&big[..900_000]], &Stamp::plain()));
    }
    let mut deaf = Connection::to(&cluster, 0);
    deaf.send(12, &fetch("t", 0, 0, 0));
    wait_until(|| cluster.requests().count(ApiKey::FETCH) == 1);
    let begin = Instant::now();
    cluster.stop(1);
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
}
fn join(group: &str) -> JoinGroupRequest {
    let [group, kind, name] = [group, "consumer", "range"].map(|text| StrBytes::from_string(text.to_owned()));
    let protocol = JoinGroupRequestProtocol::default().with_name(name).with_metadata(bytes::Bytes::new());
    JoinGroupRequest::default()
        .with_group_id(GroupId(group))
        .with_session_timeout_ms(10_000)
        .with_rebalance_timeout_ms(10_000)
        .with_protocol_type(kind)
        .with_protocols(vec![protocol])
}
fn wait_until(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "it never is so");
        std::thread::sleep(Duration::from_millis(1));
    }
}

// Nobody was in sync when it was made, so that nobody ever was.
#[tokio::test]
async fn a_topic_made_while_nobody_is_up_is_led_by_who_comes_first() {
    let cluster = TestCluster::builder().brokers(2).config("default.replication.factor", "2").start().await;
    cluster.crash(1);
    cluster.crash(2);
    cluster.create_topic("t", 1);
    cluster.restart(2);
    let mut second = Connection::to(&cluster, 1);
    assert_eq!(seen(&mut second), (vec![2], 2));
    assert_eq!(write(&mut second, "t", one()), (0, 0));
    cluster.crash(2);
    cluster.restart(1);
    assert_eq!(seen(&mut Connection::to(&cluster, 0)).1, -1, "it has not what was acknowledged");
    cluster.restart(2);
    assert_eq!(write(&mut Connection::to(&cluster, 1), "t", one()), (0, 1));
}

#[tokio::test]
async fn a_topic_is_laid_out_over_brokers_that_are_up() {
    let cluster = TestCluster::builder().brokers(3).config("default.replication.factor", "1").start().await;
    cluster.crash(2);
    cluster.create_topic("t", 12);
    let response = Connection::to(&cluster, 0).call(12, &MetadataRequest::default().with_topics(None));
    let leaders: Vec<i32> = response.topics[0].partitions.iter().map(|partition| partition.leader_id.0).collect();
    assert!(leaders.iter().all(|leader| matches!(leader, 1 | 3)), "{leaders:?}");
}

// It listened at 127.0.0.1, wherever the others did.
#[tokio::test]
async fn a_broker_that_joins_listens_where_the_others_do() {
    let host = Ipv4Addr::new(127, 0, 0, 2);
    let cluster = TestCluster::builder().host(host.into()).start().await;
    cluster.add_broker();
    let told = brokers(&mut Connection::to(&cluster, 0));
    assert!(told.iter().all(|(host, _)| host == "127.0.0.2"), "{told:?}");
    assert_eq!(brokers(&mut Connection::at(&format!("{}:{}", told[1].0, told[1].1))), told);
}

// The first listener stayed, of a broker that nobody knew of.
#[tokio::test]
async fn a_broker_joins_with_all_of_its_listeners_or_not_at_all() {
    let first = free_ports(4);
    let plain = SecurityProtocol::Plaintext;
    let builder = TestCluster::builder().listener("ONE", plain).listener("TWO", plain).port(first);
    let cluster = builder.start().await;
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, first + 3)).expect("it is free");
    let reason = panic_of(|| {
        cluster.add_broker();
    });
    assert!(
        reason.starts_with(&format!("no broker can be added: 127.0.0.1:{} cannot be listened on", first + 3)),
        "{reason}"
    );
    TcpListener::bind((Ipv4Addr::LOCALHOST, first + 2)).expect("nobody listens there");
    drop(taken);
    assert_eq!(cluster.add_broker().get(), 2);
    let told = brokers(&mut Connection::to(&cluster, 0));
    assert_eq!(told[1], ("127.0.0.1".to_owned(), i32::from(first + 2)), "the ports after those of the others");
}
/// Where the brokers are, as clients are told.
fn brokers(connection: &mut Connection) -> Vec<(String, i32)> {
    let response = connection.call(12, &MetadataRequest::default().with_topics(None));
    response.brokers.iter().map(|broker| (broker.host.to_string(), broker.port)).collect()
}
/// So many ports in a row that are free just now.
fn free_ports(count: u16) -> u16 {
    let is_free = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    let start = 20_000 + u16::try_from(std::process::id() % 8000).expect("it is small");
    let first = (start..32_000).step_by(7).find(|first| (*first..first + count).all(is_free));
    first.expect("there are free ports")
}
