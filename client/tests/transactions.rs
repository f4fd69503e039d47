//! Transactions, end to end, on the embedded cluster, in both editions.

use millstream_client::{
    Client, CommitFailure, Error, ErrorKind, OffsetAndMetadata, Offsets, Producer, ProducerRecord, RawTransactions,
    TransactionalProducer,
};
use millstream_protocol::{ApiKey, ErrorCode, Offset, TopicPartition};
use millstream_testkit::TestCluster;
use millstream_testkit::faults::Malformation;
use std::time::Duration;

async fn cluster(version: &str) -> TestCluster {
    TestCluster::builder().config("transaction.version", version).topic("t", 2).topic("u", 1).start().await
}
async fn producer(cluster: &TestCluster) -> Result<TransactionalProducer, Error> {
    Producer::builder(cluster).linger(Duration::ZERO).build_transactional("tx").await
}
fn record(value: &str) -> ProducerRecord<'_> {
    ProducerRecord::to("t").value(value).partition(0)
}

const EDITIONS: [&str; 2] = ["0", "2"];

#[tokio::test]
async fn a_commit_shows_all_and_an_abort_nothing() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let mut producer = producer(&cluster).await?;
        for (value, commits) in [("a", true), ("b", false), ("c", true), ("d", false), ("e", true)] {
            let transaction = producer.begin();
            transaction.enqueue(record(value)).await?;
            transaction.enqueue(ProducerRecord::to("u").value(value)).await?;
            if commits { transaction.commit().await? } else { transaction.abort().await? }
        }
        assert_eq!(cluster.values("t"), ["a", "c", "e"], "transaction.version {edition}");
        assert_eq!(cluster.values("u"), ["a", "c", "e"], "transaction.version {edition}");
        producer.close(Duration::from_secs(120)).await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_edition_is_the_clusters_feature() -> Result<(), Error> {
    for (edition, adds) in [("0", 1), ("2", 0)] {
        let cluster = cluster(edition).await;
        let mut producer = producer(&cluster).await?;
        let transaction = producer.begin();
        transaction.send(record("a")).await?;
        transaction.send(record("b")).await?;
        transaction.commit().await?;
        assert_eq!(cluster.requests().count(ApiKey::ADD_PARTITIONS_TO_TXN), adds, "transaction.version {edition}");
    }
    Ok(())
}

#[tokio::test]
async fn a_dropped_transaction_is_aborted_before_the_next_begins() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let mut producer = producer(&cluster).await?;
        for number in 0..5 {
            let dropped = producer.begin();
            dropped.enqueue(record("dropped")).await?;
            drop(dropped);
            let kept = producer.begin();
            kept.enqueue(record(&number.to_string())).await?;
            kept.commit().await?;
        }
        assert_eq!(cluster.values("t"), ["0", "1", "2", "3", "4"], "transaction.version {edition}");
    }
    Ok(())
}

// Found by simulation: it was committed without the records that had failed meanwhile.
#[tokio::test]
async fn a_transaction_whose_partitions_cannot_be_added_is_not_committed() -> Result<(), Error> {
    let cluster = cluster("0").await;
    let mut producer = producer(&cluster).await?;
    cluster.on_api(ApiKey::ADD_PARTITIONS_TO_TXN).times(1).malform(Malformation::HugeCount);
    let transaction = producer.begin();
    transaction.enqueue(record("a")).await?;
    let refused = transaction.commit().await.expect_err("its record has failed");
    assert_eq!(refused.kind(), ErrorKind::Aborted, "{refused}");
    assert_eq!(cluster.values("t"), [""; 0]);
    let again = producer.begin();
    again.send(record("b")).await?;
    again.commit().await?;
    assert_eq!(cluster.values("t"), ["b"]);
    Ok(())
}

#[tokio::test]
async fn an_empty_transaction_asks_nobody() -> Result<(), Error> {
    let cluster = cluster("2").await;
    let mut producer = producer(&cluster).await?;
    producer.begin().commit().await?;
    producer.begin().abort().await?;
    let raw = producer.raw();
    raw.begin()?;
    raw.commit().await.map_err(CommitFailure::into_error)?;
    assert_eq!(cluster.requests().count(ApiKey::END_TXN), 0);
    Ok(())
}

