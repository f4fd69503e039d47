//! What only the embedded cluster can be told to do: epochs that overflow, and markers that come late.

use crate::cases::*;
use crate::kafka::Kafka;
use crate::kills::killed;
use crate::scene::Scene;
use millstream::protocol::ProducerId;
use millstream_testkit::TestCluster;
use std::collections::BTreeMap;
use tokio::task::JoinSet;

/// The producer ids of the application's lanes.
async fn producers(scene: &Scene) -> BTreeMap<String, ProducerId> {
    let listed = scene.client().admin().transactions().list().await.expect("transactions can be listed");
    let ours = listed.into_iter().filter(|each| each.transactional_id.starts_with(scene.application()));
    ours.map(|each| (each.transactional_id, each.producer_id)).collect()
}

/// Every commit takes an epoch. After the last one the producer id is another one, and the lane goes on with it.
#[tokio::test]
async fn lane_goes_on_past_the_last_epoch_of_its_producer_id() {
    let cluster = TestCluster::builder().config("millstream.producer.epoch.start", "32760").start().await;
    let mut scene = Scene::new(Kafka::Embedded(Box::new(cluster)), LOGGED[0], "past the last epoch").await;
    // The transaction of whoever is held up for too long is aborted, which takes an epoch as well.
    scene.never_lose_a_session();
    let folder = Scene::folder();
    let mut program = scene.start(&folder, None);
    scene.feed_until("it runs", || program.has_said("state RUNNING")).await;
    scene.commits_of_all_partitions("it begins").await;
    let before = producers(&scene).await;
    assert_eq!(before.len(), 2, "two lanes");
    while producers(&scene).await.iter().any(|(lane, producer)| before.get(lane) == Some(producer)) {
        scene.feed().await;
        scene.settle("while epochs go by").await;
    }
    scene.feed().await;
    scene.settle("with other producer ids").await;
    assert!(!program.has_said("fenced") && !program.has_said("aborted"), "{:?}", program.lines());
    scene.close(program).await;
    scene.restores_in_an_empty_folder().await;
}

/// The outcome of a transaction is decided, and its markers are not written yet: neither the offsets nor the changelog may be
/// taken as they seem to be then.
#[tokio::test]
async fn recovery_waits_for_markers_that_are_late() {
    let mut cases = JoinSet::new();
    for (store, point) in [LOGGED[0], LOGGED[3]].into_iter().flat_map(|store| [(store, STEP_4), (store, STEP_5)]) {
        let cluster = TestCluster::builder().config("millstream.transaction.marker.delay.ms", "700").start().await;
        cases.spawn(killed(Kafka::Embedded(Box::new(cluster)), store, point));
    }
    cases.join_all().await;
}
