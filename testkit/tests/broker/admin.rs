//! What administrators ask: options of everything that has some, quotas, features, the quorum, telemetry.

use crate::client::{Connection, batch, text, versions_request, write};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::add_raft_voter_request::Listener;
use millstream_protocol::messages::alter_client_quotas_request::{EntityData, EntryData, OpData};
use millstream_protocol::messages::describe_client_quotas_request::ComponentData;
use millstream_protocol::messages::describe_configs_request::DescribeConfigsResource;
use millstream_protocol::messages::describe_configs_response::DescribeConfigsResourceResult;
use millstream_protocol::messages::describe_quorum_request::{PartitionData, TopicData};
use millstream_protocol::messages::describe_quorum_response::ReplicaState;
use millstream_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::update_features_request::FeatureUpdateKey;
use millstream_protocol::messages::{
    AddRaftVoterRequest, AlterClientQuotasRequest, BrokerId, DescribeClientQuotasRequest, DescribeClusterRequest,
    DescribeConfigsRequest, DescribeQuorumRequest, FindCoordinatorRequest, GetTelemetrySubscriptionsRequest,
    IncrementalAlterConfigsRequest, ListConfigResourcesRequest, MetadataRequest, PushTelemetryRequest,
    RemoveRaftVoterRequest, TopicName, UnregisterBrokerRequest, UpdateFeaturesRequest, Uuid,
};
use millstream_protocol::record::Stamp;
use millstream_testkit::{SecurityProtocol, TestCluster};

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;
const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

struct Admin(Connection);
impl Admin {
    fn of(cluster: &TestCluster) -> Self {
        Self(Connection::to(cluster, 0))
    }
    fn alter(&mut self, kind: i8, name: &str, operation: i8, option: &str, value: Option<&str>) -> (ErrorCode, String) {
        let config = AlterableConfig::default()
            .with_name(text(option))
            .with_config_operation(operation)
            .with_value(value.map(text));
        let resource = AlterConfigsResource::default()
            .with_resource_type(kind)
            .with_resource_name(text(name))
            .with_configs(vec![config]);
        let request = IncrementalAlterConfigsRequest::default().with_resources(vec![resource]);
        let response = self.0.call(1, &request).responses.remove(0);
        (ErrorCode::new(response.error_code), response.error_message.unwrap_or_default().to_string())
    }
    fn describe(&mut self, kind: i8, name: &str) -> Vec<DescribeConfigsResourceResult> {
        let resource = DescribeConfigsResource::default()
            .with_resource_type(kind)
            .with_resource_name(text(name))
            .with_configuration_keys(None);
        let request = DescribeConfigsRequest::default().with_resources(vec![resource]).with_include_synonyms(true);
        self.0.call(4, &request).results.remove(0).configs
    }
    /// An option's value, its source, and its synonyms as name=value@source.
    fn option(&mut self, kind: i8, name: &str, option: &str) -> (String, i8, Vec<String>) {
        let rows = self.describe(kind, name);
        let row = rows.into_iter().find(|row| row.name.as_str() == option).expect("there is such an option");
        let synonyms = row.synonyms.iter().map(|synonym| {
            format!("{}={}@{}", synonym.name, synonym.value.as_deref().unwrap_or("null"), synonym.source)
        });
        (row.value.unwrap_or_default().to_string(), row.config_source, synonyms.collect())
    }
    fn resources(&mut self, kinds: &[i8]) -> Vec<String> {
        let request = ListConfigResourcesRequest::default().with_resource_types(kinds.to_vec());
        let found = self.0.call(1, &request).config_resources;
        found.into_iter().map(|found| format!("{} {}", found.resource_type, found.resource_name)).collect()
    }
}

/// Each of the two was done, one after the other.
#[tokio::test]
async fn of_a_resource_that_comes_twice_nothing_is_done() {
    let cluster = TestCluster::builder().topic("t", 1).topic("u", 1).start().await;
    let mut admin = Admin::of(&cluster);
    let resource = |name, value| {
        let config = AlterableConfig::default().with_name(text("retention.ms")).with_value(Some(text(value)));
        AlterConfigsResource::default()
            .with_resource_type(TOPIC)
            .with_resource_name(text(name))
            .with_configs(vec![config])
    };
    let resources = vec![resource("t", "1000"), resource("u", "2000"), resource("t", "3000")];
    let responses = admin.0.call(1, &IncrementalAlterConfigsRequest::default().with_resources(resources)).responses;
    let codes: Vec<_> = responses.iter().map(|each| ErrorCode::new(each.error_code)).collect();
    assert_eq!(codes, [ErrorCode::INVALID_REQUEST, ErrorCode::NONE, ErrorCode::INVALID_REQUEST]);
    assert_eq!(responses[2].error_message.as_deref(), Some("Each resource must appear at most once."));
    assert_eq!(admin.option(TOPIC, "t", "retention.ms").0, "604800000");
    assert_eq!(admin.option(TOPIC, "u", "retention.ms").0, "2000");
}

