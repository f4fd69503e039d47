//! Making, changing, describing and deleting topics.

use crate::client::{Connection, batch, text, write};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use millstream_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use millstream_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use millstream_protocol::messages::describe_configs_request::DescribeConfigsResource;
use millstream_protocol::messages::describe_topic_partitions_request::TopicRequest;
use millstream_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::{
    BrokerId, CreatePartitionsRequest, CreateTopicsRequest, DeleteRecordsRequest, DeleteTopicsRequest,
    DescribeConfigsRequest, DescribeTopicPartitionsRequest, IncrementalAlterConfigsRequest, MetadataRequest, TopicName,
    Uuid,
};
use millstream_protocol::record::Stamp;
use millstream_testkit::TestCluster;
use std::time::Duration;

const TOPIC: i8 = 2;

fn name(name: &str) -> TopicName {
    TopicName(text(name))
}
fn design(topic: &str, partitions: i32, replicas: i16) -> CreatableTopic {
    CreatableTopic::default().with_name(name(topic)).with_num_partitions(partitions).with_replication_factor(replicas)
}
fn create(connection: &mut Connection, topic: CreatableTopic) -> ErrorCode {
    let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(1000);
    ErrorCode::new(connection.call(7, &request).topics[0].error_code)
}
/// A topic's code and number of partitions.
fn metadata(connection: &mut Connection, topic: &str, may_create: bool) -> (ErrorCode, usize) {
    let asked = MetadataRequestTopic::default().with_name(Some(name(topic)));
    let request = MetadataRequest::default().with_topics(Some(vec![asked])).with_allow_auto_topic_creation(may_create);
    let found = connection.call(12, &request).topics.remove(0);
    (ErrorCode::new(found.error_code), found.partitions.len())
}

#[tokio::test]
async fn topics_appear_when_used_unless_that_is_switched_off() {
    let on = TestCluster::builder().config("num.partitions", "3").start().await;
    let off = TestCluster::builder().config("auto.create.topics.enable", "false").start().await;
    let missing = (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, 0);
    assert_eq!(metadata(&mut Connection::to(&on, 0), "t", false), missing);
    assert_eq!(metadata(&mut Connection::to(&on, 0), "t", true), (ErrorCode::NONE, 3));
    assert_eq!(metadata(&mut Connection::to(&on, 0), "bad name", true), (ErrorCode::INVALID_TOPIC_EXCEPTION, 0));
    assert_eq!(metadata(&mut Connection::to(&off, 0), "t", true), missing);
}

/// Of a topic that is asked for by its id, and is not there, nobody knows whether it may be seen.
#[tokio::test]
async fn what_may_be_done_with_a_topic_is_told_whether_there_is_one_or_not() {
    let cluster = TestCluster::builder().config("auto.create.topics.enable", "false").start().await;
    let named = MetadataRequestTopic::default().with_name(Some(name("t")));
    let by_id = MetadataRequestTopic::default().with_name(None).with_topic_id(Uuid::from_u128(7));
    let request =
        MetadataRequest::default().with_topics(Some(vec![named, by_id])).with_include_topic_authorized_operations(true);
    let response = Connection::to(&cluster, 0).call(12, &request);
    let told: Vec<i32> = response.topics.iter().map(|topic| topic.topic_authorized_operations).collect();
    assert_eq!(told, [3576, i32::MIN]);
}

#[tokio::test]
async fn a_topic_that_takes_time_to_be_made_is_unknown_until_then() {
    let cluster = TestCluster::builder().config("millstream.auto.create.delay.ms", "60000").start().await;
    let mut connection = Connection::to(&cluster, 0);
    let first = metadata(&mut connection, "t", true);
    assert_eq!(first, (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, 0));
    assert_eq!(metadata(&mut connection, "t", true), first);
    cluster.advance_brokers(Duration::from_secs(60));
    assert_eq!(metadata(&mut connection, "t", true), (ErrorCode::NONE, 1));
}

