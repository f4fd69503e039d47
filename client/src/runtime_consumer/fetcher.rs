//! Reading partitions without a group.

use super::Feed;
use crate::consumer::{Engine, EngineConfig, LossAck};
use crate::{Client, Error, IsolationLevel, OffsetReset};
use millstream_client_core::fetch::FetchConfig;
use millstream_protocol::{Offset, TopicPartition};
use std::sync::Arc;
use std::time::Duration;

/// How records are fetched.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FetchOptions {
    /// `isolation.level`. Default: read committed.
    pub isolation: IsolationLevel,
    /// `auto.offset.reset`. Default: none, so that a position that is gone is an error.
    pub reset: OffsetReset,
    /// `fetch.min.bytes`. Default: 1.
    pub min_bytes: usize,
    /// `fetch.max.wait.ms`. Default: 500 ms.
    pub max_wait: Duration,
    /// `fetch.max.bytes`. Default: 16 MiB.
    pub max_bytes: usize,
    /// `max.partition.fetch.bytes`. Default: 1 MiB.
    pub max_partition_bytes: usize,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            isolation: IsolationLevel::ReadCommitted,
            reset: OffsetReset::None,
            min_bytes: 1,
            max_wait: Duration::from_millis(500),
            max_bytes: 16 << 20,
            max_partition_bytes: 1 << 20,
        }
    }
}

impl FetchOptions {
    pub(super) fn config(&self, client: &Client) -> FetchConfig {
        let mut config = FetchConfig::default();
        config.isolation = self.isolation;
        config.reset = self.reset;
        config.min_bytes = self.min_bytes;
        config.max_wait = self.max_wait;
        config.max_bytes = self.max_bytes;
        config.max_partition_bytes = self.max_partition_bytes;
        config.rack = client.options().client_rack.clone();
        config.retry_backoff = client.options().retry_backoff;
        config.retry_backoff_max = client.options().retry_backoff_max;
        config
    }
}

/// Reads partitions from given offsets, on the caller's runtime. Dropping it ends it.
#[derive(Debug)]
pub struct Fetcher {
    feed: Feed,
    engine: Engine,
}

impl Fetcher {
    /// Starts to read these, each from its offset.
    #[must_use]
    pub fn start(
        client: &Client,
        from: impl IntoIterator<Item = (TopicPartition, Offset)>,
        options: &FetchOptions,
    ) -> Self {
        let config = EngineConfig {
            fetcher: millstream_client_core::fetch::Fetcher::new(options.config(client)),
            member: None,
            group_id: None,
            loss_ack: LossAck::Explicit,
            session_timeout: client.options().request_timeout,
        };
        let engine = Engine::beside(client.clone(), config);
        let feed = Feed::new(Arc::clone(&engine.shared));
        for (partition, offset) in from {
            feed.add(partition, offset);
        }
        Self { feed, engine }
    }
    /// What is read, and what came of it.
    #[must_use]
    pub const fn feed(&self) -> &Feed {
        &self.feed
    }
    /// An error that no partition is to blame for, such as a topic that does not exist.
    #[must_use]
    pub fn take_error(&self) -> Option<Error> {
        self.engine.shared.take_error()
    }
}
