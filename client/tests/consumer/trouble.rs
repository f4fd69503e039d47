//! What goes wrong, and what is said of it.

use super::{Feeder, consumer, memory, read, soon, values};
use millstream_client::{Consumer, ConsumerBuilder, Error, ErrorKind, Producer, ProducerRecord};
use millstream_protocol::{ApiKey, ErrorCode, Offset};
use millstream_testkit::TestCluster;
use std::time::Duration;
use tokio::time::{Instant, timeout};

// C-6
#[tokio::test]
async fn a_corrupt_batch_is_told_of_after_what_lay_before_it_and_can_be_passed() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut feeder = Feeder::connect(&cluster.bootstrap_servers(), 0);
    feeder.write("t", 0, &["a", "b"]);
    feeder.write("t", 0, &["c"]);
    feeder.write("t", 0, &["d"]);
    cluster.corrupt(("t", 0), 2);
    let mut consumer = consumer(&cluster).build().await?;
    consumer.assign([("t", 0)]);
    assert_eq!(values(&soon(consumer.poll()).await?), ["a", "b"]);
    let error = soon(consumer.poll()).await.expect_err("corrupt");
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(error.to_string().starts_with("read records at offset 2, partition t-0: the batch at offset 2 is corrupt"));
    consumer.seek(("t", 0), Offset::new(3))?;
    assert_eq!(read(&mut consumer, 1).await?, ["d"]);
    Ok(())
}

// C-6, T-5. Found by simulation: the batch behind these records could not be decoded, the transaction that they were read in was aborted,
// and going back to them did nothing: they were passed over.
#[tokio::test]
async fn records_before_a_corrupt_batch_can_be_gone_back_to_and_are_not_finished_by_it() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut feeder = Feeder::connect(&cluster.bootstrap_servers(), 0);
    feeder.write("t", 0, &["a", "b"]);
    feeder.write("t", 0, &["c"]);
    cluster.corrupt(("t", 0), 2);
    let mut consumer = consumer(&cluster).group_id("g").build().await?;
    let committer = consumer.committer();
    consumer.assign([("t", 0)]);
    let records = soon(consumer.poll()).await?;
    assert_eq!(values(&records), ["a", "b"]);
    consumer.rewind(&records);
    let records = soon(consumer.poll()).await?;
    assert_eq!(values(&records), ["a", "b"], "before anything is said of what comes after them");
    assert_eq!(soon(consumer.poll()).await.expect_err("corrupt").kind(), ErrorKind::Malformed);
    // The bit is flipped back.
    cluster.corrupt(("t", 0), 2);
    let last = soon(consumer.poll()).await?;
    assert_eq!(values(&last), ["c"]);
    last.iter().for_each(|record| committer.finish(&record.to_owned()));
    consumer.commit().await?;
    let committed = consumer.committed([&("t", 0).into()]).await?;
    assert_eq!(
        committed.of(&("t", 0).into()).map(|next| next.offset),
        Some(Offset::new(0)),
        "a and b are not finished"
    );
    Ok(())
}

#[tokio::test]
async fn subscribing_without_a_group_is_an_error_that_says_what_to_do() {
    let cluster = TestCluster::start().await;
    let error = consumer(&cluster).topics(["t"]).build().await.expect_err("no group");
    assert!(error.to_string().contains("option `group.id`: is needed to subscribe to topics"), "{error}");
}

#[tokio::test]
async fn reading_goes_on_at_the_new_leader() -> Result<(), Error> {
    let cluster = TestCluster::builder().brokers(2).topic("t", 1).start().await;
    cluster.move_leader(("t", 0), 1);
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a"]);
    let mut consumer = consumer(&cluster).build().await?;
    consumer.assign([("t", 0)]);
    assert_eq!(read(&mut consumer, 1).await?, ["a"]);
    cluster.move_leader(("t", 0), 2);
    Feeder::connect(&cluster.bootstrap_servers(), 1).write("t", 0, &["b"]);
    assert_eq!(read(&mut consumer, 1).await?, ["b"]);
    Ok(())
}

