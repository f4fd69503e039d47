//! Requests that name very many things are answered in a time that grows as they do: within the half minute that this client waits for any
//! answer. What took the square of it was still at it then, and the cluster served nobody meanwhile (ten thousand wrong names of topics took
//! sixteen seconds).

use crate::client::{Connection, batch, produce, text};
use millstream_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use millstream_protocol::messages::alter_client_quotas_request::{EntityData, EntryData, OpData};
use millstream_protocol::messages::create_acls_request::AclCreation;
use millstream_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use millstream_protocol::messages::create_topics_request::CreatableTopic;
use millstream_protocol::messages::delete_acls_request::DeleteAclsFilter;
use millstream_protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use millstream_protocol::messages::describe_user_scram_credentials_request::UserName;
use millstream_protocol::messages::elect_leaders_request::TopicPartitions;
use millstream_protocol::messages::fetch_request::{FetchPartition, FetchTopic, ForgottenTopic};
use millstream_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use millstream_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use millstream_protocol::messages::leave_group_request::MemberIdentity;
use millstream_protocol::messages::list_partition_reassignments_request::ListPartitionReassignmentsTopics;
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use millstream_protocol::messages::offset_delete_response::OffsetDeleteResponseTopic;
use millstream_protocol::messages::{
    AddPartitionsToTxnRequest, AlterClientQuotasRequest, ConsumerGroupHeartbeatRequest, CreateAclsRequest,
    CreatePartitionsRequest, CreateTopicsRequest, DeleteAclsRequest, DeleteTopicsRequest, DescribeGroupsRequest,
    DescribeLogDirsRequest, DescribeUserScramCredentialsRequest, ElectLeadersRequest, FetchRequest, GroupId,
    IncrementalAlterConfigsRequest, InitProducerIdRequest, JoinGroupRequest, LeaveGroupRequest, ListGroupsRequest,
    ListPartitionReassignmentsRequest, ListTransactionsRequest, MetadataRequest, OffsetCommitRequest,
    OffsetDeleteRequest, ProduceRequest, TopicName, TransactionalId,
};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ApiKey, ErrorCode};
use millstream_testkit::TestCluster;

const MANY: usize = 20_000;
/// Half as many as one request may make partitions.
const TOPICS: usize = 5_000;
/// As many as one request may make of one topic.
const PARTITIONS: i32 = 10_000;

fn names() -> impl Iterator<Item = String> {
    (0..MANY).map(|number| format!("name-{number}"))
}
fn topics() -> impl Iterator<Item = String> {
    names().take(TOPICS)
}
fn topic(name: &str) -> TopicName {
    TopicName(text(name))
}
async fn cluster() -> TestCluster {
    TestCluster::builder().topic("t", 10_000).config("group.initial.rebalance.delay.ms", "0").start().await
}

#[tokio::test]
async fn very_many_topics_are_made_and_deleted() {
    let cluster = TestCluster::start().await;
    let mut connection = Connection::to(&cluster, 0);
    let asked = |name: String| CreatableTopic::default().with_name(topic(&name)).with_num_partitions(1);
    let asked: Vec<CreatableTopic> = topics().map(asked).collect();
    // All of these are wrong: there is no such number of replicas.
    let wrong = asked.iter().cloned().map(|topic| topic.with_replication_factor(9)).collect();
    let response = connection.call(7, &CreateTopicsRequest::default().with_topics(wrong));
    assert_eq!(response.topics.len(), TOPICS);
    assert!(response.topics.iter().all(|topic| topic.error_code == ErrorCode::INVALID_REPLICATION_FACTOR.get()));

    let right: Vec<CreatableTopic> = asked.into_iter().map(|topic| topic.with_replication_factor(1)).collect();
    let twice = right.iter().chain(&right).cloned().collect();
    let response = connection.call(7, &CreateTopicsRequest::default().with_topics(twice));
    assert_eq!(response.topics.len(), TOPICS, "what comes twice is answered once");
    assert!(response.topics.iter().all(|topic| topic.error_code == ErrorCode::INVALID_REQUEST.get()));
    let response = connection.call(7, &CreateTopicsRequest::default().with_topics(right));
    assert!(response.topics.iter().all(|topic| topic.error_code == 0));

    let more = topics().map(|name| CreatePartitionsTopic::default().with_name(topic(&name)).with_count(2));
    let more = more.map(|topic| topic.with_assignments(None)).collect();
    let response = connection.call(3, &CreatePartitionsRequest::default().with_topics(more));
    assert!(response.results.len() == TOPICS && response.results.iter().all(|result| result.error_code == 0));
    let gone = topics().map(|name| topic(&name)).collect();
    let response = connection.call(5, &DeleteTopicsRequest::default().with_topic_names(gone));
    assert!(response.responses.len() == TOPICS && response.responses.iter().all(|topic| topic.error_code == 0));
}

