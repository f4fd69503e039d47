//! Who may do what: alice has the rules that a test gives her, admin may everything.

use crate::client::{Connection, batch, fetch, produce, text};
use crate::sasl::plain;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::create_acls_request::AclCreation;
use millstream_protocol::messages::create_topics_request::CreatableTopic;
use millstream_protocol::messages::delete_acls_request::DeleteAclsFilter;
use millstream_protocol::messages::describe_configs_request::DescribeConfigsResource;
use millstream_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use millstream_protocol::messages::{
    AddOffsetsToTxnRequest, ConsumerGroupHeartbeatRequest, CreateAclsRequest, CreateTopicsRequest, DeleteAclsRequest,
    DescribeAclsRequest, DescribeClusterRequest, DescribeConfigsRequest, DescribeGroupsRequest, FindCoordinatorRequest,
    GroupId, HeartbeatRequest, InitProducerIdRequest, ListGroupsRequest, ListOffsetsRequest, MetadataRequest,
    OffsetCommitRequest, OffsetFetchRequest, TopicName, TransactionalId, Uuid,
};
use millstream_protocol::record::Stamp;
use millstream_testkit::{TestCluster, TestClusterBuilder};

const TOPIC: i8 = 2;
const GROUP: i8 = 3;
const CLUSTER: i8 = 4;
const TRANSACTIONAL_ID: i8 = 5;
const LITERAL: i8 = 3;
const PREFIXED: i8 = 4;
const ALL: i8 = 2;
const READ: i8 = 3;
const WRITE: i8 = 4;
const CREATE: i8 = 5;
const DESCRIBE: i8 = 8;
const DENY: i8 = 2;
const ALLOW: i8 = 3;
const ANY: i8 = 1;
const MATCH: i8 = 2;

fn builder() -> TestClusterBuilder {
    let builder = TestCluster::builder().topic("orders", 1).topic("secrets", 1).sasl(&["PLAIN"]);
    builder.user("admin", "a").user("alice", "b").acls().super_user("User:admin")
}
fn login(cluster: &TestCluster, user: &str, password: &str) -> Connection {
    let mut connection = Connection::to(cluster, 0);
    assert_eq!(plain(&mut connection, user, password).error_code, 0);
    connection
}
/// A rule about alice.
fn rule(resource_type: i8, pattern_type: i8, name: &str, operation: i8, permission: i8) -> AclCreation {
    AclCreation::default()
        .with_resource_type(resource_type)
        .with_resource_pattern_type(pattern_type)
        .with_resource_name(text(name))
        .with_principal(text("User:alice"))
        .with_host(text("*"))
        .with_operation(operation)
        .with_permission_type(permission)
}
fn make(admin: &mut Connection, rules: Vec<AclCreation>) -> Vec<(i16, Option<String>)> {
    let results = admin.call(3, &CreateAclsRequest::default().with_creations(rules)).results;
    results.into_iter().map(|result| (result.error_code, result.error_message.map(|text| text.to_string()))).collect()
}
fn named(name: &str) -> MetadataRequestTopic {
    MetadataRequestTopic::default().with_name(Some(TopicName(text(name))))
}
/// Topics in a Metadata answer, with their codes.
fn told(connection: &mut Connection, request: &MetadataRequest) -> Vec<(String, ErrorCode)> {
    let topics = connection.call(12, request).topics;
    topics.iter().map(|topic| (topic.name.as_ref().unwrap().0.to_string(), ErrorCode::new(topic.error_code))).collect()
}

