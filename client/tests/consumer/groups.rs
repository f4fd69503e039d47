//! Members of groups.

use super::{Feeder, SOON, consumer, memory, read, soon, values};
use millstream_client::{Assignor, Error, GroupProtocol, Polled};
use millstream_protocol::messages::{HeartbeatRequest, OffsetCommitRequest};
use millstream_protocol::{ApiKey, ErrorCode, Offset, TopicPartition};
use millstream_testkit::TestCluster;
use std::collections::BTreeSet;
use std::time::Duration;

#[tokio::test]
async fn a_group_goes_on_where_it_committed() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut feeder = Feeder::connect(&cluster.bootstrap_servers(), 0);
    feeder.write("t", 0, &["a", "b"]);
    let build = || consumer(&cluster).group_id("g").topics(["t"]).enable_auto_commit(false);
    let mut first = build().build().await?;
    assert_eq!(read(&mut first, 2).await?, ["a", "b"]);
    first.commit().await?;
    let committed = first.committed([&("t", 0).into()]).await?;
    assert_eq!(committed.of(&("t", 0).into()).map(|next| next.offset), Some(Offset::new(2)));
    first.close(SOON).await?;
    feeder.write("t", 0, &["c"]);
    let mut second = build().build().await?;
    assert_eq!(read(&mut second, 1).await?, ["c"]);
    Ok(())
}

// C-19
#[tokio::test]
async fn closing_commits_what_polls_brought() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a", "b", "c"]);
    let build = || consumer(&cluster).group_id("g").topics(["t"]).max_poll_records(2);
    let mut first = build().build().await?;
    assert_eq!(values(&soon(first.poll()).await?), ["a", "b"]);
    first.close(SOON).await?;
    let mut second = build().build().await?;
    assert_eq!(read(&mut second, 1).await?, ["c"]);
    Ok(())
}

async fn next_event(consumer: &mut millstream_client::Consumer) -> Result<Polled, Error> {
    soon(consumer.poll_event()).await
}

fn numbers(partitions: &[TopicPartition]) -> BTreeSet<i32> {
    partitions.iter().map(|partition| partition.partition.get()).collect()
}

// G-2
#[tokio::test]
async fn a_cooperative_member_keeps_half_without_a_stop_when_another_joins() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 4).start().await;
    let cooperative = || GroupProtocol::Classic(vec![Assignor::CooperativeSticky]);
    let build = || {
        consumer(&cluster)
            .group_id("g")
            .topics(["t"])
            .group_protocol(cooperative())
            .heartbeat_interval(Duration::from_millis(50))
    };
    let mut first = build().build().await?;
    let Polled::Assigned(all) = next_event(&mut first).await? else { panic!("not assigned") };
    assert_eq!(numbers(&all), BTreeSet::from([0, 1, 2, 3]));
    let mut second = build().build().await?;
    let joining = tokio::spawn(async move {
        let event = second.poll_event().await;
        (second, event)
    });
    let Polled::Revoking(revocation) = next_event(&mut first).await? else { panic!("nothing revoked") };
    let gone = numbers(revocation.partitions());
    assert_eq!(gone.len(), 2);
    assert_eq!(first.assignment().len(), 4, "they are ours until it is finished");
    revocation.finish();
    assert_eq!(first.assignment().len(), 2);
    let running = tokio::spawn(async move { first.poll_event().await.map(|_| ()) });
    let (_second, event) = soon(joining).await.expect("no panic");
    let Polled::Assigned(taken) = event? else { panic!("not assigned") };
    assert_eq!(numbers(&taken), gone);
    running.abort();
    Ok(())
}

// G-2: eager.
#[tokio::test]
async fn an_eager_rebalance_shares_the_partitions_out_anew() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 2).start().await;
    let build = || consumer(&cluster).group_id("g").topics(["t"]).heartbeat_interval(Duration::from_millis(50));
    let mut first = build().build().await?;
    let Polled::Assigned(all) = next_event(&mut first).await? else { panic!("not assigned") };
    assert_eq!(all.len(), 2);
    let mut second = build().build().await?;
    let joining = tokio::spawn(async move {
        let event = second.poll_event().await;
        (second, event)
    });
    let Polled::Revoking(revocation) = next_event(&mut first).await? else { panic!("nothing revoked") };
    assert_eq!(revocation.partitions().len(), 2);
    revocation.finish();
    let Polled::Assigned(kept) = next_event(&mut first).await? else { panic!("not assigned") };
    let (second, event) = soon(joining).await.expect("no panic");
    let Polled::Assigned(taken) = event? else { panic!("not assigned") };
    assert_eq!((kept.len(), taken.len()), (1, 1));
    second.close(SOON).await?;
    let Polled::Revoking(_) = next_event(&mut first).await? else { panic!("nothing revoked") };
    let Polled::Assigned(all) = next_event(&mut first).await? else { panic!("not assigned") };
    assert_eq!(all.len(), 2);
    Ok(())
}

