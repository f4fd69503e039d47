//! The broker's options, by Kafka's keys. Those that begin with `millstream.` are the test kit's own.

use super::bounds::Bounds;
use super::configs::{MIN_ISR, meant, options};
use super::groups::settings::ConsumerSettings;
use super::security::SecurityProtocol;
use super::security::settings::SecuritySettings;
use super::topics::{MAX_PARTITIONS, config};
use super::versions::Release;
use millstream_protocol::api::VersionRange;
use millstream_protocol::frame::TEXT_BYTES;
use millstream_protocol::{ApiKey, NodeId};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

/// What a cluster is started with.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) auto_create_topics: bool,
    /// How long the making of a topic takes that somebody asked for, who is told meanwhile that it is unknown.
    pub(crate) auto_create_delay: Duration,
    pub(crate) num_partitions: i32,
    pub(crate) default_replication_factor: i16,
    pub(crate) group_min_session_timeout_ms: i64,
    pub(crate) group_max_session_timeout_ms: i64,
    pub(crate) group_initial_rebalance_delay_ms: i64,
    pub(crate) group_max_size: usize,
    pub(crate) consumer_groups: ConsumerSettings,
    pub(crate) offset_metadata_max_bytes: usize,
    pub(crate) offsets_retention_minutes: u64,
    pub(crate) offsets_retention_check_ms: u64,
    pub(crate) transaction_max_timeout_ms: i32,
    /// Whether a transactional batch is taken only if its partition is in the transaction.
    pub(crate) verifies_partitions: bool,
    pub(crate) transaction_version: i16,
    pub(crate) group_version: i16,
    pub(crate) max_fetch_sessions: usize,
    pub(crate) fetch_max_bytes: usize,
    pub(crate) delete_topics: bool,
    pub(crate) replica_lag_max: Duration,
    pub(crate) broker_session_timeout: Duration,
    pub(crate) retention_check_interval: Duration,
    pub(crate) cleaner_backoff: Duration,
    pub(crate) producer_id_expiration: Duration,
    pub(crate) producer_id_check_interval: Duration,
    pub(crate) transactional_id_expiration: Duration,
    pub(crate) transactional_id_check_interval: Duration,
    pub(crate) replica_selector: ReplicaSelector,
    /// Of `__consumer_offsets`.
    pub(crate) offsets_topic_partitions: usize,
    /// Of `__transaction_state`.
    pub(crate) transactions_topic_partitions: usize,
    /// How long a transaction stays prepared before its markers are written.
    pub(crate) marker_delay_ms: i64,
    /// The epoch that new producer ids begin with.
    pub(crate) producer_epoch_start: i16,
    /// The listeners by name; without any there is one, which asks for nothing.
    pub(crate) listeners: Vec<(String, SecurityProtocol)>,
    /// The first broker's id; the others follow it.
    pub(crate) first_node: NodeId,
    pub(crate) security: SecuritySettings,
    /// Whose API versions and features the brokers have.
    pub(crate) release: Release,
    /// What APIs have instead of what the release has.
    pub(crate) api_versions: Vec<(ApiKey, VersionRange)>,
    /// How much it keeps in all.
    pub(crate) bounds: Bounds,
    /// What topics inherit, by the topic's key.
    pub(crate) topic_defaults: BTreeMap<String, String>,
    /// All that was set, as DescribeConfigs of a broker shows it.
    pub(crate) given: BTreeMap<String, String>,
}

