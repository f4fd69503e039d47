//! Nodes that stand still or hide, and what moves: leaders, coordinators, controllers, topics.

use crate::client::{Connection, batch, fetch, produce, produced, values, write};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{MetadataRequest, MetadataResponse};
use millstream_protocol::record::Stamp;
use millstream_testkit::{TestCluster, TestTopic};
use std::time::Duration;

fn metadata(connection: &mut Connection) -> MetadataResponse {
    connection.call(12, &MetadataRequest::default().with_topics(None))
}
fn ids(response: &MetadataResponse) -> Vec<i32> {
    response.brokers.iter().map(|broker| broker.node_id.0).collect()
}
fn one() -> bytes::Bytes {
    batch(&["a"], &Stamp::plain())
}

#[tokio::test]
async fn a_paused_node_answers_when_it_goes_on() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    cluster.pause(1);
    connection.send(9, &produce("t", 0, one(), None));
    assert!(!connection.has_input(Duration::from_millis(50)));
    assert!(cluster.values("t").is_empty());
    cluster.resume(1);
    assert_eq!(produced(&connection.receive::<millstream_protocol::messages::ProduceRequest>(9)), (0, 0));
}

#[tokio::test]
async fn a_hidden_node_serves_and_is_not_named() {
    let cluster = TestCluster::builder().brokers(2).start().await;
    cluster.hide(2);
    assert_eq!(ids(&metadata(&mut Connection::to(&cluster, 1))), [1]);
    cluster.show(2);
    assert_eq!(ids(&metadata(&mut Connection::to(&cluster, 1))), [1, 2]);
}

#[tokio::test]
async fn the_controller_is_the_one_that_was_chosen() {
    let cluster = TestCluster::builder().brokers(3).start().await;
    let mut connection = Connection::to(&cluster, 0);
    cluster.move_controller(3);
    assert_eq!(metadata(&mut connection).controller_id.0, 3);
    cluster.crash(3);
    assert_eq!(metadata(&mut connection).controller_id.0, 1);
}

// Another process was given the port of a broker that was down, which could not come back then.
#[tokio::test]
async fn the_port_of_a_broker_that_is_down_refuses_and_is_nobody_elses() {
    let cluster = TestCluster::builder().brokers(2).start().await;
    let address = cluster.bootstrap_servers().split(',').nth(1).expect("two brokers").to_owned();
    // A connection that is open when the broker goes lingers at its port.
    let _open = Connection::to(&cluster, 1);
    for _ in 0..3 {
        cluster.crash(2);
        let refused = std::net::TcpStream::connect(&address).expect_err("it is down").kind();
        assert_eq!(refused, std::io::ErrorKind::ConnectionRefused);
        let taken = tokio::net::TcpSocket::new_v4().expect("a socket").bind(address.parse().expect("an address"));
        assert_eq!(taken.expect_err("it is kept").kind(), std::io::ErrorKind::AddrInUse);
        cluster.restart(2);
        assert_eq!(ids(&metadata(&mut Connection::to(&cluster, 1))), [1, 2]);
    }
}

#[tokio::test]
async fn a_leader_is_deposed_and_a_term_begins_under_the_same_leader() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 1);
    let mut connection = Connection::to(&cluster, 0);
    let term = |connection: &mut Connection| {
        let partition = metadata(connection).topics[0].partitions[0].clone();
        (partition.leader_id.0, partition.leader_epoch)
    };
    let (_, before) = term(&mut connection);
    cluster.bump_leader_epoch(("t", 0));
    assert_eq!(term(&mut connection), (1, before + 1));
    cluster.depose_leader(("t", 0));
    assert_eq!(term(&mut connection), (-1, before + 2));
    assert_eq!(write(&mut connection, "t", one()).0, ErrorCode::NOT_LEADER_OR_FOLLOWER.get());
}

#[tokio::test]
async fn a_topic_made_anew_is_empty_and_has_another_id() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", one());
    let id = |connection: &mut Connection| metadata(connection).topics[0].topic_id;
    let before = id(&mut connection);
    cluster.recreate_topic("t");
    assert_ne!(id(&mut connection), before);
    assert!(values(&connection.call(12, &fetch("t", 0, 0, 0))).is_empty());
    let mut by_id = fetch("t", 0, 0, 0);
    by_id.topics[0].topic_id = before;
    let refused = connection.call(13, &by_id);
    assert_eq!(refused.responses[0].partitions[0].error_code, ErrorCode::UNKNOWN_TOPIC_ID.get());
}