#[tokio::test]
async fn what_is_wrong_with_a_new_topic_is_told() {
    let cluster = TestCluster::builder().brokers(2).topic("there", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let config = |key: &str, value: &str| {
        vec![CreatableTopicConfig::default().with_name(text(key)).with_value(Some(text(value)))]
    };
    let assignment = |index: i32, node: i32| {
        CreatableReplicaAssignment::default().with_partition_index(index).with_broker_ids(vec![BrokerId(node)])
    };
    let cases = [
        (design("there", 1, 1), ErrorCode::TOPIC_ALREADY_EXISTS),
        (design("bad name", 1, 1), ErrorCode::INVALID_TOPIC_EXCEPTION),
        (design("t", 0, 1), ErrorCode::INVALID_PARTITIONS),
        (design("t", 1, 3), ErrorCode::INVALID_REPLICATION_FACTOR),
        (design("t", 1, 0), ErrorCode::INVALID_REPLICATION_FACTOR),
        (design("t", 1, 1).with_configs(config("no.such.key", "1")), ErrorCode::INVALID_CONFIG),
        (design("t", 1, 1).with_configs(config("retention.ms", "long")), ErrorCode::INVALID_CONFIG),
        (design("t", 1, 1).with_assignments(vec![assignment(0, 1)]), ErrorCode::INVALID_REQUEST),
        (design("t", -1, -1).with_assignments(vec![assignment(1, 1)]), ErrorCode::INVALID_REPLICA_ASSIGNMENT),
        (design("t", -1, -1).with_assignments(vec![assignment(0, 9)]), ErrorCode::INVALID_REPLICA_ASSIGNMENT),
        (design("assigned", -1, -1).with_assignments(vec![assignment(0, 2)]), ErrorCode::NONE),
        (design("t", -1, -1), ErrorCode::NONE),
    ];
    for (topic, expected) in cases {
        let what = format!("{topic:?}");
        assert_eq!(create(&mut connection, topic), expected, "{what}");
    }
}

/// Kafka reads numbers and switches without the blanks around them.
#[tokio::test]
async fn options_hold_however_they_are_spelled() {
    let inherited = TestCluster::builder().config("message.max.bytes", " 100 ").topic("t", 1).start().await;
    let own = TestCluster::start().await;
    let option = CreatableTopicConfig::default().with_name(text("max.message.bytes")).with_value(Some(text(" 100 ")));
    assert_eq!(create(&mut Connection::to(&own, 0), design("t", 1, 1).with_configs(vec![option])), ErrorCode::NONE);
    for cluster in [&inherited, &own] {
        let large = batch(&[&"x".repeat(200)], &Stamp::plain());
        let (code, _) = write(&mut Connection::to(cluster, 0), "t", large);
        assert_eq!(ErrorCode::new(code), ErrorCode::MESSAGE_TOO_LARGE);
    }
}

#[tokio::test]
async fn of_several_options_of_a_new_topic_kafkas_first_is_told() {
    let cluster = TestCluster::start().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut told = |configs: &[(&str, Option<&str>)]| {
        let configs = configs
            .iter()
            .map(|(key, value)| CreatableTopicConfig::default().with_name(text(key)).with_value(value.map(text)));
        let request =
            CreateTopicsRequest::default().with_topics(vec![design("t", 1, 1).with_configs(configs.collect())]);
        let topic = connection.call(7, &request).topics.remove(0);
        let given = topic.configs.unwrap().into_iter().filter(|config| config.config_source == 1);
        let given = given.map(|config| format!("{}={}", config.name, config.value.unwrap_or_default())).collect();
        (topic.error_message.unwrap_or_default().to_string(), given)
    };
    let refused = |reason: &str| (reason.to_owned(), Vec::<String>::new());
    let policy = ("cleanup.policy", Some("shred"));
    let null = ("retention.ms", None);
    assert_eq!(told(&[policy, null]), refused("Null value not supported for topic configs: retention.ms"));
    assert_eq!(told(&[policy, ("nope", Some("1"))]), refused("Unknown topic config name: nope"));
    // The last of two counts, and what was given is told as it was given.
    let made = told(&[policy, ("cleanup.policy", Some("compact")), ("preallocate", Some(" TRUE"))]);
    assert_eq!(made, (String::new(), vec!["cleanup.policy=compact".to_owned(), "preallocate= TRUE".to_owned()]));
}

#[tokio::test]
async fn validating_makes_nothing() {
    let cluster = TestCluster::start().await;
    let mut connection = Connection::to(&cluster, 0);
    let request = CreateTopicsRequest::default().with_topics(vec![design("t", 2, 1)]).with_validate_only(true);
    let validated = connection.call(7, &request).topics.remove(0);
    let configs = validated.configs.expect("what would be in force is told all the same");
    let names: Vec<_> = configs.iter().map(|config| config.name.as_str()).collect();
    assert!(names.contains(&"cleanup.policy") && names.is_sorted(), "{names:?}");
    assert_ne!(validated.topic_id, Uuid::nil());
    assert_eq!(validated.num_partitions, 2);
    assert_eq!(metadata(&mut connection, "t", false), (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, 0));
}

#[tokio::test]
async fn partitions_are_added_and_never_taken() {
    let cluster = TestCluster::builder().topic("t", 2).start().await;
    let mut connection = Connection::to(&cluster, 0);
    for (count, expected) in [
        (1, ErrorCode::INVALID_PARTITIONS),
        (2, ErrorCode::INVALID_PARTITIONS),
        (i32::MAX, ErrorCode::POLICY_VIOLATION),
        (4, ErrorCode::NONE),
    ] {
        let topic = CreatePartitionsTopic::default().with_name(name("t")).with_count(count).with_assignments(None);
        let response = connection.call(3, &CreatePartitionsRequest::default().with_topics(vec![topic]));
        assert_eq!(ErrorCode::new(response.results[0].error_code), expected);
    }
    assert_eq!(metadata(&mut connection, "t", false), (ErrorCode::NONE, 4));
}

/// The rows of two thousand million partitions were asked of the system at once, which ended the process.
#[tokio::test]
async fn a_topic_is_not_made_with_more_partitions_than_a_request_may_ask_for() {
    let cluster = TestCluster::builder().start().await;
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(create(&mut connection, design("t", i32::MAX, 1)), ErrorCode::POLICY_VIOLATION);
    assert_eq!(create(&mut connection, design("t", 10_000, 1)), ErrorCode::NONE);
}

#[tokio::test]
async fn nothing_is_done_of_a_request_for_too_many_partitions() {
    let cluster = TestCluster::builder().topic("t", 1).topic("u", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let more = |topic: &str, count: i32| {
        CreatePartitionsTopic::default().with_name(name(topic)).with_count(count).with_assignments(None)
    };
    let asked = vec![more("t", 6001), more("u", 4002), more("missing", 2)];
    let results = connection.call(3, &CreatePartitionsRequest::default().with_topics(asked)).results;
    let reason = "Excessively large number of additional partitions per request.";
    let refused = (ErrorCode::POLICY_VIOLATION, Some(reason));
    let told = results.iter().map(|result| (ErrorCode::new(result.error_code), result.error_message.as_deref()));
    assert_eq!(told.collect::<Vec<_>>(), [refused; 3]);
    let asked = vec![design("new", 1, 1), design("large", 10_000, 1)];
    let topics = connection.call(7, &CreateTopicsRequest::default().with_topics(asked)).topics;
    assert!(topics.iter().all(|topic| ErrorCode::new(topic.error_code) == ErrorCode::POLICY_VIOLATION));
}

#[tokio::test]
async fn a_deleted_topic_is_gone_and_comes_back_empty() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", batch(&["a"], &Stamp::plain()));
    let delete = DeleteTopicsRequest::default().with_topic_names(vec![name("t")]);
    assert_eq!(connection.call(5, &delete).responses[0].error_code, 0);
    assert_eq!(
        ErrorCode::new(connection.call(5, &delete).responses[0].error_code),
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
    );
    cluster.create_topic("t", 1);
    assert_eq!(write(&mut connection, "t", batch(&["b"], &Stamp::plain())), (0, 0));
}

#[tokio::test]
async fn deleted_records_move_the_start_of_the_log() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    for value in ["a", "b", "c"] {
        write(&mut connection, "t", batch(&[value], &Stamp::plain()));
    }
    let mut delete = |offset: i64| {
        let partition = DeleteRecordsPartition::default().with_offset(offset);
        let topic = DeleteRecordsTopic::default().with_name(name("t")).with_partitions(vec![partition]);
        let response = connection.call(2, &DeleteRecordsRequest::default().with_topics(vec![topic]));
        let partition = &response.topics[0].partitions[0];
        (ErrorCode::new(partition.error_code), partition.low_watermark)
    };
    assert_eq!(delete(2), (ErrorCode::NONE, 2));
    assert_eq!(delete(4), (ErrorCode::OFFSET_OUT_OF_RANGE, -1));
    assert_eq!(cluster.values("t"), ["c"]);
}