impl Settings {
    /// Kafka's defaults, but for short waits and three replicas where there are three brokers.
    pub(crate) fn new(brokers: usize) -> Self {
        Self {
            auto_create_topics: true,
            auto_create_delay: Duration::ZERO,
            num_partitions: 1,
            default_replication_factor: i16::try_from(brokers.min(3)).unwrap_or(1),
            group_min_session_timeout_ms: 1,
            group_max_session_timeout_ms: 1_800_000,
            group_initial_rebalance_delay_ms: 10,
            group_max_size: usize::MAX,
            consumer_groups: ConsumerSettings::default(),
            offset_metadata_max_bytes: 4096,
            offsets_retention_minutes: 10_080,
            offsets_retention_check_ms: 600_000,
            transaction_max_timeout_ms: 900_000,
            verifies_partitions: true,
            transaction_version: 2,
            group_version: 1,
            max_fetch_sessions: 1000,
            fetch_max_bytes: 57_671_680,
            delete_topics: true,
            replica_lag_max: super::replication::LAG_MAX,
            broker_session_timeout: Duration::from_secs(9),
            retention_check_interval: Duration::from_secs(300),
            cleaner_backoff: Duration::from_secs(15),
            producer_id_expiration: Duration::from_secs(86_400),
            producer_id_check_interval: Duration::from_secs(600),
            transactional_id_expiration: Duration::from_secs(604_800),
            transactional_id_check_interval: Duration::from_secs(3600),
            replica_selector: ReplicaSelector::Leader,
            offsets_topic_partitions: 50,
            transactions_topic_partitions: 50,
            marker_delay_ms: 0,
            producer_epoch_start: 0,
            listeners: Vec::new(),
            first_node: NodeId::new(1),
            security: SecuritySettings::default(),
            release: Release::default(),
            api_versions: Vec::new(),
            bounds: Bounds::default(),
            topic_defaults: BTreeMap::new(),
            given: BTreeMap::new(),
        }
    }
    /// What an option is while nobody sets it, where that is not Kafka's default.
    pub(crate) fn own_default(&self, key: &str) -> Option<String> {
        if self.given.contains_key(key) {
            return None;
        }
        match key {
            // Internal topics have as many replicas as others, and as many of them in sync.
            "default.replication.factor" | OFFSETS_FACTOR | TRANSACTIONS_FACTOR => {
                Some(self.default_replication_factor.to_string())
            }
            TRANSACTIONS_MIN_ISR => Some(self.topic_defaults.get(MIN_ISR).cloned().unwrap_or_else(|| "1".to_owned())),
            "group.initial.rebalance.delay.ms" => Some(self.group_initial_rebalance_delay_ms.to_string()),
            "group.min.session.timeout.ms" => Some(self.group_min_session_timeout_ms.to_string()),
            _ => self.consumer_groups.short_wait(key).map(|wait| wait.to_string()),
        }
    }
    /// The listeners' protocols.
    pub(crate) fn protocols(&self) -> impl Iterator<Item = SecurityProtocol> {
        self.listeners.iter().map(|(_, protocol)| *protocol)
    }
    /// How many partitions an internal topic has.
    pub(crate) fn partitions_of(&self, internal_topic: &str) -> usize {
        if internal_topic == super::topics::OFFSETS_TOPIC {
            self.offsets_topic_partitions
        } else {
            self.transactions_topic_partitions
        }
    }
    /// How many replicas an internal topic has.
    pub(crate) fn replicas_of(&self, internal_topic: &str) -> usize {
        let key = if internal_topic == super::topics::OFFSETS_TOPIC { OFFSETS_FACTOR } else { TRANSACTIONS_FACTOR };
        let default = usize::try_from(self.default_replication_factor).unwrap_or(1);
        self.given.get(key).and_then(|value| value.parse().ok()).unwrap_or(default)
    }
    /// Sets an option; says what is wrong with it.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        check_length(value).map_err(|reason| format!("the broker option `{key}` cannot be: {reason}"))?;
        options::broker(key).map_or(Ok(()), |option| option.check(value))?;
        match key {
            "node.id" | "broker.id" => self.first_node = node_id(key, value)?,
            "auto.create.topics.enable" => self.auto_create_topics = parse(key, value)?,
            "num.partitions" => self.num_partitions = partitions(key, value)?,
            "default.replication.factor" => self.default_replication_factor = within(key, value, 1..=i16::MAX)?,
            "group.min.session.timeout.ms" => self.group_min_session_timeout_ms = parse(key, value)?,
            "group.max.session.timeout.ms" => self.group_max_session_timeout_ms = parse(key, value)?,
            "group.initial.rebalance.delay.ms" => self.group_initial_rebalance_delay_ms = parse(key, value)?,
            "group.max.size" => self.group_max_size = parse(key, value)?,
            "offset.metadata.max.bytes" => self.offset_metadata_max_bytes = parse(key, value)?,
            "offsets.retention.minutes" => self.offsets_retention_minutes = parse(key, value)?,
            "offsets.retention.check.interval.ms" => self.offsets_retention_check_ms = parse(key, value)?,
            "transaction.max.timeout.ms" => self.transaction_max_timeout_ms = parse(key, value)?,
            "transaction.partition.verification.enable" => self.verifies_partitions = parse(key, value)?,
            "group.version" => self.group_version = within(key, value, 0..=1)?,
            "transaction.version" => self.transaction_version = within(key, value, 0..=2)?,
            "max.incremental.fetch.session.cache.slots" => self.max_fetch_sessions = parse(key, value)?,
            "fetch.max.bytes" => self.fetch_max_bytes = parse(key, value)?,
            "offsets.topic.num.partitions" => self.offsets_topic_partitions = partitions(key, value)?,
            "transaction.state.log.num.partitions" => self.transactions_topic_partitions = partitions(key, value)?,
            "replica.lag.time.max.ms" => self.replica_lag_max = millis(key, value)?,
            "log.retention.check.interval.ms" => self.retention_check_interval = millis(key, value)?,
            "log.cleaner.backoff.ms" => self.cleaner_backoff = millis(key, value)?,
            "producer.id.expiration.ms" => self.producer_id_expiration = millis(key, value)?,
            "producer.id.expiration.check.interval.ms" => self.producer_id_check_interval = millis(key, value)?,
            "transactional.id.expiration.ms" => self.transactional_id_expiration = millis(key, value)?,
            "transaction.remove.expired.transaction.cleanup.interval.ms" => {
                self.transactional_id_check_interval = millis(key, value)?;
            }
            "broker.session.timeout.ms" => self.broker_session_timeout = millis(key, value)?,
            "replica.selector.class" => self.replica_selector = ReplicaSelector::named(value),
            "delete.topic.enable" => self.delete_topics = parse(key, value)?,
            Bounds::RECORD_BYTES => self.bounds.record_bytes = parse(key, value)?,
            Bounds::STATE_BYTES => self.bounds.state_bytes = parse(key, value)?,
            Bounds::BUFFER_BYTES => self.bounds.buffer_bytes = parse(key, value)?,
            Bounds::UNREAD_BYTES => self.bounds.unread_bytes = within(key, value, 1..=usize::MAX)?,
            Bounds::PARTITIONS => self.bounds.partitions = parse(key, value)?,
            "millstream.auto.create.delay.ms" => {
                self.auto_create_delay = Duration::from_millis(within(key, value, 0..=MOST_DELAY_MS.unsigned_abs())?);
            }
            "millstream.transaction.marker.delay.ms" => self.marker_delay_ms = within(key, value, 0..=MOST_DELAY_MS)?,
            "millstream.producer.epoch.start" => self.producer_epoch_start = within(key, value, 0..=i16::MAX)?,
            _ if self.security.set(key, value)? => {}
            _ => match self.consumer_groups.set(key, value) {
                Some(result) => result?,
                None => self.set_topic_default(key, value)?,
            },
        }
        self.given.insert(key.to_owned(), value.to_owned());
        Ok(())
    }
    /// Says which options cannot go together in a cluster of so many brokers.
    pub(crate) fn check(&self, brokers: usize) -> Result<(), String> {
        let given = |key| self.given.get(key).and_then(|value| value.parse().ok()).map(|factor: i16| (key, factor));
        let default = ("default.replication.factor", self.default_replication_factor);
        for (key, factor) in [Some(default), given(OFFSETS_FACTOR), given(TRANSACTIONS_FACTOR)].into_iter().flatten() {
            if usize::try_from(factor).is_ok_and(|factor| factor > brokers) {
                return Err(format!("`{key}` cannot be {factor}: there are {brokers} brokers"));
            }
        }
        let (least, most) = (self.group_min_session_timeout_ms, self.group_max_session_timeout_ms);
        if least > most {
            return Err(format!(
                "`group.min.session.timeout.ms` cannot be {least}: `group.max.session.timeout.ms` is {most}"
            ));
        }
        self.consumer_groups.check()
    }
    /// Takes an option over that was set while the cluster runs; what it was started with is remembered.
    pub(crate) fn follow(&mut self, key: &str, value: &str) -> Result<(), String> {
        let given = self.given.clone();
        let result = self.set(key, value);
        self.given = given;
        result
    }
    /// Sets what topics inherit, or keeps an option of Kafka's that does nothing here, so that it is shown.
    fn set_topic_default(&mut self, key: &str, value: &str) -> Result<(), String> {
        if let Some(option) = config::OPTIONS.iter().find(|option| option.broker_key == key) {
            option.check(value, self.release)?;
            self.topic_defaults.insert(option.name.to_owned(), config::canonical(option.kind, value));
            return Ok(());
        }
        let option = options::find(&options::BROKER, key).filter(|option| !OF_EACH_BROKER.contains(&option.name));
        let unknown = || format!("the test cluster has no broker option `{key}`{}", unknown_because(key));
        option.ok_or_else(unknown)?.check(value)
    }
}

