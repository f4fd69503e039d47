//! A group changes its protocol while it has members (KIP-848): to the consumer protocol when the first member of that joins, back when
//! the last one goes. `group.consumer.migration.policy` says which of the two is allowed.

use super::classic::State;
use super::consumer::classic_members::CONSUMER;
use super::consumer::heartbeat::{Beaten, Heartbeat};
use super::consumer::{ConsumerGroup, GoingBack};
use super::{Body, Group};
use crate::broker::Broker;
use crate::broker::call::Refusal;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::StrBytes;

fn not_there(id: &str) -> Refusal {
    (ErrorCode::GROUP_ID_NOT_FOUND, format!("Consumer group {id} not found."))
}
fn not_a_consumer_group(id: &str) -> Refusal {
    (ErrorCode::GROUP_ID_NOT_FOUND, format!("Group {id} is not a consumer group."))
}

impl Broker {
    /// Takes the last heartbeat in of a member that leaves.
    pub(crate) fn handle_last_heartbeat(&mut self, id: &str, beat: &Heartbeat) -> Result<Beaten, Refusal> {
        if self.groups.find(id).is_none() {
            return Err((ErrorCode::GROUP_ID_NOT_FOUND, format!("Group {id} not found.")));
        }
        let beaten = self.with_consumer(id, |group, ctx| group.handle_heartbeat(beat, ctx));
        beaten.unwrap_or_else(|| Err(not_a_consumer_group(id)))
    }
    /// Takes the heartbeat in of a member that joins or stays. A group is founded or converted only if the member gets in.
    pub(crate) fn handle_heartbeat(&mut self, id: &str, beat: &Heartbeat) -> Result<Beaten, Refusal> {
        let Some(mut group) = self.founded(id, beat.epoch == 0)? else {
            let beaten = self.with_consumer(id, |group, ctx| group.handle_heartbeat(beat, ctx));
            return beaten.unwrap_or_else(|| Err(not_there(id)));
        };
        let beaten = group.handle_heartbeat(beat, &self.group_context(id))?;
        self.groups.entry(id, self.now).body = Body::Consumer(group);
        self.settle_consumer(id);
        Ok(beaten)
    }
    /// The group that a joining member begins, or has another protocol for; none if it is there.
    fn founded(&mut self, id: &str, is_joining: bool) -> Result<Option<ConsumerGroup>, Refusal> {
        match self.groups.find(id).map(|group| &group.body) {
            Some(Body::Consumer(_)) => Ok(None),
            None if !is_joining => Err(not_there(id)),
            Some(Body::Classic(_)) if !is_joining => Err(not_a_consumer_group(id)),
            Some(Body::Classic(classic)) if classic.state != State::Empty => self.upgrade(id).map(Some),
            None | Some(Body::Classic(_)) => Ok(Some(ConsumerGroup::new(StrBytes::from_string(id.to_owned())))),
        }
    }
    fn upgrade(&mut self, id: &str) -> Result<ConsumerGroup, Refusal> {
        let consumer = self.upgraded(id).map_err(|reason| {
            (
                ErrorCode::GROUP_ID_NOT_FOUND,
                format!("Cannot upgrade classic group {id} to consumer group because {reason}"),
            )
        })?;
        // Who waits for the old protocol is told to begin anew.
        self.with_classic(id, |group, _| group.refuse_all(ErrorCode::REBALANCE_IN_PROGRESS));
        Ok(consumer)
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
    /// Makes a group classic again when somebody went and only members of that protocol are left.
    pub(super) fn try_downgrade(&mut self, id: &str) {
        let allows = self.settings.consumer_groups.migration.allows_downgrade();
        let Some(group) = self.groups.find_mut(id) else { return };
        let Body::Consumer(consumer) = &mut group.body else { return };
        let Some(going_back) = consumer.take_going_back() else { return };
        if !allows || consumer.members.len() > self.settings.group_max_size {
            return;
        }
        group.body = Body::Classic(consumer.to_classic(&self.topics, self.now));
        if !matches!(going_back, GoingBack::Replaced { shares_anew: false }) {
            self.with_classic(id, super::classic::ClassicGroup::restart);
        }
    }
}