#[tokio::test]
async fn very_many_partitions_are_written_fetched_and_led() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 10_000).start().await;
    (0..PARTITIONS).for_each(|partition| cluster.move_leader(("t", partition), 1));
    let mut connection = Connection::to(&cluster, 0);
    // Its answer waits for the follower, and is looked at when each partition gets on.
    cluster.pause(2);
    let mut request = produce("t", 0, batch(&["a"], &Stamp::plain()), None);
    request.timeout_ms = 600_000;
    let first = request.topic_data[0].partition_data[0].clone();
    request.topic_data[0].partition_data = (0..PARTITIONS)
        .map(|index| {
            let mut partition = first.clone();
            partition.index = index;
            partition
        })
        .collect();
    connection.send(9, &request);
    cluster.requests().wait_for_count(ApiKey::PRODUCE, 1).await;
    cluster.resume(2);
    let response = connection.receive::<ProduceRequest>(9);
    assert!(response.responses[0].partition_responses.iter().all(|partition| partition.error_code == 0));

    let partition = |partition| FetchPartition { partition, partition_max_bytes: 1000, ..FetchPartition::default() };
    let all = || FetchTopic {
        topic: "t".into(),
        partitions: (0..PARTITIONS).map(partition).collect(),
        ..FetchTopic::default()
    };
    let full = FetchRequest { topics: vec![all()], max_bytes: 1 << 20, session_epoch: 0, ..FetchRequest::default() };
    let response = connection.call(11, &full);
    assert_eq!(response.responses[0].partitions.len(), 10_000);
    let next = FetchRequest { session_id: response.session_id, session_epoch: 1, ..full.clone() };
    let response = connection.call(11, &next);
    let forgotten =
        ForgottenTopic { topic: "t".into(), partitions: (0..PARTITIONS).collect(), ..ForgottenTopic::default() };
    let last = FetchRequest {
        session_id: response.session_id,
        session_epoch: 2,
        forgotten_topics_data: vec![forgotten],
        ..FetchRequest::default()
    };
    assert!(connection.call(11, &last).responses.is_empty());

    let asked = TopicPartitions::default().with_topic(topic("t")).with_partitions((0..PARTITIONS).collect());
    let response = connection.call(2, &ElectLeadersRequest::default().with_topic_partitions(Some(vec![asked])));
    assert_eq!(response.replica_election_results[0].partition_result.len(), 10_000);
    let asked = DescribableLogDirTopic::default().with_topic(topic("t")).with_partitions((0..PARTITIONS).collect());
    let response = connection.call(4, &DescribeLogDirsRequest::default().with_topics(Some(vec![asked])));
    assert_eq!(response.results[0].topics[0].partitions.len(), 10_000);
    let asked = ListPartitionReassignmentsTopics::default().with_name(topic("t"));
    let asked = vec![asked.with_partition_indexes((0..PARTITIONS).collect())];
    assert!(
        connection.call(0, &ListPartitionReassignmentsRequest::default().with_topics(Some(asked))).topics.is_empty()
    );
}

#[tokio::test]
async fn very_many_partitions_are_in_a_transaction_and_in_a_group() {
    let cluster = cluster().await;
    let mut connection = Connection::to(&cluster, 0);
    let init = InitProducerIdRequest::default().with_transaction_timeout_ms(60_000);
    let init = connection.call(4, &init.with_transactional_id(Some(TransactionalId(text("x")))));
    let asked = AddPartitionsToTxnTopic::default().with_name(topic("t")).with_partitions((0..PARTITIONS).collect());
    for verify_only in [false, true] {
        let transaction = AddPartitionsToTxnTransaction::default()
            .with_transactional_id(TransactionalId(text("x")))
            .with_producer_id(init.producer_id)
            .with_producer_epoch(init.producer_epoch)
            .with_verify_only(verify_only)
            .with_topics(vec![asked.clone()]);
        let response = connection.call(4, &AddPartitionsToTxnRequest::default().with_transactions(vec![transaction]));
        let results = &response.results_by_transaction[0].topic_results[0].results_by_partition;
        assert!(results.len() == 10_000 && results.iter().all(|each| each.partition_error_code == 0));
    }

    let each = (0..PARTITIONS).map(|index| OffsetCommitRequestPartition::default().with_partition_index(index));
    let asked = OffsetCommitRequestTopic::default().with_name(topic("t")).with_partitions(each.collect());
    let request = OffsetCommitRequest::default().with_group_id(GroupId(text("g"))).with_topics(vec![asked]);
    let response = connection.call(8, &request.with_generation_id_or_member_epoch(-1));
    assert!(response.topics[0].partitions.iter().all(|partition| partition.error_code == 0));
    let each = (0..PARTITIONS).map(|index| OffsetDeleteRequestPartition::default().with_partition_index(index));
    let asked = OffsetDeleteRequestTopic::default().with_name(topic("t")).with_partitions(each.collect());
    let request = OffsetDeleteRequest::default().with_group_id(GroupId(text("g"))).with_topics(vec![asked]);
    assert_eq!(connection.call(0, &request).topics[0].partitions.len(), 10_000);
}

