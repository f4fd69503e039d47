//! SIGSTOP past the session at each point, and SIGCONT when others have taken over: a zombie changes nothing that anybody reads as
//! committed.

use crate::cases::*;
use crate::kafka::Kafka;
use crate::program::Program;
use crate::scene::{ALL_KEYS, KEYS_OF_ONE_PARTITION, Scene};
use millstream_testkit::TestCluster;
use tempfile::TempDir;
use tokio::task::JoinSet;

/// A is paused at a point, B takes over and commits, B is killed, C restores; A goes on. Then another process restores it all.
pub(crate) async fn paused(kafka: Kafka, store: Store, point: Point) {
    let mut scene = Scene::new(kafka, store, &format!("paused at {}", point.name)).await;
    let folders = [Scene::folder(), Scene::folder(), Scene::folder()];
    let (a, b) = pause(&mut scene, point, &folders).await;
    let b = b.unwrap_or_else(|| scene.start(&folders[1], None));
    scene.feed().await;
    scene.settle("with B").await;
    drop(b);
    let both = take_over_and_wake(&mut scene, a, &folders[2]).await;
    drop(both);
    scene.restores_in_an_empty_folder().await;
}

/// B is gone, A a zombie: C restores, and A goes on.
async fn take_over_and_wake(scene: &mut Scene, mut a: Program, folder: &TempDir) -> [Program; 2] {
    let mut c = scene.start(folder, None);
    scene.feed().await;
    scene.settle("with C").await;
    scene.shows(&mut c, "with C").await;
    let before = a.count("state RUNNING");
    a.resume();
    scene.feed_until("A is a member again", || a.count("state RUNNING") > before).await;
    scene.settle("with A and C").await;
    [a, c]
}

/// A, paused; and B, if it took B to bring A to that point.
async fn pause(scene: &mut Scene, point: Point, [first, second, _]: &[TempDir; 3]) -> (Program, Option<Program>) {
    if point.part == Part::Recovery {
        scene.live_and_close(&Scene::folder()).await;
    }
    let mut a = scene.start(first, Some(Stop::Pause(point)));
    let mut b = None;
    match point.part {
        Part::Recovery => scene.wait_until("A comes to the point", || a.has_said("stopped at")).await,
        Part::Commit => scene.feed_until("A comes to the point", || a.has_said("stopped at")).await,
        Part::Revocation => {
            scene.feed_until("A runs", || a.has_said("sum ")).await;
            b = Some(scene.start(second, None));
            scene.feed_until("a task is asked back", || a.has_said("stopped at")).await;
        }
    }
    scene.wait_until("A is stopped", || a.is_paused()).await;
    (a, b)
}

async fn all_paused(point: Point) {
    let mut cases = JoinSet::new();
    for store in LOGGED {
        let kafka = Kafka::Embedded(Box::new(TestCluster::builder().start().await));
        cases.spawn(paused(kafka, store, point));
    }
    cases.join_all().await;
}

macro_rules! paused_at {
    ($($test:ident: $point:expr;)*) => {$(
        #[tokio::test]
        async fn $test() {
            all_paused($point).await;
        }
    )*};
}

paused_at! {
    zombie_of_step_1_changes_nothing: STEP_1;
    zombie_of_step_2_changes_nothing: STEP_2;
    zombie_of_step_3_changes_nothing: STEP_3;
    zombie_of_step_4_changes_nothing: STEP_4;
    zombie_between_the_end_of_the_transaction_and_its_application_changes_nothing: STEP_5;
    zombie_of_step_6_changes_nothing: STEP_6;
    zombie_that_knows_the_commit_changes_nothing: FETCHED;
    zombie_in_the_middle_of_a_restore_changes_nothing: READING;
    zombie_before_the_second_look_changes_nothing: RESTORED;
    zombie_in_the_middle_of_a_revocation_changes_nothing: REVOCATION;
}

/// A is paused with a transaction open that the broker would leave open for ten minutes. Records that B committed lie behind it, and
/// C must have them all: it finds whose transaction holds the last stable offset back, and fences it.
#[tokio::test]
async fn restore_ends_the_transaction_of_a_paused_owner() {
    let mut cases = JoinSet::new();
    for point in [STEP_2, STEP_3] {
        cases.spawn(async move {
            let kafka = Kafka::Embedded(Box::new(TestCluster::builder().start().await));
            let mut scene = Scene::new(kafka, LOGGED[0], &format!("open transaction at {}", point.name)).await;
            scene.set("transaction.timeout.ms=600000");
            // A busy machine holds nobody up for as long: a lane that begins once more leaves offsets, as below.
            scene.set("session.timeout.ms=10000");
            let folders = [Scene::folder(), Scene::folder(), Scene::folder()];
            scene.feed_only(KEYS_OF_ONE_PARTITION);
            let mut a = scene.start(&folders[0], Some(Stop::Pause(point)));
            // A lane commits where it begins. Paused in the middle of that, the one without input would leave offsets, and B would wait for
            // their end as long as its transaction may take.
            scene.commits_of_all_partitions("A begins").await;
            scene.feed_until("A comes to the point", || a.has_said("stopped at")).await;
            scene.wait_until("A is stopped", || a.is_paused()).await;
            scene.feed_only(ALL_KEYS);
            let b = scene.start(&folders[1], None);
            scene.feed().await;
            scene.settle_unseen("with B").await;
            // None of these is killed: what it had sent of its offsets would be waited for as long as that.
            scene.close(b).await;
            for process in take_over_and_wake(&mut scene, a, &folders[2]).await {
                scene.close(process).await;
            }
            scene.restores_in_an_empty_folder().await;
        });
    }
    cases.join_all().await;
}
