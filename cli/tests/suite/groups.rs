//! Consumer groups of the classic protocol.

use crate::cluster::{Cluster, PATIENCE, eventually, soon, text, unique};
use millstream::TopicPartition;
use millstream::client::{
    Assignor, Consumer, ConsumerBuilder, GroupProtocol, OffsetReset, Offsets, Polled, Producer, ProducerRecord,
};
use millstream::protocol::Offset;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::timeout;

fn member(cluster: &Cluster, group: &str, topic: &str) -> ConsumerBuilder {
    Consumer::builder(cluster.bootstrap())
        .group_id(group)
        .topics([topic])
        .auto_offset_reset(OffsetReset::Earliest)
        .enable_auto_commit(false)
        // A member hears of a rebalance by its next heartbeat.
        .heartbeat_interval(Duration::from_millis(300))
}

async fn fill(cluster: &Cluster, topic: &str, partitions: i32, each: usize) {
    let producer = Producer::connect(cluster.bootstrap()).await.unwrap();
    for partition in 0..partitions {
        for number in 0..each {
            let value = format!("{partition}/{number}");
            drop(producer.enqueue(ProducerRecord::to(topic).partition(partition).value(&value)).await.unwrap());
        }
    }
    producer.flush().await.unwrap();
}

async fn read(consumer: &mut Consumer, count: usize) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    while seen.len() < count {
        seen.extend(soon(consumer.poll()).await.unwrap().iter().map(|record| text(record.value())));
    }
    seen
}

/// Polls until the member has so many partitions. Gives up a poll now and then, as an application with a time limit does.
async fn poll_until_assigned(consumer: &mut Consumer, count: usize) {
    let start = std::time::Instant::now();
    while consumer.assignment().len() != count {
        drop(timeout(Duration::from_millis(50), consumer.poll()).await);
        assert!(
            start.elapsed() < PATIENCE,
            "{count} partitions are not assigned; these are: {:?}",
            consumer.assignment()
        );
    }
}

pub(crate) async fn a_group_goes_on_where_it_committed(cluster: &Cluster) {
    let (topic, group) = (cluster.topic(1).await, unique("group"));
    let partition = TopicPartition::new(topic.as_str(), 0);
    fill(cluster, &topic, 1, 3).await;
    let mut first = member(cluster, &group, &topic).max_poll_records(2).build().await.unwrap();
    let records = soon(first.poll()).await.unwrap();
    assert_eq!(records.len(), 2);
    first.commit().await.unwrap();
    assert_eq!(
        first.committed([&partition]).await.unwrap().of(&partition).map(|next| next.offset),
        Some(Offset::new(2))
    );
    first.close(PATIENCE).await.unwrap();

    let mut second = member(cluster, &group, &topic).build().await.unwrap();
    assert_eq!(read(&mut second, 1).await, BTreeSet::from(["0/2".to_owned()]));
    let offsets: Offsets = [(partition.clone(), Offset::new(1))].into_iter().collect();
    second.commit_offsets(&offsets).await.unwrap();
    second.committer().commit(&[(partition.clone(), Offset::new(3))].into_iter().collect()).await.unwrap();
    assert_eq!(
        second.committed([&partition]).await.unwrap().of(&partition).map(|next| next.offset),
        Some(Offset::new(3))
    );
    second.close(PATIENCE).await.unwrap();
}

pub(crate) async fn two_members_share_the_partitions(cluster: &Cluster) {
    for assignor in [Assignor::Range, Assignor::CooperativeSticky] {
        let (topic, group) = (cluster.topic(4).await, unique("group"));
        fill(cluster, &topic, 4, 2).await;
        let protocol = || GroupProtocol::Classic(vec![assignor]);
        let mut one = member(cluster, &group, &topic).group_protocol(protocol()).build().await.unwrap();
        assert_eq!(read(&mut one, 8).await.len(), 8);
        one.commit().await.unwrap();
        let mut other = member(cluster, &group, &topic).group_protocol(protocol()).build().await.unwrap();
        let ((), ()) = tokio::join!(poll_until_assigned(&mut one, 2), poll_until_assigned(&mut other, 2));
        let all: BTreeSet<_> = one.assignment().into_iter().chain(other.assignment()).collect();
        assert_eq!(all.len(), 4, "{assignor:?}: no partition has two owners");
        other.close(PATIENCE).await.unwrap();
        poll_until_assigned(&mut one, 4).await;
        one.close(PATIENCE).await.unwrap();
    }
}

