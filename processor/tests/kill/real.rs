//! The same kills and pauses against a real Kafka.

use crate::cases::*;
use crate::kafka::Kafka;
use crate::kills::killed;
use crate::pauses::paused;
use std::future::Future;
use tokio::task::JoinSet;

fn kafka() -> Kafka {
    Kafka::Real(std::env::var("MILLSTREAM_KAFKA").expect("MILLSTREAM_KAFKA has the address of a Kafka"))
}

/// Plays cases, some at a time.
async fn play<F: Future<Output = ()> + Send + 'static>(cases: impl IntoIterator<Item = F>) {
    let mut playing = JoinSet::new();
    for case in cases {
        if playing.len() == AT_ONCE {
            playing.join_next().await.expect("some play").expect("the case holds");
        }
        playing.spawn(case);
    }
    playing.join_all().await;
}

#[tokio::test]
#[ignore = "needs a real Kafka at MILLSTREAM_KAFKA"]
async fn sums_survive_a_kill_at_every_point_on_a_real_kafka() {
    let logged = POINTS.into_iter().flat_map(|point| LOGGED.map(|store| (store, point)));
    let in_commits = POINTS.into_iter().filter(|point| point.part == Part::Commit);
    let local = in_commits.flat_map(|point| LOCAL.map(|store| (store, point)));
    play(logged.chain(local).map(|(store, point)| killed(kafka(), store, point))).await;
}

#[tokio::test]
#[ignore = "needs a real Kafka at MILLSTREAM_KAFKA"]
async fn zombie_of_every_point_changes_nothing_on_a_real_kafka() {
    let cases = POINTS.into_iter().flat_map(|point| LOGGED.map(|store| (store, point)));
    play(cases.map(|(store, point)| paused(kafka(), store, point))).await;
}

/// How many cases play at a time: each has up to three processes, which wait most of the time.
const AT_ONCE: usize = 8;
