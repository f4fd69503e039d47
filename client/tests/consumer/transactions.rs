//! What transactions leave in a log.

use super::{consumer, read, soon};
use millstream_client::{Client, Error, IsolationLevel, ProducerRecord};
use millstream_protocol::Offset;
use millstream_testkit::TestCluster;

// C-4, C-5
#[tokio::test]
async fn only_committed_records_are_seen_unless_all_are_asked_for() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let client = Client::builder(cluster.bootstrap_servers()).build().await?;
    let mut producer = client.producer().build_transactional("x").await?;
    for (value, commits) in [("a", true), ("b", false), ("c", true)] {
        let txn = producer.begin();
        txn.send(ProducerRecord::to("t").value(value)).await?;
        if commits { txn.commit().await? } else { txn.abort().await? }
    }
    let mut committed = consumer(&cluster).build().await?;
    committed.assign([("t", 0)]);
    assert_eq!(read(&mut committed, 2).await?, ["a", "c"]);
    let mut all = consumer(&cluster).isolation_level(IsolationLevel::ReadUncommitted).build().await?;
    all.assign([("t", 0)]);
    assert_eq!(read(&mut all, 3).await?, ["a", "b", "c"]);
    Ok(())
}

// KIP-447: offsets that a transaction commits are what the group goes on from.
#[tokio::test]
async fn offsets_sent_in_a_transaction_are_the_groups() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).topic("out", 1).start().await;
    super::Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a", "b"]);
    let client = Client::builder(cluster.bootstrap_servers()).build().await?;
    let mut producer = client.producer().build_transactional("x").await?;
    let mut consumer = consumer(&cluster).group_id("g").topics(["t"]).enable_auto_commit(false).build().await?;
    let records = soon(consumer.poll()).await?;
    let txn = producer.begin();
    txn.enqueue(ProducerRecord::to("out").value("ab")).await?;
    txn.send_offsets(&records.next_offsets(), &consumer.group_metadata()).await?;
    txn.commit().await?;
    let committed = consumer.committed([&("t", 0).into()]).await?;
    assert_eq!(committed.of(&("t", 0).into()).map(|next| next.offset), Some(Offset::new(2)));
    Ok(())
}
