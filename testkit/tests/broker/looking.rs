//! What a test sees afterwards: the requests with their types, waits, statements, pictures, coverage.

use crate::client::{Connection, batch, fetch, produce, write};
use millstream_protocol::messages::{FetchRequest, MetadataRequest, ProduceRequest};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ApiKey, ErrorCode};
use millstream_testkit::{Outcome, TestCluster};

#[tokio::test]
async fn requests_are_kept_with_their_types_and_answers() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", batch(&["a"], &Stamp::plain()));
    write(&mut connection, "nope", batch(&["a"], &Stamp::plain()));
    let logged = cluster.requests().of::<ProduceRequest>();
    let codes: Vec<i16> =
        logged.iter().map(|each| each.response().unwrap().responses[0].partition_responses[0].error_code).collect();
    assert_eq!(codes, [0, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.get()]);
    assert_eq!(logged[0].request().topic_data[0].name.as_str(), "t");
    assert_eq!((logged[0].client_id(), logged[0].version(), logged[0].outcome()), ("test", 9, Outcome::Answered));
    assert_eq!(logged[0].connection(), logged[1].connection());
    assert!(logged[0].answered_at() >= Some(logged[0].at()));
}

#[tokio::test]
async fn a_test_waits_for_a_request() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    connection.send(12, &{
        let mut wait = fetch("t", 0, 0, 0);
        wait.max_wait_ms = 60_000;
        wait.min_bytes = 1;
        wait
    });
    let fetch = cluster.requests().wait_for::<FetchRequest>(|logged| logged.request().max_wait_ms == 60_000).await;
    assert_eq!(fetch.outcome(), Outcome::Open);
    cluster.requests().wait_for_count(ApiKey::FETCH, 1).await;
}

#[tokio::test]
async fn statements_about_requests_hold_or_fail_the_test() {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    Connection::to(&cluster, 0).call(12, &MetadataRequest::default());
    Connection::to(&cluster, 1).call(12, &MetadataRequest::default());
    let requests = cluster.requests();
    requests.expect::<MetadataRequest>().exactly(2);
    requests.expect::<MetadataRequest>().node(2).client_id("test").exactly(1);
    requests.expect::<MetadataRequest>().when(|logged| logged.version() == 1).never();
    requests.expect_api(ApiKey::METADATA).at_least(1);
    requests.expect::<ProduceRequest>().never();
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cluster.requests().expect::<MetadataRequest>().exactly(3);
    }));
    let text = *failed.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("requests of Metadata; all that came:\n#0 "), "{text}");
}

#[tokio::test]
async fn an_exchange_is_drawn() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    cluster.on::<ProduceRequest>().error(ErrorCode::NOT_ENOUGH_REPLICAS);
    Connection::to(&cluster, 0).call(9, &produce("t", 0, batch(&["a"], &Stamp::plain()), None));
    let logged = &cluster.requests().of::<ProduceRequest>()[0];
    let picture = logged.picture();
    for part in [
        "Produce 9 (1) -> answered",
        "by a fault: refused with NOT_ENOUGH_REPLICAS",
        "ProduceRequest, version 9",
        "ProduceResponse, version 9",
    ] {
        assert!(picture.contains(part), "{part} is not in\n{picture}");
    }
    assert!(logged.request_json().unwrap().starts_with(r#"{"transactionalId":null,"acks":-1"#));
    assert!(logged.response_json().unwrap().contains(r#""errorCode":19"#));
}

#[tokio::test]
async fn coverage_names_versions_and_codes() {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut connection = Connection::to(&cluster, 0);
    write(&mut connection, "t", batch(&["a"], &Stamp::plain()));
    write(&mut connection, "nope", batch(&["a"], &Stamp::plain()));
    connection.call(4, &MetadataRequest::default());
    let coverage = cluster.requests().coverage();
    let produce = coverage.apis.iter().find(|api| api.api == "Produce").unwrap();
    assert_eq!(produce.versions.len(), 1);
    let met = &produce.versions[0];
    assert_eq!((met.version, met.requests), (9, 2));
    let codes: Vec<(&str, u64)> = met.codes.iter().map(|(code, count)| (code.as_str(), *count)).collect();
    assert_eq!(codes, [("NONE", 1), ("UNKNOWN_TOPIC_OR_PARTITION", 1)]);
    assert!(coverage.missing().any(|api| api == "Fetch") && coverage.missing().all(|api| api != "Metadata"));
    assert!(coverage.to_string().contains("version  9 x2      NONE x1, UNKNOWN_TOPIC_OR_PARTITION x1"), "{coverage}");
    let json = serde_json::to_value(&coverage).unwrap();
    assert_eq!(json["apis"][0]["api"], "Produce");
}