/// Found beside a real Kafka: what is wrong with several options is told in the order in which Java has their names, not in that of the request.
#[tokio::test]
async fn options_that_cannot_change_are_told_in_the_order_of_a_set() {
    let cluster = TestCluster::start().await;
    let mut admin = Admin::of(&cluster);
    let option = |name: &str| AlterableConfig::default().with_name(text(name)).with_value(Some(text("1")));
    let broker = AlterConfigsResource::default()
        .with_resource_type(BROKER)
        .with_resource_name(text(&cluster_node()))
        .with_configs(vec![option("broker.id"), option("node.id")]);
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![broker]);
    let told = admin.0.call(1, &request).responses[0].error_message.clone();
    assert_eq!(told.as_deref(), Some("Cannot update these configs dynamically: [node.id, broker.id]"));
}

/// It was shown among the topics' options, and did nothing. Later it stayed in force for all when another broker came, and was not again
/// when that one went.
#[tokio::test]
async fn what_is_set_for_one_broker_is_in_force_while_it_is_the_only_one() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut admin = Admin::of(&cluster);
    let mut writer = Connection::to(&cluster, 0);
    let mut written = || ErrorCode::new(write(&mut writer, "t", batch(&["no key"], &Stamp::plain())).0);
    assert_eq!(written(), ErrorCode::NONE);
    let node = &cluster_node();
    let set = admin.alter(BROKER, node, SET, "log.cleanup.policy", Some(" delete , compact "));
    assert_eq!(set.0, ErrorCode::NONE);
    assert_eq!(written(), ErrorCode::INVALID_RECORD);
    let added = cluster.add_broker();
    assert_eq!(written(), ErrorCode::NONE);
    cluster.remove_broker(added);
    assert_eq!(written(), ErrorCode::INVALID_RECORD);
    cluster.restart(added);
    assert_eq!(written(), ErrorCode::NONE);
    cluster.crash(added);
    let forgotten = admin.0.call(0, &UnregisterBrokerRequest::default().with_broker_id(BrokerId(added.get())));
    assert_eq!((forgotten.error_code, written()), (0, ErrorCode::INVALID_RECORD));
    assert_eq!(admin.alter(BROKER, node, DELETE, "log.cleanup.policy", None).0, ErrorCode::NONE);
    assert_eq!(written(), ErrorCode::NONE);
}

/// CreateTopics, which tells of all options, was answered with UNKNOWN_SERVER_ERROR from then on.
#[tokio::test]
async fn an_option_that_no_answer_could_tell_is_refused_at_the_start() {
    let long = TestCluster::builder().config("metric.reporters", &"x".repeat(32_768)).try_start();
    let refused = long.expect_err("it is too long").to_string();
    assert!(refused.contains("the broker option `metric.reporters` cannot be: it has 32768 bytes"), "{refused}");
}

/// Kafka's defaults were shown, 3 and 2, which a cluster of one cannot have; what was set did nothing.
#[tokio::test]
async fn what_is_shown_of_internal_topics_is_what_they_are_made_with() {
    let [offsets, transactions] = ["offsets.topic.replication.factor", "transaction.state.log.replication.factor"];
    let alone = TestCluster::start().await;
    let mut admin = Admin::of(&alone);
    for name in [offsets, transactions, "transaction.state.log.min.isr"] {
        assert_eq!(admin.option(BROKER, &cluster_node(), name).0, "1", "{name}");
    }
    let cluster = TestCluster::builder().brokers(3).config(offsets, "2").start().await;
    let mut admin = Admin::of(&cluster);
    let shown = [offsets, transactions].map(|name| admin.option(BROKER, &cluster_node(), name).0);
    assert_eq!(shown, ["2", "3"]);
    for (kind, name, replicas) in [(0, "__consumer_offsets", 2), (1, "__transaction_state", 3)] {
        admin.0.call(2, &FindCoordinatorRequest::default().with_key(text("k")).with_key_type(kind));
        let topic = MetadataRequestTopic::default().with_name(Some(TopicName(text(name))));
        let told = admin.0.call(4, &MetadataRequest::default().with_topics(Some(vec![topic])));
        assert!(told.topics[0].partitions.iter().all(|each| each.replica_nodes.len() == replicas), "{name}");
    }
    let refused = TestCluster::builder().config(offsets, "2").try_start().expect_err("there is one broker").to_string();
    assert!(refused.contains("`offsets.topic.replication.factor` cannot be 2: there are 1 brokers"), "{refused}");
}