#[tokio::test]
async fn members_know_very_many_assignors_and_very_many_leave() {
    let cluster = TestCluster::builder().config("group.initial.rebalance.delay.ms", "0").start().await;
    let protocols: Vec<JoinGroupRequestProtocol> =
        names().map(|name| JoinGroupRequestProtocol::default().with_name(text(&name))).collect();
    let join = |protocols: Vec<JoinGroupRequestProtocol>| {
        let request =
            JoinGroupRequest::default().with_group_id(GroupId(text("g"))).with_protocol_type(text("consumer"));
        request.with_session_timeout_ms(60_000).with_rebalance_timeout_ms(60_000).with_protocols(protocols)
    };
    // The one that they share comes last for the one and first for the other.
    let mut others: Vec<JoinGroupRequestProtocol> = names()
        .skip(1)
        .map(|name| JoinGroupRequestProtocol::default().with_name(text(&format!("other-{name}"))))
        .collect();
    others.push(protocols[0].clone());
    let mut first = Connection::to(&cluster, 0);
    let mut second = Connection::to(&cluster, 0);
    let id = first.call(3, &join(protocols.clone())).member_id;
    second.send(3, &join(others));
    cluster.requests().wait_for_count(ApiKey::JOIN_GROUP, 2).await;
    let again = first.call(3, &join(protocols).with_member_id(id));
    let joined = second.receive::<JoinGroupRequest>(3);
    assert_eq!((again.error_code, joined.error_code), (0, 0));
    assert_eq!(joined.protocol_name.as_deref(), Some("name-0"));

    // Names that are long enough for a frame of that many to be read.
    let leavers = names().map(|name| MemberIdentity::default().with_member_id(text(&format!("{name:>60}")))).collect();
    let request = LeaveGroupRequest::default().with_group_id(GroupId(text("g"))).with_members(leavers);
    assert_eq!(first.call(3, &request).members.len(), MANY);
}

// The last of all loops that looked for each entity among all others.
#[tokio::test]
async fn very_many_quotas_are_set() {
    let cluster = TestCluster::start().await;
    let mut connection = Connection::to(&cluster, 0);
    let entry = |name: String| {
        let entity = EntityData::default().with_entity_type(text("user")).with_entity_name(Some(text(&name)));
        let quota = OpData::default().with_key(text("producer_byte_rate")).with_value(1.0);
        EntryData::default().with_entity(vec![entity]).with_ops(vec![quota])
    };
    // Names that are long enough for an answer of that many to be read.
    let mut set = |names: Vec<String>| {
        let entries = names.into_iter().map(|name| entry(format!("{name:>100}"))).collect();
        connection.call(1, &AlterClientQuotasRequest::default().with_entries(entries)).entries
    };
    let told = set(names().collect());
    assert!(told.len() == MANY && told.iter().all(|entry| entry.error_code == 0));
    let told = set(names().chain(names()).collect());
    assert!(told.len() == MANY && told.iter().all(|entry| entry.error_code == ErrorCode::INVALID_REQUEST.get()));
}

#[tokio::test]
async fn positions_are_deleted_of_very_many_topics_beside_very_many_subscriptions() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let join = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_member_id(text("m"))
        .with_rebalance_timeout_ms(60_000)
        .with_topic_partitions(Some(Vec::new()))
        .with_subscribed_topic_names(Some(names().chain(["t".to_owned()]).map(|name| topic(&name)).collect()));
    assert_eq!(connection.call(1, &join).error_code, 0);
    let asked = |name: String| {
        let partition = OffsetDeleteRequestPartition::default();
        OffsetDeleteRequestTopic::default().with_name(topic(&name)).with_partitions(vec![partition])
    };
    let asked = names().map(|name| format!("other-{name}")).chain(["t".to_owned()]).map(asked).collect();
    let request = OffsetDeleteRequest::default().with_group_id(GroupId(text("g"))).with_topics(asked);
    let told = connection.call(0, &request).topics;
    let code = |topic: Option<&OffsetDeleteResponseTopic>| topic.map(|topic| topic.partitions[0].error_code);
    assert_eq!(code(told.first()), Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.get()));
    assert_eq!(code(told.last()), Some(ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC.get()));
}

