//! A group changes its protocol while it has members (KIP-848): to the consumer protocol when the first member of that joins, back when
//! the last one goes. `group.consumer.migration.policy` says which of the two is allowed.

use super::classic::State;
use super::consumer::classic_members::CONSUMER;
use super::consumer::{ConsumerGroup, Refusal};
use super::{Body, Group};
use crate::broker::Broker;
use millstream_protocol::ErrorCode;

fn not_a_consumer_group(id: &str) -> Refusal {
    (ErrorCode::GROUP_ID_NOT_FOUND, format!("Group {id} is not a consumer group."))
}

impl Broker {
    /// Makes sure that a group is one of the consumer protocol, for a member that leaves it.
    pub(crate) fn check_consumer_group(&self, id: &str) -> Result<(), Refusal> {
        match self.groups.find(id).map(|group| &group.body) {
            Some(Body::Consumer(_)) => Ok(()),
            Some(Body::Classic(_)) => Err(not_a_consumer_group(id)),
            None => Err((ErrorCode::GROUP_ID_NOT_FOUND, format!("Group {id} not found."))),
        }
    }
    /// Makes sure that a group is one of the consumer protocol: founds it for a member that joins, or converts it.
    pub(crate) fn ensure_consumer_group(&mut self, id: &str, is_joining: bool) -> Result<(), Refusal> {
        let now = self.now;
        match self.groups.find(id).map(|group| &group.body) {
            Some(Body::Consumer(_)) => Ok(()),
            None if !is_joining => Err((ErrorCode::GROUP_ID_NOT_FOUND, format!("Consumer group {id} not found."))),
            Some(Body::Classic(_)) if !is_joining => Err(not_a_consumer_group(id)),
            Some(Body::Classic(classic)) if classic.state != State::Empty => self.upgrade(id),
            None | Some(Body::Classic(_)) => {
                let group = self.groups.entry(id, now);
                group.body = Body::Consumer(ConsumerGroup::new(group.id.clone()));
                Ok(())
            }
        }
    }
    fn upgrade(&mut self, id: &str) -> Result<(), Refusal> {
        let consumer = self.upgraded(id).map_err(|reason| {
            (
                ErrorCode::GROUP_ID_NOT_FOUND,
                format!("Cannot upgrade classic group {id} to consumer group because {reason}"),
            )
        })?;
        // Who waits for the old protocol is told to begin anew.
        self.with_classic(id, |group, _| group.refuse_all(ErrorCode::REBALANCE_IN_PROGRESS));
        if let Some(group) = self.groups.find_mut(id) {
            group.body = Body::Consumer(consumer);
        }
        Ok(())
    }
    fn upgraded(&self, id: &str) -> Result<ConsumerGroup, &'static str> {
        let settings = &self.settings.consumer_groups;
        let Some(classic) = self.groups.find(id).and_then(Group::classic) else { return Err("it is not there.") };
        if !settings.migration.allows_upgrade() {
            return Err("online upgrade is disabled.");
        }
        if classic.protocol_type.as_deref() != Some(CONSUMER) {
            return Err("the group does not use the consumer embedded protocol.");
        }
        if classic.members.len() > settings.max_size {
            return Err("the group size exceeds the consumer group maximum size.");
        }
        ConsumerGroup::from_classic(classic, &self.topics, self.now)
    }
    /// Makes a group classic again when only members of that protocol are left, and lets them share anew.
    pub(super) fn try_downgrade(&mut self, id: &str) {
        let allows = self.settings.consumer_groups.migration.allows_downgrade();
        let Some(group) = self.groups.find_mut(id).filter(|_| allows) else { return };
        let Body::Consumer(consumer) = &group.body else { return };
        if !consumer.is_classic() || consumer.members.len() > self.settings.group_max_size {
            return;
        }
        group.body = Body::Classic(consumer.to_classic(&self.topics, self.now));
        self.with_classic(id, super::classic::ClassicGroup::restart);
    }
}
