//! The group coordinator: all groups of the cluster. Which node answers for a group is decided elsewhere.

pub(crate) mod group;
pub(crate) mod join;
mod leave;
pub(crate) mod member;
pub(crate) mod offsets;
mod sync;

use group::{Group, GroupReply, Rules};
use millstream_protocol::messages::StrBytes;
use std::collections::BTreeMap;

use super::Broker;
use super::timers::TimerKey;
use millstream_protocol::messages::{JoinGroupRequest, SyncGroupRequest};
use std::time::Duration;

/// The groups, by id.
#[derive(Debug, Default)]
pub(crate) struct Groups(BTreeMap<StrBytes, Group>);

impl Groups {
    pub(crate) fn find(&self, id: &str) -> Option<&Group> {
        self.0.get(id.as_bytes())
    }
    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Group> {
        self.0.get_mut(id.as_bytes())
    }
    /// Finds a group, or founds it.
    pub(crate) fn entry(&mut self, id: &str) -> &mut Group {
        let id = StrBytes::from_string(id.to_owned());
        self.0.entry(id.clone()).or_insert_with(|| Group::new(id))
    }
    pub(crate) fn remove(&mut self, id: &str) -> Option<Group> {
        self.0.remove(id.as_bytes())
    }
    pub(crate) fn all(&self) -> impl Iterator<Item = &Group> {
        self.0.values()
    }
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Group> {
        self.0.values_mut()
    }
}

impl Broker {
    /// Does something with a group, founding it if need be, then sends what it has to say and sets its timer.
    pub(crate) fn with_group<T>(&mut self, id: &str, act: impl FnOnce(&mut Group, &Rules) -> T) -> T {
        let rules = self.group_rules();
        let group = self.groups.entry(id);
        let result = act(group, &rules);
        let replies = group.poll_replies();
        self.timers.arm(TimerKey::Group(group.id.clone()), group.next_deadline());
        replies.into_iter().for_each(|reply| self.send_group_reply(reply));
        result
    }
    fn group_rules(&self) -> Rules {
        let initial_delay = Duration::from_millis(self.settings.group_initial_rebalance_delay_ms.unsigned_abs());
        Rules { now: self.now, initial_delay, max_size: self.settings.group_max_size }
    }
    fn send_group_reply(&mut self, reply: GroupReply) {
        match reply {
            GroupReply::Join(call, response) => self.complete::<JoinGroupRequest>(&call, &response),
            GroupReply::Sync(call, response) => self.complete::<SyncGroupRequest>(&call, &response),
        }
    }
    /// A group's timer has come.
    pub(crate) fn handle_group_time(&mut self, id: &str) {
        if self.groups.find(id).is_some() {
            self.with_group(id, Group::handle_time);
        }
    }
}