/// Why there is no such option, and what to do instead.
fn unknown_because(key: &str) -> String {
    if OF_EACH_BROKER.contains(&key) {
        return ": each broker has its own; the builder's `listener`, `host`, `advertise` and `racks`, which are flags of the binary, too, say it"
            .to_owned();
    }
    meant::hint(key)
}

const OFFSETS_FACTOR: &str = "offsets.topic.replication.factor";
const TRANSACTIONS_FACTOR: &str = "transaction.state.log.replication.factor";
pub(crate) const TRANSACTIONS_MIN_ISR: &str = "transaction.state.log.min.isr";

/// What each broker has a value of its own for: the builder's methods and the binary's flags set them.
const OF_EACH_BROKER: [&str; 4] =
    ["listeners", "advertised.listeners", "listener.security.protocol.map", "broker.rack"];

/// Which replica a consumer is sent to (KIP-392, `replica.selector.class`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplicaSelector {
    Leader,
    /// One in the consumer's rack.
    RackAware,
}
impl ReplicaSelector {
    fn named(class: &str) -> Self {
        if class.ends_with("RackAwareReplicaSelector") { Self::RackAware } else { Self::Leader }
    }
}

/// A value that no message could carry would break each answer that tells of it.
pub(crate) fn check_length(value: &str) -> Result<(), String> {
    let bytes = value.len();
    if bytes <= TEXT_BYTES {
        return Ok(());
    }
    Err(format!("it has {bytes} bytes, and a text of Kafka's has {TEXT_BYTES} at most; give a shorter one"))
}
fn millis(key: &str, value: &str) -> Result<Duration, String> {
    parse(key, value).map(Duration::from_millis)
}
fn parse<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("the broker option `{key}` cannot be `{value}`"))
}
/// A number that is neither too small nor too large.
fn within<T: std::str::FromStr + PartialOrd + std::fmt::Display>(
    key: &str,
    value: &str,
    range: RangeInclusive<T>,
) -> Result<T, String> {
    let (least, most) = (range.start(), range.end());
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("the broker option `{key}` is {least} to {most}, not `{value}`"))
}
/// A delay of an hour is as good as none that ends.
const MOST_DELAY_MS: i64 = 3_600_000;
/// How many partitions a topic has that is made by itself.
fn partitions<T: TryFrom<usize>>(key: &str, value: &str) -> Result<T, String> {
    let count: usize = parse(key, value)?;
    let count = Some(count).filter(|count| (1..=MAX_PARTITIONS).contains(count));
    let count = count.and_then(|count| T::try_from(count).ok());
    count.ok_or_else(|| format!("the broker option `{key}` is 1 to {MAX_PARTITIONS}, not `{value}`"))
}
fn node_id(key: &str, value: &str) -> Result<NodeId, String> {
    let id = parse(key, value)?;
    if id < 0 { Err(format!("the broker option `{key}` cannot be `{value}`")) } else { Ok(NodeId::new(id)) }
}