#[tokio::test]
async fn what_is_wrong_with_an_option_is_said_in_kafkas_words() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut admin = Admin::of(&cluster);
    let node = &cluster_node();
    let cases = [
        (TOPIC, "t", SET, "nope", "1", ErrorCode::INVALID_CONFIG, "Unknown topic config name: nope"),
        (
            TOPIC,
            "t",
            SET,
            "retention.ms",
            "x",
            ErrorCode::INVALID_CONFIG,
            "Invalid value x for configuration retention.ms: Not a number of type LONG",
        ),
        (
            TOPIC,
            "t",
            SET,
            "retention.ms",
            "-5",
            ErrorCode::INVALID_CONFIG,
            "Invalid value -5 for configuration retention.ms: Value must be at least -1",
        ),
        (
            TOPIC,
            "t",
            SET,
            "cleanup.policy",
            "shred",
            ErrorCode::INVALID_CONFIG,
            "Invalid value shred for configuration cleanup.policy: String must be one of: compact, delete",
        ),
        (
            TOPIC,
            "t",
            SET,
            "preallocate",
            "maybe",
            ErrorCode::INVALID_CONFIG,
            "Invalid value maybe for configuration preallocate: Expected value to be either true or false",
        ),
        (
            TOPIC,
            "t",
            APPEND,
            "retention.ms",
            "1",
            ErrorCode::INVALID_CONFIG,
            "Can't APPEND to key retention.ms because its type is not LIST.",
        ),
        (TOPIC, "u", SET, "retention.ms", "1", ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "The topic 'u' does not exist."),
        (TOPIC, "t", 9, "retention.ms", "1", ErrorCode::UNKNOWN_SERVER_ERROR, ""),
        (
            BROKER,
            node,
            SET,
            "broker.id",
            "7",
            ErrorCode::INVALID_REQUEST,
            "Cannot update these configs dynamically: [broker.id]",
        ),
        (
            BROKER,
            "",
            SET,
            "listeners",
            "x",
            ErrorCode::INVALID_REQUEST,
            "Cannot update these configs at default cluster level, broker id must be specified: [listeners]",
        ),
        (
            BROKER,
            node,
            SET,
            "log.cleaner.threads",
            "x",
            ErrorCode::INVALID_REQUEST,
            "Invalid value x for configuration log.cleaner.threads: Not a number of type INT",
        ),
        (
            BROKER,
            "abc",
            SET,
            "log.cleaner.threads",
            "2",
            ErrorCode::INVALID_REQUEST,
            "Node id must be an integer, but it is: abc",
        ),
        (
            LOGGER,
            node,
            9,
            "nope.Logger",
            "DEBUG",
            ErrorCode::INVALID_REQUEST,
            "Unknown operation type 9 is not allowed for the BROKER_LOGGER resource",
        ),
        // A value is looked at before whether there is such a topic, and what a list becomes as a whole.
        (
            TOPIC,
            "missing",
            SET,
            "retention.ms",
            " -5 ",
            ErrorCode::INVALID_CONFIG,
            "Invalid value -5 for configuration retention.ms: Value must be at least -1",
        ),
        (
            BROKER,
            node,
            APPEND,
            "log.cleanup.policy",
            "shred",
            ErrorCode::INVALID_REQUEST,
            "Invalid value shred for configuration log.cleanup.policy: String must be one of: compact, delete",
        ),
        (LOGGER, node, SET, "nope.Logger", "DEBUG", ErrorCode::INVALID_CONFIG, "Logger nope.Logger does not exist!"),
        (
            LOGGER,
            node,
            APPEND,
            "root",
            "DEBUG",
            ErrorCode::INVALID_REQUEST,
            "APPEND operation is not allowed for the BROKER_LOGGER resource",
        ),
        (
            GROUP,
            "",
            SET,
            "consumer.session.timeout.ms",
            "1",
            ErrorCode::INVALID_REQUEST,
            "Default group resources are not allowed.",
        ),
        (GROUP, "g", SET, "nope", "1", ErrorCode::INVALID_CONFIG, "Unknown group config name: nope"),
        (
            GROUP,
            "g",
            SET,
            "consumer.session.timeout.ms",
            "60001",
            ErrorCode::INVALID_CONFIG,
            "consumer.session.timeout.ms must be in the range 1 to 60000 inclusive.",
        ),
        (
            CLIENT_METRICS,
            "",
            SET,
            "interval.ms",
            "1000",
            ErrorCode::INVALID_REQUEST,
            "Subscription name can't be empty",
        ),
        (
            CLIENT_METRICS,
            "m",
            SET,
            "nope",
            "1",
            ErrorCode::INVALID_REQUEST,
            "Unknown client metrics configuration: nope",
        ),
        (
            CLIENT_METRICS,
            "m",
            SET,
            "match",
            "foo=1",
            ErrorCode::INVALID_CONFIG,
            "Illegal client matching pattern: foo=1",
        ),
        (3, "x", SET, "a", "1", ErrorCode::INVALID_REQUEST, "Unknown resource type 3"),
    ];
    for (kind, name, operation, option, value, code, reason) in cases {
        assert_eq!(
            admin.alter(kind, name, operation, option, Some(value)),
            (code, reason.to_owned()),
            "{option}={value}"
        );
    }
    let null = admin.alter(TOPIC, "t", SET, "retention.ms", None);
    assert_eq!(null, (ErrorCode::INVALID_REQUEST, "Null value not supported for : retention.ms".to_owned()));
}
/// The id of the first broker, as a resource's name.
fn cluster_node() -> String {
    "1".to_owned()
}

