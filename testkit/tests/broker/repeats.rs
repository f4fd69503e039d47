//! One thing that a request names again and again: it costs no more than the request has room for, and is answered as Kafka does.

use crate::client::{Connection, batch, fetch, produce, text, values, write};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use millstream_protocol::messages::alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic};
use millstream_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use millstream_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use millstream_protocol::messages::list_partition_reassignments_request::ListPartitionReassignmentsTopics;
use millstream_protocol::messages::produce_request::PartitionProduceData;
use millstream_protocol::messages::write_txn_markers_request::{WritableTxnMarker, WritableTxnMarkerTopic};
use millstream_protocol::messages::{
    AddPartitionsToTxnRequest, AlterPartitionReassignmentsRequest, BrokerId, DescribeGroupsRequest, GroupId,
    InitProducerIdRequest, ListOffsetsRequest, ListPartitionReassignmentsRequest, ProducerId as WireId, RecordData,
    StrBytes, TopicName, TransactionalId, WriteTxnMarkersRequest,
};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ProducerEpoch, ProducerId};
use millstream_testkit::TestCluster;

const MANY: usize = 20_000;

fn name() -> TopicName {
    TopicName(StrBytes::from_static_str("t"))
}
/// The newest offsets of a topic's partitions, each asked for as often as it is named.
fn ends(connection: &mut Connection, topic: &str, partitions: &[i32]) -> Vec<(i32, i64, ErrorCode)> {
    let asked = |index: &i32| ListOffsetsPartition::default().with_partition_index(*index).with_timestamp(-1);
    let topics = partitions.iter().map(|index| {
        let topic = ListOffsetsTopic::default().with_name(TopicName(text(topic)));
        topic.with_partitions(vec![asked(index)])
    });
    let response = connection.call(7, &ListOffsetsRequest::default().with_topics(topics.collect()));
    let found = response.topics.iter().flat_map(|topic| &topic.partitions);
    found.map(|each| (each.partition_index, each.offset, ErrorCode::new(each.error_code))).collect()
}

/// Each time that is looked up reads a batch: a request had room for a million of them.
#[tokio::test]
async fn times_of_a_partition_that_is_named_twice_are_not_looked_up() {
    let cluster = TestCluster::builder().topic("t", 2).start().await;
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", batch(&["a"], &Stamp::plain()));
    let refused = (1, -1, ErrorCode::INVALID_REQUEST);
    assert_eq!(ends(&mut connection, "t", &[1, 0, 1, 1]), [refused, (0, 1, ErrorCode::NONE)]);
}

/// Each time it was read again: Kafka makes a table of them first.
#[tokio::test]
async fn a_partition_is_fetched_once_from_where_it_is_named_last() {
    let cluster = TestCluster::builder().topic("t", 2).start().await;
    let mut connection = Connection::to(&cluster, 0);
    for value in ["a", "b"] {
        write(&mut connection, "t", batch(&[value], &Stamp::plain()));
    }
    let mut request = fetch("t", 0, 0, 0);
    let asked = request.topics[0].partitions.remove(0);
    let named = |partition, fetch_offset| FetchPartition { partition, fetch_offset, ..asked.clone() };
    let topic = FetchTopic { partitions: vec![named(0, 0), named(1, 0)], ..request.topics[0].clone() };
    let again = FetchTopic { partitions: vec![named(0, 1)], ..request.topics[0].clone() };
    request.topics = vec![topic, again];
    let response = connection.call(12, &request);
    let told = response.responses.iter().flat_map(|topic| &topic.partitions).map(|each| each.partition_index);
    assert_eq!((told.collect::<Vec<_>>(), values(&response)), (vec![0, 1], vec!["b".to_owned()]));
}

/// A million groups that there are not took ten seconds, in which nobody else was answered.
#[tokio::test]
async fn a_request_names_no_more_things_than_are_done_at_once() {
    let cluster = TestCluster::start().await;
    let mut connection = Connection::to(&cluster, 0);
    let groups = vec![GroupId(text("g")); 200_001];
    connection.send(5, &DescribeGroupsRequest::default().with_groups(groups));
    assert_eq!(connection.payload(), None);
    let all = cluster.requests().all();
    let why = all[0].closed_because().expect("it was closed");
    assert!(why.contains("200000"), "{why}");
}

