//! How to stop.

use std::time::Duration;

/// How to stop. A `Duration` alone: within that, and leave the group, unless membership is static: then stay, so that a quick restart
/// moves nothing.
///
/// ```
/// use millstream::{CloseOptions, GroupMembership};
/// use std::time::Duration;
///
/// let options = CloseOptions::within(Duration::from_secs(5)).group(GroupMembership::Remain);
/// # let _ = options;
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct CloseOptions {
    pub(crate) within: Duration,
    pub(crate) group: Option<GroupMembership>,
}

impl CloseOptions {
    /// Within this time; tasks that are not done by then are left as their last commit was.
    pub const fn within(time: Duration) -> Self {
        Self { within: time, group: None }
    }

    /// Whether to leave the group.
    pub const fn group(mut self, membership: GroupMembership) -> Self {
        self.group = Some(membership);
        self
    }
}

impl From<Duration> for CloseOptions {
    fn from(time: Duration) -> Self {
        Self::within(time)
    }
}

/// What becomes of the group membership (KIP-1153).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupMembership {
    /// It ends: the others take over at once.
    Leave,
    /// It stays until the session times out.
    Remain,
}
