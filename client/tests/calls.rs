//! Requests that are repeated until somebody answers for them.

use millstream_client::admin::NewTopic;
use millstream_client::{Client, Error, ErrorKind};
use millstream_protocol::{ApiKey, ErrorCode};
use millstream_testkit::TestCluster;
use std::time::Duration;

// M-11
#[tokio::test]
async fn what_the_controller_does_is_asked_again_when_another_has_become_it() -> Result<(), Error> {
    let cluster = TestCluster::builder().brokers(2).start().await;
    cluster.on_api(ApiKey::CREATE_TOPICS).times(2).error(ErrorCode::NOT_CONTROLLER);
    let client = Client::builder(cluster.bootstrap_servers()).build().await?;
    let created = client.admin().topics().create([NewTopic::new("t").partitions(1)]).await?;
    assert!(created.of("t").is_some_and(Result::is_ok), "{created:?}");
    assert_eq!(cluster.requests().count(ApiKey::CREATE_TOPICS), 3);
    Ok(())
}

// M-9
#[tokio::test]
async fn a_coordinator_that_moves_or_is_not_ready_is_looked_up_again() -> Result<(), Error> {
    let cluster = TestCluster::builder().brokers(3).start().await;
    cluster.on_api(ApiKey::FIND_COORDINATOR).times(1).error(ErrorCode::COORDINATOR_NOT_AVAILABLE);
    for code in [ErrorCode::NOT_COORDINATOR, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS] {
        cluster.on_api(ApiKey::DESCRIBE_GROUPS).times(1).error(code);
    }
    let client = Client::builder(cluster.bootstrap_servers()).build().await?;
    let described = client.admin().groups().describe(["g"]).await?;
    let error = described.of("g").expect("an answer").as_ref().expect_err("no such group");
    assert_eq!(error.code(), Some(ErrorCode::GROUP_ID_NOT_FOUND), "{error}");
    assert_eq!(cluster.requests().count(ApiKey::DESCRIBE_GROUPS), 3);
    assert!(cluster.requests().count(ApiKey::FIND_COORDINATOR) >= 3, "looked up again after each");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_answered_ends_in_time_and_says_that_it_is_in_doubt() -> Result<(), Error> {
    let cluster = TestCluster::builder().in_memory().start().await;
    let builder = Client::builder(cluster.bootstrap_servers()).runtime(cluster.runtime().expect("one in memory"));
    let client = builder.default_api_timeout(Duration::from_millis(400)).build().await?;
    cluster.on_api(ApiKey::CREATE_TOPICS).times(1000).disconnect();
    let error = client.admin().topics().create([NewTopic::new("t").partitions(1)]).await.expect_err("no answer");
    assert!(matches!(error.kind(), ErrorKind::Unreachable | ErrorKind::TimedOut), "{error:?}");
    assert!(error.is_in_doubt(), "{error:?}");
    assert!(error.to_string().starts_with("create topic `t`"), "{error}");
    Ok(())
}
