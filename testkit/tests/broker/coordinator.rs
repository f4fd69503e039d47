//! The group coordinator: what it writes to `__consumer_offsets`, where it is, what it forgets.

use crate::client::{Connection, fetch, text};
use bytes::Bytes;
use millstream_protocol::embedded::{GroupKey, GroupValue};
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use millstream_protocol::messages::{
    ConsumerGroupHeartbeatRequest, DeleteGroupsRequest, FindCoordinatorRequest, GroupId, ListGroupsRequest,
    OffsetCommitRequest, OffsetFetchRequest, TopicName, Uuid,
};
use millstream_protocol::record::{CrcCheck, batches};
use millstream_protocol::{Decompressor, ErrorCode};
use millstream_testkit::TestCluster;
use std::time::Duration;

const OFFSETS: &str = "__consumer_offsets";
/// The partition, of one, of the group `g`, whose name's hash is 103.
const PARTITION: i32 = 3;

async fn cluster() -> TestCluster {
    TestCluster::builder().topic("t", 2).config("offsets.topic.num.partitions", "10").start().await
}
fn commit(connection: &mut Connection, group: &str, offset: i64) -> ErrorCode {
    let partition = OffsetCommitRequestPartition::default()
        .with_committed_offset(offset)
        .with_committed_metadata(Some(text("note")));
    let topic = OffsetCommitRequestTopic::default().with_name(TopicName(text("t"))).with_partitions(vec![partition]);
    let request = OffsetCommitRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic]);
    ErrorCode::new(connection.call(9, &request).topics[0].partitions[0].error_code)
}
/// All records of the group's partition: keys, and values where there are.
fn records(connection: &mut Connection) -> Vec<(GroupKey, Option<GroupValue>)> {
    let response = connection.call(12, &fetch(OFFSETS, PARTITION, 0, 0));
    let bytes = response.responses[0].partitions[0].records.clone().into_bytes().unwrap_or_default();
    let mut found = Vec::new();
    for batch in batches(bytes) {
        let decoded = batch.expect("whole batches").decode(&mut Decompressor::new(), CrcCheck::Check);
        for record in decoded.expect("a valid batch").iter() {
            let key = GroupKey::decode(&Bytes::copy_from_slice(record.key.expect("a key"))).expect("a known key");
            let value = record
                .value
                .map(|value| key.decode_value(&Bytes::copy_from_slice(value)).expect("a value of the key's kind").1);
            found.push((key, value));
        }
    }
    found
}

#[tokio::test]
async fn what_was_committed_can_be_read_in_the_offsets_topic() {
    let cluster = cluster().await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(commit(&mut connection, "g", 7), ErrorCode::NONE);
    let found = records(&mut connection);
    let [(GroupKey::OffsetCommit(key), Some(GroupValue::OffsetCommit(value)))] = &found[..] else {
        panic!("one offset, not {found:?}")
    };
    assert_eq!((key.group.as_str(), key.topic.as_str(), key.partition), ("g", "t", 0));
    assert_eq!((value.offset, value.metadata.as_str()), (7, "note"));
    assert!(!value.topic_id.is_nil());
    // What is deleted leaves a tombstone.
    let request = DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text("g"))]);
    assert_eq!(connection.call(2, &request).results[0].error_code, 0);
    assert!(matches!(&records(&mut connection)[..], [_, (GroupKey::OffsetCommit(_), None)]));
}

#[tokio::test]
async fn a_consumer_groups_facts_are_records_and_their_ends_tombstones() {
    let cluster = cluster().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut beat = |epoch: i32| {
        let request = ConsumerGroupHeartbeatRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(text("m"))
            .with_member_epoch(epoch)
            .with_rebalance_timeout_ms(1000)
            .with_subscribed_topic_names(Some(vec![TopicName(text("t"))]))
            .with_topic_partitions(Some(Vec::new()));
        assert_eq!(connection.call(1, &request).error_code, 0);
        records(&mut connection)
    };
    let types = |records: &[(GroupKey, Option<GroupValue>)]| {
        records.iter().map(|(key, value)| (key.record_type(), value.is_some())).collect::<Vec<_>>()
    };
    let joined = beat(0);
    assert_eq!(types(&joined), [(3, true), (5, true), (6, true), (7, true), (8, true)]);
    let current = joined.iter().find_map(|(_, value)| match value {
        Some(GroupValue::ConsumerGroupCurrentMemberAssignment(value)) => Some(value),
        _ => None,
    });
    let current = current.expect("what the member has");
    assert_eq!((current.member_epoch, current.assigned_partitions[0].partitions.clone()), (2, vec![0, 1]));
    let left = beat(-1);
    assert_eq!(types(&left[5..8]), [(8, false), (7, false), (5, false)], "of the member nothing stays");
}

