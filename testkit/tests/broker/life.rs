//! A broker's life: what a crash ends, what a pause leaves, and who leads when somebody comes back.

use crate::client::{Connection, batch, produce, produced, write};
use millstream_protocol::messages::{MetadataRequest, ProduceRequest};
use millstream_protocol::record::Stamp;
use millstream_testkit::{SecurityProtocol, TestCluster};
use std::net::{Ipv4Addr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

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
    let refused = millstream_protocol::ErrorCode::NOT_LEADER_OR_FOLLOWER.get();
    assert_eq!(
        produced(&connection.receive::<ProduceRequest>(9)).0,
        refused,
        "what waited is served by what is so now"
    );
    cluster.crash(1);
    assert_eq!(seen(&mut connection), (vec![2], 2));
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