#[tokio::test]
async fn topics_are_judged_each_alone() {
    let cluster = builder().start().await;
    let mut admin = login(&cluster, "admin", "a");
    let mut alice = login(&cluster, "alice", "b");
    let both = MetadataRequest::default().with_topics(Some(vec![named("orders"), named("secrets")]));
    let all = MetadataRequest::default().with_topics(None);
    let denied = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    assert_eq!(told(&mut alice, &both), [("orders".to_owned(), denied), ("secrets".to_owned(), denied)]);
    assert_eq!(told(&mut alice, &all), []);

    make(&mut admin, vec![rule(TOPIC, LITERAL, "orders", READ, ALLOW), rule(TOPIC, LITERAL, "new", DESCRIBE, ALLOW)]);
    let described = [("orders".to_owned(), ErrorCode::NONE), ("secrets".to_owned(), denied)];
    assert_eq!(told(&mut alice, &both), described, "reading implies describing");
    assert_eq!(told(&mut alice, &all), [("orders".to_owned(), ErrorCode::NONE)]);
    let new = MetadataRequest::default().with_topics(Some(vec![named("new")])).with_allow_auto_topic_creation(true);
    assert_eq!(told(&mut alice, &new), [("new".to_owned(), denied)], "describing is not creating");

    let records = || batch(&["a"], &Stamp::plain());
    let code = |connection: &mut Connection, topic: &str| {
        connection.call(9, &produce(topic, 0, records(), None)).responses[0].partition_responses[0].error_code
    };
    assert_eq!(code(&mut alice, "orders"), denied.get(), "reading is not writing");
    assert_eq!(code(&mut admin, "orders"), 0);
    let read = |connection: &mut Connection, topic: &str| {
        connection.call(11, &fetch(topic, 0, 0, 0)).responses[0].partitions[0].error_code
    };
    assert_eq!((read(&mut alice, "orders"), read(&mut alice, "secrets")), (0, denied.get()));
    assert_eq!(read(&mut alice, "nowhere"), denied.get(), "what there is not is not told");

    let topic = |name: &str| {
        let partition = ListOffsetsPartition::default().with_timestamp(-1);
        ListOffsetsTopic::default().with_name(TopicName(text(name))).with_partitions(vec![partition])
    };
    let request = ListOffsetsRequest::default().with_topics(vec![topic("secrets"), topic("orders")]);
    let offsets = alice.call(7, &request).topics;
    let codes: Vec<_> = offsets.iter().map(|topic| (topic.name.0.as_str(), topic.partitions[0].error_code)).collect();
    assert_eq!(codes, [("orders", 0), ("secrets", denied.get())]);

    let mut silent = produce("orders", 0, records(), None);
    silent.acks = 0;
    alice.send_unanswered(9, &silent);
    assert_eq!(alice.payload(), None, "without acknowledgements only the connection's end tells");
    assert_eq!(cluster.records("orders").len(), 1);
}

#[tokio::test]
async fn a_denial_and_a_prefix_count() {
    let cluster = builder().start().await;
    let mut admin = login(&cluster, "admin", "a");
    let mut alice = login(&cluster, "alice", "b");
    let rules = vec![rule(TOPIC, PREFIXED, "team-", ALL, ALLOW), rule(TOPIC, LITERAL, "team-secret", CREATE, DENY)];
    make(&mut admin, rules);
    let topics = ["team-a", "team-secret", "other"].map(|name| {
        CreatableTopic::default().with_name(TopicName(text(name))).with_num_partitions(1).with_replication_factor(1)
    });
    let request = CreateTopicsRequest::default().with_topics(topics.to_vec()).with_timeout_ms(1000);
    let answers = alice.call(7, &request).topics;
    let codes: Vec<_> = answers.iter().map(|topic| (topic.name.0.as_str(), ErrorCode::new(topic.error_code))).collect();
    let denied = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    assert_eq!(codes, [("team-a", ErrorCode::NONE), ("team-secret", denied), ("other", denied)]);
}

