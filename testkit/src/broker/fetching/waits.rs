//! Fetches that wait for data, and who is to be woken when a partition changes.

use super::plan::Plan;
use crate::broker::Broker;
use crate::broker::call::ConnectionId;
use crate::broker::timers::TimerKey;
use crate::broker::topics::PartitionKey;
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::FetchRequest;
use std::collections::{BTreeMap, BTreeSet};

/// The waiting fetches: at most one per connection.
#[derive(Debug, Default)]
pub(crate) struct FetchWaits {
    plans: HashMap<ConnectionId, Plan>,
    watchers: BTreeMap<PartitionKey, BTreeSet<ConnectionId>>,
}

impl Broker {
    /// Lets a fetch wait until there is enough for it, or its time is up.
    pub(crate) fn wait_fetch(&mut self, plan: Plan) {
        let connection = plan.call.connection;
        for key in self.watched(&plan) {
            self.fetch_waits.watchers.entry(key).or_default().insert(connection);
        }
        self.timers.arm(TimerKey::Fetch(connection), Some(plan.until));
        self.fetch_waits.plans.insert(connection, plan);
    }
    fn watched(&self, plan: &Plan) -> Vec<PartitionKey> {
        plan.wants.iter().filter_map(|want| want.find(self).ok().map(|(topic, _)| (topic.id, want.partition))).collect()
    }
    /// Forgets a connection's fetch.
    pub(crate) fn drop_fetch(&mut self, connection: ConnectionId) -> Option<Plan> {
        let plan = self.fetch_waits.plans.remove(&connection)?;
        self.timers.arm(TimerKey::Fetch(connection), None);
        for key in self.watched(&plan) {
            if let Some(watchers) = self.fetch_waits.watchers.get_mut(&key) {
                watchers.remove(&connection);
            }
        }
        Some(plan)
    }
    /// Answers a connection's fetch with what there is.
    pub(crate) fn complete_fetch(&mut self, connection: ConnectionId) {
        if let Some(plan) = self.drop_fetch(connection) {
            let response = self.fetch_now(&plan);
            self.complete::<FetchRequest>(&plan.call, &response);
        }
    }
    /// Something happened to a partition: whoever has enough now is answered.
    pub(crate) fn wake_fetches(&mut self, key: PartitionKey) {
        let Some(watchers) = self.fetch_waits.watchers.get(&key).filter(|watchers| !watchers.is_empty()) else {
            return;
        };
        let is_ready = |connection: &&ConnectionId| {
            self.fetch_waits.plans.get(*connection).is_some_and(|plan| self.is_ready(plan))
        };
        let ready: Vec<ConnectionId> = watchers.iter().filter(is_ready).copied().collect();
        ready.into_iter().for_each(|connection| self.complete_fetch(connection));
    }
    /// Leaders moved or topics went: whoever has an error to hear is answered.
    pub(crate) fn wake_all_fetches(&mut self) {
        let is_ready = |plan: &&Plan| self.is_ready(plan);
        let ready: Vec<ConnectionId> =
            self.fetch_waits.plans.values().filter(is_ready).map(|plan| plan.call.connection).collect();
        ready.into_iter().for_each(|connection| self.complete_fetch(connection));
    }
    /// A topic is gone, and whoever waited for it.
    pub(crate) fn forget_watchers(&mut self, topic: millstream_protocol::messages::Uuid) {
        let watchers = &mut self.fetch_waits.watchers;
        let gone: Vec<PartitionKey> =
            watchers.range((topic, i32::MIN)..=(topic, i32::MAX)).map(|(key, _)| *key).collect();
        gone.iter().for_each(|key| {
            watchers.remove(key);
        });
    }
}
