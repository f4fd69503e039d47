//! Partitions that move to other nodes (KIP-455), by Kafka's rules for leader epochs, order and going back; and who may lead after a node was killed.

use crate::client::{Connection, batch, fetch, produce, produced, values, write};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic};
use millstream_protocol::messages::describe_topic_partitions_response::DescribeTopicPartitionsResponsePartition;
use millstream_protocol::messages::elect_leaders_request::TopicPartitions;
use millstream_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use millstream_protocol::messages::{
    AlterPartitionReassignmentsRequest, BrokerId, DescribeTopicPartitionsRequest, ElectLeadersRequest,
    IncrementalAlterConfigsRequest, ListPartitionReassignmentsRequest, MetadataRequest, TopicName,
};
use millstream_protocol::messages::{StrBytes, describe_topic_partitions_request::TopicRequest};
use millstream_protocol::record::Stamp;
use millstream_testkit::{TestCluster, TestClusterBuilder};

const TOPIC: &str = "t";

/// A partition with these replicas.
async fn placed(builder: TestClusterBuilder, replicas: &[i32]) -> TestCluster {
    let cluster = builder.brokers(3).topic(TOPIC, 1).start().await;
    assert_eq!(reassign(&cluster, Some(replicas)), ErrorCode::NONE);
    assert_eq!(told(&cluster).0, replicas);
    cluster.move_leader((TOPIC, 0), replicas[0]);
    cluster
}
fn name() -> TopicName {
    TopicName(StrBytes::from_static_str(TOPIC))
}
fn ids(ids: &[i32]) -> Vec<BrokerId> {
    ids.iter().copied().map(BrokerId).collect()
}
fn numbers(ids: &[BrokerId]) -> Vec<i32> {
    ids.iter().map(|id| id.0).collect()
}
/// Moves the first partition, or takes the move back.
fn reassign(cluster: &TestCluster, replicas: Option<&[i32]>) -> ErrorCode {
    reassign_one(cluster, 0, replicas)
}
fn reassign_one(cluster: &TestCluster, index: i32, replicas: Option<&[i32]>) -> ErrorCode {
    let asked = ReassignablePartition::default().with_partition_index(index).with_replicas(replicas.map(ids));
    let topic = ReassignableTopic::default().with_name(name()).with_partitions(vec![asked]);
    let request = AlterPartitionReassignmentsRequest::default().with_topics(vec![topic]);
    let response = Connection::to(cluster, 0).call(1, &request);
    ErrorCode::new(response.responses[0].partitions[0].error_code)
}
fn described(cluster: &TestCluster) -> DescribeTopicPartitionsResponsePartition {
    all_described(cluster).remove(0)
}
fn all_described(cluster: &TestCluster) -> Vec<DescribeTopicPartitionsResponsePartition> {
    let topic = TopicRequest::default().with_name(name());
    let request = DescribeTopicPartitionsRequest::default().with_topics(vec![topic]).with_response_partition_limit(10);
    Connection::to(cluster, 0).call(0, &request).topics.remove(0).partitions
}
/// Replicas, leader and leader epoch.
fn told(cluster: &TestCluster) -> (Vec<i32>, i32, i32) {
    let partition = described(cluster);
    (numbers(&partition.replica_nodes), partition.leader_id.0, partition.leader_epoch)
}
/// Who is added and who is removed.
fn under_way(cluster: &TestCluster) -> Option<(Vec<i32>, Vec<i32>)> {
    let request = ListPartitionReassignmentsRequest::default().with_topics(None);
    let topics = Connection::to(cluster, 0).call(0, &request).topics;
    let partition = &topics.first()?.partitions[0];
    Some((numbers(&partition.adding_replicas), numbers(&partition.removing_replicas)))
}
/// Who may lead besides who is in sync, and who led last.
fn eligible(cluster: &TestCluster) -> (Vec<i32>, Vec<i32>) {
    let partition = described(cluster);
    let of = |ids: &Option<Vec<BrokerId>>| numbers(ids.as_ref().expect("a list"));
    (of(&partition.eligible_leader_replicas), of(&partition.last_known_elr))
}

