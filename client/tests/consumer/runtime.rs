//! The door for runtimes: acknowledged events, undecoded batches.

use super::{Feeder, SOON, soon};
use millstream_client::runtime_consumer::{
    CommitRefused, FetchOptions, Fetcher, GroupConsumer, GroupConsumerConfig, GroupEvent, LeavePolicy, end_offsets,
};
use millstream_client::{Client, Error, ErrorKind, IsolationLevel};
use millstream_client_core::group::assignor::CooperativeSticky;
use millstream_protocol::{Offset, TopicPartition};
use millstream_testkit::TestCluster;
use std::time::Duration;

fn place() -> TopicPartition {
    ("t", 0).into()
}

#[tokio::test]
async fn a_runtime_reads_what_it_adds_and_holds_a_rebalance_until_it_acknowledges() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 2).start().await;
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a", "b"]);
    let client = Client::builder(cluster.bootstrap_servers()).build().await?;
    let start = || {
        let mut config = GroupConsumerConfig::new("g", vec![Box::new(CooperativeSticky::new())]);
        config.heartbeat_interval = Duration::from_millis(50);
        let consumer = GroupConsumer::start(&client, config)?;
        consumer.subscribe(["t"]);
        Ok::<_, Error>(consumer)
    };
    let first = start()?;
    assert!(matches!(first.begin_commit(), Err(CommitRefused::NotMember | CommitRefused::Rebalancing)));
    let GroupEvent::Assigned { all, .. } = soon(first.next_event()).await? else { panic!("not assigned") };
    assert_eq!(all.len(), 2);
    assert!(first.feed().take_batches(1)?.is_empty(), "nothing is read that was not added");
    first.feed().add(place(), Offset::new(0));
    soon(first.feed().ready()).await;
    let taken = first.feed().take_batches(1 << 20)?;
    assert_eq!((taken[0].batches.len(), taken[0].next_offset), (1, Offset::new(2)));

    let guard = first.begin_commit().expect("a member");
    assert_eq!(guard.metadata().generation, first.group_metadata().generation);
    drop(guard);
    let second = start()?;
    let GroupEvent::Revoking { partitions, ack } = soon(first.next_event()).await? else { panic!("nothing revoked") };
    assert_eq!(partitions.len(), 1);
    first.feed().remove(&partitions);
    first.acknowledge(ack);
    loop {
        if let GroupEvent::Assigned { all, .. } = soon(second.next_event()).await?
            && all.len() == 1
        {
            break;
        }
    }
    second.close(LeavePolicy::Leave, SOON).await?;
    first.close(LeavePolicy::Leave, SOON).await
}

#[tokio::test]
async fn restoring_reads_from_an_offset_and_an_offset_that_is_gone_is_an_error() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a", "b"]);
    let client = Client::builder(cluster.bootstrap_servers()).build().await?;
    let ends = end_offsets(&client, vec![place()], IsolationLevel::ReadCommitted).await?;
    assert_eq!(ends[&place()], Offset::new(2));
    let fetcher = Fetcher::start(&client, [(place(), Offset::new(1))], &FetchOptions::default());
    soon(fetcher.feed().ready()).await;
    let taken = fetcher.feed().take_batches(1 << 20)?;
    assert_eq!((taken[0].from, taken[0].next_offset), (Offset::new(1), Offset::new(2)));
    fetcher.feed().seek(&place(), Offset::new(9));
    soon(fetcher.feed().ready()).await;
    let error = fetcher.feed().take_batches(1).expect_err("no such offset");
    assert_eq!((error.kind(), error.topic_partition()), (ErrorKind::OutOfRange, Some(&place())));
    Ok(())
}