#[tokio::test]
async fn groups_and_transactions_have_codes_of_their_own() {
    let cluster = builder().start().await;
    let mut admin = login(&cluster, "admin", "a");
    let mut alice = login(&cluster, "alice", "b");
    let group = ErrorCode::GROUP_AUTHORIZATION_FAILED.get();
    let id = ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED.get();
    assert_eq!(alice.call(4, &HeartbeatRequest::default().with_group_id(GroupId(text("g")))).error_code, group);
    let find = FindCoordinatorRequest::default().with_coordinator_keys(vec![text("g")]);
    assert_eq!(alice.call(4, &find).coordinators[0].error_code, group);
    assert_eq!(alice.call(4, &find.with_key_type(1)).coordinators[0].error_code, id);
    let described = alice.call(5, &DescribeGroupsRequest::default().with_groups(vec![GroupId(text("g"))]));
    assert_eq!(described.groups[0].error_code, group);
    let init = |id: Option<&str>| {
        let id = id.map(|id| TransactionalId(text(id)));
        InitProducerIdRequest::default().with_transactional_id(id).with_transaction_timeout_ms(1000)
    };
    assert_eq!(alice.call(4, &init(Some("t"))).error_code, id);
    assert_eq!(alice.call(4, &init(None)).error_code, ErrorCode::CLUSTER_AUTHORIZATION_FAILED.get());

    let rules = vec![
        rule(GROUP, LITERAL, "g", READ, ALLOW),
        rule(TRANSACTIONAL_ID, LITERAL, "t", WRITE, ALLOW),
        rule(TOPIC, LITERAL, "orders", WRITE, ALLOW),
        rule(TOPIC, LITERAL, "orders", READ, ALLOW),
    ];
    make(&mut admin, rules);
    assert_eq!(alice.call(4, &init(None)).error_code, 0, "whoever may write somewhere gets a producer id");
    let producer = alice.call(4, &init(Some("t")));
    assert_eq!(producer.error_code, 0);
    let add = AddOffsetsToTxnRequest::default()
        .with_transactional_id(TransactionalId(text("t")))
        .with_producer_id(producer.producer_id)
        .with_producer_epoch(producer.producer_epoch)
        .with_group_id(GroupId(text("others")));
    assert_eq!(alice.call(3, &add).error_code, group, "the transactional id is alice's, the group is not");

    let topic = |name: &str| {
        OffsetCommitRequestTopic::default()
            .with_name(TopicName(text(name)))
            .with_partitions(vec![OffsetCommitRequestPartition::default().with_committed_offset(5)])
    };
    let commit = OffsetCommitRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic("secrets"), topic("orders")]);
    let answers = alice.call(8, &commit).topics;
    let codes: Vec<_> = answers.iter().map(|topic| (topic.name.0.as_str(), topic.partitions[0].error_code)).collect();
    assert_eq!(codes, [("orders", 0), ("secrets", ErrorCode::TOPIC_AUTHORIZATION_FAILED.get())]);

    let topics = ["secrets", "orders"].map(|name| {
        OffsetFetchRequestTopics::default().with_name(TopicName(text(name))).with_partition_indexes(vec![0])
    });
    let groups = vec![
        OffsetFetchRequestGroup::default().with_group_id(GroupId(text("g"))).with_topics(Some(topics.to_vec())),
        OffsetFetchRequestGroup::default().with_group_id(GroupId(text("others"))).with_topics(None),
    ];
    let answers = alice.call(8, &OffsetFetchRequest::default().with_groups(groups)).groups;
    let partition = |topic: usize| {
        let partition = &answers[0].topics[topic].partitions[0];
        (partition.committed_offset, partition.error_code)
    };
    assert_eq!((partition(0), partition(1)), ((5, 0), (-1, ErrorCode::TOPIC_AUTHORIZATION_FAILED.get())));
    assert_eq!(answers[1].error_code, group);
    let listed = alice.call(4, &ListGroupsRequest::default()).groups;
    assert_eq!(listed.iter().map(|group| group.group_id.0.as_str()).collect::<Vec<_>>(), ["g"]);
}

/// The empty name beside an id was judged, about which there is no rule.
#[tokio::test]
async fn a_topic_that_is_meant_by_its_id_is_judged_by_its_name() {
    let cluster = builder().start().await;
    let mut admin = login(&cluster, "admin", "a");
    let mut alice = login(&cluster, "alice", "b");
    make(&mut admin, vec![rule(GROUP, LITERAL, "g", READ, ALLOW), rule(TOPIC, LITERAL, "orders", READ, ALLOW)]);
    let all = admin.call(12, &MetadataRequest::default().with_topics(None)).topics;
    let id = |name: &str| all.iter().find(|topic| *topic.name.as_ref().unwrap().0 == *name).unwrap().topic_id;
    let asked = [id("orders"), id("secrets"), Uuid::from_u128(0xdead)];
    let topics = asked.map(|id| {
        let partition = OffsetCommitRequestPartition::default().with_committed_offset(5);
        OffsetCommitRequestTopic::default().with_topic_id(id).with_partitions(vec![partition])
    });
    let commit = OffsetCommitRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(topics.to_vec());
    let answers = alice.call(10, &commit).topics;
    let code = |id: Uuid| answers.iter().find(|topic| topic.topic_id == id).unwrap().partitions[0].error_code;
    let codes = asked.map(|id| ErrorCode::new(code(id)));
    assert_eq!(codes, [ErrorCode::NONE, ErrorCode::TOPIC_AUTHORIZATION_FAILED, ErrorCode::UNKNOWN_TOPIC_ID]);
}

