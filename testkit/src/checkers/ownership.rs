//! K-12: a partition has one owner in a generation; who gives it up when asked has done so before the next one gets it.

use super::{Checker, ClientId, Event, History, Violation};
use millstream_protocol::TopicPartition;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A partition of a group.
type Key = (String, TopicPartition);

#[derive(Debug, Default)]
struct Owners {
    /// With the generation of the assignment.
    by_partition: BTreeMap<Key, BTreeMap<ClientId, i32>>,
    groups: BTreeMap<ClientId, String>,
    /// Who got a partition while another had it, and when: no violation if that one turns out to have lost it.
    early: BTreeMap<(Key, ClientId), (ClientId, Duration)>,
    /// Since when nothing more is read of a partition that is being given up. Whoever gets it later is not early, however late the word comes
    /// that it was given up in time.
    giving_up: BTreeMap<(Key, ClientId), Duration>,
}

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let mut owners = Owners::default();
    for (at, client, event) in history.events() {
        owners.note(at, client, event).into_iter().for_each(|text| {
            found.push(Violation::new(Checker::K12, "ownership", text));
        });
    }
}

impl Owners {
    fn note(&mut self, at: Duration, client: ClientId, event: &Event) -> Vec<String> {
        match event {
            Event::Assigned { group: Some(group), generation, partitions } => {
                self.groups.insert(client, group.clone());
                partitions.iter().filter_map(|partition| self.assign(at, client, *generation, partition)).collect()
            }
            Event::Revoking { partitions } => {
                let own = partitions.iter().filter_map(|partition| Some((self.key(client, partition)?, client)));
                let own: Vec<_> = own.collect();
                self.giving_up.extend(own.into_iter().map(|own| (own, at)));
                Vec::new()
            }
            Event::Revoked { partitions } => {
                partitions.iter().filter_map(|partition| self.revoke(at, client, partition)).collect()
            }
            Event::Lost { partitions } => {
                for partition in partitions {
                    let Some(key) = self.take(client, partition) else { continue };
                    self.giving_up.remove(&(key.clone(), client));
                    // Neither who lost it nor who had it only until it was told of its loss is in the way of the other.
                    self.early.retain(|(of, had), (got, _)| *of != key || (*had != client && *got != client));
                }
                Vec::new()
            }
            Event::Closed | Event::Gone => {
                self.by_partition.values_mut().for_each(|owners| _ = owners.remove(&client));
                self.giving_up.retain(|(_, by), _| *by != client);
                Vec::new()
            }
            Event::Polled { records, .. } => self.polled(at, client, records),
            _ => Vec::new(),
        }
    }
    fn assign(
        &mut self,
        at: Duration,
        client: ClientId,
        generation: i32,
        partition: &TopicPartition,
    ) -> Option<String> {
        let key = self.key(client, partition)?;
        let owners = self.by_partition.entry(key.clone()).or_default();
        let same =
            owners.iter().find(|(other, other_generation)| **other != client && **other_generation == generation);
        let same = same.map(|(other, _)| {
            format!("{partition} is {client:?}'s and {other:?}'s in generation {generation}, at {at:?}")
        });
        for other in owners.keys().filter(|other| **other != client) {
            self.early.entry((key.clone(), *other)).or_insert((client, at));
        }
        owners.insert(client, generation);
        self.giving_up.remove(&(key.clone(), client));
        self.early.remove(&(key, client));
        same
    }
    fn revoke(&mut self, at: Duration, client: ClientId, partition: &TopicPartition) -> Option<String> {
        let key = self.take(client, partition)?;
        let read_until = self.giving_up.remove(&(key.clone(), client)).unwrap_or(at);
        let (other, since) = self.early.remove(&(key, client)).filter(|(_, since)| *since < read_until)?;
        Some(format!("{client:?} gave {partition} up at {read_until:?}; {other:?} had it since {since:?}"))
    }
    fn key(&self, client: ClientId, partition: &TopicPartition) -> Option<Key> {
        Some((self.groups.get(&client)?.clone(), partition.clone()))
    }
    fn take(&mut self, client: ClientId, partition: &TopicPartition) -> Option<Key> {
        let key = self.key(client, partition)?;
        self.by_partition.get_mut(&key)?.remove(&client)?;
        Some(key)
    }
    fn polled(&self, at: Duration, client: ClientId, records: &[super::Read]) -> Vec<String> {
        let Some(group) = self.groups.get(&client) else { return Vec::new() };
        let partitions: BTreeSet<&TopicPartition> = records.iter().map(|read| &read.partition).collect();
        let foreign = partitions.into_iter().filter(|partition| {
            let key = (group.clone(), (*partition).clone());
            let is_owner = self.by_partition.get(&key).is_some_and(|owners| owners.contains_key(&client));
            !is_owner || self.giving_up.contains_key(&(key, client))
        });
        foreign.map(|partition| format!("{client:?} read {partition} at {at:?}, which is not its own")).collect()
    }
}
