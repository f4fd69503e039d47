//! Faults of the cluster and the network, as they happen.

use super::Network;
use super::events::Event;
use crate::faults::{Effect, FaultPlan, FaultStep, Then};
use crate::simulation::fault::{Fault, FaultCounts, HELD_MARKERS, TRUNCATION};
use millstream_protocol::NodeId;
use std::time::Duration;

/// How many partitions a topic gets by faults.
const MOST_PARTITIONS: i32 = 8;

impl Network {
    /// Lets a fault happen; one that finds nothing to happen to is not counted, and one that waits for what it happens to is counted then.
    pub(super) fn apply(&mut self, now: Duration, fault: &Fault) {
        if self.happens(now, fault) {
            self.count(fault);
        }
    }
    /// A fault has happened.
    pub(crate) fn count(&mut self, fault: &Fault) {
        self.counts.add(fault.kind());
    }
    /// How often which has happened by now.
    pub(crate) fn counts(&self) -> FaultCounts {
        let mut counts = self.counts.clone();
        let states = self.broker.faults().states();
        let met = states.iter().filter(|state| state.used > 0).filter_map(|state| self.planned.get(&state.id));
        met.for_each(|kind| counts.add(kind));
        self.conditions.met().for_each(|kind| counts.add(kind));
        counts
    }
    fn happens(&mut self, now: Duration, fault: &Fault) -> bool {
        match fault {
            Fault::Link(links, trouble, lasts) => {
                self.conditions.add(now, links.clone(), *trouble, *lasts);
                false
            }
            Fault::HalfOpen(node) => self.forget_at(now, *node),
            Fault::Reset(node) => self.reset_at(*node),
            Fault::Crash(node, lasts) => self.crash(now, *node, *lasts),
            Fault::Pause(node, lasts) => self.pause(now, *node, *lasts),
            Fault::MoveLeader(topic, partition, node) => {
                let Some((topic, partition)) = self.partition(*topic, *partition) else { return false };
                let moved = self.broker.move_leader(&topic, partition, *node);
                self.flush(now);
                moved
            }
            Fault::ApplyThenDisconnect(node, times) => {
                let step = FaultStep::new(Effect::ApplyThen(Then::Disconnect)).times(*times);
                self.plan(fault, plan_at(*node, step))
            }
            Fault::Hostile(node, malformation) => {
                self.plan(fault, plan_at(*node, FaultStep::new(Effect::Malform(*malformation))))
            }
            Fault::Refuse(api, code, times) => {
                self.plan(fault, FaultPlan::new(*api, [FaultStep::error(*code).times(*times)]))
            }
            Fault::MoveCoordinator(which, node) => {
                let key = which.checked_rem(self.coordinated.len()).and_then(|which| self.coordinated.get(which));
                let Some(key) = key.filter(|_| self.is_up(*node)).cloned() else { return false };
                self.broker.set_coordinator(&key, *node)
            }
            Fault::MoveController(node) => self.broker.set_controller(*node),
            Fault::Recreate => {
                let Some(topic) = self.renewed.clone() else { return false };
                let was_there = self.broker.recreate_topic(&topic);
                self.flush(now);
                was_there
            }
            Fault::AddPartition => self.grow(),
            Fault::Truncate(node, lasts) => {
                self.lag(now, *node, *lasts);
                false
            }
            Fault::HoldMarkers(lasts) => {
                self.broker.hold_markers();
                self.events.add(now + *lasts, Event::ReleaseMarkers);
                false
            }
            Fault::Corrupt(topic, partition, place, lasts) => self.corrupt(now, *topic, *partition, *place, *lasts),
            // Whoever runs the processes does these.
            Fault::Kill(..) | Fault::DiskFailure(..) | Fault::PowerLoss(..) => false,
        }
    }
    /// Leaves it to the broker, whose next requests it happens to.
    fn plan(&mut self, fault: &Fault, plan: FaultPlan) -> bool {
        let rule = self.broker.faults_mut().add(plan.into());
        self.planned.insert(rule, fault.kind());
        false
    }
    fn corrupt(&mut self, now: Duration, topic: usize, partition: usize, place: usize, lasts: Duration) -> bool {
        let Some((topic, partition)) = self.partition(topic, partition) else { return false };
        let Some((start, end)) = self.broker.span(&topic, partition) else { return false };
        // Readers are near the end.
        let back = i64::try_from(place % 20).unwrap_or(0) + 1;
        let offset = (end - back).max(start);
        if offset >= end || !self.broker.spoil(&topic, partition, offset) {
            return false;
        }
        self.events.add(now + lasts, Event::Unspoil(topic, partition, offset));
        true
    }
    fn grow(&mut self) -> bool {
        let has_room = |topic: &&String| self.broker.partition_count(topic) < MOST_PARTITIONS;
        let Some(topic) = self.growing.as_ref().filter(has_room).cloned() else { return false };
        self.broker.add_partition(&topic)
    }
    /// A follower fetches nothing from here on, until it is to lead.
    fn lag(&mut self, now: Duration, node: NodeId, lasts: Duration) {
        let Some(topic) = &self.parted else { return };
        if self.broker.hold_replica(topic, 0, node, true) {
            self.events.add(now + lasts, Event::Elect(node));
        }
    }
    /// A follower that lags leads, as where all who have more are gone for good.
    pub(super) fn elect_lagging(&mut self, now: Duration, node: NodeId) {
        let Some(topic) = self.parted.clone() else { return };
        let before = self.broker.span(&topic, 0);
        let _ = self.broker.move_leader(&topic, 0, node);
        let is_shorter = self.broker.span(&topic, 0).map(|(_, end)| end) < before.map(|(_, end)| end);
        if is_shorter {
            self.counts.add(TRUNCATION);
        }
        let _ = self.broker.hold_replica(&topic, 0, node, false);
        self.flush(now);
    }
    /// One of the partitions that faults may happen to.
    fn partition(&self, topic: usize, partition: usize) -> Option<(String, i32)> {
        let (name, partitions) = self.topics.get(topic.checked_rem(self.topics.len())?)?;
        let partition = i32::try_from(partition).ok()?.checked_rem(*partitions)?;
        Some((name.clone(), partition))
    }
    pub(super) fn release_markers(&mut self, now: Duration) {
        if self.broker.release_markers() {
            self.counts.add(HELD_MARKERS);
        }
        self.flush(now);
    }
    /// The coordinator of this group or transactional id may move.
    pub(crate) fn expose_coordinator(&mut self, key: &str) {
        self.coordinated.push(key.to_owned());
    }
    /// This topic may be made anew.
    pub(crate) fn expose_to_renewal(&mut self, topic: &str) {
        self.renewed = Some(topic.to_owned());
    }
    /// This topic may get more partitions.
    pub(crate) fn expose_to_growth(&mut self, topic: &str) {
        self.growing = Some(topic.to_owned());
    }
    /// Of this topic followers may lag, and lead.
    pub(crate) fn expose_to_truncation(&mut self, topic: &str) {
        self.parted = Some(topic.to_owned());
    }
    /// Faults may happen to this topic.
    pub(crate) fn expose(&mut self, topic: &str, partitions: i32) {
        self.topics.push((topic.to_owned(), partitions));
    }
}

fn plan_at(node: NodeId, step: FaultStep) -> FaultPlan {
    FaultPlan { node: Some(node.get()), steps: vec![step], ..FaultPlan::default() }
}