#[tokio::test]
async fn an_option_of_a_broker_goes_before_that_of_all_and_the_default() {
    let cluster = TestCluster::start().await;
    let mut admin = Admin::of(&cluster);
    let node = cluster_node();
    let ok = (ErrorCode::NONE, String::new());
    assert_eq!(
        admin.option(BROKER, &node, "log.cleaner.threads"),
        ("1".into(), 5, vec!["log.cleaner.threads=1@5".into()])
    );
    assert_eq!(admin.alter(BROKER, "", SET, "log.cleaner.threads", Some("2")), ok);
    assert_eq!(admin.alter(BROKER, &node, SET, "log.cleaner.threads", Some("3")), ok);
    let (value, source, synonyms) = admin.option(BROKER, &node, "log.cleaner.threads");
    assert_eq!((value.as_str(), source), ("3", 2));
    assert_eq!(synonyms, ["log.cleaner.threads=3@2", "log.cleaner.threads=2@3", "log.cleaner.threads=1@5"]);
    let set: Vec<String> = admin.describe(BROKER, "").iter().map(|row| row.name.to_string()).collect();
    assert_eq!(set, ["log.cleaner.threads", "min.insync.replicas"]);
    assert_eq!(admin.alter(BROKER, &node, DELETE, "log.cleaner.threads", None), ok);
    assert_eq!(admin.option(BROKER, &node, "log.cleaner.threads").0, "2");
    // Options behind an option give it its value.
    assert_eq!(admin.option(BROKER, &node, "log.retention.hours").0, "168");
}

/// It told Kafka's: three seconds for a group's first members, where it waits ten milliseconds, and one replica, where a topic has three.
#[tokio::test]
async fn what_a_broker_tells_of_an_option_that_nobody_set_is_in_force() {
    let cluster = TestCluster::builder().brokers(3).start().await;
    let mut admin = Admin::of(&cluster);
    for (option, value) in [
        ("default.replication.factor", "3"),
        ("group.initial.rebalance.delay.ms", "10"),
        ("group.min.session.timeout.ms", "1"),
        ("group.consumer.min.session.timeout.ms", "1"),
        ("group.consumer.heartbeat.interval.ms", "500"),
        ("group.consumer.min.heartbeat.interval.ms", "1"),
        ("group.consumer.assignment.interval.ms", "0"),
    ] {
        assert_eq!(admin.option(BROKER, "1", option), (value.into(), 5, vec![format!("{option}={value}@5")]));
    }
    let cluster = TestCluster::builder().config("group.initial.rebalance.delay.ms", "0").start().await;
    let mut admin = Admin::of(&cluster);
    let option = "group.initial.rebalance.delay.ms";
    let told = vec![format!("{option}=0@4"), format!("{option}=3000@5")];
    assert_eq!(admin.option(BROKER, "1", option), ("0".into(), 4, told));
    assert_eq!(admin.option(BROKER, "1", "default.replication.factor").0, "1");
}