/// Lists grew for ever, a megabyte at a time, and an answer that quoted what nobody can read ended its connection.
#[tokio::test]
async fn no_option_and_no_complaint_is_longer_than_a_text_may_be() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut alter = |operation: i8, key: &str, value: String| {
        let config = AlterableConfig::default().with_name(text(key)).with_config_operation(operation);
        let configs = vec![config.with_value(Some(text(&value)))];
        let resource = AlterConfigsResource::default().with_resource_type(TOPIC).with_resource_name(text("t"));
        let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource.with_configs(configs)]);
        let response = connection.call(1, &request).responses.remove(0);
        (ErrorCode::new(response.error_code), response.error_message.map(|message| message.to_string()))
    };
    let list = |replica: i32| (0..3000).map(|index| format!("{index}:{replica}")).collect::<Vec<_>>().join(",");
    let key = "leader.replication.throttled.replicas";
    assert_eq!(alter(2, key, list(1)), (ErrorCode::NONE, None));
    let reason = "The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes.";
    assert_eq!(alter(2, key, list(2)), (ErrorCode::INVALID_CONFIG, Some(reason.to_owned())));
    assert_eq!(alter(2, key, list(1)), (ErrorCode::NONE, None), "there is nothing new in it");
    assert_eq!(alter(0, "retention.ms", "9".repeat(32_767)).0, ErrorCode::UNKNOWN_SERVER_ERROR);
}

