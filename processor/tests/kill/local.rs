//! The changelog is off: a journal goes on with what it has, and whoever has nothing starts empty and says so.

use crate::cases::*;
use crate::kafka::Kafka;
use crate::program::Program;
use crate::scene::{PATIENCE, Scene};
use millstream_testkit::TestCluster;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::task::JoinSet;

/// Paused past its session with nobody else to take over, a process goes on with its own disk.
async fn paused_alone(kafka: Kafka, store: Store, point: Point) {
    let mut scene = Scene::new(kafka, store, &format!("paused alone at {}", point.name)).await;
    let folder = Scene::folder();
    let mut a = scene.start(&folder, Some(Stop::Pause(point)));
    scene.feed_until("A comes to the point", || a.has_said("stopped at")).await;
    scene.wait_until("A is stopped", || a.is_paused()).await;
    until_nobody_is_a_member(&scene).await;
    let before = a.count("state RUNNING");
    a.resume();
    scene.feed_until("A is a member again", || a.count("state RUNNING") > before).await;
    scene.settle("when A has gone on").await;
    scene.shows(&mut a, "when A has gone on").await;
    assert!(!a.has_said("starts empty"), "{}: its disk has everything", scene.what());
}

async fn until_nobody_is_a_member(scene: &Scene) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let groups = scene.client().admin().groups().describe([scene.application()]).await;
        let groups = groups.and_then(|groups| groups.all()).expect("the group is there");
        if groups.values().all(|group| group.members.is_empty()) {
            return;
        }
        assert!(Instant::now() < deadline, "{}: the session does not end", scene.what());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

macro_rules! paused_alone_at {
    ($($test:ident: $point:expr;)*) => {$(
        #[tokio::test]
        async fn $test() {
            let mut cases = JoinSet::new();
            for store in LOCAL {
                let kafka = Kafka::Embedded(Box::new(TestCluster::builder().start().await));
                cases.spawn(paused_alone(kafka, store, $point));
            }
            cases.join_all().await;
        }
    )*};
}

paused_alone_at! {
    journal_alone_outlives_a_pause_after_step_1: STEP_1;
    journal_alone_outlives_a_pause_after_step_2: STEP_2;
    journal_alone_outlives_a_pause_after_step_3: STEP_3;
    journal_alone_outlives_a_pause_after_step_4: STEP_4;
    journal_alone_outlives_a_pause_between_the_end_of_the_transaction_and_its_application: STEP_5;
    journal_alone_outlives_a_pause_after_step_6: STEP_6;
}

/// A life, and a second one on `folder` or elsewhere: it has nothing of the first one, says so, and sums from there on.
async fn starts_empty(store: Store, again: impl FnOnce(&TempDir, &Scene) -> Program) {
    let kafka = Kafka::Embedded(Box::new(TestCluster::builder().start().await));
    let mut scene = Scene::new(kafka, store, "started again").await;
    // Whoever loses its session has lost what it had: it would start empty once more.
    scene.never_lose_a_session();
    let folder = Scene::folder();
    scene.live_and_close(&folder).await;
    scene.forget();
    let mut next = again(&folder, &scene);
    scene.feed_until("it says that it starts empty", || next.count("starts empty") == 2).await;
    scene.shows(&mut next, "when it has started empty").await;
}

#[tokio::test]
async fn memory_without_a_changelog_starts_empty_and_says_so() {
    starts_empty(FORGETFUL, |folder, scene| scene.start(folder, None)).await;
}

#[tokio::test]
async fn journal_without_a_changelog_starts_empty_on_another_disk_and_says_so() {
    let elsewhere = Scene::folder();
    starts_empty(LOCAL[0], |_, scene| scene.start(&elsewhere, None)).await;
}

/// A has a journal, B has run the task meanwhile: what A has is not what is committed.
#[tokio::test]
async fn journal_without_a_changelog_starts_empty_when_another_has_committed_meanwhile() {
    let kafka = Kafka::Embedded(Box::new(TestCluster::builder().start().await));
    let mut scene = Scene::new(kafka, LOCAL[0], "moved away and back").await;
    scene.never_lose_a_session();
    let (here, elsewhere) = (Scene::folder(), Scene::folder());
    scene.live_and_close(&here).await;
    scene.forget();
    scene.live_and_close(&elsewhere).await;
    scene.forget();
    let mut back = scene.start(&here, None);
    scene.feed_until("it says that it starts empty", || back.count("starts empty") == 2).await;
    scene.shows(&mut back, "when it has started empty").await;
}
