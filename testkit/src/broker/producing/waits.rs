//! Producers that wait until all in-sync replicas have what they wrote (`acks=all`).

use super::Refusal;
use crate::broker::Broker;
use crate::broker::call::{Call, ConnectionId};
use crate::broker::timers::TimerKey;
use crate::broker::topics::PartitionKey;
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::produce_response::PartitionProduceResponse;
use millstream_protocol::messages::{ProduceRequest, ProduceResponse};
use millstream_protocol::{ErrorCode, NodeId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// What is not replicated yet: where its answer goes, and how far followers must be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unreplicated {
    pub(crate) topic_index: usize,
    pub(crate) partition_index: usize,
    pub(crate) key: PartitionKey,
    pub(crate) until: i64,
    /// The term in which it was written: another leader may not have it.
    pub(crate) leader_epoch: i32,
}

/// An answer that waits.
#[derive(Debug)]
struct Waiting {
    call: Call,
    response: ProduceResponse,
    left: BTreeMap<PartitionKey, Vec<Unreplicated>>,
}

/// The waiting answers: at most one per connection.
#[derive(Debug, Default)]
pub(crate) struct ProduceWaits {
    waiting: HashMap<ConnectionId, Waiting>,
    watchers: HashMap<PartitionKey, BTreeSet<ConnectionId>>,
}

impl Broker {
    /// Keeps an answer until followers have what it is about, or its time is up.
    pub(crate) fn wait_produce(
        &mut self,
        call: &Call,
        response: ProduceResponse,
        left: Vec<Unreplicated>,
        until: Timestamp,
    ) {
        let connection = call.connection;
        let mut by_key: BTreeMap<PartitionKey, Vec<Unreplicated>> = BTreeMap::new();
        for each in left {
            self.produce_waits.watchers.entry(each.key).or_default().insert(connection);
            by_key.entry(each.key).or_default().push(each);
        }
        self.timers.arm(TimerKey::Produce(connection), Some(until));
        self.produce_waits.waiting.insert(connection, Waiting { call: call.clone(), response, left: by_key });
    }
    /// A partition changed: answers that need not wait any longer go out.
    pub(crate) fn wake_produces(&mut self, key: PartitionKey) {
        if self.produce_waits.watchers.get(&key).is_none_or(BTreeSet::is_empty) {
            return;
        }
        let connections = self.produce_waits.watchers.remove(&key).unwrap_or_default();
        for connection in connections {
            let Some(mut waiting) = self.produce_waits.waiting.remove(&connection) else { continue };
            self.settle(&mut waiting, key);
            if waiting.left.is_empty() {
                self.timers.arm(TimerKey::Produce(connection), None);
                self.complete::<ProduceRequest>(&waiting.call, &waiting.response);
                continue;
            }
            if waiting.left.contains_key(&key) {
                self.produce_waits.watchers.entry(key).or_default().insert(connection);
            }
            self.produce_waits.waiting.insert(connection, waiting);
        }
    }
    fn settle(&self, waiting: &mut Waiting, key: PartitionKey) {
        let node = waiting.call.node;
        let response = &mut waiting.response;
        let mut open = waiting.left.remove(&key).unwrap_or_default();
        open.retain(|each| match self.replicated(each, node) {
            None => true,
            Some(result) => {
                put(response, each, result);
                false
            }
        });
        if !open.is_empty() {
            waiting.left.insert(key, open);
        }
    }
    /// Whether what was written is acknowledged; none while that is open.
    pub(crate) fn replicated(&self, written: &Unreplicated, node: NodeId) -> Option<Result<(), ErrorCode>> {
        let found = self.topics.find_id(written.key.0).and_then(|topic| Some((topic, topic.partition(written.key.1)?)));
        let Some((topic, partition)) = found else { return Some(Err(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)) };
        if partition.leader != Some(node) || partition.leader_epoch != written.leader_epoch {
            return Some(Err(ErrorCode::NOT_LEADER_OR_FOLLOWER));
        }
        if partition.log.high_watermark() < written.until {
            return None;
        }
        let is_safe = partition.has_enough(topic.min_isr(self.in_sync_rules()));
        Some(if is_safe { Ok(()) } else { Err(ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND) })
    }
    /// The time of a connection's answer is up: what is not replicated is told as late.
    pub(crate) fn handle_produce_time(&mut self, connection: ConnectionId) {
        if let Some(mut waiting) = self.drop_produce(connection) {
            for each in waiting.left.values().flatten() {
                put(&mut waiting.response, each, Err(ErrorCode::REQUEST_TIMED_OUT));
            }
            self.complete::<ProduceRequest>(&waiting.call, &waiting.response);
        }
    }
    /// Forgets a connection's answer.
    fn drop_produce(&mut self, connection: ConnectionId) -> Option<Waiting> {
        let waiting = self.produce_waits.waiting.remove(&connection)?;
        self.timers.arm(TimerKey::Produce(connection), None);
        for key in waiting.left.keys() {
            if let Some(watchers) = self.produce_waits.watchers.get_mut(key) {
                watchers.remove(&connection);
            }
        }
        Some(waiting)
    }
    /// A connection is gone.
    pub(crate) fn forget_produce(&mut self, connection: ConnectionId) {
        self.drop_produce(connection);
    }
}

fn put(response: &mut ProduceResponse, written: &Unreplicated, result: Result<(), ErrorCode>) {
    let topic = response.responses.get_mut(written.topic_index);
    let Some(partition) = topic.and_then(|topic| topic.partition_responses.get_mut(written.partition_index)) else {
        return;
    };
    if let Err(code) = result {
        let appended = partition.clone();
        *partition = PartitionProduceResponse {
            base_offset: appended.base_offset,
            log_append_time_ms: appended.log_append_time_ms,
            log_start_offset: appended.log_start_offset,
            ..Refusal::from(code).answer(appended.index, -1)
        };
    }
}
