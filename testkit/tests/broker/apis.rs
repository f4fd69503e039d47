//! Which APIs and versions there are.

use crate::client::{Connection, text, versions_request};
use millstream_protocol::api;
use millstream_protocol::messages::api_versions_response::ApiVersion;
use millstream_protocol::messages::{
    self, ApiVersionsRequest, DescribeAclsRequest, FindCoordinatorRequest, OffsetFetchRequest, ProduceRequest, Request,
    RequestKind,
};
use millstream_protocol::{ApiKey, ErrorCode, frame};
use millstream_testkit::TestCluster;

#[tokio::test]
async fn features_in_force_are_told() {
    for level in [1, 2] {
        let cluster = TestCluster::builder().config("transaction.version", &level.to_string()).start().await;
        let response = Connection::to(&cluster, 0).call(4, &versions_request());
        let finalized =
            response.finalized_features.iter().find(|feature| feature.name.as_str() == "transaction.version").unwrap();
        assert_eq!(finalized.max_version_level, level);
    }
}

#[tokio::test]
async fn features_from_level_zero_on_are_told_to_newer_clients_only() {
    let cluster = TestCluster::start().await;
    let told = |version| {
        let response = Connection::to(&cluster, 0).call(version, &versions_request());
        (response.supported_features.len(), response.finalized_features.len())
    };
    assert_eq!((told(3), told(4)), ((1, 5), (5, 5)));
}

#[tokio::test]
async fn telemetry_is_offered_where_there_is_a_reporter() {
    let offers = |cluster: &TestCluster| {
        let told = Connection::to(cluster, 0).call(4, &versions_request()).api_keys;
        told.iter().any(|row| row.api_key == ApiKey::GET_TELEMETRY_SUBSCRIPTIONS.get())
    };
    assert!(!offers(&TestCluster::start().await));
    assert!(offers(&TestCluster::builder().config("metric.reporters", "org.example.Reporter").start().await));
}

#[tokio::test]
async fn a_client_says_properly_what_it_is() {
    let cluster = TestCluster::start().await;
    let mut connection = Connection::to(&cluster, 0);
    let mut code = |version: i16, name: &'static str, number: &'static str| {
        let request = ApiVersionsRequest::default()
            .with_client_software_name(text(name))
            .with_client_software_version(text(number));
        ErrorCode::new(connection.call(version, &request).error_code)
    };
    assert_eq!(code(3, "apache-kafka.java", "4.4.0-rc1"), ErrorCode::NONE);
    for (name, number) in [("", "1"), ("a", ""), ("-a", "1"), ("a", "1."), ("a b", "1")] {
        assert_eq!(code(3, name, number), ErrorCode::INVALID_REQUEST, "{name:?} {number:?}");
    }
    assert_eq!(code(2, "", ""), ErrorCode::NONE, "before, nobody was asked");
}

#[tokio::test]
async fn an_unknown_version_of_api_versions_is_refused_in_the_oldest_layout() {
    let cluster = TestCluster::start().await;
    let mut connection = Connection::to(&cluster, 0);
    // ApiVersions 99, correlation id 7, no client id, and the empty tag buffer of a flexible header.
    connection.send_raw(&[0, 0, 0, 11, 0, 18, 0, 99, 0, 0, 0, 7, 0xff, 0xff, 0]);
    let payload = connection.payload().unwrap();
    let (id, response) = frame::decode_response::<ApiVersionsRequest>(0, payload).unwrap();
    let own = api::supported(ApiKey::API_VERSIONS).unwrap();
    assert_eq!((id, response.error_code), (7, ErrorCode::UNSUPPORTED_VERSION.get()));
    let told: Vec<_> = response.api_keys.iter().map(|row| (row.api_key, row.min_version, row.max_version)).collect();
    assert_eq!(told, [(ApiKey::API_VERSIONS.get(), own.min(), own.max())]);
}

#[tokio::test]
async fn every_version_of_every_api_is_answered() {
    let cluster = TestCluster::builder().config("metric.reporters", "org.example.Reporter").start().await;
    assert!(ask_everything(&cluster, &served(&cluster)) >= 57, "APIs");
}

