//! Answers that no Kafka would send. The client must come back with an error or with the data, and go on.

use super::{memory, read, reader, send, within};
use millstream_client::{Error, Producer};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::FetchRequest;
use millstream_testkit::faults::{Effect, FaultPlan, FaultStep, Malformation};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Whatever an answer of this API can be made to be.
fn malformed(api: ApiKey) -> Vec<(Malformation, FaultPlan)> {
    let plans = Malformation::ALL.map(|how| (how, FaultPlan::new(api, [FaultStep::new(Effect::Malform(how))])));
    let possible: Vec<_> = plans.into_iter().filter(|(_, plan)| plan.check().is_ok()).collect();
    let all_can_be = Malformation::ALL.len() - if api == ApiKey::FETCH { 0 } else { 3 };
    assert!(possible.len() >= all_can_be, "{api}: {possible:?}");
    possible
}

#[tokio::test(start_paused = true)]
async fn a_producer_survives_hostile_answers_to_every_request() -> Result<(), Error> {
    for api in [ApiKey::API_VERSIONS, ApiKey::METADATA, ApiKey::INIT_PRODUCER_ID, ApiKey::PRODUCE] {
        for (how, plan) in malformed(api) {
            let cluster = memory().start().await;
            cluster.add_faults(plan).expect("it can be");
            let sent = within(10 * MINUTE, async {
                let producer = Producer::connect(&cluster).await?;
                send(&producer, "a").await
            });
            if let Err(error) = sent.await {
                assert!(error.to_string().len() > 20, "{api} {how:?}: {error}");
            }
            cluster.assert_faults_used();
            let values = cluster.values("t");
            assert!(values.len() <= 1, "{api} {how:?}: {values:?}");
            // Nothing of it is left behind.
            send(&Producer::connect(&cluster).await?, "b").await?;
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_consumer_survives_hostile_answers_to_every_request() -> Result<(), Error> {
    for api in [ApiKey::METADATA, ApiKey::LIST_OFFSETS, ApiKey::FETCH] {
        for (how, plan) in malformed(api) {
            let cluster = memory().start().await;
            send(&Producer::connect(&cluster).await?, "a").await?;
            cluster.add_faults(plan).expect("it can be");
            let mut consumer = match within(10 * MINUTE, reader(&cluster)).await {
                Ok(consumer) => consumer,
                // A hostile first answer may be the end of the attempt; the next one is whole.
                Err(_) => reader(&cluster).await?,
            };
            let read_it = within(10 * MINUTE, read(&mut consumer, 1)).await;
            match read_it {
                Ok(values) => assert_eq!(values, ["a"], "{api} {how:?}"),
                Err(error) => {
                    assert!(error.to_string().len() > 20, "{api} {how:?}: {error}");
                    consumer.seek(("t", 0), millstream_protocol::Offset::new(0))?;
                    assert_eq!(within(10 * MINUTE, read(&mut consumer, 1)).await?, ["a"], "{api} {how:?}");
                }
            }
            cluster.assert_faults_used();
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_bomb_is_refused_by_what_it_would_become() -> Result<(), Error> {
    let cluster = memory().start().await;
    send(&Producer::connect(&cluster).await?, "a").await?;
    cluster.on::<FetchRequest>().malform(Malformation::Bomb);
    let error = within(MINUTE, read(&mut reader(&cluster).await?, 1)).await.expect_err("it is too large");
    assert!(error.to_string().contains("t-0"), "{error}");
    Ok(())
}
