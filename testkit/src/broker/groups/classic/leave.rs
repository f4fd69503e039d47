//! How members go.

use super::{ClassicGroup, Rules, State};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::StrBytes;

/// How a request names somebody: by its id, and by its instance's.
pub(crate) type Leaver<'a> = (&'a str, Option<&'a str>);

impl ClassicGroup {
    /// Lets members go, each named by its id, by its instance id, or by both. What follows for the others does so once, after the last.
    pub(crate) fn handle_leaves(&mut self, leavers: &[Leaver<'_>], rules: &Rules) -> Vec<Result<(), ErrorCode>> {
        let results: Vec<_> = leavers.iter().map(|(id, instance_id)| self.let_go(id, *instance_id)).collect();
        if results.iter().any(Result::is_ok) {
            self.share_anew(rules);
        }
        results
    }
    fn let_go(&mut self, member_id: &str, instance_id: Option<&str>) -> Result<(), ErrorCode> {
        if instance_id.is_none() && self.pending.remove(member_id.as_bytes()).is_some() {
            return Ok(());
        }
        let id = self.leaver(member_id, instance_id)?;
        self.remove(&id);
        Ok(())
    }
    // An administrator names a static member by its instance id alone.
    fn leaver(&self, member_id: &str, instance_id: Option<&str>) -> Result<StrBytes, ErrorCode> {
        let by_instance = instance_id.filter(|_| member_id.is_empty());
        if let Some(member) = by_instance.and_then(|id| self.find_static(id)) {
            return Ok(member.id.clone());
        }
        self.check_member(member_id, instance_id)?;
        Ok(StrBytes::from_string(member_id.to_owned()))
    }
    /// Removes a member, and lets the others share what it had.
    pub(super) fn remove_and_rebalance(&mut self, id: &StrBytes, rules: &Rules) {
        if self.remove(id) {
            self.share_anew(rules);
        }
    }
    /// Whoever waits for its assignment is never answered, as in Kafka.
    fn remove(&mut self, id: &StrBytes) -> bool {
        let Some(member) = self.members.remove(id) else { return false };
        if self.is_leader(id) {
            self.leader = self.members.keys().next().cloned();
        }
        if let Some(call) = member.awaiting_join {
            self.refuse_join(call, ErrorCode::UNKNOWN_MEMBER_ID, StrBytes::new());
        }
        true
    }
    /// Somebody went: also one who had but an id.
    fn share_anew(&mut self, rules: &Rules) {
        if matches!(self.state, State::Stable | State::CompletingRebalance) {
            self.prepare_rebalance(rules);
        }
        self.try_complete_join(rules);
    }
}
