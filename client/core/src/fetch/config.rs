//! What a fetcher is told once.

use std::time::Duration;

/// Which records are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has these two")]
pub enum IsolationLevel {
    /// All.
    ReadUncommitted,
    /// Those of committed transactions, and those outside any.
    ReadCommitted,
}

impl IsolationLevel {
    /// As requests carry it.
    #[must_use]
    pub const fn code(self) -> i8 {
        match self {
            Self::ReadUncommitted => 0,
            Self::ReadCommitted => 1,
        }
    }
}

/// Where to start without a committed offset, or when the position is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffsetReset {
    /// At the first record kept.
    Earliest,
    /// After the last record.
    Latest,
    /// This far back in time (KIP-1106).
    ByDuration(Duration),
    /// Nowhere: an error.
    None,
}

/// A fetcher's options. Defaults are Kafka's, but for read committed and a smaller budget.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FetchConfig {
    /// `isolation.level`.
    pub isolation: IsolationLevel,
    /// `auto.offset.reset`.
    pub reset: OffsetReset,
    /// `fetch.min.bytes`.
    pub min_bytes: usize,
    /// `fetch.max.wait.ms`.
    pub max_wait: Duration,
    /// `fetch.max.bytes`: the most that is fetched ahead from all brokers together.
    pub max_bytes: usize,
    /// `max.partition.fetch.bytes`: the most of one partition in one answer; a first batch may be larger (KIP-74).
    pub max_partition_bytes: usize,
    /// `client.rack`, for reading from a replica nearby (KIP-392).
    pub rack: Option<String>,
    /// `retry.backoff.ms`.
    pub retry_backoff: Duration,
    /// `retry.backoff.max.ms`.
    pub retry_backoff_max: Duration,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            isolation: IsolationLevel::ReadCommitted,
            reset: OffsetReset::Latest,
            min_bytes: 1,
            max_wait: Duration::from_millis(500),
            max_bytes: 16 << 20,
            max_partition_bytes: 1 << 20,
            rack: None,
            retry_backoff: Duration::from_millis(100),
            retry_backoff_max: Duration::from_secs(1),
        }
    }
}

impl FetchConfig {
    pub(super) fn backoff(&self, attempts: u32) -> Duration {
        self.retry_backoff.saturating_mul(1 << attempts.min(16)).min(self.retry_backoff_max)
    }
}