#[tokio::test]
async fn a_newer_producer_fences_the_older() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let older = producer(&cluster).await?.raw();
        older.begin()?;
        older.enqueue(record("older")).await?.await?;
        let mut newer = producer(&cluster).await?;
        let failure = older.commit().await.expect_err("fenced");
        assert!(matches!(&failure, CommitFailure::Fenced(_)), "{failure:?}");
        let error = older.begin().expect_err("of no more use");
        assert_eq!(error.kind(), ErrorKind::Fenced);
        let transaction = newer.begin();
        transaction.send(record("newer")).await?;
        transaction.commit().await?;
        assert_eq!(cluster.values("t"), ["newer"], "transaction.version {edition}");
    }
    Ok(())
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_asked_again_and_happens_once() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let mut producer = producer(&cluster).await?;
        for number in 0..6 {
            let transaction = producer.begin();
            transaction.enqueue(record(&number.to_string())).await?;
            match number {
                1 => cluster.on_api(ApiKey::END_TXN).times(1).disconnect(),
                2 => cluster.on_api(ApiKey::END_TXN).times(2).error(ErrorCode::CONCURRENT_TRANSACTIONS),
                3 => cluster.on_api(ApiKey::END_TXN).times(1).error(ErrorCode::NOT_COORDINATOR),
                4 => cluster.on_api(ApiKey::END_TXN).times(1).error(ErrorCode::UNKNOWN_SERVER_ERROR),
                _ => {}
            }
            transaction.commit().await?;
        }
        assert_eq!(cluster.values("t"), ["0", "1", "2", "3", "4", "5"], "transaction.version {edition}");
    }
    Ok(())
}

#[tokio::test]
async fn a_commit_that_surely_did_not_happen_can_be_aborted() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let raw = producer(&cluster).await?.raw();
        raw.begin()?;
        raw.enqueue(record("a")).await?.await?;
        cluster.on_api(ApiKey::END_TXN).times(1).error(ErrorCode::TRANSACTION_ABORTABLE);
        let failure = raw.commit().await.expect_err("refused");
        assert!(matches!(&failure, CommitFailure::NotCommitted(error) if error.is_abortable()), "{failure:?}");
        raw.abort().await?;
        commit_one(&raw, "b").await?;
        assert_eq!(cluster.values("t"), ["b"], "transaction.version {edition}");
    }
    Ok(())
}

// T-3: the first try may have been taken, so a refusal of the second proves nothing.
#[tokio::test]
async fn a_refusal_after_a_lost_answer_leaves_the_outcome_unknown() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let raw = producer(&cluster).await?.raw();
        raw.begin()?;
        raw.enqueue(record("a")).await?.await?;
        cluster.on_api(ApiKey::END_TXN).times(1).disconnect();
        cluster.on_api(ApiKey::END_TXN).times(1).error(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
        let failure = raw.commit().await.expect_err("refused");
        assert!(matches!(&failure, CommitFailure::Unknown(error) if error.is_in_doubt()), "{failure:?}");
    }
    Ok(())
}

async fn commit_one(raw: &RawTransactions, value: &str) -> Result<(), Error> {
    raw.begin()?;
    drop(raw.enqueue(record(value)).await?);
    raw.commit().await.map_err(CommitFailure::into_error)
}

#[tokio::test]
async fn a_record_that_fails_makes_the_commit_fail_and_the_next_transaction_work() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let mut producer = producer(&cluster).await?;
        let transaction = producer.begin();
        transaction.send(record("a")).await?;
        cluster.on_api(ApiKey::PRODUCE).times(1).error(ErrorCode::INVALID_RECORD);
        transaction.enqueue(record("b")).await?;
        let error = transaction.commit().await.expect_err("a record failed");
        assert_eq!(error.kind(), ErrorKind::Aborted);
        assert!(error.to_string().contains("INVALID_RECORD"), "{error}");
        for value in ["c", "d"] {
            let transaction = producer.begin();
            transaction.enqueue(record(value)).await?;
            transaction.commit().await?;
        }
        assert_eq!(cluster.values("t"), ["c", "d"], "transaction.version {edition}");
    }
    Ok(())
}

#[tokio::test]
async fn a_flush_tells_the_offset_after_the_last_record() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let raw = producer(&cluster).await?.raw();
        raw.begin()?;
        for value in ["a", "b", "c"] {
            drop(raw.enqueue(record(value)).await?);
        }
        drop(raw.enqueue(ProducerRecord::to("u").value("x")).await?);
        let offsets = raw.flush().await?;
        assert_eq!(offsets.get(&TopicPartition::new("t", 0)), Some(&Offset::new(3)));
        assert_eq!(offsets.get(&TopicPartition::new("u", 0)), Some(&Offset::new(1)));
        assert_eq!(offsets.len(), 2);
        raw.commit().await.map_err(CommitFailure::into_error)?;
        raw.begin()?;
        drop(raw.enqueue(record("d")).await?);
        let offsets = raw.flush().await?;
        assert_eq!(offsets.get(&TopicPartition::new("t", 0)), Some(&Offset::new(5)), "a marker takes an offset");
        assert_eq!(offsets.len(), 1, "of this transaction only");
        raw.abort().await?;
    }
    Ok(())
}

