//! What a member is told once.

use std::time::Duration;

/// A member's options. Defaults are Kafka's.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemberConfig {
    /// `group.id`.
    pub group_id: String,
    /// `group.instance.id`: makes the member static (KIP-345).
    pub instance_id: Option<String>,
    /// `client.rack`, for assignors that look at it.
    pub rack: Option<String>,
    /// `session.timeout.ms`: how long a silent member keeps its partitions.
    pub session_timeout: Duration,
    /// `heartbeat.interval.ms`.
    pub heartbeat_interval: Duration,
    /// How long the coordinator waits for members to join again; what revocations have to be done within.
    pub rebalance_timeout: Duration,
    /// `max.poll.interval.ms`: how long the application may work between two polls. None when no user code stands between.
    pub max_poll_interval: Option<Duration>,
    /// `retry.backoff.ms`: the first pause after a failure; each further one is twice as long.
    pub retry_backoff: Duration,
    /// `retry.backoff.max.ms`: the longest pause.
    pub retry_backoff_max: Duration,
}

impl MemberConfig {
    /// A dynamic member of this group with Kafka's defaults.
    #[must_use]
    pub fn new(group_id: impl Into<String>) -> Self {
        Self {
            group_id: group_id.into(),
            instance_id: None,
            rack: None,
            session_timeout: Duration::from_secs(45),
            heartbeat_interval: Duration::from_secs(3),
            rebalance_timeout: Duration::from_secs(300),
            max_poll_interval: Some(Duration::from_secs(300)),
            retry_backoff: Duration::from_millis(100),
            retry_backoff_max: Duration::from_secs(1),
        }
    }
    pub(crate) fn backoff(&self, attempts: u32) -> Duration {
        self.retry_backoff.saturating_mul(1 << attempts.min(16)).min(self.retry_backoff_max)
    }
}

/// Whether a closing member tells the coordinator (KIP-1092).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LeavePolicy {
    /// A dynamic member leaves; a static one stays until its session ends, so that a restart finds its partitions.
    #[default]
    Dynamic,
    /// It leaves.
    Leave,
    /// It stays until its session ends.
    Remain,
}