#[tokio::test]
async fn the_coordinator_is_who_leads_the_groups_partition() {
    let cluster =
        TestCluster::builder().brokers(3).topic("t", 2).config("offsets.topic.num.partitions", "10").start().await;
    let find = || {
        let request = FindCoordinatorRequest::default().with_coordinator_keys(vec![text("g")]);
        Connection::to(&cluster, 0).call(4, &request).coordinators[0].node_id.0
    };
    let list = |node: i32| {
        let mut connection = Connection::to(&cluster, usize::try_from(node - 1).unwrap());
        connection.call(5, &ListGroupsRequest::default()).groups.len()
    };
    let first = find();
    let mut old = Connection::to(&cluster, usize::try_from(first - 1).unwrap());
    assert_eq!(commit(&mut old, "g", 1), ErrorCode::NONE);
    let next = first % 3 + 1;
    cluster.move_leader((OFFSETS, PARTITION), next);
    assert_eq!(find(), next);
    assert_eq!(commit(&mut old, "g", 2), ErrorCode::NOT_COORDINATOR);
    let mut new = Connection::to(&cluster, usize::try_from(next - 1).unwrap());
    assert_eq!(commit(&mut new, "g", 2), ErrorCode::NONE);
    assert_eq!((list(first), list(next)), (0, 1));
}

#[tokio::test]
async fn topics_may_be_named_by_their_ids() {
    let cluster = cluster().await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(commit(&mut connection, "g", 7), ErrorCode::NONE);
    let mut find = |topics: Option<Vec<Uuid>>| {
        let topics = topics.map(|ids| {
            let topic = |id| OffsetFetchRequestTopics::default().with_topic_id(id).with_partition_indexes(vec![0]);
            ids.into_iter().map(topic).collect()
        });
        let group = OffsetFetchRequestGroup::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(None)
            .with_member_epoch(-1)
            .with_topics(topics);
        connection.call(10, &OffsetFetchRequest::default().with_groups(vec![group])).groups.remove(0).topics
    };
    let all = find(None);
    let id = all[0].topic_id;
    assert_eq!((all.len(), id.is_nil(), all[0].partitions[0].committed_offset), (1, false, 7));
    assert_eq!(find(Some(vec![id]))[0].partitions[0].committed_offset, 7);
    let unknown = find(Some(vec![Uuid::from_u128(9)])).remove(0).partitions.remove(0);
    assert_eq!(ErrorCode::new(unknown.error_code), ErrorCode::UNKNOWN_TOPIC_ID);
}

#[tokio::test]
async fn what_nobody_uses_is_forgotten_after_its_time() {
    let cluster = TestCluster::builder()
        .topic("t", 2)
        .config("offsets.retention.minutes", "1")
        .config("offsets.retention.check.interval.ms", "50")
        .start()
        .await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(commit(&mut connection, "g", 7), ErrorCode::NONE);
    cluster.advance_brokers(Duration::from_secs(61));
    assert!(connection.call(5, &ListGroupsRequest::default()).groups.is_empty());
    // While a member reads the topic, its positions stay.
    let join = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(text("h")))
        .with_member_id(text("m"))
        .with_rebalance_timeout_ms(1000)
        .with_subscribed_topic_names(Some(vec![TopicName(text("t"))]))
        .with_topic_partitions(Some(Vec::new()));
    assert_eq!(connection.call(1, &join).error_code, 0);
    assert_eq!(commit(&mut connection, "g", 8), ErrorCode::NONE);
    for _ in 0..2 {
        cluster.advance_brokers(Duration::from_secs(31));
        assert_eq!(connection.call(1, &join).error_code, 0, "its session goes on");
    }
    let left = connection.call(5, &ListGroupsRequest::default()).groups;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].group_id.0.as_str(), "h");
}

/// The rest is the coordinator's to judge: it is not asked about what is not there.
#[tokio::test]
async fn positions_in_topics_that_are_not_there_are_refused_as_such_whoever_commits() {
    let cluster = cluster().await;
    let topic = |name: &str| {
        let partition = OffsetCommitRequestPartition::default().with_committed_offset(1);
        OffsetCommitRequestTopic::default().with_name(TopicName(text(name))).with_partitions(vec![partition])
    };
    let request = OffsetCommitRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_generation_id_or_member_epoch(3)
        .with_member_id(text("nobody"))
        .with_topics(vec![topic("missing"), topic("t")]);
    let response = Connection::to(&cluster, 0).call(9, &request);
    let codes: Vec<_> = response.topics.iter().map(|topic| ErrorCode::new(topic.partitions[0].error_code)).collect();
    assert_eq!(codes, [ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, ErrorCode::GROUP_ID_NOT_FOUND]);
}

/// As those have it who keep positions without a group.
#[tokio::test]
async fn positions_may_be_kept_under_the_empty_name() {
    let cluster = cluster().await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(commit(&mut connection, "", 7), ErrorCode::NONE);
    let listed = connection.call(5, &ListGroupsRequest::default());
    assert_eq!(listed.groups.iter().map(|group| group.group_id.0.as_str()).collect::<Vec<_>>(), [""]);
    let twice = DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text("")), GroupId(text(""))]);
    let deleted = connection.call(2, &twice);
    assert_eq!(deleted.results.iter().map(|result| result.error_code).collect::<Vec<_>>(), [0]);
}
