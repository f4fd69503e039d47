//! What a cluster keeps has bounds: of records, of all else that clients make it remember, of partitions. Each test drives one kind to its bound,
//! whose answer is a code that clients know, and finds that the cluster goes on.

use crate::client::{Connection, PATIENCE, batch, connect, produce, text, write};
use crate::transactions::{Producer, TV1, TV2};
use bytes::Bytes;
use millstream_protocol::messages::alter_client_quotas_request::{EntityData, EntryData, OpData};
use millstream_protocol::messages::alter_user_scram_credentials_request::ScramCredentialUpsertion;
use millstream_protocol::messages::create_acls_request::AclCreation;
use millstream_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use millstream_protocol::messages::create_topics_request::CreatableTopic;
use millstream_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use millstream_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use millstream_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use millstream_protocol::messages::leave_group_request::MemberIdentity;
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use millstream_protocol::messages::{
    AlterClientQuotasRequest, AlterUserScramCredentialsRequest, ConsumerGroupHeartbeatRequest, CreateAclsRequest,
    CreatePartitionsRequest, CreateTopicsRequest, DeleteGroupsRequest, DeleteTopicsRequest, FetchRequest, GroupId,
    IncrementalAlterConfigsRequest, InitProducerIdRequest, JoinGroupRequest, LeaveGroupRequest, MetadataRequest,
    OffsetCommitRequest, SyncGroupRequest, TopicName, TransactionalId,
};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ErrorCode, ProducerEpoch, ProducerId};
use millstream_testkit::{TestCluster, TestClusterBuilder};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Room for a few dozen of each thing, beside the cluster's own topics.
fn small() -> TestClusterBuilder {
    let builder = TestCluster::builder().topic("t", 1).config("millstream.max.state.bytes", "400000");
    builder.config("offsets.topic.num.partitions", "1").config("transaction.state.log.num.partitions", "1")
}
/// A text of four thousand bytes that is unlike others.
fn long(number: usize) -> String {
    format!("{number:04000}")
}
/// Does something again and again, each time otherwise, until it is refused: says with what, after how many.
fn until_refused(mut act: impl FnMut(usize) -> i16) -> (ErrorCode, usize) {
    let refused = (0..1000).find_map(|number| Some((act(number), number)).filter(|(code, _)| *code != 0));
    let (code, number) = refused.expect("a thousand times as much as there is room for");
    (ErrorCode::new(code), number)
}
/// What was refused stays so, and all else is served.
fn assert_bounded((code, times): (ErrorCode, usize), expected: ErrorCode) {
    assert_eq!(code, expected);
    assert!((10..200).contains(&times), "refused after {times}");
}

#[tokio::test]
async fn records_are_refused_when_the_cluster_keeps_as_many_bytes_as_it_may() {
    let cluster = TestCluster::builder().topic("t", 1).config("millstream.max.record.bytes", "100000").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let value = "x".repeat(4000);
    let mut told = None;
    let refused = until_refused(|_| {
        let response = connection.call(9, &produce("t", 0, batch(&[&value], &Stamp::plain()), None));
        let partition = &response.responses[0].partition_responses[0];
        told = partition.error_message.as_ref().map(ToString::to_string);
        partition.error_code
    });
    assert_bounded(refused, ErrorCode::KAFKA_STORAGE_ERROR);
    let told = told.expect("a reason");
    assert!(told.contains("may keep 100000 (millstream.max.record.bytes)"), "{told}");
    // Who makes room may write again.
    connection.call(5, &DeleteTopicsRequest::default().with_topic_names(vec![TopicName(text("t"))]));
    cluster.create_topic("u", 1);
    cluster.advance_brokers(Duration::from_secs(1));
    assert_eq!(write(&mut connection, "u", batch(&[&value], &Stamp::plain())), (0, 0));
}

// Retention deletes records, not who wrote them.
#[tokio::test]
async fn producers_are_refused_when_a_partition_remembers_as_many_as_it_may() {
    let cluster = TestCluster::builder().topic("t", 1).config("millstream.max.record.bytes", "20000").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let refused = until_refused(|number| {
        let id = ProducerId::new(i64::try_from(number).expect("few"));
        let stamp = Stamp::idempotent(id, ProducerEpoch::new(0), 0);
        write(&mut connection, "t", batch(&["a"], &stamp)).0
    });
    assert_bounded(refused, ErrorCode::KAFKA_STORAGE_ERROR);
}