/// What was made with two replicas came back with the cluster's default of three.
#[tokio::test]
async fn a_topic_made_anew_has_as_many_replicas_as_before() {
    let two = TestTopic::new("t", 2).replication_factor(2).config("max.message.bytes", "100");
    let cluster = TestCluster::builder().brokers(3).topic_with(two).topic("u", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let replicas = |connection: &mut Connection| {
        let topics = metadata(connection).topics;
        let partitions = topics.iter().flat_map(|topic| &topic.partitions);
        partitions.map(|partition| partition.replica_nodes.len()).collect::<Vec<_>>()
    };
    assert_eq!(replicas(&mut connection), [2, 2, 3]);
    cluster.recreate_topic("t");
    assert_eq!(replicas(&mut connection), [2, 2, 3]);
    cluster.create_topic_with(TestTopic::new("v", 1).replication_factor(1));
    assert_eq!(replicas(&mut connection), [2, 2, 3, 1]);
}

#[tokio::test]
#[should_panic(expected = "the topic `t` cannot be: topics have no option `retention.mss`; is `retention.ms` meant?")]
async fn a_topic_with_an_option_that_there_is_not_is_not_made() {
    let cluster = TestCluster::start().await;
    cluster.create_topic_with(TestTopic::new("t", 1).config("retention.mss", "1"));
}

#[tokio::test]
async fn brokers_join_and_leave_while_the_cluster_runs() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", one());
    let added = cluster.add_broker();
    let told = metadata(&mut connection);
    assert_eq!(ids(&told), [1, 2]);
    let address = format!("{}:{}", told.brokers[1].host, told.brokers[1].port);
    cluster.move_leader(("t", 0), added);
    cluster.remove_broker(1);
    let mut connection = Connection::at(&address);
    let told = metadata(&mut connection);
    assert_eq!((ids(&told), told.topics[0].partitions[0].leader_id.0), (vec![2], 2));
    assert_eq!(write(&mut connection, "t", one()), (0, 1), "the log is whole");
    cluster.create_topic("u", 1);
    assert_eq!(metadata(&mut connection).topics[1].partitions[0].leader_id.0, 2);
    cluster.restart(1);
    assert_eq!(ids(&metadata(&mut connection)), [1, 2]);
    cluster.reset().expect("the ports are free");
    assert_eq!(ids(&metadata(&mut Connection::to(&cluster, 0))), [1]);
    assert_eq!(cluster.add_broker().get(), 2, "who was added is gone");
}

#[tokio::test]
async fn an_answer_may_name_a_leader_that_does_not_lead() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 2).start().await;
    cluster.move_leader(("t", 1), 1);
    let mut connection = Connection::to(&cluster, 0);
    let mut told = || {
        let partition = metadata(&mut connection).topics[0].partitions[1].clone();
        (partition.leader_id.0, partition.leader_epoch)
    };
    let truth = told();
    cluster.push_leader_answer(("t", 1), 2, 40);
    cluster.push_leader_answer(("t", 1), -1, 41);
    assert_eq!([told(), told(), told()], [(2, 40), (-1, 41), truth]);
}

#[tokio::test]
async fn a_leader_may_move_without_a_new_epoch() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 1);
    let mut connection = Connection::to(&cluster, 0);
    let told = metadata(&mut connection).topics.remove(0).partitions.remove(0);
    cluster.move_leader_within_epoch(("t", 0), 2);
    let moved = metadata(&mut connection).topics.remove(0).partitions.remove(0);
    assert_eq!((moved.leader_id.0, moved.leader_epoch), (2, told.leader_epoch));
    assert_eq!(write(&mut connection, "t", one()).0, ErrorCode::NOT_LEADER_OR_FOLLOWER.get());
    assert_eq!(write(&mut Connection::to(&cluster, 1), "t", one()), (0, 0));
}