#[tokio::test]
async fn a_replica_that_goes_ends_its_leaders_epoch_though_that_one_leads_on() {
    let cluster = placed(TestCluster::builder(), &[1, 2, 3]).await;
    let (_, _, epoch) = told(&cluster);
    assert_eq!(reassign(&cluster, Some(&[1, 2])), ErrorCode::NONE);
    assert_eq!(told(&cluster), (vec![1, 2], 1, epoch + 1));
    assert_eq!(reassign(&cluster, Some(&[1, 2, 3])), ErrorCode::NONE);
    assert_eq!(told(&cluster), (vec![1, 2, 3], 1, epoch + 1), "nobody has gone");
    assert_eq!(reassign(&cluster, Some(&[2, 3, 1])), ErrorCode::NONE);
    assert_eq!(told(&cluster), (vec![2, 3, 1], 1, epoch + 1), "only the order is another");
}

#[tokio::test]
async fn a_move_that_is_taken_back_leaves_the_order_that_it_made() {
    let cluster = placed(TestCluster::builder(), &[1, 2]).await;
    cluster.crash(3);
    let (_, _, epoch) = told(&cluster);
    assert_eq!(reassign(&cluster, Some(&[3, 2])), ErrorCode::NONE);
    assert_eq!((told(&cluster), under_way(&cluster)), ((vec![3, 2, 1], 1, epoch), Some((vec![3], vec![1]))));
    assert_eq!(reassign(&cluster, None), ErrorCode::NONE);
    assert_eq!((told(&cluster), under_way(&cluster)), ((vec![2, 1], 1, epoch + 1), None));
    assert_eq!(reassign(&cluster, None), ErrorCode::NO_REASSIGNMENT_IN_PROGRESS);
}

#[tokio::test]
async fn a_move_upon_a_move_keeps_what_that_was_to_add() {
    let cluster = placed(TestCluster::builder(), &[1]).await;
    cluster.crash(3);
    assert_eq!(reassign(&cluster, Some(&[3])), ErrorCode::NONE);
    assert_eq!(under_way(&cluster), Some((vec![3], vec![1])));
    assert_eq!(reassign(&cluster, Some(&[1, 3])), ErrorCode::NONE);
    assert_eq!(under_way(&cluster), Some((vec![3], vec![1])), "Kafka keeps both lists where the new ones are empty");
    cluster.restart(3);
    assert_eq!((told(&cluster).0, under_way(&cluster)), (vec![3], None));
}

#[tokio::test]
async fn a_move_is_not_taken_back_when_nobody_in_sync_would_be_left() {
    let cluster = placed(TestCluster::builder(), &[3]).await;
    cluster.crash(3);
    assert_eq!(reassign(&cluster, Some(&[1])), ErrorCode::NONE);
    assert_eq!(reassign(&cluster, None), ErrorCode::INVALID_REPLICA_ASSIGNMENT);
    assert_eq!(under_way(&cluster), Some((vec![1], vec![3])));
}

#[tokio::test]
async fn a_partition_gets_fewer_replicas_once_all_that_stay_are_in_sync() {
    let cluster = placed(TestCluster::builder(), &[1, 2, 3]).await;
    cluster.crash(3);
    assert_eq!(reassign(&cluster, Some(&[1, 3])), ErrorCode::NONE);
    assert_eq!((told(&cluster).0, under_way(&cluster)), (vec![1, 3, 2], Some((vec![], vec![2]))));
    cluster.restart(3);
    assert_eq!((told(&cluster).0, under_way(&cluster)), (vec![1, 3], None));
}

#[tokio::test]
async fn a_killed_replica_leads_only_if_it_led_last_and_nobody_else_is_eligible() {
    let cluster = placed(TestCluster::builder().config("min.insync.replicas", "2"), &[2, 3]).await;
    cluster.crash(3);
    assert_eq!(eligible(&cluster), (vec![3], vec![]));
    cluster.crash(2);
    assert_eq!(eligible(&cluster), (vec![3, 2], vec![2]));
    cluster.restart(3);
    assert_eq!((told(&cluster).1, eligible(&cluster)), (-1, (vec![2], vec![2])), "its disk may have lost what it had");
    cluster.restart(2);
    assert_eq!((told(&cluster).1, eligible(&cluster)), (2, (vec![], vec![])));
}