#[tokio::test]
async fn partitions_are_refused_beyond_as_many_as_there_may_be() {
    let builder = TestCluster::builder().topic("t", 4).config("millstream.max.partitions", "10");
    let cluster = builder.config("num.partitions", "3").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut create = |name: &str, count: i32| {
        let topic = CreatableTopic::default().with_name(TopicName(text(name))).with_num_partitions(count);
        let request = CreateTopicsRequest::default().with_topics(vec![topic.with_replication_factor(1)]);
        let result = connection.call(7, &request).topics.remove(0);
        (ErrorCode::new(result.error_code), result.error_message.map(|reason| reason.to_string()))
    };
    let reason = "The cluster has 4 partitions and may have 10 (millstream.max.partitions), not 7 more.".to_owned();
    assert_eq!(create("u", 7), (ErrorCode::POLICY_VIOLATION, Some(reason)));
    assert_eq!(create("u", 4), (ErrorCode::NONE, None));
    let mut more = |count: i32| {
        let topic = CreatePartitionsTopic::default().with_name(TopicName(text("t"))).with_count(count);
        let request = CreatePartitionsRequest::default().with_topics(vec![topic.with_assignments(None)]);
        ErrorCode::new(connection.call(3, &request).results[0].error_code)
    };
    assert_eq!(more(7), ErrorCode::POLICY_VIOLATION);
    let used = |connection: &mut Connection, name: &str| {
        let topic = MetadataRequestTopic::default().with_name(Some(TopicName(text(name))));
        let request = MetadataRequest::default().with_topics(Some(vec![topic])).with_allow_auto_topic_creation(true);
        ErrorCode::new(connection.call(12, &request).topics[0].error_code)
    };
    assert_eq!(used(&mut connection, "v"), ErrorCode::POLICY_VIOLATION);
    connection.call(5, &DeleteTopicsRequest::default().with_topic_names(vec![TopicName(text("u"))]));
    assert_eq!(used(&mut connection, "v"), ErrorCode::NONE);
}

// Those of the start were not held against it.
#[test]
fn a_cluster_does_not_start_with_more_partitions_than_it_may_have() {
    let builder = || TestCluster::builder().topic("t", 4).config("millstream.max.partitions", "10");
    let error = builder().topic("u", 7).try_start().expect_err("they are eleven").to_string();
    let reason = "the topic `u` cannot be: The cluster has 4 partitions and may have 10 (millstream.max.partitions), not 7 more.";
    assert_eq!(error, reason);
    assert!(builder().topic("u", 6).try_start().is_ok());
}

// A name takes a timer until its topic is made.
#[tokio::test]
async fn topics_that_are_yet_to_be_made_count() {
    let builder = TestCluster::builder().config("millstream.max.partitions", "20");
    let cluster = builder.config("millstream.auto.create.delay.ms", "3600000").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let refused = until_refused(|number| {
        let topic = MetadataRequestTopic::default().with_name(Some(TopicName(text(&format!("t{number}")))));
        let request = MetadataRequest::default().with_topics(Some(vec![topic])).with_allow_auto_topic_creation(true);
        match ErrorCode::new(connection.call(12, &request).topics[0].error_code) {
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION | ErrorCode::LEADER_NOT_AVAILABLE => 0,
            other => other.get(),
        }
    });
    assert_eq!(refused, (ErrorCode::POLICY_VIOLATION, 20));
}

fn join(group: &str, metadata: &str) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default().with_name(text("range"));
    JoinGroupRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_session_timeout_ms(30_000)
        .with_rebalance_timeout_ms(30_000)
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol.with_metadata(Bytes::copy_from_slice(metadata.as_bytes()))])
}

#[tokio::test]
async fn members_of_classic_groups_have_a_bound_in_all() {
    let cluster = small().config("group.initial.rebalance.delay.ms", "0").start().await;
    let mut connection = Connection::to(&cluster, 0);
    // Version 3 gives no id out first.
    let refused = until_refused(|number| connection.call(3, &join(&format!("g{number}"), &long(0))).error_code);
    assert_bounded(refused, ErrorCode::GROUP_MAX_SIZE_REACHED);
}

