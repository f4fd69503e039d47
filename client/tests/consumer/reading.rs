//! Reading partitions that the consumer is told.

use super::{Feeder, SOON, consumer, memory, read, soon, text, values};
use millstream_client::{Error, ErrorKind, OffsetReset, OffsetSpec};
use millstream_protocol::{Compression, Compressor, Offset, TopicPartition};
use millstream_testkit::TestCluster;
use std::time::Duration;

#[tokio::test]
async fn records_come_in_order_with_their_places() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut feeder = Feeder::connect(&cluster.bootstrap_servers(), 0);
    feeder.write("t", 0, &["a", "b"]);
    feeder.write("t", 0, &["c"]);
    let mut consumer = consumer(&cluster).build().await?;
    consumer.assign([("t", 0)]);
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let records = soon(consumer.poll()).await?;
        seen.extend(records.iter().map(|record| (record.offset().get(), text(record.value()))));
    }
    assert_eq!(seen, [(0, "a".to_owned()), (1, "b".to_owned()), (2, "c".to_owned())]);
    let place = consumer.positions();
    assert_eq!(place.of(&("t", 0).into()).map(|next| next.offset), Some(Offset::new(3)));
    assert_eq!(consumer.lag(&("t", 0).into()), Some(0));
    consumer.close(SOON).await
}

#[tokio::test]
async fn max_poll_records_splits_a_batch_and_loses_nothing() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let numbers: Vec<String> = (0..25).map(|number| number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let mut feeder = Feeder::connect(&cluster.bootstrap_servers(), 0);
    feeder.send("t", 0, super::feeder::batch(&numbers, Compressor::new(Compression::Gzip, None).expect("a codec")));
    let mut consumer = consumer(&cluster).max_poll_records(7).build().await?;
    consumer.assign([("t", 0)]);
    let mut sizes = Vec::new();
    let mut all = Vec::new();
    while all.len() < 25 {
        let records = soon(consumer.poll()).await?;
        sizes.push(records.len());
        all.extend(values(&records));
        assert_eq!(records.next_offsets(), consumer.positions());
    }
    assert_eq!(sizes, [7, 7, 7, 4]);
    assert_eq!(all, numbers);
    Ok(())
}

// C-1, C-16
#[tokio::test]
async fn a_seek_into_the_middle_of_a_batch_reads_from_there_on() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a", "b", "c", "d"]);
    let mut consumer = consumer(&cluster).build().await?;
    consumer.assign([("t", 0)]);
    assert_eq!(read(&mut consumer, 4).await?.len(), 4);
    consumer.seek(("t", 0), Offset::new(2))?;
    assert_eq!(read(&mut consumer, 2).await?, ["c", "d"]);
    consumer.seek(("t", 0), OffsetSpec::Earliest)?;
    assert_eq!(read(&mut consumer, 4).await?, ["a", "b", "c", "d"]);
    let error = consumer.seek(("t", 1), Offset::new(0)).expect_err("not assigned");
    assert_eq!(error.to_string(), "seek, partition t-1: the partition is not assigned to this consumer");
    Ok(())
}

#[tokio::test]
async fn rewinding_reads_the_same_records_again() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a", "b", "c"]);
    let mut consumer = consumer(&cluster).max_poll_records(2).build().await?;
    consumer.assign([("t", 0)]);
    let first = soon(consumer.poll()).await?;
    assert_eq!(values(&first), ["a", "b"]);
    consumer.rewind(&first);
    assert_eq!(read(&mut consumer, 3).await?, ["a", "b", "c"]);
    Ok(())
}

#[tokio::test]
async fn a_paused_partition_is_held_back_and_goes_on_where_it_was() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 2).start().await;
    let mut feeder = Feeder::connect(&cluster.bootstrap_servers(), 0);
    feeder.write("t", 0, &["a", "b", "c"]);
    let mut consumer = consumer(&cluster).max_poll_records(1).build().await?;
    consumer.assign([("t", 0), ("t", 1)]);
    assert_eq!(read(&mut consumer, 1).await?, ["a"]);
    let first = TopicPartition::from(("t", 0));
    consumer.pause([&first]);
    feeder.write("t", 1, &["x"]);
    assert_eq!(read(&mut consumer, 1).await?, ["x"]);
    consumer.resume([&first]);
    assert_eq!(read(&mut consumer, 2).await?, ["b", "c"]);
    Ok(())
}

