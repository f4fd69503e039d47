//! Producers while brokers, leaders and connections fail: in memory, under a paused clock.

mod failover;
mod promises;
mod settings;
mod trouble;
mod unanswered;

use millstream_testkit::TestCluster;

/// A cluster in memory of three brokers, and a topic of which the first leads all partitions.
async fn cluster(partitions: usize) -> TestCluster {
    let cluster = TestCluster::builder().brokers(3).in_memory().topic("t", partitions).start().await;
    lead(&cluster, partitions, 1);
    cluster
}

/// Lets a broker lead all partitions.
fn lead(cluster: &TestCluster, partitions: usize, node: i32) {
    for partition in 0..partitions {
        cluster.move_leader(("t", i32::try_from(partition).expect("few")), node);
    }
}
