//! The cluster that a case runs on: the embedded one, or a real Kafka.

use millstream::TopicPartition;
use millstream::client::admin::NewTopic;
use millstream::client::{Admin, Client, Consumer, ConsumerRecord, OffsetReset, OffsetSpec};
use millstream_testkit::TestCluster;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};
use tokio::time::timeout;

/// How long anything may take before the test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

pub(crate) struct Cluster {
    bootstrap: String,
    // Serves as long as it is kept.
    _embedded: Option<TestCluster>,
}

impl Cluster {
    pub(crate) async fn embedded() -> Self {
        let cluster = TestCluster::builder().brokers(2).config("auto.create.topics.enable", "false").start().await;
        Self { bootstrap: cluster.bootstrap_servers(), _embedded: Some(cluster) }
    }
    /// The one that CI has started.
    pub(crate) fn real() -> Self {
        let bootstrap = std::env::var("MILLSTREAM_KAFKA").expect("MILLSTREAM_KAFKA is HOST:PORT of a real Kafka");
        Self { bootstrap, _embedded: None }
    }

    pub(crate) fn bootstrap(&self) -> &str {
        &self.bootstrap
    }
    pub(crate) async fn client(&self) -> Client {
        Client::builder(&self.bootstrap).build().await.expect("the cluster answers")
    }
    pub(crate) async fn admin(&self) -> Admin {
        Admin::connect(&self.bootstrap).await.expect("the cluster answers")
    }
    /// A new topic.
    pub(crate) async fn topic(&self, partitions: i32) -> String {
        let name = unique("topic");
        self.create(&name, partitions).await;
        name
    }
    pub(crate) async fn create(&self, name: &str, partitions: i32) {
        let topics = [NewTopic::new(name).partitions(partitions)];
        self.admin().await.topics().create(topics).await.and_then(|answers| answers.all()).expect("the topic is new");
        self.wait_until_known(name, partitions).await;
    }
    /// A broker answers before all others know.
    async fn wait_until_known(&self, name: &str, partitions: i32) {
        let admin = self.admin().await;
        eventually("the new topic is known", async || {
            let described = admin.topics().describe([name]).await.ok()?.all().ok()?;
            let topic = described.into_values().next()?;
            let led = topic.partitions.iter().filter(|each| each.leader.is_some()).count();
            (led == usize::try_from(partitions).ok()?).then_some(())
        })
        .await;
    }

    /// Everything in a topic now, partition after partition, open transactions left out.
    pub(crate) async fn records(&self, topic: &str) -> Vec<ConsumerRecord> {
        let client = self.client().await;
        let described = client.admin().topics().describe([topic]).await.expect("asked").all().expect("described");
        let partitions: Vec<TopicPartition> = described
            .into_values()
            .flat_map(|each| each.partitions)
            .map(|each| TopicPartition::new(topic, each.partition))
            .collect();
        let mut consumer = client.consumer().auto_offset_reset(OffsetReset::Earliest).build().await.expect("connects");
        let mut records = Vec::new();
        for partition in partitions {
            records.extend(read_partition(&mut consumer, partition).await);
        }
        records
    }
    /// The values in a topic as text, once there are as many as wanted.
    pub(crate) async fn values(&self, topic: &str, count: usize) -> Vec<String> {
        eventually(&format!("{topic} has {count} records"), async || {
            let records = self.records(topic).await;
            let text = |record: &ConsumerRecord| text(record.value.as_deref());
            (records.len() >= count).then(|| records.iter().map(text).collect())
        })
        .await
    }
}

async fn read_partition(consumer: &mut Consumer, partition: TopicPartition) -> Vec<ConsumerRecord> {
    let specs = [(partition.clone(), OffsetSpec::Latest)];
    let ends = consumer.resolve_offsets(specs).await.expect("offsets are told");
    let end = ends.get(&partition).copied().flatten().map_or(0, |end| end.get());
    consumer.assign([partition.clone()]);
    consumer.seek(partition.clone(), OffsetSpec::Earliest).expect("it is assigned");
    let mut records = Vec::new();
    let position = |consumer: &Consumer| consumer.positions().of(&partition).map_or(0, |next| next.offset.get());
    while position(consumer) < end {
        // A poll may bring nothing when only markers are left; the position passes them nevertheless.
        if let Ok(polled) = timeout(Duration::from_millis(200), consumer.poll()).await {
            records.extend(polled.expect("records are read").iter().map(|record| record.to_owned()));
        }
    }
    records
}

/// Asks again and again until there is an answer.
pub(crate) async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("not within {PATIENCE:?}: {what}"))
}

/// Fails instead of hanging.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("nothing happened within {PATIENCE:?}"))
}

/// A name that no other test, and no earlier run, has used.
pub(crate) fn unique(what: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970");
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{what}-{}-{:x}-{number}", std::process::id(), since.as_nanos())
}

/// Bytes as text; null reads `(null)`.
pub(crate) fn text(bytes: Option<&[u8]>) -> String {
    bytes.map_or_else(|| "(null)".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
}
