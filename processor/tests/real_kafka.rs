//! The same on a real Kafka: `MILLSTREAM_KAFKA=host:port cargo test -p millstream --features stop-points --test real_kafka -- --ignored`.

use millstream::client::admin::NewTopic;
use millstream::client::{IsolationLevel, OffsetReset};
use millstream::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The program, running; killed when it goes.
struct Sums(Child);

impl Sums {
    fn start(kafka: &str, application: &str, folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_millstream-sums"));
        command.args(["--bootstrap", kafka, "--application-id", application, "--state-dir"]).arg(folder);
        for option in ["commit.interval.ms=100", "session.timeout.ms=6000", "topic.segment.ms=600000"] {
            command.args(["--set", option]);
        }
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the program is built"))
    }
}

impl Drop for Sums {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn kafka() -> String {
    std::env::var("MILLSTREAM_KAFKA").expect("MILLSTREAM_KAFKA names a real Kafka: host:port")
}

async fn send(producer: &Producer, topic: &str, expected: &mut BTreeMap<String, i64>, count: i64) {
    for number in 0..count {
        let key = format!("key-{}", number % 101);
        *expected.entry(key.clone()).or_insert(0) += number;
        let value = number.to_be_bytes();
        drop(producer.enqueue(ProducerRecord::to(topic).key(&key).value(&value)).await.expect("there is room"));
    }
    producer.flush().await.expect("the numbers are written");
}

/// Reads a topic's last values as they come, until they are these.
async fn until_last_values(kafka: &str, topic: &str, expected: &BTreeMap<String, i64>) {
    let consumer = Consumer::builder(kafka).isolation_level(IsolationLevel::ReadCommitted);
    let mut consumer = consumer.auto_offset_reset(OffsetReset::Earliest).build().await.expect("it connects");
    consumer.assign((0..4).map(|partition| (topic, partition)));
    let (mut last, deadline) = (BTreeMap::new(), Instant::now() + Duration::from_secs(300));
    while last != *expected {
        assert!(Instant::now() < deadline, "{topic}: {last:?}, not {expected:?}");
        let Ok(polled) = tokio::time::timeout(Duration::from_secs(1), consumer.poll()).await else { continue };
        for record in &polled.expect("the topic is there") {
            let key = String::from_utf8_lossy(record.key().unwrap_or_default()).into_owned();
            let value = record.value().unwrap_or_default().try_into().expect("values are longs");
            last.insert(key, i64::from_be_bytes(value));
        }
    }
}

#[tokio::test]
#[ignore = "needs a real Kafka"]
async fn two_processes_of_which_one_is_killed_and_started_again_sum_all_input() {
    let kafka = kafka();
    let admin = Admin::connect(kafka.as_str()).await.expect("the cluster is there");
    let application = format!("sums-{}", std::process::id());
    let [numbers, sums] = ["numbers", "sums"].map(|name| format!("{application}-{name}"));
    let topics = [&numbers, &sums].map(|name| NewTopic::new(name.as_str()).partitions(4));
    admin.topics().create(topics).await.expect("it can be asked").all().expect("they can be made");
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let producer = Producer::connect(kafka.as_str()).await.expect("the cluster is there");
    let mut expected = BTreeMap::new();
    let one = Sums::start(&kafka, &application, folders[0].path());
    let two = Sums::start(&kafka, &application, folders[1].path());
    send(&producer, &numbers, &mut expected, 50_000).await;
    until_last_values(&kafka, &sums, &expected).await;
    for _ in 0..10 {
        send(&producer, &numbers, &mut expected, 5_000).await;
    }
    drop(two); // SIGKILL, in the middle of the work
    send(&producer, &numbers, &mut expected, 50_000).await;
    let two = Sums::start(&kafka, &application, folders[1].path());
    send(&producer, &numbers, &mut expected, 50_000).await;
    until_last_values(&kafka, &sums, &expected).await;
    until_last_values(&kafka, &format!("{application}-sums-changelog"), &expected).await;
    drop((one, two));
    let _three = Sums::start(&kafka, &application, folders[2].path());
    send(&producer, &numbers, &mut expected, 1_000).await;
    until_last_values(&kafka, &format!("{application}-sums-changelog"), &expected).await;
}