#[tokio::test]
async fn reading_and_membership_survive_disconnects() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut feeder = Feeder::connect(&cluster.bootstrap_servers(), 0);
    let mut consumer = consumer(&cluster).group_id("g").topics(["t"]).build().await?;
    for api in [ApiKey::FETCH, ApiKey::JOIN_GROUP, ApiKey::SYNC_GROUP, ApiKey::OFFSET_FETCH, ApiKey::LIST_OFFSETS] {
        cluster.on_api(api).times(1).disconnect();
    }
    feeder.write("t", 0, &["a"]);
    assert_eq!(read(&mut consumer, 1).await?, ["a"]);
    consumer.commit().await
}

#[tokio::test]
async fn a_group_goes_on_when_its_coordinator_crashes() -> Result<(), Error> {
    let cluster = TestCluster::builder().brokers(3).topic("t", 3).start().await;
    let producer = Producer::connect(&cluster).await?;
    let mut consumer = consumer(&cluster).group_id("g").topics(["t"]).build().await?;
    let commits = || [1, 2, 3].map(|node| cluster.requests().count_at(node, ApiKey::OFFSET_COMMIT));
    let mut seen = Vec::new();
    for round in 0..3_i32 {
        let texts: Vec<String> = (0..30).map(|number| (round * 30 + number).to_string()).collect();
        let records =
            texts.iter().zip(0..).map(|(text, number)| ProducerRecord::to("t").value(text).partition(number % 3));
        producer.enqueue_all(records).await?.await?;
        seen.extend(read(&mut consumer, 30).await?);
        let before = commits();
        soon(consumer.commit()).await?;
        if round < 2 {
            let coordinator = (1..).zip(before.iter().zip(commits())).find(|(_, (before, after))| after > before);
            let (coordinator, _) = coordinator.expect("one of them took the commit");
            cluster.crash(coordinator);
            // Without it the group still reads and commits.
            producer.send(ProducerRecord::to("t").value("between").partition(0)).await?;
            assert_eq!(read(&mut consumer, 1).await?, ["between"]);
            soon(consumer.commit()).await?;
            cluster.restart(coordinator);
        }
    }
    seen.sort_by_key(|value| value.parse::<i32>().unwrap_or(-1));
    assert_eq!(seen, (0..90).map(|number| number.to_string()).collect::<Vec<_>>());
    Ok(())
}

