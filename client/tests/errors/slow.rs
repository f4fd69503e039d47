//! Lines that carry a byte at a time, break in the middle of a frame, or fall silent: what is acknowledged is there once, and what
//! is there is read once.

use super::line::{BadLines, Fault};
use super::within;
use millstream_client::{Client, Consumer, OffsetReset, Producer, ProducerRecord};
use millstream_testkit::TestCluster;
use std::sync::Arc;
use std::time::Duration;

const FAULTS: [Fault; 3] = [Fault::BytePieces, Fault::Breaks, Fault::Stalls];

/// Only a line that falls silent is waited for: the others bring their answers, however long a busy machine takes for it.
async fn client(cluster: &TestCluster, lines: &Arc<BadLines>, fault: Fault) -> Client {
    let patience = Duration::from_secs(if fault == Fault::Stalls { 1 } else { 30 });
    let builder = Client::builder(cluster.bootstrap_servers()).runtime(Arc::clone(lines) as _);
    let builder = builder.request_timeout(patience).reconnect_backoff(Duration::from_millis(5));
    builder.retry_backoff(Duration::from_millis(5)).build_lazy().expect("it can be")
}
fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("value number {number}")).collect()
}

#[tokio::test]
async fn what_is_acknowledged_over_bad_lines_is_there_once_and_in_order() {
    for fault in FAULTS {
        let cluster = TestCluster::builder().topic("t", 1).start().await;
        let lines = Arc::new(BadLines::new(fault));
        let client = client(&cluster, &lines, fault).await;
        let builder = Producer::builder(&client).batch_size(400).linger(Duration::ZERO);
        let producer = builder.build().await.expect("builds");
        let texts = texts(400);
        let sent = async {
            let records = texts.iter().map(|text| ProducerRecord::to("t").value(text));
            producer.enqueue_all(records).await.expect("accepted").each().await
        };
        for (offset, outcome) in (0..).zip(within("all is sent", sent).await) {
            let written = outcome.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
            assert_eq!(written.offset.map(|offset| offset.get()), Some(offset), "{fault:?}");
        }
        assert_eq!(cluster.values("t"), texts, "{fault:?}");
        assert!(fault == Fault::BytePieces || lines.opened() > 3, "{fault:?}: {} lines", lines.opened());
    }
}

#[tokio::test]
async fn what_is_read_over_bad_lines_is_read_once_and_in_order() {
    for fault in FAULTS {
        let cluster = TestCluster::builder().topic("t", 1).start().await;
        let texts = texts(400);
        let producer = Producer::builder(&cluster).batch_size(400).build().await.expect("connects");
        let records = texts.iter().map(|text| ProducerRecord::to("t").value(text));
        producer.enqueue_all(records).await.expect("accepted").await.expect("written");
        let lines = Arc::new(BadLines::new(fault));
        let client = client(&cluster, &lines, fault).await;
        let builder = Consumer::builder(&client).group_id("g").topics(["t"]).auto_offset_reset(OffsetReset::Earliest);
        let builder = builder.max_partition_fetch_bytes(1_000).fetch_max_bytes(1_000);
        let mut consumer = builder.build().await.expect("builds");
        let mut read = Vec::new();
        let reading = async {
            while read.len() < texts.len() {
                let records = consumer.poll().await.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
                let values = records.iter().filter_map(|record| record.value());
                read.extend(values.map(|value| String::from_utf8_lossy(value).into_owned()));
            }
        };
        within(&format!("all is read: {fault:?}"), reading).await;
        assert_eq!(read, texts, "{fault:?}");
    }
}