#[tokio::test]
async fn operations_that_are_allowed_are_told() {
    let cluster = builder().start().await;
    let mut admin = login(&cluster, "admin", "a");
    let mut alice = login(&cluster, "alice", "b");
    make(
        &mut admin,
        vec![rule(TOPIC, LITERAL, "orders", READ, ALLOW), rule(CLUSTER, LITERAL, "kafka-cluster", DESCRIBE, ALLOW)],
    );
    let request = MetadataRequest::default()
        .with_topics(Some(vec![named("orders")]))
        .with_include_topic_authorized_operations(true);
    let operations = |connection: &mut Connection| connection.call(12, &request).topics[0].topic_authorized_operations;
    assert_eq!(operations(&mut alice), 1 << READ | 1 << DESCRIBE);
    assert_eq!(operations(&mut admin), 0b1101_1111_1000);
    let request = DescribeClusterRequest::default().with_include_cluster_authorized_operations(true);
    assert_eq!(alice.call(0, &request).cluster_authorized_operations, 1 << DESCRIBE);
    assert_eq!(admin.call(0, &request).cluster_authorized_operations, 0b1_1111_1010_0000);

    let resource = |kind: i8, name: &str| {
        DescribeConfigsResource::default().with_resource_type(kind).with_resource_name(text(name))
    };
    let request = DescribeConfigsRequest::default().with_resources(vec![resource(2, "orders"), resource(4, "1")]);
    let answers = alice.call(4, &request).results;
    let codes: Vec<_> = answers.iter().map(|result| ErrorCode::new(result.error_code)).collect();
    assert_eq!(codes, [ErrorCode::TOPIC_AUTHORIZATION_FAILED, ErrorCode::CLUSTER_AUTHORIZATION_FAILED]);
}

#[tokio::test]
async fn rules_are_made_found_and_removed() {
    let cluster = builder().start().await;
    let mut admin = login(&cluster, "admin", "a");
    let mut alice = login(&cluster, "alice", "b");
    let filter = |pattern_type: i8, name: Option<&str>| {
        DescribeAclsRequest::default()
            .with_resource_type_filter(ANY)
            .with_pattern_type_filter(pattern_type)
            .with_resource_name_filter(name.map(text))
            .with_principal_filter(None)
            .with_host_filter(None)
            .with_operation(ANY)
            .with_permission_type(ANY)
    };
    assert_eq!(alice.call(3, &filter(ANY, None)).error_code, ErrorCode::CLUSTER_AUTHORIZATION_FAILED.get());
    let wrong = |reason: &str| (ErrorCode::INVALID_REQUEST.get(), Some(reason.to_owned()));
    let made = make(
        &mut admin,
        vec![
            rule(TOPIC, LITERAL, "orders", READ, ALLOW),
            rule(TOPIC, PREFIXED, "ord", WRITE, ALLOW),
            rule(TOPIC, LITERAL, "*", DESCRIBE, DENY),
            rule(TOPIC, LITERAL, "other", READ, ALLOW),
            rule(CLUSTER, LITERAL, "mine", READ, ALLOW),
            rule(TOPIC, LITERAL, "", READ, ALLOW),
            rule(99, LITERAL, "orders", READ, ALLOW),
            rule(TOPIC, LITERAL, "orders", READ, ALLOW).with_principal(text("alice")),
            rule(TOPIC, LITERAL, "orders", READ, ALLOW).with_host(text("")),
        ],
    );
    let colon = "Could not parse principal from `alice` (no colon is present separating the principal type from the principal name)";
    let expected = [
        wrong("The only valid name for the CLUSTER resource is kafka-cluster"),
        wrong("Invalid empty resource name"),
        wrong("Invalid resourceType UNKNOWN"),
        wrong(colon),
        wrong("Host pattern cannot be null or empty"),
    ];
    assert_eq!((&made[..4], &made[4..]), ([(); 4].map(|()| (0, Some(String::new()))).as_slice(), expected.as_slice()));

    let for_filters = vec![rule(TOPIC, LITERAL, "fine", READ, ALLOW), rule(TOPIC, MATCH, "orders", READ, ALLOW)];
    let nothing = (ErrorCode::UNKNOWN_SERVER_ERROR.get(), None);
    assert_eq!(make(&mut admin, for_filters), [nothing.clone(), nothing], "nothing is made with numbers for filters");

    let mut found = |filter: DescribeAclsRequest| -> Vec<String> {
        admin.call(3, &filter).resources.iter().map(|resource| resource.resource_name.to_string()).collect()
    };
    assert_eq!(found(filter(ANY, None)), ["*", "orders", "other", "ord"]);
    assert_eq!(found(filter(LITERAL, Some("orders"))), ["orders"]);
    assert_eq!(found(filter(PREFIXED, Some("ord"))), ["ord"]);
    assert_eq!(found(filter(MATCH, Some("orders"))), ["*", "orders", "ord"]);
    assert_eq!(found(filter(ANY, None).with_principal_filter(Some(text("User:bob")))), [""; 0]);
    assert_eq!(found(filter(ANY, None).with_operation(WRITE)), ["ord"]);

    let delete = |name: &str| {
        let filter = DeleteAclsFilter::default()
            .with_resource_type_filter(TOPIC)
            .with_pattern_type_filter(MATCH)
            .with_resource_name_filter(Some(text(name)))
            .with_principal_filter(None)
            .with_host_filter(None)
            .with_operation(ANY)
            .with_permission_type(ANY);
        DeleteAclsRequest::default().with_filters(vec![filter])
    };
    assert_eq!(admin.call(3, &delete("orders")).filter_results[0].matching_acls.len(), 3);
    assert_eq!(admin.call(3, &filter(ANY, None)).resources.len(), 1);

    admin.send(3, &filter(0, None));
    assert_eq!(admin.payload(), None, "what says nothing is not read");
}