// Whoever had to join again, since somebody else did, was turned away as if it were new: the group lost its members one by one.
#[tokio::test]
async fn members_that_are_known_go_on_when_nobody_new_is_let_in() {
    let cluster = small().config("group.initial.rebalance.delay.ms", "0").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let joined = connection.call(3, &join("first", &long(0)));
    let beat = |topic: &str, epoch: i32| {
        ConsumerGroupHeartbeatRequest::default()
            .with_group_id(GroupId(text("consumers")))
            .with_member_id(text("m"))
            .with_member_epoch(epoch)
            .with_rebalance_timeout_ms(1000)
            .with_topic_partitions(Some(Vec::new()))
            .with_subscribed_topic_names(Some(vec![TopicName(text(topic))]))
    };
    assert_eq!(connection.call(1, &beat(&long(0), 0)).error_code, 0);
    assert_bounded(
        until_refused(|number| connection.call(3, &join(&format!("g{number}"), &long(0))).error_code),
        ErrorCode::GROUP_MAX_SIZE_REACHED,
    );
    let again = connection.call(3, &join("first", &long(1)).with_member_id(joined.member_id.clone()));
    assert_eq!(again.error_code, 0);
    let assignment = SyncGroupRequestAssignment::default().with_member_id(joined.member_id.clone());
    let sync = SyncGroupRequest::default()
        .with_group_id(GroupId(text("first")))
        .with_member_id(joined.member_id.clone())
        .with_generation_id(again.generation_id)
        .with_assignments(vec![assignment.with_assignment(Bytes::from(long(2)))]);
    assert_eq!(connection.call(3, &sync).error_code, 0);
    assert_eq!(connection.call(1, &beat(&long(1), 0)).error_code, 0);
    // What is kept for them has a bound of its own.
    let refused = until_refused(|number| {
        let larger = "x".repeat(4000 * number);
        connection.call(3, &join("first", &larger).with_member_id(joined.member_id.clone())).error_code
    });
    assert_eq!(refused.0, ErrorCode::GROUP_MAX_SIZE_REACHED);
}

#[tokio::test]
async fn ids_that_are_given_out_and_never_used_have_a_bound() {
    let cluster = small().start().await;
    let mut connection = Connection::to(&cluster, 0);
    let refused = until_refused(|number| match connection.call(9, &join(&long(number), "")).error_code {
        code if code == ErrorCode::MEMBER_ID_REQUIRED.get() => 0,
        code => code,
    });
    assert_bounded(refused, ErrorCode::GROUP_MAX_SIZE_REACHED);
}

#[tokio::test]
async fn members_of_consumer_groups_have_a_bound_in_all() {
    let cluster = small().start().await;
    let mut connection = Connection::to(&cluster, 0);
    let refused = until_refused(|number| {
        let request = ConsumerGroupHeartbeatRequest::default()
            .with_group_id(GroupId(text("g")))
            .with_member_id(text(&format!("m{number}")))
            .with_rebalance_timeout_ms(1000)
            .with_topic_partitions(Some(Vec::new()))
            .with_subscribed_topic_names(Some(vec![TopicName(text(&long(number)))]));
        connection.call(1, &request).error_code
    });
    assert_bounded(refused, ErrorCode::GROUP_MAX_SIZE_REACHED);
}

fn commit(connection: &mut Connection, group: &str, metadata: &str) -> i16 {
    let partition = OffsetCommitRequestPartition::default().with_committed_metadata(Some(text(metadata)));
    let topic = OffsetCommitRequestTopic::default().with_name(TopicName(text("t")));
    let request = OffsetCommitRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic.with_partitions(vec![partition])]);
    connection.call(8, &request).topics[0].partitions[0].error_code
}

// A position that is committed again and again is one position, but each time a record more; only producers' records were counted.
#[tokio::test]
async fn what_coordinators_write_down_counts_as_records() {
    let cluster = TestCluster::builder().topic("t", 1).config("millstream.max.record.bytes", "100000").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let refused = until_refused(|number| commit(&mut connection, "g", &long(number)));
    assert_bounded(refused, ErrorCode::INVALID_COMMIT_OFFSET_SIZE);
}

// Who took over a transactional id again and again wrote a record each time, and nothing counted them until the cleaner came.
#[tokio::test]
async fn takeovers_are_refused_when_there_is_no_room_to_write_them_down() {
    let cluster = TestCluster::builder().config("millstream.max.record.bytes", "20000").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let request = InitProducerIdRequest::default().with_transaction_timeout_ms(60_000);
    let request = request.with_transactional_id(Some(TransactionalId(text("x"))));
    assert_bounded(until_refused(|_| connection.call(4, &request).error_code), ErrorCode::POLICY_VIOLATION);
}