/// Of a topic with many partitions all were looked at, each time that it was named.
#[tokio::test]
async fn moves_are_looked_for_where_they_are_asked_for() {
    let cluster = TestCluster::builder().topic("t", 10_000).start().await;
    let asked = ListPartitionReassignmentsTopics::default().with_name(name()).with_partition_indexes(vec![7, 7]);
    let request = ListPartitionReassignmentsRequest::default().with_topics(Some(vec![asked; MANY]));
    assert_eq!(Connection::to(&cluster, 0).call(0, &request).topics, []);
}

/// Each time its followers were let fetch, and whoever waited for it was looked at.
#[tokio::test]
async fn a_partition_is_moved_as_often_as_it_is_named() {
    let cluster = TestCluster::builder().brokers(3).topic("t", 1).start().await;
    let to = |id: usize| {
        let replicas = vec![BrokerId(i32::try_from(id % 3 + 1).expect("a small number"))];
        ReassignablePartition::default().with_partition_index(0).with_replicas(Some(replicas))
    };
    let topic = ReassignableTopic::default().with_name(name()).with_partitions((0..MANY).map(to).collect());
    let request = AlterPartitionReassignmentsRequest::default().with_topics(vec![topic]);
    let response = Connection::to(&cluster, 0).call(1, &request);
    assert_eq!(response.responses[0].partitions.len(), MANY);
    assert!(response.responses[0].partitions.iter().all(|each| each.error_code == 0));
}

/// Each naming was a record more: a request of some megabytes wrote hundreds.
#[tokio::test]
async fn a_marker_is_written_once_to_a_partition() {
    let cluster = TestCluster::builder().topic("t", 2).start().await;
    let topic = WritableTxnMarkerTopic::default().with_name(name()).with_partition_indexes(vec![1, 0, 1]);
    let marker = WritableTxnMarker::default().with_producer_id(WireId(7)).with_topics(vec![topic; MANY]);
    let mut connection = Connection::to(&cluster, 0);
    let response = connection.call(1, &WriteTxnMarkersRequest::default().with_markers(vec![marker]));
    let told = response.markers[0].topics[0].partitions.iter().map(|each| (each.partition_index, each.error_code));
    assert_eq!(told.collect::<Vec<_>>(), [(0, 0), (1, 0)]);
    assert_eq!(response.markers[0].topics.len(), 1);
    assert_eq!(ends(&mut connection, "t", &[0, 1]), [(0, 1, ErrorCode::NONE), (1, 1, ErrorCode::NONE)]);
}

/// How many records the transaction coordinator has written.
fn written(connection: &mut Connection) -> i64 {
    ends(connection, "__transaction_state", &(0..50).collect::<Vec<_>>()).iter().map(|(_, end, _)| end).sum()
}
/// Each record has all partitions of its transaction: with one for each partition that a request added, a few megabytes wrote gigabytes.
#[tokio::test]
async fn what_a_request_adds_to_a_transaction_is_written_down_once() {
    let cluster = TestCluster::builder().topic("t", 9).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let id = TransactionalId(text("x"));
    let request = InitProducerIdRequest::default().with_transaction_timeout_ms(60_000);
    let holder = connection.call(5, &request.with_transactional_id(Some(id.clone())));
    let before = written(&mut connection);
    let adding = |index: i32| {
        let topic = AddPartitionsToTxnTopic::default().with_name(name()).with_partitions(vec![index]);
        let transaction = AddPartitionsToTxnTransaction::default().with_transactional_id(id.clone());
        let transaction = transaction.with_producer_id(holder.producer_id).with_producer_epoch(holder.producer_epoch);
        transaction.with_topics(vec![topic])
    };
    let added =
        connection.call(4, &AddPartitionsToTxnRequest::default().with_transactions((0..3).map(adding).collect()));
    let mut codes = added.results_by_transaction.iter().map(|each| &each.topic_results[0].results_by_partition[0]);
    assert!(codes.all(|each| each.partition_error_code == 0), "{added:?}");
    assert_eq!(written(&mut connection) - before, 1);
    // A producer adds by writing.
    let stamp =
        Stamp::transactional(ProducerId::new(holder.producer_id.0), ProducerEpoch::new(holder.producer_epoch), 0);
    let records = batch(&["a"], &stamp);
    let mut produce = produce("t", 3, records.clone(), Some("x"));
    let data = |index| PartitionProduceData { index, records: RecordData::from(records.clone()), ..Default::default() };
    produce.topic_data[0].partition_data.extend((4..9).map(data));
    let response = connection.call(12, &produce);
    assert!(response.responses[0].partition_responses.iter().all(|each| each.error_code == 0), "{response:?}");
    assert_eq!(written(&mut connection) - before, 2);
}
