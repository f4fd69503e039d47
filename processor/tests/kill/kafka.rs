//! A cluster to run against, the embedded one or a real one, and what topics have in it.

use crate::scene::PATIENCE;
use millstream::TopicPartition;
use millstream::client::admin::NewTopic;
use millstream::client::{Client, Consumer, IsolationLevel, OffsetReset, OffsetSpec};
use millstream_testkit::TestCluster;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A cluster.
#[derive(Debug)]
pub(crate) enum Kafka {
    Embedded(Box<TestCluster>),
    /// Its bootstrap servers.
    Real(String),
}

/// What is committed in a topic, last value of each key.
#[derive(Debug)]
pub(crate) enum Reader {
    Embedded(String),
    Real(Box<Consumer>, BTreeMap<String, i64>),
}

impl Kafka {
    pub(crate) fn bootstrap_servers(&self) -> String {
        match self {
            Self::Embedded(cluster) => cluster.bootstrap_servers(),
            Self::Real(servers) => servers.clone(),
        }
    }

    /// The last values of a topic that exists.
    pub(crate) async fn read(&self, client: &Client, topic: &str) -> Reader {
        if let Self::Embedded(_) = self {
            return Reader::Embedded(topic.to_owned());
        }
        let builder = client.consumer().auto_offset_reset(OffsetReset::Earliest);
        let consumer = builder.isolation_level(IsolationLevel::ReadCommitted).build().await;
        let mut consumer = consumer.expect("the cluster is there");
        let partitions = (0..PARTITIONS).map(|partition| TopicPartition::from((topic, partition)));
        consumer.assign(partitions.clone());
        for partition in partitions {
            consumer.seek(partition, OffsetSpec::Earliest).expect("it is assigned");
        }
        Reader::Real(Box::new(consumer), BTreeMap::new())
    }

    /// How many records of a topic anybody has fetched from the embedded cluster.
    pub(crate) fn fetched_records(&self, topic: &str) -> Option<u64> {
        match self {
            Self::Embedded(cluster) => Some(cluster.requests().fetched_records(topic)),
            Self::Real(_) => None,
        }
    }
}

impl Reader {
    /// The last committed value of each key now.
    pub(crate) async fn last_values(&mut self, kafka: &Kafka) -> BTreeMap<String, i64> {
        match (self, kafka) {
            (Self::Real(consumer, last), _) => {
                while let Ok(records) = tokio::time::timeout(MOMENT, consumer.poll()).await {
                    let records = records.expect("the topic can be read");
                    last.extend(records.iter().map(|record| entry(record.key(), record.value())));
                }
                last.clone()
            }
            (Self::Embedded(topic), Kafka::Embedded(cluster)) => {
                let records = cluster.records(topic);
                records.iter().map(|record| entry(record.key.as_deref(), record.value.as_deref())).collect()
            }
            (Self::Embedded(_), Kafka::Real(_)) => unreachable!("a reader is of its cluster"),
        }
    }
}

fn entry(key: Option<&[u8]>, value: Option<&[u8]>) -> (String, i64) {
    let key = String::from_utf8(key.expect("records have keys").to_vec()).expect("keys are UTF-8");
    let value = value.and_then(|value| value.try_into().ok()).expect("values are longs");
    (key, i64::from_be_bytes(value))
}

/// Makes topics, and waits until brokers know of them, which on a real cluster is a moment later.
pub(crate) async fn make(client: &Client, topics: [&str; 2]) {
    let new = topics.map(|topic| NewTopic::new(topic).partitions(PARTITIONS));
    let made = client.admin().topics().create(new).await.and_then(|made| made.all());
    made.expect("the topics are new");
    let ends =
        || topics.into_iter().flat_map(|topic| (0..PARTITIONS).map(move |at| ((topic, at).into(), OffsetSpec::Latest)));
    let deadline = Instant::now() + PATIENCE;
    while let Err(error) = client.admin().topics().offsets(ends()).await.and_then(|ends| ends.all()) {
        assert!(Instant::now() < deadline, "the topics do not come: {error}");
        tokio::time::sleep(MOMENT).await;
    }
}

/// So many tasks has each application.
const PARTITIONS: i32 = 2;
/// How long a poll waits for more.
const MOMENT: Duration = Duration::from_millis(20);