// An abort of nothing is written down as well, and nothing counted it.
#[tokio::test]
async fn aborts_of_nothing_are_refused_when_there_is_no_room_to_write_them_down() {
    let cluster = TestCluster::builder().config("millstream.max.record.bytes", "20000").start().await;
    let mut producer = Producer::init(&cluster);
    assert_bounded(until_refused(|_| producer.end(TV2, false).get()), ErrorCode::POLICY_VIOLATION);
}

#[tokio::test]
async fn a_transaction_that_is_open_can_be_ended_however_little_room_there_is() {
    let cluster = TestCluster::builder().topic("t", 1).config("millstream.max.record.bytes", "20000").start().await;
    let mut producer = Producer::init(&cluster);
    assert_eq!(producer.add_partition(), ErrorCode::NONE);
    let mut connection = Connection::to(&cluster, 0);
    let request = InitProducerIdRequest::default().with_transaction_timeout_ms(60_000);
    let request = request.with_transactional_id(Some(TransactionalId(text("y"))));
    assert_bounded(until_refused(|_| connection.call(4, &request).error_code), ErrorCode::POLICY_VIOLATION);
    assert_eq!(producer.end(TV2, true), ErrorCode::NONE);
    assert_eq!(producer.end(TV2, false), ErrorCode::POLICY_VIOLATION, "nothing is open any more");
}

#[tokio::test]
async fn members_may_leave_however_little_room_there_is() {
    let cluster = small().config("group.initial.rebalance.delay.ms", "0").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let joined = connection.call(3, &join("first", &long(0)));
    let refused = until_refused(|number| {
        let larger = "x".repeat(4000 * number);
        connection.call(3, &join("first", &larger).with_member_id(joined.member_id.clone())).error_code
    });
    assert_eq!(refused.0, ErrorCode::GROUP_MAX_SIZE_REACHED);
    let leaving = MemberIdentity::default().with_member_id(joined.member_id.clone());
    let request = LeaveGroupRequest::default().with_group_id(GroupId(text("first"))).with_members(vec![leaving]);
    assert_eq!(connection.call(5, &request).members[0].error_code, 0);
}

#[tokio::test]
async fn positions_have_a_bound_and_room_is_made_by_deleting_groups() {
    let cluster = small().start().await;
    let mut connection = Connection::to(&cluster, 0);
    let commit = |connection: &mut Connection, number: usize| commit(connection, &format!("g{number}"), &long(number));
    let (code, times) = until_refused(|number| commit(&mut connection, number));
    assert_bounded((code, times), ErrorCode::INVALID_COMMIT_OFFSET_SIZE);
    let groups = (0..times).map(|number| GroupId(text(&format!("g{number}")))).collect();
    connection.call(2, &DeleteGroupsRequest::default().with_groups_names(groups));
    cluster.advance_brokers(Duration::from_secs(1));
    assert_eq!(commit(&mut connection, times), 0);
}

#[tokio::test]
async fn transactional_ids_have_a_bound_and_those_that_are_known_go_on() {
    let cluster = small().start().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut init = |number: usize| {
        let request = InitProducerIdRequest::default().with_transaction_timeout_ms(60_000);
        connection.call(4, &request.with_transactional_id(Some(TransactionalId(text(&long(number)))))).error_code
    };
    assert_bounded(until_refused(&mut init), ErrorCode::POLICY_VIOLATION);
    assert_eq!(init(0), 0);
}

// Who came back was let in, and could then add nothing to its transactions.
#[tokio::test]
async fn a_known_producer_goes_on_with_transactions_when_nobody_new_is_let_in() {
    let cluster = small().start().await;
    let mut producer = Producer::init(&cluster);
    let mut connection = Connection::to(&cluster, 0);
    let refused = until_refused(|number| connection.call(3, &join(&format!("g{number}"), &long(0))).error_code);
    assert_bounded(refused, ErrorCode::GROUP_MAX_SIZE_REACHED);
    // Until there is no room for what is as small as the producer's own requests.
    let (refused, _) = until_refused(|number| {
        let request = InitProducerIdRequest::default().with_transaction_timeout_ms(60_000);
        let id = TransactionalId(text(&number.to_string()));
        connection.call(4, &request.with_transactional_id(Some(id))).error_code
    });
    assert_eq!(refused, ErrorCode::POLICY_VIOLATION);
    assert_eq!((producer.add_partition(), producer.add_group()), (ErrorCode::NONE, ErrorCode::NONE));
    assert_eq!((producer.commit_offset(4, 1), producer.end(TV1, true)), (ErrorCode::NONE, ErrorCode::NONE));
}

