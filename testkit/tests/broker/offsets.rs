//! Committed offsets, and offsets by time.

use crate::client::{Connection, batch, text, write};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use millstream_protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use millstream_protocol::messages::{
    DeleteGroupsRequest, GroupId, ListOffsetsRequest, OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest,
    TopicName,
};
use millstream_protocol::record::Stamp;
use millstream_testkit::TestCluster;

fn commit(connection: &mut Connection, topic: &str, offset: i64, metadata: &str, generation: i32) -> ErrorCode {
    let partition = OffsetCommitRequestPartition::default()
        .with_committed_offset(offset)
        .with_committed_metadata(Some(text(metadata)));
    let topic = OffsetCommitRequestTopic::default().with_name(TopicName(text(topic))).with_partitions(vec![partition]);
    let request = OffsetCommitRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_generation_id_or_member_epoch(generation)
        .with_topics(vec![topic]);
    ErrorCode::new(connection.call(8, &request).topics[0].partitions[0].error_code)
}
fn committed(connection: &mut Connection, group: &str) -> (i64, String, ErrorCode) {
    let topic = OffsetFetchRequestTopics::default().with_name(TopicName(text("t"))).with_partition_indexes(vec![0]);
    let group = OffsetFetchRequestGroup::default().with_group_id(GroupId(text(group))).with_topics(Some(vec![topic]));
    let response =
        connection.call(8, &OffsetFetchRequest::default().with_groups(vec![group]).with_require_stable(true));
    let partition = &response.groups[0].topics[0].partitions[0];
    (
        partition.committed_offset,
        partition.metadata.as_deref().unwrap_or_default().to_owned(),
        ErrorCode::new(partition.error_code),
    )
}

#[tokio::test]
async fn offsets_are_kept_without_members() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(committed(&mut connection, "g"), (-1, String::new(), ErrorCode::NONE));
    assert_eq!(commit(&mut connection, "t", 5, "note", -1), ErrorCode::NONE);
    assert_eq!(committed(&mut connection, "g"), (5, "note".to_owned(), ErrorCode::NONE));
}

#[tokio::test]
async fn what_is_wrong_with_a_commit_is_told() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(commit(&mut connection, "t", 5, "", 3), ErrorCode::ILLEGAL_GENERATION);
    assert_eq!(commit(&mut connection, "u", 5, "", -1), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    assert_eq!(commit(&mut connection, "t", 5, &"x".repeat(4096), -1), ErrorCode::NONE);
    assert_eq!(commit(&mut connection, "t", 6, &"x".repeat(4097), -1), ErrorCode::OFFSET_METADATA_TOO_LARGE);
    assert_eq!(commit(&mut connection, "t", 6, "", 3), ErrorCode::UNKNOWN_MEMBER_ID);
    assert_eq!(committed(&mut connection, "g").0, 5);
}

#[tokio::test]
async fn offsets_and_groups_are_deleted() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    commit(&mut connection, "t", 5, "", -1);
    let partition = OffsetDeleteRequestPartition::default().with_partition_index(0);
    let topic = OffsetDeleteRequestTopic::default().with_name(TopicName(text("t"))).with_partitions(vec![partition]);
    let response =
        connection.call(0, &OffsetDeleteRequest::default().with_group_id(GroupId(text("g"))).with_topics(vec![topic]));
    assert_eq!((response.error_code, response.topics[0].partitions[0].error_code), (0, 0));
    assert_eq!(committed(&mut connection, "g").0, -1);

    let mut delete = || {
        connection.call(2, &DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text("g"))])).results[0]
            .error_code
    };
    assert_eq!(delete(), 0);
    assert_eq!(ErrorCode::new(delete()), ErrorCode::GROUP_ID_NOT_FOUND);
}

#[tokio::test]
async fn a_group_is_served_by_its_coordinator_alone() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    let answers = [0, 1].map(|node| commit(&mut Connection::to(&cluster, node), "t", 5, "", -1));
    assert!(answers.contains(&ErrorCode::NONE) && answers.contains(&ErrorCode::NOT_COORDINATOR), "{answers:?}");
}

#[tokio::test]
async fn offsets_are_found_by_time() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", batch(&["a", "b", "c"], &Stamp::plain()));
    write(&mut connection, "t", batch(&["d"], &Stamp::plain()));
    let mut at = |timestamp: i64| {
        let partition = ListOffsetsPartition::default().with_timestamp(timestamp);
        let topic = ListOffsetsTopic::default().with_name(TopicName(text("t"))).with_partitions(vec![partition]);
        let response = connection.call(7, &ListOffsetsRequest::default().with_topics(vec![topic]));
        let partition = &response.topics[0].partitions[0];
        (partition.offset, partition.timestamp)
    };
    // Earliest, latest, newest; then times between the records, which are at 1000, 1001, 1002 and again 1000.
    assert_eq!([at(-2), at(-1), at(-3)], [(0, -1), (4, -1), (2, 1002)]);
    assert_eq!([at(0), at(1001), at(1002), at(1003)], [(0, 1000), (1, 1001), (2, 1002), (-1, -1)]);
}