#[tokio::test]
async fn records_are_refused_outside_a_transaction() -> Result<(), Error> {
    let cluster = cluster("2").await;
    let raw = producer(&cluster).await?.raw();
    raw.partition_count("t").await?;
    assert_eq!(raw.try_enqueue(record("before")).expect_err("none is open").kind(), ErrorKind::Aborted);
    raw.begin()?;
    assert_eq!(raw.begin().expect_err("one is open").kind(), ErrorKind::Misuse);
    drop(raw.enqueue(record("inside")).await?);
    raw.commit().await.map_err(CommitFailure::into_error)?;
    assert_eq!(raw.try_enqueue(record("after")).expect_err("none is open").kind(), ErrorKind::Aborted);
    assert_eq!(cluster.values("t"), ["inside"]);
    Ok(())
}

#[tokio::test]
async fn records_that_wait_when_a_transaction_is_aborted_never_land_in_the_next() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let builder = Producer::builder(&cluster).linger(Duration::from_secs(50));
        let raw = builder.build_transactional("tx").await?.raw();
        raw.begin()?;
        let waiting = raw.enqueue(record("waiting")).await?;
        raw.abort().await?;
        assert_eq!(waiting.await.expect_err("aborted").kind(), ErrorKind::Aborted);
        commit_one(&raw, "next").await?;
        assert_eq!(cluster.values("t"), ["next"], "transaction.version {edition}");
    }
    Ok(())
}

#[tokio::test]
async fn offsets_become_part_of_the_transaction_with_their_notes() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let client = Client::builder(cluster.bootstrap_servers()).build().await?;
        let raw = client.producer().build_transactional("tx").await?.raw();
        let group = millstream_client::GroupMetadata::outside("g");
        let mut offsets = Offsets::new();
        offsets.add(("t", 0).into(), OffsetAndMetadata::with_metadata(Offset::new(7), "a note"));
        raw.begin()?;
        raw.send_offsets(&offsets, &group).await?;
        raw.commit().await.map_err(CommitFailure::into_error)?;
        raw.begin()?;
        offsets.add(("t", 0).into(), OffsetAndMetadata::with_metadata(Offset::new(9), "aborted"));
        raw.send_offsets(&offsets, &group).await?;
        raw.abort().await?;
        let committed = client.admin().groups().offsets("g").await?;
        let position = committed.of(&("t", 0).into()).expect("committed");
        assert_eq!(position.offset, Offset::new(7), "transaction.version {edition}");
        assert_eq!(position.metadata.as_deref(), Some("a note"));
    }
    Ok(())
}

#[tokio::test]
async fn offsets_that_are_refused_leave_the_transaction_open() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = cluster(edition).await;
        let raw = producer(&cluster).await?.raw();
        let group = millstream_client::GroupMetadata::outside("g");
        let offsets: Offsets = [(("t", 0).into(), Offset::new(7))].into_iter().collect();
        raw.begin()?;
        drop(raw.enqueue(record("a")).await?);
        cluster.on_api(ApiKey::TXN_OFFSET_COMMIT).times(1).error(ErrorCode::ILLEGAL_GENERATION);
        let error = raw.send_offsets(&offsets, &group).await.expect_err("a stale generation");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Rebalanced, Some(ErrorCode::ILLEGAL_GENERATION)));
        raw.send_offsets(&offsets, &group).await?;
        raw.commit().await.map_err(CommitFailure::into_error)?;
        assert_eq!(cluster.values("t"), ["a"], "transaction.version {edition}");
    }
    Ok(())
}

#[tokio::test]
async fn the_id_of_an_answer_is_adopted_when_the_epochs_are_used_up() -> Result<(), Error> {
    for edition in EDITIONS {
        let cluster = TestCluster::builder()
            .config("transaction.version", edition)
            .config("millstream.producer.epoch.start", "32760")
            .topic("t", 1)
            .start()
            .await;
        let mut producer = producer(&cluster).await?;
        let mut expected = Vec::new();
        for number in 0..20 {
            let transaction = producer.begin();
            transaction.enqueue(record(&number.to_string())).await?;
            if number % 3 == 2 {
                transaction.abort().await?;
            } else {
                expected.push(number.to_string());
                transaction.commit().await?;
            }
        }
        assert_eq!(cluster.values("t"), expected, "transaction.version {edition}");
    }
    Ok(())
}

#[tokio::test]
async fn a_commit_that_is_dropped_goes_on_and_can_be_awaited_again() -> Result<(), Error> {
    let cluster = cluster("2").await;
    let raw = producer(&cluster).await?.raw();
    raw.begin()?;
    drop(raw.enqueue(record("a")).await?);
    cluster.on_api(ApiKey::END_TXN).times(3).error(ErrorCode::COORDINATOR_NOT_AVAILABLE);
    let dropped = tokio::time::timeout(Duration::from_millis(1), raw.commit()).await;
    assert!(dropped.is_err(), "the coordinator was away");
    assert_eq!(raw.begin().expect_err("the end is not known").kind(), ErrorKind::WouldBlock);
    assert_eq!(raw.abort().await.expect_err("a commit is decided").kind(), ErrorKind::Misuse);
    raw.commit().await.map_err(CommitFailure::into_error)?;
    assert_eq!(cluster.values("t"), ["a"]);
    Ok(())
}