#[tokio::test]
async fn rules_options_quotas_and_credentials_have_a_bound() {
    let cluster = small().acls().super_user("User:ANONYMOUS").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let rule = AclCreation::default().with_resource_type(2).with_resource_pattern_type(3).with_operation(3);
    let rule = rule.with_permission_type(3).with_principal(text("User:a")).with_host(text("*"));
    let refused = until_refused(|number| {
        let creations = vec![rule.clone().with_resource_name(text(&long(number)))];
        connection.call(3, &CreateAclsRequest::default().with_creations(creations)).results[0].error_code
    });
    assert_bounded(refused, ErrorCode::POLICY_VIOLATION);

    // Nothing more is remembered, whatever it is.
    let option =
        AlterableConfig::default().with_name(text("consumer.session.timeout.ms")).with_value(Some(text("45000")));
    let group = AlterConfigsResource::default().with_resource_type(32).with_resource_name(text(&long(1)));
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![group.with_configs(vec![option])]);
    assert_eq!(connection.call(1, &request).responses[0].error_code, ErrorCode::POLICY_VIOLATION.get());
    let entity = EntityData::default().with_entity_type(text("user")).with_entity_name(Some(text(&long(1))));
    let quota = OpData::default().with_key(text("producer_byte_rate")).with_value(1.0);
    let entry = EntryData::default().with_entity(vec![entity]).with_ops(vec![quota]);
    let request = AlterClientQuotasRequest::default().with_entries(vec![entry]);
    assert_eq!(connection.call(1, &request).entries[0].error_code, ErrorCode::POLICY_VIOLATION.get());
    let user = ScramCredentialUpsertion::default().with_name(text(&long(1))).with_mechanism(1).with_iterations(4096);
    let request = AlterUserScramCredentialsRequest::default().with_upsertions(vec![user]);
    assert_eq!(connection.call(0, &request).results[0].error_code, ErrorCode::POLICY_VIOLATION.get());
}

#[tokio::test]
async fn fetch_sessions_beyond_the_bound_are_not_opened() {
    let cluster = small().start().await;
    let mut connection = Connection::to(&cluster, 0);
    let partitions: Vec<FetchPartition> =
        (0..100).map(|partition| FetchPartition { partition, ..FetchPartition::default() }).collect();
    let topic = FetchTopic { topic: "t".into(), partitions, ..FetchTopic::default() };
    let request = FetchRequest { topics: vec![topic], session_epoch: 0, ..FetchRequest::default() };
    let sessions: Vec<i32> = (0..50).map(|_| connection.call(11, &request).session_id).collect();
    assert!(sessions[0] > 0 && sessions[49] == 0, "{sessions:?}");
}

#[test]
fn a_bound_is_a_number() {
    for key in ["millstream.max.record.bytes", "millstream.max.state.bytes", "millstream.max.partitions"] {
        let refused =
            TestCluster::builder().config(key, "-1").try_start().map(drop).expect_err("it is none").to_string();
        assert_eq!(refused, format!("the broker option `{key}` cannot be `-1`"));
    }
}

// Any number of clients could each send almost all of a large request, and wait.
#[tokio::test]
async fn parts_of_requests_have_a_bound_over_all_connections() {
    let cluster = TestCluster::builder().config("millstream.max.buffer.bytes", "1000000").start().await;
    let mut part = 10_000_000_i32.to_be_bytes().to_vec();
    part.resize(100_000, 0);
    let mut held: Vec<TcpStream> = (0..20).map(|_| connect(&cluster.bootstrap_servers())).collect();
    for stream in &mut held {
        // Whoever is closed already is counted below.
        let _ = stream.write_all(&part);
    }
    let is_open = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(1))).expect("a timeout can be set");
        let read = stream.read(&mut [0]);
        read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    };
    let begun = Instant::now();
    while held.len() > 10 {
        held.retain_mut(is_open);
        assert!(begun.elapsed() < PATIENCE, "{} of 20 are open", held.len());
    }
    assert!(!held.is_empty(), "those that fit are left alone");
    // Who asks for little is served meanwhile, and who comes after them as well.
    Connection::to(&cluster, 0).call(12, &MetadataRequest::default());
    drop(held);
    assert_eq!(cluster.requests().count(millstream_protocol::ApiKey::METADATA), 1);
}
