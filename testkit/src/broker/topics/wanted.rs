//! A topic that whoever has the cluster asks for. What clients ask for is the handlers'.

use super::{MAX_PARTITIONS, check_name, layout};
use crate::broker::Broker;
use crate::broker::configs::{Values, meant};
use crate::broker::settings::{Settings, check_length};
use crate::broker::topics::config;
use millstream_protocol::messages::Uuid;

/// A topic of a cluster: for its builder, and for the cluster itself while it runs.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use millstream_testkit::{TestCluster, TestTopic};
///
/// let orders = TestTopic::new("orders", 12).replication_factor(2).config("cleanup.policy", "compact");
/// let cluster = TestCluster::builder().brokers(3).topic_with(orders).start().await;
/// cluster.create_topic_with(TestTopic::new("bills", 1).replication_factor(3));
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct TestTopic {
    pub(crate) name: String,
    pub(crate) partitions: usize,
    pub(crate) replication_factor: Option<usize>,
    pub(crate) config: Values,
}
impl TestTopic {
    /// One with the cluster's defaults.
    pub fn new(name: &str, partitions: usize) -> Self {
        Self { name: name.to_owned(), partitions, replication_factor: None, config: Values::new() }
    }
    /// How many replicas each partition has. Default: the cluster's `default.replication.factor`, which is 1 for one broker, and 3 or as
    /// many as there are brokers for more.
    pub fn replication_factor(mut self, count: usize) -> Self {
        self.replication_factor = Some(count);
        self
    }
    /// A topic option, by Kafka's key. Default: as brokers have it.
    pub fn config(mut self, key: &str, value: &str) -> Self {
        self.config.insert(key.to_owned(), value.to_owned());
        self
    }
    /// Why a cluster of so many brokers cannot have it, and what to do.
    pub(crate) fn check(&self, settings: &Settings, brokers: usize) -> Result<(), String> {
        let Self { name, partitions, .. } = self;
        check_name(name).map_err(|(_, reason)| reason)?;
        if !(1..=MAX_PARTITIONS).contains(partitions) {
            return Err(format!(
                "the topic `{name}` cannot have {partitions} partitions; ask for 1 to {MAX_PARTITIONS}"
            ));
        }
        if let Some(count) = self.replication_factor.filter(|count| !(1..=brokers).contains(count)) {
            let why = format!("a broker holds one replica of a partition, and {brokers} brokers are there");
            return Err(format!("the topic `{name}` cannot have {count} replicas: {why}; ask for 1 to {brokers}"));
        }
        self.check_config(settings).map_err(|reason| format!("the topic `{name}` cannot be: {reason}"))
    }
    fn check_config(&self, settings: &Settings) -> Result<(), String> {
        if let Some(unknown) = self.config.keys().find(|key| config::option(key).is_none()) {
            return Err(format!("topics have no option `{unknown}`{}", meant::topic_hint(unknown)));
        }
        for (key, value) in &self.config {
            check_length(value).map_err(|reason| format!("`{key}` is too long: {reason}"))?;
        }
        config::check_all(&self.config, &settings.topic_defaults, settings.release)
    }
}

/// Why a topic was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) enum TopicRefusal {
    /// It could never be.
    Impossible(String),
    /// It cannot be beside what there is.
    NotNow(String),
}

impl Broker {
    /// Makes a topic, if it can be.
    pub(crate) fn try_create_topic(&mut self, topic: &TestTopic) -> Result<Uuid, TopicRefusal> {
        topic.check(&self.settings, self.nodes.up().count()).map_err(TopicRefusal::Impossible)?;
        self.check_place(topic).map_err(TopicRefusal::NotNow)?;
        Ok(self.create_topic(topic))
    }
    /// Whether there is a place for it beside what there is.
    fn check_place(&self, topic: &TestTopic) -> Result<(), String> {
        let name = &topic.name;
        if self.has_topic(name) {
            return Err(format!("there is a topic `{name}` already"));
        }
        if let Some(other) = self.colliding(name) {
            let why = "Kafka takes a dot and an underscore for the same";
            return Err(format!("the topic `{name}` collides with `{other}`: {why}; choose another name"));
        }
        self.check_partition_room(topic.partitions).map_err(|(_, reason)| reason)
    }
    /// Makes a topic that can be; its id.
    pub(crate) fn create_topic(&mut self, topic: &TestTopic) -> Uuid {
        let TestTopic { name, partitions, replication_factor, config } = topic;
        let default = usize::try_from(self.settings.default_replication_factor).unwrap_or(1);
        let layout = layout(name, 0, *partitions, replication_factor.unwrap_or(default), &self.nodes);
        self.topics.create(name, layout, config::spelled(config.clone()), &self.settings, &self.nodes).id
    }
    /// Gives a topic one more partition. Says whether there is such a topic.
    #[cfg(feature = "simulation")]
    pub(crate) fn add_partition(&mut self, name: &str) -> bool {
        let Some(topic) = self.topics.find(name) else { return false };
        let factor = topic.partitions.first().map_or(1, |partition| partition.replicas.len());
        let layout = layout(name, topic.partitions.len(), 1, factor, &self.nodes);
        self.topics.extend(name, layout, &self.nodes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(topic: TestTopic) -> String {
        topic.check(&Settings::new(3), 3).expect_err("it cannot be")
    }
    #[test]
    fn a_topic_that_cannot_be_is_refused_with_what_could() {
        let topic = || TestTopic::new("t", 1);
        assert_eq!(topic().replication_factor(3).config("retention.ms", "5").check(&Settings::new(3), 3), Ok(()));
        assert_eq!(refusal(TestTopic::new("t", 0)), "the topic `t` cannot have 0 partitions; ask for 1 to 10000");
        for count in [0, 4] {
            assert!(refusal(topic().replication_factor(count)).ends_with("and 3 brokers are there; ask for 1 to 3"));
        }
        let table = [
            ("retention.mss", "5", "topics have no option `retention.mss`; is `retention.ms` meant?"),
            ("log.retention.ms", "5", "topics have no option `log.retention.ms`; is `retention.ms` meant?"),
            (
                "no.such.key",
                "5",
                "topics have no option `no.such.key`; a topic tells all that it has by DescribeConfigs",
            ),
            ("retention.ms", "soon", "Invalid value soon for configuration retention.ms"),
        ];
        for (key, value, why) in table {
            let said = refusal(topic().config(key, value));
            assert!(said.starts_with(&format!("the topic `t` cannot be: {why}")), "{said}");
        }
        let long = refusal(topic().config("retention.ms", &"1".repeat(32_768)));
        assert!(
            long.ends_with("it has 32768 bytes, and a text of Kafka's has 32767 at most; give a shorter one"),
            "{long}"
        );
    }
}