//
#[tokio::test]
async fn a_poll_that_is_dropped_loses_nothing() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    let mut feeder = Feeder::connect(&cluster.bootstrap_servers(), 0);
    let mut consumer = consumer(&cluster).build().await?;
    consumer.assign([("t", 0)]);
    let mut seen = Vec::new();
    for number in 0..20 {
        feeder.write("t", 0, &[&number.to_string()]);
        if let Ok(records) = tokio::time::timeout(Duration::from_millis(1), consumer.poll()).await {
            seen.extend(values(&records?));
        }
    }
    while seen.len() < 20 {
        seen.extend(values(&soon(consumer.poll()).await?));
    }
    assert_eq!(seen, (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
    Ok(())
}

// C-14
#[tokio::test(start_paused = true)]
async fn a_new_partition_and_a_seek_do_not_wait_for_a_long_poll() -> Result<(), Error> {
    let cluster = memory(2, "x").await?;
    let wait = Duration::from_secs(20);
    let mut consumer = consumer(&cluster).fetch_max_wait(wait).build().await?;
    consumer.assign([("t", 0)]);
    assert_eq!(read(&mut consumer, 1).await?, ["x"]);
    assert!(tokio::time::timeout(Duration::from_secs(1), consumer.poll()).await.is_err(), "a long poll waits now");
    let asked = tokio::time::Instant::now();
    consumer.assign([("t", 0), ("t", 1)]);
    assert_eq!(read(&mut consumer, 1).await?, ["x"], "of the new partition");
    consumer.seek(("t", 0), Offset::new(0))?;
    assert_eq!(read(&mut consumer, 1).await?, ["x"], "once more");
    assert!(asked.elapsed() < wait / 4, "{:?}", asked.elapsed());
    Ok(())
}

// C-14
#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_for_a_long_poll() -> Result<(), Error> {
    let cluster = memory(2, "x").await?;
    let wait = Duration::from_secs(20);
    let mut consumer = consumer(&cluster).fetch_max_wait(wait).build().await?;
    consumer.assign([("t", 0)]);
    assert_eq!(read(&mut consumer, 1).await?, ["x"]);
    consumer.assign([("t", 0), ("t", 1)]);
    assert_eq!(read(&mut consumer, 1).await?, ["x"]);
    assert!(tokio::time::timeout(Duration::from_secs(1), consumer.poll()).await.is_err(), "nothing more");
    let asked = tokio::time::Instant::now();
    consumer.close(SOON).await?;
    assert!(asked.elapsed() < wait / 2, "{:?}", asked.elapsed());
    Ok(())
}

// C-20
#[tokio::test]
async fn without_a_policy_a_missing_offset_is_an_error() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a"]);
    let mut consumer = consumer(&cluster).auto_offset_reset(OffsetReset::None).build().await?;
    consumer.assign([("t", 0)]);
    let error = soon(consumer.poll()).await.expect_err("nowhere to start");
    assert_eq!(error.kind(), ErrorKind::OutOfRange);
    assert_eq!(
        error.to_string(),
        "find where to read, partition t-0: nothing was committed, and auto.offset.reset is `none`"
    );
    consumer.seek(("t", 0), Offset::new(0))?;
    assert_eq!(read(&mut consumer, 1).await?, ["a"]);
    consumer.seek(("t", 0), Offset::new(77))?;
    let error = soon(consumer.poll()).await.expect_err("no such offset");
    assert_eq!(
        error.to_string(),
        "read records at offset 77, partition t-0: there is no record at this offset, and auto.offset.reset is `none`"
    );
    Ok(())
}

#[tokio::test]
async fn specs_are_resolved_to_offsets() -> Result<(), Error> {
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a", "b"]);
    let consumer = consumer(&cluster).build().await?;
    let found = consumer.resolve_offsets([(("t", 0).into(), OffsetSpec::Latest)]).await?;
    assert_eq!(found[&("t", 0).into()], Some(Offset::new(2)));
    Ok(())
}

#[tokio::test]
async fn a_stream_gives_one_record_after_another_and_the_consumer_back() -> Result<(), Error> {
    use futures_util::StreamExt;
    let cluster = TestCluster::builder().topic("t", 1).start().await;
    Feeder::connect(&cluster.bootstrap_servers(), 0).write("t", 0, &["a", "b", "c"]);
    let mut consumer = consumer(&cluster).build().await?;
    consumer.assign([("t", 0)]);
    let mut stream = consumer.into_stream();
    let first = soon(stream.next()).await.expect("a record")?;
    assert_eq!(text(first.value.as_deref()), "a");
    let mut consumer = stream.into_consumer();
    assert_eq!(read(&mut consumer, 2).await?, ["b", "c"]);
    Ok(())
}