/// With three in-sync replicas asked for, the two of the smaller partition are too few for ever, and who has gone stays eligible.
#[tokio::test]
async fn every_partition_counts_as_large_as_the_first_when_eligible_leaders_are_told() {
    let builder = TestCluster::builder().brokers(3).config("min.insync.replicas", "3");
    let cluster = builder.topic(TOPIC, 2).start().await;
    assert_eq!(reassign_one(&cluster, 0, Some(&[1, 2, 3])), ErrorCode::NONE);
    assert_eq!(reassign_one(&cluster, 1, Some(&[1, 2])), ErrorCode::NONE);
    let eligible = |index: usize| all_described(&cluster)[index].eligible_leader_replicas.clone();
    assert_eq!((eligible(0), eligible(1)), (Some(ids(&[])), Some(ids(&[3]))));
}

/// Who may lead is reckoned when a change is recorded, by the minimum from before it: what is appended afterwards changes nothing.
#[tokio::test]
async fn those_whom_a_move_takes_away_stay_eligible_until_the_next_change() {
    let cluster = placed(TestCluster::builder().config("min.insync.replicas", "3"), &[1, 2, 3]).await;
    assert_eq!(reassign(&cluster, Some(&[1])), ErrorCode::NONE);
    write(&mut Connection::to(&cluster, 1), TOPIC, batch(&["a"], &Stamp::plain()));
    assert_eq!((told(&cluster).0, eligible(&cluster)), (vec![1], (vec![3, 2], vec![])));
    assert_eq!(reassign(&cluster, Some(&[1, 2])), ErrorCode::NONE);
    assert_eq!((told(&cluster).0, eligible(&cluster)), (vec![1, 2], (vec![], vec![])));
}

/// Sets an option of the topic.
fn set(cluster: &TestCluster, name: &str, value: &str) {
    let [name, value] = [name, value].map(|text| StrBytes::from_string(text.to_owned()));
    let config = AlterableConfig::default().with_name(name).with_value(Some(value));
    let topic =
        AlterConfigsResource::default().with_resource_type(2).with_resource_name(StrBytes::from_static_str(TOPIC));
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![topic.with_configs(vec![config])]);
    assert_eq!(Connection::to(cluster, 0).call(1, &request).responses[0].error_code, 0);
}
/// Asks for the preferred leader of a partition.
fn prefer(cluster: &TestCluster, index: i32) -> ErrorCode {
    let asked = TopicPartitions::default().with_topic(name()).with_partitions(vec![index]);
    let response =
        Connection::to(cluster, 0).call(2, &ElectLeadersRequest::default().with_topic_partitions(Some(vec![asked])));
    ErrorCode::new(response.replica_election_results[0].partition_result[0].error_code)
}

/// Kafka's controller clears both lists with the option's record: they were made by another minimum.
#[tokio::test]
async fn nobody_is_eligible_once_another_minimum_is_set() {
    let cluster = placed(TestCluster::builder().config("min.insync.replicas", "2"), &[2, 3]).await;
    cluster.crash(3);
    cluster.crash(2);
    assert_eq!(eligible(&cluster), (vec![3, 2], vec![2]));
    set(&cluster, "min.insync.replicas", "2");
    assert_eq!(eligible(&cluster), (vec![], vec![]));
    cluster.restart(2);
    assert_eq!(told(&cluster).1, -1, "nobody knows any more that it led last");
}

/// The move of the first partition was done before the others were looked at, so that by its one replica nobody was eligible there any more.
#[tokio::test]
async fn a_node_that_comes_back_joins_all_partitions_by_the_minimum_from_before() {
    let cluster = TestCluster::builder().brokers(3).config("min.insync.replicas", "3").topic(TOPIC, 2).start().await;
    cluster.crash(3);
    assert_eq!(reassign_one(&cluster, 0, Some(&[3])), ErrorCode::NONE);
    cluster.crash(2);
    cluster.restart(3);
    let [first, second] = all_described(&cluster).try_into().expect("two partitions");
    assert_eq!(numbers(&first.replica_nodes), [3]);
    assert_eq!(second.eligible_leader_replicas, Some(ids(&[2])));
}