#[tokio::test]
async fn a_broker_tells_its_id_and_where_it_is_reached() {
    let builder =
        TestCluster::builder().brokers(2).config("node.id", "0").racks(["a", "b"]).advertise("localhost", None);
    let builder = builder.listener("IN", SecurityProtocol::Plaintext).listener("OUT", SecurityProtocol::SaslPlaintext);
    let cluster = builder.start().await;
    let places: Vec<String> = cluster.bootstrap_servers().split(',').map(str::to_owned).collect();
    let out = cluster.bootstrap_servers_of("OUT");
    let mut connection = Connection::to(&cluster, 1);
    let brokers = connection.call(12, &MetadataRequest::default()).brokers;
    let brokers = brokers.iter().map(|broker| (broker.node_id.0, format!("{}:{}", broker.host, broker.port)));
    assert_eq!(brokers.collect::<Vec<_>>(), [(0, places[0].clone()), (1, places[1].clone())]);

    let mut admin = Admin(connection);
    let mut told = |option| admin.option(BROKER, "1", option);
    let (id, source, synonyms) = told("node.id");
    assert_eq!((id.as_str(), source, synonyms[0].as_str()), ("1", 4, "node.id=1@4"));
    let (listeners, source, _) = told("advertised.listeners");
    let second = out.split(',').nth(1).expect("there are two brokers");
    assert_eq!((listeners, source), (format!("IN://{},OUT://{second}", places[1]), 4));
    assert_eq!((told("broker.rack").0.as_str(), told("broker.rack").1), ("b", 4));
    assert_eq!(told("listener.security.protocol.map").0, "IN:PLAINTEXT,OUT:SASL_PLAINTEXT");
}

/// Metadata told of racks, and DescribeCluster did not: an admin client saw brokers without any.
#[tokio::test]
async fn the_cluster_is_described_with_the_racks_of_its_brokers() {
    let cluster = TestCluster::builder().brokers(2).racks(["a", "b"]).start().await;
    let request = DescribeClusterRequest::default().with_endpoint_type(1);
    let brokers = Connection::to(&cluster, 1).call(2, &request).brokers;
    let racks: Vec<Option<String>> =
        brokers.into_iter().map(|broker| broker.rack.map(|rack| rack.to_string())).collect();
    assert_eq!(racks, [Some("a".to_owned()), Some("b".to_owned())]);
}

#[tokio::test]
async fn options_are_documented_to_who_asks_for_it() {
    let cluster = TestCluster::start().await;
    let mut admin = Admin::of(&cluster);
    let mut documentation = |wanted| {
        let resource = DescribeConfigsResource::default()
            .with_resource_type(BROKER)
            .with_resource_name(text("1"))
            .with_configuration_keys(Some(vec![text("num.partitions")]));
        let request = DescribeConfigsRequest::default().with_resources(vec![resource]);
        let response = admin.0.call(4, &request.with_include_documentation(wanted));
        response.results[0].configs[0].documentation.as_ref().map(ToString::to_string)
    };
    assert_eq!(documentation(false), None);
    assert_eq!(documentation(true).as_deref(), Some("`num.partitions`: see Apache Kafka's documentation."));
}

#[tokio::test]
async fn an_option_of_kafkas_that_does_nothing_here_is_taken_and_shown() {
    let start = |key: &str, value: &str| TestCluster::builder().config(key, value).try_start();
    let cluster = start("offsets.topic.replication.factor", "1").expect("it is an option");
    let mut admin = Admin::of(&cluster);
    let (value, source, _) = admin.option(BROKER, "1", "offsets.topic.replication.factor");
    assert_eq!((value.as_str(), source), ("1", 4));
    let refused = |key: &str, value: &str| start(key, value).map(drop).expect_err("it is refused").to_string();
    let unknown = refused("no.such.option", "1");
    assert!(unknown.starts_with("the test cluster has no broker option `no.such.option`; "), "{unknown}");
    assert!(refused("num.io.threads", "many").starts_with("Invalid value many for configuration num.io.threads"));
    let own = refused("broker.rack", "a");
    assert!(own.starts_with("the test cluster has no broker option `broker.rack`: each broker has its own"), "{own}");
}

#[tokio::test]
async fn what_is_set_for_all_brokers_is_what_topics_inherit() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut admin = Admin::of(&cluster);
    assert_eq!(admin.option(TOPIC, "t", "max.message.bytes").0, "1048588");
    admin.alter(BROKER, "", SET, "message.max.bytes", Some("2000"));
    assert_eq!(admin.option(TOPIC, "t", "max.message.bytes").0, "2000");
    admin.alter(BROKER, "", DELETE, "message.max.bytes", None);
    assert_eq!(admin.option(TOPIC, "t", "max.message.bytes").0, "1048588");
}