#[tokio::test]
async fn very_many_rules_users_options_and_filters_are_looked_through() {
    let builder = TestCluster::builder().acls().super_user("User:ANONYMOUS");
    let cluster = builder.start().await;
    let mut connection = Connection::to(&cluster, 0);
    let rule = |name: String| {
        let rule = AclCreation::default().with_resource_type(2).with_resource_pattern_type(3).with_operation(3);
        let rule = rule.with_permission_type(3).with_principal(text("User:a")).with_host(text("*"));
        rule.with_resource_name(text(&name))
    };
    let rules: Vec<AclCreation> = names().map(rule).collect();
    for rules in rules.chunks(2000) {
        let response = connection.call(3, &CreateAclsRequest::default().with_creations(rules.to_vec()));
        assert!(response.results.iter().all(|result| result.error_code == 0));
    }
    let filter = |name: String| {
        let filter = DeleteAclsFilter::default().with_resource_type_filter(2).with_pattern_type_filter(3);
        filter.with_operation(1).with_permission_type(1).with_resource_name_filter(Some(text(&name)))
    };
    let filter = |name| filter(name).with_principal_filter(None).with_host_filter(None);
    let response = connection.call(3, &DeleteAclsRequest::default().with_filters(names().map(filter).collect()));
    assert!(response.filter_results.len() == MANY);
    assert!(response.filter_results.iter().all(|result| result.matching_acls.len() == 1));

    let users = names().chain(names()).map(|name| UserName::default().with_name(text(&name))).collect();
    let response = connection.call(0, &DescribeUserScramCredentialsRequest::default().with_users(Some(users)));
    assert!(response.results.len() == MANY);
    assert!(response.results.iter().all(|result| result.error_code == ErrorCode::DUPLICATE_RESOURCE.get()));

    let options = names().map(|name| AlterableConfig::default().with_name(text(&name)).with_value(Some(text("1"))));
    let group = AlterConfigsResource::default().with_resource_type(32).with_resource_name(text("g"));
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![group.with_configs(options.collect())]);
    assert_ne!(connection.call(1, &request).responses[0].error_code, 0);

    let filters = names().map(|name| text(&name)).collect();
    assert!(connection.call(4, &ListGroupsRequest::default().with_states_filter(filters)).groups.is_empty());
    let filters = names().map(|name| text(&name)).collect();
    let response = connection.call(0, &ListTransactionsRequest::default().with_state_filters(filters));
    assert_eq!(response.unknown_state_filters.len(), MANY);
}

// A name of one byte has an answer of megabytes: told a million times, it is all the memory that there is.
#[tokio::test]
async fn what_is_asked_for_again_and_again_is_answered_once_or_not_at_all() {
    let cluster = cluster().await;
    let mut connection = Connection::to(&cluster, 0);
    let asked = |times: usize| vec![MetadataRequestTopic::default().with_name(Some(topic("t"))); times];
    let response = connection.call(12, &MetadataRequest::default().with_topics(Some(asked(MANY))));
    assert_eq!(response.topics.len(), 1, "as Kafka, it tells each topic once");
    let mut describe = |times: usize| {
        let groups = vec![GroupId(text("g")); times];
        let response = connection.call(5, &DescribeGroupsRequest::default().with_groups(groups));
        (response.groups.len(), response.groups[0].error_code)
    };
    assert_eq!(describe(100), (100, 0));
    assert_eq!(describe(101), (101, ErrorCode::INVALID_REQUEST.get()));
}

// A hundred times a group whose member told nine megabytes was an answer of a gigabyte; with a larger member the process ended for want of memory.
#[tokio::test]
async fn a_large_group_is_not_told_again_and_again() {
    let cluster = cluster().await;
    let mut connection = Connection::to(&cluster, 0);
    let protocol = JoinGroupRequestProtocol::default().with_name(text("range")).with_metadata(vec![7; 9 << 20].into());
    let join = JoinGroupRequest::default()
        .with_group_id(GroupId(text("large")))
        .with_session_timeout_ms(30_000)
        .with_rebalance_timeout_ms(30_000)
        .with_protocol_type(text("consumer"))
        .with_protocols(vec![protocol]);
    assert_eq!(connection.call(3, &join).error_code, 0);
    let mut describe = |times: usize| {
        let groups = vec![GroupId(text("large")); times];
        let response = connection.call(5, &DescribeGroupsRequest::default().with_groups(groups));
        (response.groups.len(), response.groups[0].error_code)
    };
    assert_eq!(describe(1), (1, 0));
    assert_eq!(describe(50), (50, ErrorCode::INVALID_REQUEST.get()));
}