/// Each partition was reckoned by what the one before it had left, though the controller decides on all of them at once.
#[tokio::test]
async fn all_partitions_of_one_request_are_moved_by_the_minimum_from_before() {
    let cluster = TestCluster::builder().brokers(2).config("min.insync.replicas", "2").topic(TOPIC, 2).start().await;
    cluster.stop(2);
    let asked = [(0, &[1][..]), (1, &[2, 1])].map(|(index, replicas)| {
        ReassignablePartition::default().with_partition_index(index).with_replicas(Some(ids(replicas)))
    });
    let topic = ReassignableTopic::default().with_name(name()).with_partitions(asked.to_vec());
    let request = AlterPartitionReassignmentsRequest::default().with_topics(vec![topic]);
    let response = Connection::to(&cluster, 0).call(1, &request);
    assert!(response.responses[0].partitions.iter().all(|each| each.error_code == 0), "{response:?}");
    let [first, second] = all_described(&cluster).try_into().expect("two partitions");
    assert_eq!((numbers(&first.replica_nodes), numbers(&second.replica_nodes)), (vec![1], vec![2, 1]));
    assert_eq!(second.eligible_leader_replicas, Some(ids(&[2])));
}

/// The second time it was not needed any more.
#[tokio::test]
async fn who_is_named_twice_is_elected_once_and_told_so_twice() {
    let cluster = placed(TestCluster::builder(), &[1, 2]).await;
    cluster.move_leader((TOPIC, 0), 2);
    let asked = TopicPartitions::default().with_topic(name()).with_partitions(vec![0, 0]);
    let request = ElectLeadersRequest::default().with_topic_partitions(Some(vec![asked]));
    let response = Connection::to(&cluster, 0).call(2, &request);
    let results = response.replica_election_results[0].partition_result.iter();
    assert_eq!(results.map(|each| each.error_code).collect::<Vec<_>>(), [0, 0]);
    assert_eq!(told(&cluster).1, 1);
}

/// One of those who stayed eligible after a move was killed and came back: the other stayed for ever.
#[tokio::test]
async fn a_killed_node_that_comes_back_makes_all_be_reckoned_anew() {
    let cluster = placed(TestCluster::builder().config("min.insync.replicas", "3"), &[1, 2, 3]).await;
    assert_eq!(reassign(&cluster, Some(&[1])), ErrorCode::NONE);
    assert_eq!(eligible(&cluster).0, [3, 2]);
    cluster.crash(3);
    cluster.restart(3);
    assert_eq!(eligible(&cluster), (vec![], vec![]));
}

/// Kafka's leader looks at its high watermark when something moves, and an option is nothing that does.
#[tokio::test]
async fn what_a_lower_minimum_allows_is_read_after_the_next_append() {
    let cluster = placed(TestCluster::builder().config("min.insync.replicas", "2"), &[1, 2]).await;
    cluster.crash(2);
    let mut connection = Connection::to(&cluster, 0);
    let mut one = produce(TOPIC, 0, batch(&["a"], &Stamp::plain()), None);
    one.acks = 1;
    connection.call(9, &one);
    assert!(values(&connection.call(12, &fetch(TOPIC, 0, 0, 0))).is_empty());
    set(&cluster, "min.insync.replicas", "1");
    assert!(values(&connection.call(12, &fetch(TOPIC, 0, 0, 0))).is_empty());
    write(&mut connection, TOPIC, batch(&["b"], &Stamp::plain()));
    assert_eq!(values(&connection.call(12, &fetch(TOPIC, 0, 0, 0))), ["a", "b"]);
}

#[tokio::test]
async fn where_nobody_leads_the_election_of_the_preferred_replica_is_one_as_any_other() {
    let cluster = placed(TestCluster::builder(), &[3, 2]).await;
    cluster.crash(3);
    assert_eq!((prefer(&cluster, 0), told(&cluster).1), (ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE, 2));
    cluster.depose_leader((TOPIC, 0));
    assert_eq!((prefer(&cluster, 0), told(&cluster).1), (ErrorCode::NONE, 2));
}

