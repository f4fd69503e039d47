//! SIGKILL at each point, with both views in both stores; and at the points of a commit with the changelog off, where the window
//! between EndTxn and apply is closed by the journal alone.

use crate::cases::*;
use crate::kafka::Kafka;
use crate::scene::Scene;
use millstream_testkit::TestCluster;
use tokio::task::JoinSet;

/// A process is killed at a point, and another one goes on with its folder.
pub(crate) async fn killed(kafka: Kafka, store: Store, point: Point) {
    let mut scene = Scene::new(kafka, store, &format!("killed at {}", point.name)).await;
    match point.part {
        Part::Commit => killed_in_a_commit(&mut scene, point).await,
        Part::Recovery => killed_in_a_recovery(&mut scene, point).await,
        Part::Revocation => killed_in_a_revocation(&mut scene, point).await,
    }
    if store.has_changelog {
        scene.restores_in_an_empty_folder().await;
    }
}

async fn killed_in_a_commit(scene: &mut Scene, point: Point) {
    let folder = Scene::folder();
    scene.live_and_close(&folder).await;
    let mut killed = scene.start(&folder, Some(Stop::Kill(point)));
    scene.feed_until("it comes to the point", || killed.has_ended()).await;
    assert!(killed.has_said("stopped at"), "{}: it was killed there", scene.what());
    let mut next = scene.start(&folder, None);
    scene.settle("after the kill").await;
    scene.shows(&mut next, "after the kill").await;
    if scene.store().is_journaled {
        scene.wait_until("it says what it has restored", || next.restored().is_some()).await;
        assert_eq!(next.restored(), Some(0), "{}: what a SIGKILL leaves on the disk is enough", scene.what());
        assert!(scene.read_of_the_changelog().is_none_or(|count| count == 0), "{}", scene.what());
    } else {
        scene.wait_until("it says that memory is restored", || next.restored() > Some(0)).await;
    }
}

/// The folder is empty at first, so that there is something to recover.
async fn killed_in_a_recovery(scene: &mut Scene, point: Point) {
    scene.live_and_close(&Scene::folder()).await;
    let folder = Scene::folder();
    let mut killed = scene.start(&folder, Some(Stop::Kill(point)));
    scene.wait_until("it comes to the point", || killed.has_ended()).await;
    assert!(killed.has_said("stopped at"), "{}: it was killed there", scene.what());
    let mut next = scene.start(&folder, None);
    scene.feed().await;
    scene.settle("after the kill").await;
    scene.shows(&mut next, "after the kill").await;
}

/// A second process comes, and the first is killed while a task is asked back; then it starts again, with files of the past.
async fn killed_in_a_revocation(scene: &mut Scene, point: Point) {
    let folders = [Scene::folder(), Scene::folder()];
    let mut killed = scene.start(&folders[0], Some(Stop::Kill(point)));
    scene.feed_until("it runs", || killed.has_said("sum ")).await;
    let second = scene.start(&folders[1], None);
    scene.feed_until("a task is asked back", || killed.has_ended()).await;
    assert!(killed.has_said("stopped at"), "{}: it was killed there", scene.what());
    scene.settle("with the second one").await;
    let mut again = scene.start(&folders[0], None);
    scene.feed_until("it has a task again", || again.has_said("sum ")).await;
    scene.settle("with both").await;
    drop((second, again));
}

/// The cases run beside each other: most of what they do is waiting.
async fn all_killed(stores: impl IntoIterator<Item = Store>, point: Point) {
    let mut cases = JoinSet::new();
    for store in stores {
        let kafka = Kafka::Embedded(Box::new(TestCluster::builder().start().await));
        cases.spawn(killed(kafka, store, point));
    }
    cases.join_all().await;
}

macro_rules! killed_at {
    ($($test:ident: $point:expr, $stores:expr;)*) => {$(
        #[tokio::test]
        async fn $test() {
            all_killed($stores, $point).await;
        }
    )*};
}

killed_at! {
    sums_survive_a_kill_after_step_1: STEP_1, LOGGED.into_iter().chain(LOCAL);
    sums_survive_a_kill_after_step_2: STEP_2, LOGGED.into_iter().chain(LOCAL);
    sums_survive_a_kill_after_step_3: STEP_3, LOGGED.into_iter().chain(LOCAL);
    sums_survive_a_kill_after_step_4: STEP_4, LOGGED.into_iter().chain(LOCAL);
    sums_survive_a_kill_between_the_end_of_the_transaction_and_its_application: STEP_5, LOGGED.into_iter().chain(LOCAL);
    sums_survive_a_kill_after_step_6: STEP_6, LOGGED.into_iter().chain(LOCAL);
    sums_survive_a_kill_when_the_commit_is_known: FETCHED, LOGGED;
    sums_survive_a_kill_in_the_middle_of_a_restore: READING, LOGGED;
    sums_survive_a_kill_before_the_second_look: RESTORED, LOGGED;
    sums_survive_a_kill_in_the_middle_of_a_revocation: REVOCATION, LOGGED;
}

/// Nothing is lost with the folder: there is no input left to sum, so what the stores have comes from the changelog.
#[tokio::test]
async fn wiped_folder_gets_the_same_contents_from_the_changelog() {
    for store in LOGGED.into_iter().filter(|store| store.is_journaled) {
        let kafka = Kafka::Embedded(Box::new(TestCluster::builder().start().await));
        let mut scene = Scene::new(kafka, store, "with its folder wiped").await;
        let folder = Scene::folder();
        scene.live_and_close(&folder).await;
        std::fs::remove_dir_all(folder.path().join(scene.application())).expect("the state is there");
        let mut next = scene.start(&folder, None);
        scene.shows(&mut next, "after the wipe").await;
        let read = scene.read_of_the_changelog();
        assert!(read > Some(0), "{}: {read:?} records of the changelog were read", scene.what());
    }
}