#[tokio::test]
async fn lists_are_appended_to_and_subtracted_from() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut admin = Admin::of(&cluster);
    admin.alter(TOPIC, "t", APPEND, "cleanup.policy", Some("compact"));
    assert_eq!(admin.option(TOPIC, "t", "cleanup.policy").0, "delete,compact");
    admin.alter(TOPIC, "t", SUBTRACT, "cleanup.policy", Some("delete"));
    assert_eq!(admin.option(TOPIC, "t", "cleanup.policy").0, "compact");
    // As Java splits it, nothing is one part that is empty, and one comma is no part at all.
    let refused = (ErrorCode::INVALID_CONFIG, "Configuration 'cleanup.policy' values must not be empty.".to_owned());
    assert_eq!(admin.alter(TOPIC, "t", APPEND, "cleanup.policy", Some("")), refused);
    assert_eq!(admin.alter(TOPIC, "t", APPEND, "cleanup.policy", Some(",")).0, ErrorCode::NONE);
}

#[tokio::test]
async fn whatever_has_options_is_listed() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut admin = Admin::of(&cluster);
    admin.alter(GROUP, "g", SET, "consumer.heartbeat.interval.ms", Some("700"));
    admin.alter(CLIENT_METRICS, "m", SET, "metrics", Some("org."));
    assert_eq!(admin.resources(&[GROUP, CLIENT_METRICS]), ["32 g", "16 m"]);
    assert!(admin.resources(&[]).contains(&"2 t".to_owned()));
    let (value, source, synonyms) = admin.option(GROUP, "g", "consumer.heartbeat.interval.ms");
    assert_eq!((value.as_str(), source), ("700", 8));
    assert_eq!(synonyms[0], "consumer.heartbeat.interval.ms=700@8");
    admin.alter(GROUP, "g", DELETE, "consumer.heartbeat.interval.ms", None);
    assert_eq!(admin.resources(&[GROUP]), Vec::<String>::new());
}

