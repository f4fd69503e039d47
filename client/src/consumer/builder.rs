//! Options of a consumer.

use super::Consumer;
use super::engine::{Engine, EngineConfig, LossAck};
use super::values::{Assignor, GroupProtocol, Strategy};
use crate::client::{Client, ClientSource};
use crate::config::{ConfigError, options};
use crate::{Error, IsolationLevel, Properties};
use millstream_client_core::fetch::{FetchConfig, Fetcher, OffsetReset};
use millstream_client_core::group::{Member, MemberConfig};
use millstream_protocol::TopicName;
use std::collections::BTreeSet;
use std::time::Duration;

/// Options of a consumer.
#[derive(Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct ConsumerBuilder {
    options: ConsumerOptions,
    source: ClientSource,
    topics: BTreeSet<TopicName>,
    problem: Option<ConfigError>,
}

options! { ConsumerBuilder, ConsumerOptions {
    /// Shares the topics with the group's other members, and keeps committed offsets under this name.
    "group.id" => group_id(impl Into<String>): Option<String> = None, "none: `assign` and no commits";
    /// Makes the member static (KIP-345): a restart within the session keeps its partitions.
    "group.instance.id" => group_instance_id(impl Into<String>): Option<String> = None, "none";
    /// Who assigns.
    "group.protocol" => group_protocol(GroupProtocol): GroupProtocol = GroupProtocol::classic(), "classic, with range and cooperative sticky";
    /// The assignors of the classic protocol, in order of preference; stands above what `group_protocol` lists.
    "partition.assignment.strategy" => partition_assignment_strategy(Vec<Assignor>): Strategy = Strategy::default(), "as `group.protocol` says";
    /// How long a silent member keeps its partitions.
    "session.timeout.ms" => session_timeout(Duration): Duration = Duration::from_secs(45), "45 s", positive_duration;
    /// How often a member is heard of.
    "heartbeat.interval.ms" => heartbeat_interval(Duration): Duration = Duration::from_secs(3), "3 s", positive_duration;
    /// How long the application may work between two polls. Past it the member leaves the group until the next one.
    "max.poll.interval.ms" => max_poll_interval(Duration): Duration = Duration::from_secs(300), "5 min", positive_duration;
    /// The most records that one poll brings.
    "max.poll.records" => max_poll_records(usize): usize = 500, "500", positive;
    /// Where to start without an offset.
    "auto.offset.reset" => auto_offset_reset(OffsetReset): OffsetReset = OffsetReset::Latest, "latest";
    /// Commits what earlier polls brought, on the way.
    "enable.auto.commit" => enable_auto_commit(bool): bool = true, "true";
    /// How often.
    "auto.commit.interval.ms" => auto_commit_interval(Duration): Duration = Duration::from_secs(5), "5 s";
    /// Which records are seen.
    "isolation.level" => isolation_level(IsolationLevel): IsolationLevel = IsolationLevel::ReadCommitted, "read committed";
    /// The least that a fetch waits for, in bytes.
    "fetch.min.bytes" => fetch_min_bytes(usize): usize = 1, "1";
    /// How long it waits for that.
    "fetch.max.wait.ms" => fetch_max_wait(Duration): Duration = Duration::from_millis(500), "500 ms";
    /// The most that is fetched ahead from all brokers, in bytes.
    "fetch.max.bytes" => fetch_max_bytes(usize): usize = 16 << 20, "16 MiB", positive;
    /// The most that is fetched of one partition at a time, in bytes. A batch that is larger comes all the same.
    "max.partition.fetch.bytes" => max_partition_fetch_bytes(usize): usize = 1 << 20, "1 MiB", positive;
    /// Whether each batch's checksum is computed and compared.
    "check.crcs" => check_crcs(bool): bool = true, "true";
}}