#[tokio::test]
async fn without_an_authorizer_there_are_no_rules() {
    let cluster = TestCluster::start().await;
    let mut connection = Connection::to(&cluster, 0);
    let made = make(&mut connection, vec![rule(TOPIC, LITERAL, "orders", READ, ALLOW)]);
    assert_eq!(made, [(ErrorCode::SECURITY_DISABLED.get(), Some("No Authorizer is configured.".to_owned()))]);
}

/// What an expression matches would otherwise tell that a topic is there.
#[tokio::test]
async fn an_expression_matches_what_its_member_may_describe() {
    let cluster = builder().start().await;
    let mut admin = login(&cluster, "admin", "a");
    let mut alice = login(&cluster, "alice", "b");
    make(&mut admin, vec![rule(GROUP, LITERAL, "g", READ, ALLOW), rule(TOPIC, LITERAL, "orders", DESCRIBE, ALLOW)]);
    let quiet = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(text("g")))
        .with_member_id(text("alice"))
        .with_subscribed_topic_names(None)
        .with_topic_partitions(None);
    let joining = quiet.clone().with_rebalance_timeout_ms(1000).with_topic_partitions(Some(Vec::new()));
    let epoch = alice.call(1, &joining.with_subscribed_topic_regex(Some(text(".*")))).member_epoch;
    let given = alice.call(1, &quiet.with_member_epoch(epoch).with_rebalance_timeout_ms(-1)).assignment;
    let topics: Vec<Uuid> = given.unwrap_or_default().topic_partitions.iter().map(|topic| topic.topic_id).collect();
    let orders = admin.call(12, &MetadataRequest::default().with_topics(Some(vec![named("orders")])));
    assert_eq!(topics, [orders.topics[0].topic_id]);
}

/// Kafka looks for transactional records in a whole request before it asks who sent it, and ends there when it cannot.
#[tokio::test]
async fn records_that_cannot_be_cut_off_are_refused_before_anybodys_rights_are() {
    let cluster = builder().start().await;
    let mut records = batch(&["x"], &Stamp::plain()).to_vec();
    let length = 8..12;
    records[length].copy_from_slice(&13_i32.to_be_bytes());
    let response = login(&cluster, "alice", "b").call(9, &produce("secrets", 0, records.into(), None));
    let told = ErrorCode::new(response.responses[0].partition_responses[0].error_code);
    assert_eq!(told, ErrorCode::CORRUPT_MESSAGE);
}