// G-8: the runtime of the test has one thread, which the application blocks for longer than the session.
#[tokio::test]
async fn heartbeats_go_on_while_the_application_blocks_its_thread() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let session = Duration::from_secs(45);
    let build = consumer(&cluster).group_id("g").topics(["t"]).enable_auto_commit(false).session_timeout(session);
    let mut consumer = build.heartbeat_interval(Duration::from_millis(50)).build().await?;
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a"]);
    assert_eq!(read(&mut consumer, 1).await?, ["a"]);
    let started = std::time::Instant::now();
    // Twice the session, for the brokers.
    for _ in 0..6 {
        let before = cluster.requests().count(ApiKey::HEARTBEAT);
        while cluster.requests().count(ApiKey::HEARTBEAT) == before {
            assert!(started.elapsed() < SOON, "heartbeats have ended");
            std::thread::sleep(Duration::from_millis(5));
        }
        cluster.advance_brokers(session / 3);
    }
    consumer.commit().await
}

// G-7
#[tokio::test(start_paused = true)]
async fn a_member_that_does_not_poll_loses_its_partitions_and_comes_back() -> Result<(), Error> {
    let cluster = memory(1, "a").await?;
    let build = consumer(&cluster).group_id("g").topics(["t"]).heartbeat_interval(Duration::from_millis(50));
    let mut consumer = build.max_poll_interval(Duration::from_millis(300)).build().await?;
    let Polled::Assigned(_) = next_event(&mut consumer).await? else { panic!("not assigned") };
    soon(async {
        while cluster.requests().count(ApiKey::LEAVE_GROUP) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let Polled::Lost(lost) = next_event(&mut consumer).await? else { panic!("nothing lost") };
    assert_eq!(lost.len(), 1);
    let Polled::Assigned(_) = next_event(&mut consumer).await? else { panic!("not assigned again") };
    Ok(())
}

// Found by simulation: whoever took an assignment that was lost again already was told the generation before it, or none at all. Two
// members then had a partition in one generation.
#[tokio::test(start_paused = true)]
async fn an_assignment_that_is_lost_already_has_its_own_generation() -> Result<(), Error> {
    let cluster = memory(1, "a").await?;
    let build = consumer(&cluster).group_id("g").topics(["t"]).heartbeat_interval(Duration::from_millis(50));
    let mut consumer = build.max_poll_interval(Duration::from_secs(10)).build().await?;
    // Polled once, it joins.
    tokio::select! {
        biased;
        polled = consumer.poll_event() => panic!("nothing can be there yet: {polled:?}"),
        () = std::future::ready(()) => {}
    }
    soon(async {
        while cluster.requests().count(ApiKey::LEAVE_GROUP) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let Polled::Assigned(_) = next_event(&mut consumer).await? else { panic!("not assigned") };
    let assigned = consumer.group_metadata();
    assert!(assigned.generation > 0 && !assigned.member_id.is_empty(), "{assigned:?}");
    let Polled::Lost(_) = next_event(&mut consumer).await? else { panic!("nothing lost") };
    let Polled::Assigned(_) = next_event(&mut consumer).await? else { panic!("not assigned again") };
    assert_ne!(consumer.group_metadata().member_id, assigned.member_id);
    Ok(())
}

// Found by simulation: a member was thrown out while its application was busy, and was given its partition again. The application then took up
// the revocation from before, and by finishing it gave up what was its own again: nobody read that partition any more.
#[tokio::test(start_paused = true)]
async fn a_revocation_that_is_finished_too_late_takes_nothing_of_the_next_assignment() -> Result<(), Error> {
    let cluster = memory(1, "a").await?;
    let build = consumer(&cluster).group_id("g").topics(["t"]).heartbeat_interval(Duration::from_millis(50));
    let build = build.enable_auto_commit(false);
    let mut consumer = build.session_timeout(Duration::from_secs(1)).build().await?;
    let Polled::Assigned(_) = next_event(&mut consumer).await? else { panic!("not assigned") };
    cluster.on::<HeartbeatRequest>().times(1).error(ErrorCode::REBALANCE_IN_PROGRESS);
    let revocation = loop {
        match next_event(&mut consumer).await? {
            Polled::Revoking(revocation) => break revocation,
            Polled::Records(_) => {}
            other => panic!("nothing revoked but {other:?}"),
        }
    };
    let before = consumer.group_metadata();
    cluster.on::<HeartbeatRequest>().times(1).error(ErrorCode::UNKNOWN_MEMBER_ID);
    for is_assigned in [false, true] {
        soon(async {
            while consumer.assignment().is_empty() == is_assigned {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
    }
    revocation.finish();
    assert_eq!(consumer.assignment(), [("t", 0).into()]);
    let Polled::Lost(_) = next_event(&mut consumer).await? else { panic!("nothing lost") };
    let Polled::Assigned(_) = next_event(&mut consumer).await? else { panic!("not assigned again") };
    assert_ne!(consumer.group_metadata().member_id, before.member_id);
    assert_eq!(read(&mut consumer, 1).await?, ["a"]);
    Ok(())
}

// Found by simulation: the coordinator refused the commit of a member that it had thrown out, so its revocation was void before the driver had told
// of the loss. What was buffered came out after the partition was given up.
#[tokio::test(start_paused = true)]
async fn a_revocation_that_is_void_by_the_members_own_commit_still_gives_up_its_partitions() -> Result<(), Error> {
    let cluster = memory(1, "a").await?;
    let build = consumer(&cluster).group_id("g").topics(["t"]).heartbeat_interval(Duration::from_millis(50));
    let mut consumer = build.enable_auto_commit(false).build().await?;
    assert_eq!(read(&mut consumer, 1).await?, ["a"]);
    cluster.on::<HeartbeatRequest>().times(1).error(ErrorCode::REBALANCE_IN_PROGRESS);
    let Polled::Revoking(revocation) = next_event(&mut consumer).await? else { panic!("nothing revoked") };
    cluster.on::<OffsetCommitRequest>().times(1).error(ErrorCode::UNKNOWN_MEMBER_ID);
    let refused = soon(consumer.commit()).await.expect_err("it is no member any more");
    assert_eq!(refused.code(), Some(ErrorCode::UNKNOWN_MEMBER_ID));
    revocation.finish();
    assert_eq!(consumer.assignment(), []);
    Ok(())
}

// G-9
#[tokio::test]
async fn a_static_member_that_restarts_finds_its_partitions_without_a_rebalance() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 2).start().await;
    let build = || consumer(&cluster).group_id("g").topics(["t"]).group_instance_id("one");
    let mut first = build().build().await?;
    let Polled::Assigned(_) = next_event(&mut first).await? else { panic!("not assigned") };
    first.close(SOON).await?;
    assert_eq!(cluster.requests().count(ApiKey::LEAVE_GROUP), 0);
    let mut second = build().build().await?;
    let Polled::Assigned(all) = next_event(&mut second).await? else { panic!("not assigned") };
    assert_eq!(all.len(), 2);
    Ok(())
}

#[tokio::test]
async fn a_committer_commits_up_to_the_first_record_that_is_not_finished() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a", "b", "c"]);
    let mut consumer = consumer(&cluster).group_id("g").topics(["t"]).enable_auto_commit(false).build().await?;
    let committer = consumer.committer();
    let mut records = Vec::new();
    while records.len() < 3 {
        records.extend(soon(consumer.poll()).await?.iter().map(|record| record.to_owned()));
    }
    let place = TopicPartition::from(("t", 0));
    for (finished, next) in [(2, 0), (0, 1), (1, 3)] {
        committer.finish(&records[finished]);
        consumer.commit().await?;
        let committed = consumer.committed([&place]).await?;
        assert_eq!(committed.of(&place).map(|next| next.offset), Some(Offset::new(next)));
    }
    Ok(())
}