/// The minimum counts no more replicas than the first partition has; when those become fewer, it is the next change of another partition
/// that forgets who was eligible there, and any change is a success.
#[tokio::test]
async fn an_election_that_only_forgets_who_was_eligible_succeeds() {
    let cluster = TestCluster::builder().brokers(3).config("min.insync.replicas", "2").topic(TOPIC, 2).start().await;
    assert_eq!(reassign_one(&cluster, 0, Some(&[1, 3])), ErrorCode::NONE);
    assert_eq!(reassign_one(&cluster, 1, Some(&[2, 1])), ErrorCode::NONE);
    cluster.crash(2);
    assert_eq!(reassign_one(&cluster, 0, Some(&[1])), ErrorCode::NONE);
    let eligible = || all_described(&cluster)[1].eligible_leader_replicas.clone();
    assert_eq!((prefer(&cluster, 1), eligible()), (ErrorCode::NONE, Some(ids(&[]))));
    assert_eq!(prefer(&cluster, 1), ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE);
}

/// Without eligible leader replicas, off until 4.1, the last in sync is never taken out, and alone may lead.
#[tokio::test]
async fn before_kafka_4_1_the_last_replica_in_sync_stays_so() {
    for release in ["2.8", "3.9", "4.0"] {
        let builder = TestCluster::builder().kafka_version(release).config("min.insync.replicas", "2");
        let cluster = builder.brokers(2).topic(TOPIC, 1).start().await;
        cluster.move_leader((TOPIC, 0), 2);
        cluster.crash(1);
        cluster.crash(2);
        cluster.restart(1);
        let mut first = Connection::to(&cluster, 0);
        let seen = |connection: &mut Connection| {
            let told = connection.call(9, &MetadataRequest::default().with_topics(None));
            let partition = &told.topics[0].partitions[0];
            (partition.leader_id.0, numbers(&partition.isr_nodes))
        };
        assert_eq!(seen(&mut first), (-1, vec![2]), "{release}");
        if release != "2.8" {
            assert_eq!(eligible(&cluster), (vec![], vec![]), "{release} has the API, and nobody to tell of");
        }
        cluster.restart(2);
        let (leader, isr) = seen(&mut first);
        assert_eq!((leader, isr.len()), (2, 2), "{release}");
    }
}

/// Before 3.7 nobody but producers who want all in-sync replicas hears of the minimum, and one that is more than all replicas is never met.
#[tokio::test]
async fn the_minimum_is_kept_to_and_can_be_met_since_kafka_3_7() {
    let told = |release: &'static str, wanted: &'static str| async move {
        let builder = TestCluster::builder().kafka_version(release).config("min.insync.replicas", wanted);
        let cluster = builder.brokers(1).topic(TOPIC, 1).start().await;
        let mut connection = Connection::to(&cluster, 0);
        let of_all = produced(&connection.call(9, &produce(TOPIC, 0, batch(&["a"], &Stamp::plain()), None))).0;
        ErrorCode::new(of_all)
    };
    assert_eq!(told("3.6", "2").await, ErrorCode::NOT_ENOUGH_REPLICAS);
    assert_eq!(told("3.7", "2").await, ErrorCode::NONE);
    for (release, read) in [("3.6", 1), ("3.7", 0)] {
        let builder = TestCluster::builder().kafka_version(release).config("min.insync.replicas", "2");
        let cluster = builder.brokers(2).topic(TOPIC, 1).start().await;
        cluster.crash(2);
        let mut connection = Connection::to(&cluster, 0);
        let mut one = produce(TOPIC, 0, batch(&["a"], &Stamp::plain()), None);
        one.acks = 1;
        connection.call(9, &one);
        assert_eq!(values(&connection.call(12, &fetch(TOPIC, 0, 0, 0))).len(), read, "{release}");
    }
}

#[tokio::test]
async fn a_follower_serves_what_it_has_though_nobody_leads() {
    let cluster = placed(TestCluster::builder(), &[2, 1]).await;
    write(&mut Connection::to(&cluster, 1), TOPIC, batch(&["a"], &Stamp::plain()));
    cluster.crash(1);
    write(&mut Connection::to(&cluster, 1), TOPIC, batch(&["b"], &Stamp::plain()));
    cluster.crash(2);
    cluster.restart(1);
    assert_eq!(told(&cluster).1, -1);
    assert_eq!(values(&Connection::to(&cluster, 0).call(12, &fetch(TOPIC, 0, 0, 0))), ["a"]);
}