#[tokio::test]
async fn quotas_are_kept_and_found_by_what_they_are_for() {
    let cluster = TestCluster::start().await;
    let mut admin = Admin::of(&cluster).0;
    let entry = |parts: &[(&str, Option<&str>)], key: &str, value: f64| {
        let entity = parts
            .iter()
            .map(|(kind, name)| EntityData::default().with_entity_type(text(kind)).with_entity_name(name.map(text)));
        let op = OpData::default().with_key(text(key)).with_value(value);
        EntryData::default().with_entity(entity.collect()).with_ops(vec![op])
    };
    let entries = vec![
        entry(&[("user", Some("u"))], "producer_byte_rate", 100.0),
        entry(&[("client-id", None)], "request_percentage", 1.5),
        entry(&[("ip", Some("1.2.3.4"))], "connection_creation_rate", 1.5),
        entry(&[("foo", Some("x"))], "producer_byte_rate", 1.0),
        entry(&[], "producer_byte_rate", 1.0),
    ];
    let response = admin.call(1, &AlterClientQuotasRequest::default().with_entries(entries));
    let told: Vec<_> = response.entries.iter().map(|entry| entry.error_message.as_deref()).collect();
    let fractional = Some("connection_creation_rate cannot be a fractional value.");
    let unknown = Some("Unhandled client quota entity type: foo");
    assert_eq!(told, [None, None, fractional, unknown, Some("Invalid empty client quota entity")]);
    let mut find = |kind: &str, match_type: i8, name: Option<&str>| {
        let part = ComponentData::default().with_entity_type(text(kind)).with_match_type(match_type);
        let request = DescribeClientQuotasRequest::default().with_components(vec![part.with_match(name.map(text))]);
        admin.call(1, &request).entries.map(|entries| {
            entries
                .iter()
                .flat_map(|entry| &entry.values)
                .map(|value| (value.key.to_string(), value.value))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(find("user", 0, Some("u")), Some(vec![("producer_byte_rate".to_owned(), 100.0)]));
    assert_eq!(find("user", 1, None), Some(Vec::new()));
    assert_eq!(find("client-id", 1, None), Some(vec![("request_percentage".to_owned(), 1.5)]));
    assert_eq!(find("foo", 2, None), None);
}

/// The answer is about the second time; the first one was done by then.
#[tokio::test]
async fn of_an_entity_that_comes_twice_the_first_counts() {
    let cluster = TestCluster::start().await;
    let mut admin = Admin::of(&cluster).0;
    let entry = |value: f64| {
        let entity = EntityData::default().with_entity_type(text("user")).with_entity_name(Some(text("u")));
        let op = OpData::default().with_key(text("producer_byte_rate")).with_value(value);
        EntryData::default().with_entity(vec![entity]).with_ops(vec![op])
    };
    let request = AlterClientQuotasRequest::default().with_entries(vec![entry(1.0), entry(2.0)]);
    let told = admin.call(1, &request).entries;
    let twice = Some("Ignoring duplicate entity ClientQuotaEntity(entries={user=u})");
    assert_eq!(told.iter().map(|entry| entry.error_message.as_deref()).collect::<Vec<_>>(), [twice]);
    let found = admin.call(1, &DescribeClientQuotasRequest::default()).entries.unwrap();
    assert_eq!(found[0].values[0].value.to_bits(), 1.0_f64.to_bits());
}

#[tokio::test]
async fn what_a_broker_was_started_with_may_be_taken_back() {
    let cluster = TestCluster::start().await;
    let mut admin = Admin::of(&cluster);
    let done = (ErrorCode::NONE, String::new());
    assert_eq!(admin.alter(BROKER, &cluster_node(), DELETE, "node.id", None), done);
}

/// An option was stored with blanks around its value, told so, and not obeyed.
#[tokio::test]
async fn an_option_that_is_set_at_run_time_holds_however_it_is_spelled() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut admin = Admin::of(&cluster);
    let done = (ErrorCode::NONE, String::new());
    assert_eq!(admin.alter(BROKER, "", SET, "message.max.bytes", Some(" +100 ")), done);
    assert_eq!(admin.alter(TOPIC, "t", SET, "min.cleanable.dirty.ratio", Some("1")), done);
    assert_eq!(admin.option(TOPIC, "t", "min.cleanable.dirty.ratio").0, "1.0");
    let (value, source, synonyms) = admin.option(TOPIC, "t", "max.message.bytes");
    assert_eq!((value.as_str(), source, synonyms[0].as_str()), ("100", 3, "message.max.bytes= +100 @3"));
    assert_eq!(admin.option(BROKER, "", "message.max.bytes").0, " +100 ");
    let (code, _) = write(&mut admin.0, "t", batch(&[&"x".repeat(200)], &Stamp::plain()));
    assert_eq!(ErrorCode::new(code), ErrorCode::MESSAGE_TOO_LARGE);
}

#[tokio::test]
async fn a_feature_goes_up_and_down_and_the_broker_follows() {
    let cluster = TestCluster::start().await;
    let mut admin = Admin::of(&cluster).0;
    let mut update = |feature: &str, level: i16, upgrade_type: i8| {
        let update = FeatureUpdateKey::default()
            .with_feature(text(feature))
            .with_max_version_level(level)
            .with_upgrade_type(upgrade_type);
        let request = UpdateFeaturesRequest::default().with_feature_updates(vec![update]);
        let response = admin.call(2, &request);
        (ErrorCode::new(response.error_code), response.error_message.unwrap_or_default().to_string())
    };
    const FAILED: &str = "The update failed for all features since the following feature had an error: ";
    let refused = |reason: &str| (ErrorCode::INVALID_UPDATE_VERSION, format!("{FAILED}{reason}"));
    assert_eq!(
        update("nope", 1, 1),
        refused("Invalid update version 1 for feature nope. Local controller 1 does not support this feature.")
    );
    assert_eq!(
        update("group.version", 5, 1),
        refused("Invalid update version 5 for feature group.version. Local controller 1 only supports versions 0-1")
    );
    assert_eq!(
        update("group.version", 0, 1),
        refused(
            "Invalid update version 0 for feature group.version. Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."
        )
    );
    assert_eq!(update("transaction.version", 1, 2), (ErrorCode::NONE, String::new()));
    let told = admin.call(4, &versions_request());
    let level = |name: &str| {
        told.finalized_features
            .iter()
            .find(|feature| feature.name.as_str() == name)
            .map(|feature| feature.max_version_level)
    };
    assert_eq!((level("transaction.version"), level("group.version")), (Some(1), Some(1)));
    assert_eq!(told.finalized_features_epoch, 2);
}

#[tokio::test]
async fn the_quorum_is_all_brokers_and_one_that_is_down_can_be_forgotten() {
    let cluster = TestCluster::builder().brokers(2).start().await;
    let mut admin = Admin::of(&cluster).0;
    let metadata = TopicData::default()
        .with_topic_name(TopicName(text("__cluster_metadata")))
        .with_partitions(vec![PartitionData::default()]);
    let response = admin.call(2, &DescribeQuorumRequest::default().with_topics(vec![metadata]));
    let partition = &response.topics[0].partitions[0];
    assert_eq!((partition.leader_id.0, partition.current_voters.len(), response.nodes.len()), (1, 2, 2));
    let mut forget = |id: i32| {
        let request = UnregisterBrokerRequest::default().with_broker_id(BrokerId(id));
        let response = admin.call(0, &request);
        (ErrorCode::new(response.error_code), response.error_message.map(|reason| reason.to_string()))
    };
    let unknown = Some("Broker ID 7 is not currently registered".to_owned());
    assert_eq!(forget(7), (ErrorCode::BROKER_ID_NOT_REGISTERED, unknown));
    cluster.crash(2);
    assert_eq!(forget(2), (ErrorCode::NONE, None));
}

#[tokio::test]
async fn a_controller_loses_its_vote_and_has_it_again() {
    let cluster = TestCluster::builder().brokers(2).start().await;
    let mut admin = Admin::of(&cluster).0;
    let metadata = TopicData::default()
        .with_topic_name(TopicName(text("__cluster_metadata")))
        .with_partitions(vec![PartitionData::default()]);
    let quorum = DescribeQuorumRequest::default().with_topics(vec![metadata]);
    let ids = |states: &[ReplicaState]| states.iter().map(|state| state.replica_id.0).collect::<Vec<_>>();
    let directory = admin.call(2, &quorum).topics[0].partitions[0].current_voters[1].replica_directory_id;
    let remove = |id: i32| {
        RemoveRaftVoterRequest::default().with_cluster_id(None).with_voter_id(id).with_voter_directory_id(directory)
    };
    assert_eq!(
        ErrorCode::new(admin.call(0, &remove(1)).error_code),
        ErrorCode::VOTER_NOT_FOUND,
        "it has another directory"
    );
    assert_eq!(admin.call(0, &remove(2)).error_code, 0);
    let told = admin.call(2, &quorum).topics.remove(0).partitions.remove(0);
    assert_eq!((ids(&told.current_voters), ids(&told.observers)), (vec![1], vec![2]));
    assert_eq!(ErrorCode::new(admin.call(0, &remove(2)).error_code), ErrorCode::VOTER_NOT_FOUND);

    let listener = Listener::default().with_name(text("CONTROLLER")).with_host(text("127.0.0.1")).with_port(1);
    let add = AddRaftVoterRequest::default().with_cluster_id(None).with_voter_id(2).with_voter_directory_id(directory);
    assert_eq!(ErrorCode::new(admin.call(1, &add).error_code), ErrorCode::INVALID_REQUEST, "it says no address");
    let add = add.with_listeners(vec![listener]);
    cluster.crash(2);
    assert_eq!(ErrorCode::new(admin.call(1, &add).error_code), ErrorCode::REQUEST_TIMED_OUT, "it is not reached");
    cluster.restart(2);
    assert_eq!(admin.call(1, &add).error_code, 0);
    assert_eq!(ErrorCode::new(admin.call(1, &add).error_code), ErrorCode::DUPLICATE_VOTER);
    let told = admin.call(2, &quorum).topics.remove(0).partitions.remove(0);
    assert_eq!((ids(&told.current_voters), ids(&told.observers)), (vec![1, 2], vec![]));
}

#[tokio::test]
async fn a_client_reports_what_a_subscription_wants_of_it() {
    let cluster = TestCluster::start().await;
    let mut admin = Admin::of(&cluster);
    let ask = |admin: &mut Admin| admin.0.call(0, &GetTelemetrySubscriptionsRequest::default());
    let without = ask(&mut admin);
    assert!(without.requested_metrics.is_empty() && !without.client_instance_id.is_nil());
    assert_eq!(without.push_interval_ms, 300_000);
    admin.alter(CLIENT_METRICS, "m", SET, "metrics", Some("org.apache.kafka.producer."));
    admin.alter(CLIENT_METRICS, "m", SET, "interval.ms", Some("60000"));
    admin.alter(CLIENT_METRICS, "m", SET, "match", Some("client_id=te.*"));
    let with = ask(&mut admin);
    assert_eq!((with.requested_metrics, with.push_interval_ms), (vec![text("org.apache.kafka.producer.")], 60_000));
    let mut push = |id: Uuid, subscription: i32| {
        let request = PushTelemetryRequest::default().with_client_instance_id(id).with_subscription_id(subscription);
        ErrorCode::new(admin.0.call(0, &request).error_code)
    };
    assert_eq!(push(without.client_instance_id, without.subscription_id), ErrorCode::UNKNOWN_SUBSCRIPTION_ID);
    assert_eq!(push(with.client_instance_id, with.subscription_id), ErrorCode::NONE);
    let too_early = push(with.client_instance_id, with.subscription_id);
    assert_eq!(too_early, ErrorCode::THROTTLING_QUOTA_EXCEEDED, "the interval is not over");
}