pub(crate) async fn a_cooperative_member_keeps_what_does_not_move(cluster: &Cluster) {
    let (topic, group) = (cluster.topic(4).await, unique("group"));
    let protocol = || GroupProtocol::Classic(vec![Assignor::CooperativeSticky]);
    let mut one = member(cluster, &group, &topic).group_protocol(protocol()).build().await.unwrap();
    poll_until_assigned(&mut one, 4).await;
    let mut other = member(cluster, &group, &topic).group_protocol(protocol()).build().await.unwrap();
    let watch = async {
        let mut revoked = BTreeSet::new();
        while one.assignment().len() > 2 {
            if let Ok(event) = timeout(Duration::from_millis(50), one.poll_event()).await
                && let Polled::Revoking(revocation) = event.unwrap()
            {
                revoked.extend(revocation.partitions().iter().cloned());
                revocation.finish();
            }
        }
        revoked
    };
    let (revoked, ()) = tokio::join!(soon(watch), poll_until_assigned(&mut other, 2));
    assert_eq!(revoked, other.assignment().into_iter().collect());
}

pub(crate) async fn a_revocation_waits_for_the_application(cluster: &Cluster) {
    let (topic, group) = (cluster.topic(2).await, unique("group"));
    let protocol = || GroupProtocol::Classic(vec![Assignor::CooperativeSticky]);
    fill(cluster, &topic, 2, 1).await;
    let mut one = member(cluster, &group, &topic).group_protocol(protocol()).build().await.unwrap();
    assert_eq!(read(&mut one, 2).await.len(), 2);
    let mut other = member(cluster, &group, &topic).group_protocol(protocol()).build().await.unwrap();
    let moved = async {
        let moved = soon(give_up_after_a_commit(&mut one)).await;
        poll_until_assigned(&mut one, 1).await;
        moved
    };
    let (moved, ()) = tokio::join!(moved, poll_until_assigned(&mut other, 1));
    assert_eq!(other.assignment(), moved);
    let committed = other.committed(&moved).await.unwrap();
    assert!(moved.iter().all(|partition| committed.of(partition).is_some_and(|next| next.offset == Offset::new(1))));
}

async fn give_up_after_a_commit(member: &mut Consumer) -> Vec<TopicPartition> {
    loop {
        if let Polled::Revoking(revocation) = member.poll_event().await.unwrap() {
            // Still ours: the commit is taken.
            member.commit().await.unwrap();
            let partitions = revocation.partitions().to_vec();
            revocation.finish();
            return partitions;
        }
    }
}

pub(crate) async fn a_static_member_keeps_its_partitions(cluster: &Cluster) {
    let (topic, group) = (cluster.topic(2).await, unique("group"));
    let build = || member(cluster, &group, &topic).group_instance_id("one").build();
    let mut first = build().await.unwrap();
    poll_until_assigned(&mut first, 2).await;
    let generation = first.group_metadata().generation;
    first.close(PATIENCE).await.unwrap();
    let described = cluster.admin().await.groups().describe([&group]).await.unwrap().all().unwrap();
    let members = &described[&group].members;
    assert_eq!(members.len(), 1, "a static member stays when it closes");
    assert_eq!(members[0].group_instance_id.as_deref(), Some("one"));
    let mut again = build().await.unwrap();
    poll_until_assigned(&mut again, 2).await;
    assert_eq!(again.group_metadata().generation, generation, "its return is no rebalance");
}

pub(crate) async fn a_closed_member_leaves_at_once(cluster: &Cluster) {
    let (topic, group) = (cluster.topic(1).await, unique("group"));
    let mut consumer = member(cluster, &group, &topic).build().await.unwrap();
    poll_until_assigned(&mut consumer, 1).await;
    consumer.close(PATIENCE).await.unwrap();
    let admin = cluster.admin().await;
    eventually("the group has no members", async || {
        let described = admin.groups().describe([&group]).await.unwrap().all().unwrap();
        described[&group].members.is_empty().then_some(())
    })
    .await;
}

pub(crate) async fn a_subscription_is_replaced(cluster: &Cluster) {
    let (one, other, group) = (cluster.topic(1).await, cluster.topic(2).await, unique("group"));
    let mut consumer = member(cluster, &group, &one).build().await.unwrap();
    poll_until_assigned(&mut consumer, 1).await;
    consumer.subscribe([other.as_str()]);
    poll_until_assigned(&mut consumer, 2).await;
    assert!(consumer.assignment().iter().all(|partition| partition.topic == other.as_str()));
}