// A commit that was tried again held the join back for default.api.timeout.ms, a minute, and the group threw the member out. So did, later,
// the commit before the revocation, which had as much time once more, and all of it anew with every poll that had a time limit.
#[tokio::test(start_paused = true)]
async fn a_commit_that_is_refused_for_long_does_not_keep_its_member_from_rejoining() -> Result<(), Error> {
    let cluster = memory(2, "a").await?;
    let mut first = impatient(&cluster).build().await?;
    assert_eq!(read(&mut first, 2).await?, ["a", "a"]);
    let member = first.group_metadata().member_id;
    cluster.on_api(ApiKey::OFFSET_COMMIT).always().error(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
    let began = Instant::now();
    let mut second = impatient(&cluster).build().await?;
    let joining = timeout(Duration::from_secs(1), second.poll());
    let (refused, _) = tokio::join!(soon(first.commit()), joining);
    let error = refused.expect_err("refused all the time");
    assert_eq!(error.code(), Some(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS), "{error}");
    let tried = began.elapsed();
    assert!(tried > PATIENCE / 4, "it was tried again meanwhile, for {tried:?}");
    let seen = soon(share(&mut first, &mut second)).await;
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    assert_eq!(first.group_metadata().member_id, member, "it was not thrown out");
    assert_eq!(seen, ["a"], "what was not committed comes again");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_never_finished_does_not_keep_its_member_from_rejoining() -> Result<(), Error> {
    let cluster = memory(2, "a").await?;
    let mut first = impatient(&cluster).build().await?;
    let _committer = first.committer();
    assert_eq!(read(&mut first, 2).await?, ["a", "a"]);
    let member = first.group_metadata().member_id;
    let began = Instant::now();
    let mut second = impatient(&cluster).build().await?;
    let seen = soon(share(&mut first, &mut second)).await;
    let waited = began.elapsed();
    assert!(waited > PATIENCE / 8 && waited < PATIENCE, "the record is waited for, and not for ever: {waited:?}");
    assert_eq!(first.group_metadata().member_id, member, "it was not thrown out");
    assert_eq!(seen, ["a"], "what was not finished comes again");
    Ok(())
}

/// How long a rebalance waits for a member of these tests.
const PATIENCE: Duration = Duration::from_secs(40);

fn impatient(cluster: &TestCluster) -> ConsumerBuilder {
    let builder = consumer(cluster).group_id("g").topics(["t"]).max_poll_interval(PATIENCE);
    builder.heartbeat_interval(Duration::from_millis(100))
}

/// Polls both, with a time limit, until each has its half and the second has read; answers what it has read.
async fn share(first: &mut Consumer, second: &mut Consumer) -> Vec<String> {
    let (limit, mut seen) = (Duration::from_millis(50), Vec::new());
    while (first.assignment().len(), second.assignment().len()) != (1, 1) || seen.is_empty() {
        let _ = timeout(limit, first.poll()).await;
        if let Ok(Ok(records)) = timeout(limit, second.poll()).await {
            seen.extend(values(&records));
        }
    }
    seen
}

// C-11
#[tokio::test]
async fn a_lost_fetch_session_is_opened_again() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut feeder = Feeder::connect(&cluster.bootstrap_servers(), 0);
    feeder.write("t", 0, &["a"]);
    let mut consumer = consumer(&cluster).build().await?;
    consumer.assign([("t", 0)]);
    assert_eq!(read(&mut consumer, 1).await?, ["a"]);
    cluster.on_api(ApiKey::FETCH).times(1).error(ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
    feeder.write("t", 0, &["b"]);
    assert_eq!(read(&mut consumer, 1).await?, ["b"]);
    Ok(())
}

// Found by simulation: a member that was thrown out while the application worked was in again, under a new name, before the application
// polled. What it then sent in a transaction, or committed, for partitions that were someone else's by now was taken: records were
// consumed twice.
#[tokio::test(start_paused = true)]
async fn a_member_that_was_thrown_out_commits_nothing_before_it_is_told() -> Result<(), Error> {
    let cluster = memory(1, "a").await?;
    let builder = consumer(&cluster).group_id("g").topics(["t"]).heartbeat_interval(Duration::from_millis(50));
    let mut consumer = builder.enable_auto_commit(false).build().await?;
    assert_eq!(read(&mut consumer, 1).await?, ["a"]);
    let before = consumer.group_metadata();
    assert!(before.generation > 0, "{before:?}");
    let joined = cluster.requests().count(ApiKey::SYNC_GROUP) + 1;
    cluster.on_api(ApiKey::HEARTBEAT).times(1).error(ErrorCode::UNKNOWN_MEMBER_ID);
    let rejoins = async {
        while cluster.requests().count(ApiKey::SYNC_GROUP) < joined {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Its answer is on its way.
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    soon(rejoins).await;
    assert_eq!(consumer.group_metadata(), before, "the application does not know of the loss");
    let refused = soon(consumer.commit()).await.expect_err("the partition is not this member's any more");
    assert_eq!(refused.kind(), ErrorKind::Rebalanced, "{refused}");
    assert_eq!(read(&mut consumer, 1).await?, ["a"], "nothing was committed");
    assert_ne!(consumer.group_metadata().member_id, before.member_id);
    soon(consumer.commit()).await
}
