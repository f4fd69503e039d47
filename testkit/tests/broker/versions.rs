//! Clusters that speak as an older Kafka.

use crate::client::{Connection, versions_request};
use millstream_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse, MetadataRequest};
use millstream_protocol::{ApiKey, ErrorCode};
use millstream_testkit::TestCluster;

/// The range that an answer names for an API.
fn range(response: &ApiVersionsResponse, api: ApiKey) -> Option<(i16, i16)> {
    let row = response.api_keys.iter().find(|row| row.api_key == api.get())?;
    Some((row.min_version, row.max_version))
}

#[tokio::test]
async fn a_release_offers_what_it_had_and_hangs_up_on_the_rest() {
    let cluster = TestCluster::builder().kafka_version("2.0").topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    let told = connection.call(2, &ApiVersionsRequest::default());
    assert_eq!(range(&told, ApiKey::METADATA), Some((0, 6)));
    assert_eq!(range(&told, ApiKey::FETCH), Some((4, 8)), "versions below 4 are in no schema any more");
    assert_eq!(range(&told, ApiKey::PRODUCE), Some((0, 6)));
    assert_eq!(range(&told, ApiKey::INCREMENTAL_ALTER_CONFIGS), None);
    assert_eq!(connection.call(6, &MetadataRequest::default().with_topics(None)).topics.len(), 1);
    connection.send(7, &MetadataRequest::default());
    assert_eq!(connection.payload(), None, "an unknown version ends the connection");
}

#[tokio::test]
async fn an_old_release_answers_a_new_api_versions_in_version_0() {
    let cluster = TestCluster::builder().kafka_version("2.3").start().await;
    let refused = Connection::to(&cluster, 0).call(3, &versions_request());
    assert_eq!(refused.error_code, ErrorCode::UNSUPPORTED_VERSION.get());
    assert_eq!(range(&refused, ApiKey::API_VERSIONS), Some((0, 2)));
}

#[tokio::test]
async fn features_are_those_of_the_release() {
    let levels = |response: &ApiVersionsResponse| -> Vec<String> {
        let told = response.finalized_features.iter();
        told.map(|feature| format!("{}={}", feature.name, feature.max_version_level)).collect()
    };
    for (release, expected) in [
        ("2.8", vec![]),
        ("3.5", vec!["metadata.version=11"]),
        ("4.0", vec!["group.version=1", "kraft.version=1", "metadata.version=25", "transaction.version=2"]),
    ] {
        let cluster = TestCluster::builder().kafka_version(release).start().await;
        let told = Connection::to(&cluster, 0).call(3, &versions_request());
        assert_eq!(levels(&told), expected, "{release}");
    }
}

#[tokio::test]
async fn one_api_has_the_versions_that_are_set() {
    let builder = TestCluster::builder().api_versions(ApiKey::METADATA, 5, 8).api_versions(ApiKey::LIST_OFFSETS, 1, 0);
    let cluster = builder.start().await;
    let told = Connection::to(&cluster, 0).call(3, &versions_request());
    assert_eq!(range(&told, ApiKey::METADATA), Some((5, 8)));
    assert_eq!(range(&told, ApiKey::LIST_OFFSETS), None);
    cluster.set_api_versions(ApiKey::METADATA, 0, 4);
    let mut connection = Connection::to(&cluster, 0);
    assert_eq!(connection.call(4, &MetadataRequest::default()).brokers.len(), 1);
    connection.send(5, &MetadataRequest::default());
    assert_eq!(connection.payload(), None);
}

#[tokio::test]
async fn our_own_client_writes_to_every_release() {
    for release in ["1.0", "2.0", "2.4", "2.8", "3.3", "3.9", "4.0", "4.3"] {
        let cluster = TestCluster::builder().kafka_version(release).topic("t", 1).start().await;
        let producer = millstream_client::Producer::builder(&cluster).build().await.unwrap();
        producer.send(millstream_client::ProducerRecord::to("t").value("x")).await.unwrap();
        producer.close(super::client::PATIENCE).await.unwrap();
        assert_eq!(cluster.values("t"), ["x"], "{release}");
    }
}
