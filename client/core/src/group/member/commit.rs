//! Who may commit when. Not between JoinGroup's answer and the assignment, and neither JoinGroup nor SyncGroup goes out while a commit
//! is on its way. But while JoinGroup waits for its answer, which it may do until a dead member's session is over, a cooperative member
//! goes on committing what it keeps: the coordinator takes commits of the old generation until the new one begins.

use super::{ErrorCode, Forget, Member, RebalanceMode, State};
use crate::group::{CommitRefused, CommitStamp};
use std::time::{Duration, Instant};

impl Member {
    /// Begins a commit in the member's name. Each one that began must be ended by [`Member::end_commit`].
    ///
    /// # Errors
    ///
    /// When the coordinator would refuse it now.
    pub fn begin_commit(&mut self) -> Result<CommitStamp, CommitRefused> {
        let keeps_partitions = self.mode() == RebalanceMode::Cooperative && !self.owned.is_empty();
        match self.state {
            State::Joining(_) if keeps_partitions => {}
            State::Joining(_) | State::Assigning(..) | State::Joined(_) | State::Syncing(_) => {
                return Err(CommitRefused::Rebalancing);
            }
            _ => {}
        }
        if self.identity.generation < 0 {
            return Err(CommitRefused::NotMember);
        }
        self.commits_in_flight += 1;
        Ok(CommitStamp {
            generation: self.identity.generation,
            member_id: self.identity.member_id.clone(),
            instance_id: self.identity.instance_id.clone(),
        })
    }
    /// How long a commit that begins now may be tried: the join of a rebalance waits for it, and the rebalance does not wait for ever.
    #[must_use]
    pub fn commit_patience(&self, now: Instant) -> Duration {
        self.rebalance_left(now) / 2
    }
    /// How long the group still waits for this member to join: what is left of the rebalance, or the whole of one that may begin any time.
    /// Never nothing, so that whoever comes late still tries once.
    #[must_use]
    pub fn rebalance_left(&self, now: Instant) -> Duration {
        let whole = self.config.rebalance_timeout;
        self.rebalance_ends.map_or(whole, |ends| ends.saturating_duration_since(now).max(whole / 8))
    }
    /// The rebalance may have begun right after the heartbeat before the one that told of it.
    pub(super) fn time_to_join(&self) -> Duration {
        self.config.rebalance_timeout.saturating_sub(self.config.heartbeat_interval)
    }
    /// Ends a commit; the code is the worst that the coordinator answered, none when there was no answer.
    pub fn end_commit(&mut self, now: Instant, stamp: &CommitStamp, code: Option<ErrorCode>) {
        self.commits_in_flight = self.commits_in_flight.saturating_sub(1);
        let current = stamp.generation == self.identity.generation && stamp.member_id == self.identity.member_id;
        // The generation may have begun while this was on its way; JoinGroup's answer tells what became of the member.
        let decided = current && !matches!(self.state, State::Joining(_));
        let Some(code) = code.filter(|_| decided) else { return };
        match code {
            ErrorCode::UNKNOWN_MEMBER_ID => self.lose_and_rejoin(now, Forget::Member),
            ErrorCode::ILLEGAL_GENERATION => self.lose_and_rejoin(now, Forget::Generation),
            ErrorCode::FENCED_INSTANCE_ID => self.fail_refused("take its commit", code),
            ErrorCode::REBALANCE_IN_PROGRESS if matches!(self.state, State::Stable) => {
                self.rejoin(now, "the group rebalances");
            }
            _ => {}
        }
    }
}
