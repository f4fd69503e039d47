//! The cluster as a whole: nodes that go and come, and its end.

use crate::client::{Connection, batch, fetch, produce, produced, values, write};
use millstream_protocol::messages::MetadataRequest;
use millstream_protocol::record::Stamp;
use millstream_protocol::{ApiKey, NodeId};
use millstream_testkit::TestCluster;
use std::net::TcpListener;

fn leader(connection: &mut Connection) -> i32 {
    connection.call(12, &MetadataRequest::default().with_topics(None)).topics[0].partitions[0].leader_id.0
}

#[tokio::test]
async fn another_node_leads_what_a_crashed_one_led_and_data_stays() {
    let cluster = TestCluster::builder().brokers(3).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 1);
    let mut first = Connection::to(&cluster, 0);
    assert_eq!(write(&mut first, "t", batch(&["a"], &Stamp::plain())), (0, 0));
    cluster.crash(1);
    assert_eq!(first.payload(), None, "its connections end");

    let mut second = Connection::to(&cluster, 1);
    let brokers = second.call(12, &MetadataRequest::default().with_topics(None)).brokers;
    assert_eq!(brokers.iter().map(|broker| broker.node_id.0).collect::<Vec<_>>(), [2, 3]);
    let new = leader(&mut second);
    assert_ne!(new, 1);
    let mut connection = Connection::to(&cluster, usize::try_from(new - 1).unwrap());
    assert_eq!(write(&mut connection, "t", batch(&["b"], &Stamp::plain())), (0, 1));
    assert_eq!(cluster.values("t"), ["a", "b"]);
}

#[tokio::test]
async fn a_node_comes_back_at_its_address() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    write(&mut Connection::to(&cluster, 0), "t", batch(&["a"], &Stamp::plain()));
    cluster.crash(1);
    cluster.restart(1);
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(leader(&mut connection), 1);
    assert_eq!(values(&connection.call(12, &fetch("t", 0, 0, 0))), ["a"]);
}

#[tokio::test]
async fn ports_are_free_when_the_cluster_is_dropped() {
    let cluster = TestCluster::builder().brokers(3).start().await;
    let servers = cluster.bootstrap_servers();
    let _open = Connection::to(&cluster, 0);
    drop(cluster);
    for address in servers.split(',') {
        TcpListener::bind(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    }
}

#[tokio::test]
async fn requests_are_counted_by_api_and_node() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    Connection::to(&cluster, 0).call(12, &MetadataRequest::default());
    Connection::to(&cluster, 1).call(12, &MetadataRequest::default());
    Connection::to(&cluster, 1).call(12, &MetadataRequest::default());
    let requests = cluster.requests();
    assert_eq!(requests.count(ApiKey::METADATA), 3);
    assert_eq!(requests.count_at(NodeId::new(2), ApiKey::METADATA), 2);
    assert_eq!(requests.count(ApiKey::FETCH), 0);
}

#[tokio::test]
async fn too_few_replicas_refuse_full_acknowledgement_only() {
    let cluster = TestCluster::builder().brokers(3).config("min.insync.replicas", "2").topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 1);
    cluster.crash(2);
    cluster.crash(3);
    let mut connection = Connection::to(&cluster, 0);
    let mut request = produce("t", 0, batch(&["a"], &Stamp::plain()), None);
    assert_eq!(produced(&connection.call(9, &request)).0, millstream_protocol::ErrorCode::NOT_ENOUGH_REPLICAS.get());
    request.acks = 1;
    assert_eq!(produced(&connection.call(9, &request)), (0, 0));
}

#[test]
fn a_cluster_that_cannot_start_says_why() {
    let reason = |builder: millstream_testkit::TestClusterBuilder| builder.try_start().err().unwrap().to_string();
    assert_eq!(
        reason(TestCluster::builder().config("no.such.key", "1")),
        "the test cluster has no broker option `no.such.key`; a broker tells all that it has by DescribeConfigs (`kafka-configs --all --describe`)"
    );
    assert_eq!(
        reason(TestCluster::builder().config("num.partitions", "many")),
        "Invalid value many for configuration num.partitions: Not a number of type INT"
    );
    // Kafka's ranges, in Kafka's words; then what cannot be here.
    for (key, value, words) in [
        ("num.partitions", "-1", "Invalid value -1 for configuration num.partitions: Value must be at least 1"),
        ("fetch.max.bytes", "1", "Invalid value 1 for configuration fetch.max.bytes: Value must be at least 1024"),
        ("group.max.size", "0", "Invalid value 0 for configuration group.max.size: Value must be at least 1"),
        ("default.replication.factor", "0", "the broker option `default.replication.factor` is 1 to 32767, not `0`"),
        ("default.replication.factor", "9", "`default.replication.factor` cannot be 9: there are 3 brokers"),
        ("transaction.version", "7", "the broker option `transaction.version` is 0 to 2, not `7`"),
        (
            "millstream.producer.epoch.start",
            "-2",
            "the broker option `millstream.producer.epoch.start` is 0 to 32767, not `-2`",
        ),
        (
            "group.consumer.regex.refresh.interval.ms",
            "1",
            "`group.consumer.regex.refresh.interval.ms` cannot be 1: Kafka takes 10000 at least",
        ),
        (
            "group.consumer.session.timeout.ms",
            "90000",
            "`group.consumer.session.timeout.ms` cannot be 90000: `group.consumer.min.session.timeout.ms` is 1 and \
             `group.consumer.max.session.timeout.ms` is 60000",
        ),
    ] {
        assert_eq!(reason(TestCluster::builder().brokers(3).config(key, value)), words);
    }
    assert_eq!(reason(TestCluster::builder().brokers(0)), "a cluster has at least one broker");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    assert!(reason(TestCluster::builder().port(port)).starts_with(&format!("127.0.0.1:{port} cannot be listened on")));
}

#[tokio::test]
async fn many_clusters_live_side_by_side() {
    let clusters: Vec<TestCluster> = (0..50).filter_map(|_| TestCluster::builder().try_start().ok()).collect();
    assert_eq!(clusters.len(), 50);
    for cluster in &clusters {
        assert_eq!(Connection::to(cluster, 0).call(12, &MetadataRequest::default()).brokers.len(), 1);
    }
}