#[tokio::test]
async fn every_version_of_every_api_can_be_refused() {
    let cluster = TestCluster::builder().config("metric.reporters", "org.example.Reporter").start().await;
    let served = served(&cluster);
    cluster.on_any().always().error(ErrorCode::UNKNOWN_SERVER_ERROR);
    ask_everything(&cluster, &served);
    // Those that have a code for the whole request tell it at every version that has it.
    let coverage = cluster.requests().coverage();
    let tells = |api: &str| {
        let found = coverage.apis.iter().find(|each| each.api == api).expect("it was asked");
        found.versions.iter().filter(|version| version.codes.contains_key("UNKNOWN_SERVER_ERROR")).count()
    };
    for (api, versions) in
        [("Heartbeat", 5), ("JoinGroup", 10), ("EndTxn", 6), ("InitProducerId", 6), ("ApiVersions", 6)]
    {
        assert_eq!(tells(api), versions, "{api}");
    }
}

fn served(cluster: &TestCluster) -> Vec<ApiVersion> {
    Connection::to(cluster, 0).call(4, &versions_request()).api_keys
}
/// Asks for nothing in every version of every API, each on a connection of its own; how many APIs there are.
fn ask_everything(cluster: &TestCluster, all: &[ApiVersion]) -> usize {
    let mut unanswered = Vec::new();
    for row in all {
        let served = api::supported(ApiKey::new(row.api_key)).unwrap();
        for version in served.min()..=row.max_version {
            let request = empty_request(ApiKey::new(row.api_key), version);
            let mut connection = Connection::to(cluster, 0);
            connection.send_any(version, &request);
            let payload = connection.payload();
            if payload.is_none_or(|payload| frame::decode_any_response(request.api(), version, payload).is_err()) {
                unanswered.push(format!("{} {version}", request.api()));
            }
        }
    }
    assert_eq!(unanswered, Vec::<String>::new());
    all.len()
}

/// A request without anything in it.
fn empty_request(api: ApiKey, version: i16) -> RequestKind {
    macro_rules! defaults {
        ($($request:ident)*) => {
            $(if api == <messages::$request as Request>::KEY {
                return messages::$request::default().into();
            })*
        };
    }
    if api == ApiKey::PRODUCE {
        // With acks=0, the default, there is no answer.
        return ProduceRequest { acks: 1, ..ProduceRequest::default() }.into();
    }
    if api == ApiKey::FIND_COORDINATOR && version >= 4 {
        // Where the code stands depends on whether there is a list of keys.
        return FindCoordinatorRequest::default().with_coordinator_keys(vec![text("g")]).into();
    }
    if api == ApiKey::OFFSET_FETCH {
        return OffsetFetchRequest::default().with_topics(Some(Vec::new())).into();
    }
    if api == ApiKey::DESCRIBE_ACLS {
        // A filter for nothing in particular; Kafka does not read one whose kinds are unknown.
        return DescribeAclsRequest::default()
            .with_resource_type_filter(1)
            .with_pattern_type_filter(1)
            .with_operation(1)
            .with_permission_type(1)
            .into();
    }
    defaults! {
        FetchRequest ListOffsetsRequest MetadataRequest OffsetCommitRequest FindCoordinatorRequest JoinGroupRequest HeartbeatRequest
        LeaveGroupRequest SyncGroupRequest DescribeGroupsRequest ListGroupsRequest ApiVersionsRequest CreateTopicsRequest DeleteTopicsRequest
        DeleteRecordsRequest InitProducerIdRequest OffsetForLeaderEpochRequest AddPartitionsToTxnRequest AddOffsetsToTxnRequest EndTxnRequest
        WriteTxnMarkersRequest TxnOffsetCommitRequest DescribeConfigsRequest AlterConfigsRequest IncrementalAlterConfigsRequest
        DescribeLogDirsRequest CreatePartitionsRequest DeleteGroupsRequest OffsetDeleteRequest DescribeClusterRequest DescribeProducersRequest
        DescribeTransactionsRequest ListTransactionsRequest ListConfigResourcesRequest DescribeTopicPartitionsRequest
        SaslHandshakeRequest SaslAuthenticateRequest DescribeUserScramCredentialsRequest AlterUserScramCredentialsRequest
        ConsumerGroupHeartbeatRequest ConsumerGroupDescribeRequest UpdateFeaturesRequest CreateAclsRequest DeleteAclsRequest
        ElectLeadersRequest AlterPartitionReassignmentsRequest ListPartitionReassignmentsRequest
        DescribeQuorumRequest UnregisterBrokerRequest AlterReplicaLogDirsRequest DescribeClientQuotasRequest AlterClientQuotasRequest
        GetTelemetrySubscriptionsRequest PushTelemetryRequest AddRaftVoterRequest RemoveRaftVoterRequest
    }
    panic!("the table of this test lacks {api}")
}