impl ConsumerBuilder {
    /// Kafka's keys of a consumer's own options; [`set`](Self::set) takes the client's besides.
    pub const KEYS: &'static [&'static str] = ConsumerOptions::KEYS;

    pub(crate) fn new(source: ClientSource) -> Self {
        Self { options: ConsumerOptions::default(), source, topics: BTreeSet::new(), problem: None }
    }
    pub(super) fn from_properties(properties: &Properties) -> Self {
        properties.iter().fold(Self::new(ClientSource::unset()), |builder, (key, value)| builder.set(key, value))
    }
    /// Sets an option by Kafka's key, also one of the client's. What is wrong with it comes out of `build`.
    pub fn set(mut self, key: &str, value: &str) -> Self {
        let set = self.options.set_text(key, value).unwrap_or_else(|| self.source.set(key, value));
        self.problem = self.problem.or(set.err());
        self
    }
    /// Subscribes from the start.
    pub fn topics<T: Into<TopicName>>(mut self, topics: impl IntoIterator<Item = T>) -> Self {
        self.topics = topics.into_iter().map(Into::into).collect();
        self
    }
    /// Connects. The group is joined at the first poll.
    ///
    /// # Errors
    ///
    /// When an option cannot be, or no address answers.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn build(self) -> Result<Consumer, Error> {
        let Self { options, source, topics, problem } = self;
        if let Some(problem) = problem {
            return Err(problem.into());
        }
        options.check()?;
        check_together(&options, &topics)?;
        let client = source.connect().await?;
        let engine = Engine::on_thread(client.clone(), options.engine(&client))?;
        Ok(Consumer::new(engine, options, topics))
    }
}

fn check_together(options: &ConsumerOptions, topics: &BTreeSet<TopicName>) -> Result<(), ConfigError> {
    let problem = if options.group_id.is_none() && !topics.is_empty() {
        ("group.id", "is needed to subscribe to topics; without it, `assign` partitions")
    } else if options.group_id.is_none() && options.group_instance_id.is_some() {
        ("group.instance.id", "needs `group.id`")
    } else if options.heartbeat_interval >= options.session_timeout {
        ("heartbeat.interval.ms", "must be less than `session.timeout.ms`; a third of it is usual")
    } else if options.assignors().is_empty() {
        ("partition.assignment.strategy", "names no assignor")
    } else {
        return Ok(());
    };
    Err(ConfigError::new(problem.0, problem.1))
}

impl ConsumerOptions {
    fn assignors(&self) -> &[Assignor] {
        self.partition_assignment_strategy.0.as_deref().unwrap_or_else(|| self.group_protocol.assignors())
    }
    fn engine(&self, client: &Client) -> EngineConfig {
        EngineConfig {
            fetcher: Fetcher::new(self.fetch(client)),
            member: self.group_id.as_ref().map(|group| self.member(client, group)),
            group_id: self.group_id.clone(),
            loss_ack: LossAck::AtOnce,
            session_timeout: self.session_timeout,
        }
    }
    fn fetch(&self, client: &Client) -> FetchConfig {
        let mut config = FetchConfig::default();
        config.isolation = self.isolation_level;
        config.reset = self.auto_offset_reset;
        config.min_bytes = self.fetch_min_bytes;
        config.max_wait = self.fetch_max_wait;
        config.max_bytes = self.fetch_max_bytes;
        config.max_partition_bytes = self.max_partition_fetch_bytes;
        config.rack = client.options().client_rack.clone();
        config.retry_backoff = client.options().retry_backoff;
        config.retry_backoff_max = client.options().retry_backoff_max;
        config
    }
    fn member(&self, client: &Client, group: &str) -> Member {
        let mut config = MemberConfig::new(group);
        config.instance_id.clone_from(&self.group_instance_id);
        config.rack = client.options().client_rack.clone();
        config.session_timeout = self.session_timeout;
        config.heartbeat_interval = self.heartbeat_interval;
        config.rebalance_timeout = self.max_poll_interval;
        config.max_poll_interval = Some(self.max_poll_interval);
        config.retry_backoff = client.options().retry_backoff;
        config.retry_backoff_max = client.options().retry_backoff_max;
        Member::new(config, self.assignors().iter().map(|assignor| assignor.build()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_a_consumer_is_a_known_key() {
        let all: String = ConsumerBuilder::KEYS.iter().map(|key| format!("{key}=1\n")).collect();
        let properties = Properties::parse(&all).expect("properties");
        let as_a_client = properties.iter().fold(ClientSource::unset(), |mut source, (key, value)| {
            source.set(key, value).expect("a key that some role knows");
            source
        });
        drop(as_a_client);
    }

    #[test]
    fn options_that_do_not_go_together_are_told_of_before_anything_is_sent() {
        let mut options = ConsumerOptions { group_id: Some("g".to_owned()), ..ConsumerOptions::default() };
        options.heartbeat_interval = options.session_timeout;
        let error = check_together(&options, &BTreeSet::new()).expect_err("too slow");
        assert_eq!(error.key(), "heartbeat.interval.ms");
    }
}