#[tokio::test]
async fn options_are_changed_and_described() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut alter = |operation: i8, key: &str, value: &str| {
        let config = AlterableConfig::default()
            .with_name(text(key))
            .with_config_operation(operation)
            .with_value(Some(text(value)));
        let resource = AlterConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(text("t"))
            .with_configs(vec![config]);
        ErrorCode::new(
            connection.call(1, &IncrementalAlterConfigsRequest::default().with_resources(vec![resource])).responses[0]
                .error_code,
        )
    };
    // Set, append, delete; then what cannot be.
    assert_eq!(alter(0, "retention.ms", "5000"), ErrorCode::NONE);
    assert_eq!(alter(2, "cleanup.policy", "compact"), ErrorCode::NONE);
    assert_eq!(alter(0, "max.message.bytes", "100"), ErrorCode::NONE);
    assert_eq!(alter(1, "max.message.bytes", ""), ErrorCode::NONE);
    assert_eq!(alter(0, "retention.ms", "long"), ErrorCode::INVALID_CONFIG);
    let resource = DescribeConfigsResource::default()
        .with_resource_type(TOPIC)
        .with_resource_name(text("t"))
        .with_configuration_keys(None);
    let response = connection.call(4, &DescribeConfigsRequest::default().with_resources(vec![resource]));
    let set = response.results[0].configs.iter().filter(|config| config.config_source == 1);
    let mut set: Vec<(&str, &str)> =
        set.map(|config| (config.name.as_str(), config.value.as_deref().unwrap())).collect();
    set.sort_unstable();
    assert_eq!(set, [("cleanup.policy", "delete,compact"), ("retention.ms", "5000")]);
}

/// Kafka takes the empty name for that of the cursor which it was not given.
#[tokio::test]
async fn a_first_page_with_a_topic_without_a_name_fails() {
    let cluster = TestCluster::builder().topic("a", 1).start().await;
    let topics = ["a", ""].map(|topic| TopicRequest::default().with_name(name(topic)));
    let request = DescribeTopicPartitionsRequest::default().with_cursor(None).with_topics(topics.to_vec());
    let told = Connection::to(&cluster, 0).call(0, &request).topics;
    let codes: Vec<_> = told.iter().map(|topic| ErrorCode::new(topic.error_code)).collect();
    assert_eq!(codes, [ErrorCode::UNKNOWN_SERVER_ERROR; 2]);
}

#[tokio::test]
async fn topics_are_described_page_by_page() {
    let cluster = TestCluster::builder().topic("a", 3).topic("b", 2).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut request = DescribeTopicPartitionsRequest::default().with_cursor(None).with_response_partition_limit(2);
    request.topics = ["a", "b"].map(|topic| TopicRequest::default().with_name(name(topic))).to_vec();
    let mut seen = Vec::new();
    loop {
        let page = connection.call(0, &request);
        for topic in &page.topics {
            let topic_name = topic.name.as_ref().unwrap().0.to_string();
            seen.extend(topic.partitions.iter().map(|partition| format!("{topic_name}-{}", partition.partition_index)));
        }
        let Some(next) = page.next_cursor else { break };
        let cursor = millstream_protocol::messages::describe_topic_partitions_request::Cursor::default();
        request.cursor = Some(cursor.with_topic_name(next.topic_name).with_partition_index(next.partition_index));
    }
    assert_eq!(seen, ["a-0", "a-1", "a-2", "b-0", "b-1"]);
}
