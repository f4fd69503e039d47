//! Committed positions do not stay for ever (`offsets.retention.minutes`, KIP-211): at each check those are forgotten that nobody has used
//! for so long, and groups that have neither members nor positions.

use super::offsets::{Committed, OffsetKey};
use super::{Body, Group};
use crate::broker::Broker;
use crate::broker::timers::TimerKey;
use millstream_protocol::Timestamp;
use millstream_protocol::messages::StrBytes;
use std::time::Duration;

impl Group {
    /// Positions whose time is over.
    fn expired(&self, now: Timestamp, retention: Duration) -> Vec<OffsetKey> {
        let is_subscribed = self.subscriptions();
        let is_over = |key: &OffsetKey, committed: &Committed| {
            let expires_at = self.expires_at(committed, retention, || is_subscribed(&key.0));
            !self.offsets.is_pending(key) && expires_at.is_some_and(|at| at <= now)
        };
        self.offsets.all().filter(|(key, committed)| is_over(key, committed)).map(|(key, _)| key.clone()).collect()
    }
    /// When a position is forgotten; never while somebody may be using it.
    fn expires_at(
        &self,
        committed: &Committed,
        retention: Duration,
        is_subscribed: impl Fn() -> bool,
    ) -> Option<Timestamp> {
        let since_commit = committed.expires_at.unwrap_or(committed.committed_at + retention);
        match &self.body {
            // A group that only keeps positions.
            Body::Classic(group) if group.protocol_type.is_none() => Some(since_commit),
            Body::Classic(_) if self.is_empty() => Some(committed.expires_at.unwrap_or(self.empty_since + retention)),
            Body::Classic(_) | Body::Consumer(_) => (!is_subscribed()).then_some(since_commit),
        }
    }
    fn is_idle(&self) -> bool {
        self.is_empty() && self.offsets.keys().is_empty()
    }
}

impl Broker {
    /// Makes sure that there is a next check, if there are groups.
    pub(super) fn arm_offsets_check(&mut self) {
        let interval = Duration::from_millis(self.settings.offsets_retention_check_ms);
        if !self.timers.is_armed(&TimerKey::Offsets) {
            self.timers.arm(TimerKey::Offsets, Some(self.now + interval));
        }
    }
    /// The time for a check has come.
    pub(crate) fn handle_offsets_time(&mut self) {
        let retention = Duration::from_secs(self.settings.offsets_retention_minutes.saturating_mul(60));
        let ids: Vec<StrBytes> = self.groups.all().map(|group| group.id.clone()).collect();
        ids.iter().for_each(|id| self.expire_offsets(id, retention));
        if self.groups.all().next().is_some() {
            self.arm_offsets_check();
        }
    }
    fn expire_offsets(&mut self, id: &str, retention: Duration) {
        let now = self.now;
        let Some(group) = self.groups.find_kept_mut(id) else { return };
        let gone = group.expired(now, retention);
        gone.iter().for_each(|key| group.offsets.remove(key));
        let is_idle = group.is_idle();
        self.write_positions_end(id, &gone);
        if is_idle {
            self.drop_group(id);
        }
    }
    /// Forgets a group altogether.
    pub(crate) fn drop_group(&mut self, id: &str) {
        if let Some(group) = self.groups.remove(id) {
            self.timers.arm(TimerKey::Group(group.id.clone()), None);
            self.write_group_end(group);
        }
    }
}
