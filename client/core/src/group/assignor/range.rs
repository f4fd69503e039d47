//! Range: per topic, consecutive partitions to members in order; co-partitioned topics fall alike (Kafka's `RangeAssignor`, KIP-881).

use super::{AssignorError, ClusterLayout, GroupMember, PartitionAssignor, RebalanceMode, racks_matter};
use crate::group::Assignment;
use millstream_protocol::{TopicName, TopicPartition};
use std::collections::{BTreeMap, BTreeSet};

/// Kafka's `range`.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Range;

impl Range {
    /// The assignor.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl PartitionAssignor for Range {
    fn name(&self) -> &'static str {
        "range"
    }
    fn rebalance_mode(&self) -> RebalanceMode {
        RebalanceMode::Eager
    }
    fn assign(&mut self, members: &[GroupMember], layout: &ClusterLayout) -> Result<Vec<Assignment>, AssignorError> {
        let mut topics: Vec<Topic<'_>> = layout.topics().map(|(topic, _)| Topic::new(topic, members, layout)).collect();
        let mut shares = vec![Vec::new(); members.len()];
        if topics.iter().any(|topic| topic.rack_aware) {
            assign_within_racks(&mut topics, &mut shares);
        }
        for topic in &mut topics {
            topic.assign_ranges(&mut shares, |_, _, _| true);
        }
        Ok(shares
            .into_iter()
            .map(|mut share| {
                share.sort_unstable();
                Assignment::of(share)
            })
            .collect())
    }
}

/// One topic being shared out. Members are indices into the group.
struct Topic<'a> {
    name: &'a TopicName,
    racks: &'a [BTreeSet<String>],
    /// In the order of instance ids, then of member ids.
    consumers: Vec<usize>,
    consumer_racks: BTreeMap<usize, &'a str>,
    rack_aware: bool,
    quota: usize,
    extras_left: usize,
    unassigned: BTreeSet<usize>,
    assigned: BTreeMap<usize, usize>,
}

impl<'a> Topic<'a> {
    fn new(name: &'a TopicName, members: &'a [GroupMember], layout: &'a ClusterLayout) -> Self {
        let racks = layout.racks(name.as_str());
        let consumers = consumers_of(name, members);
        let consumer_racks: BTreeMap<_, _> = consumers
            .iter()
            .filter_map(|index| Some((*index, members[*index].subscription.rack.as_deref()?)))
            .collect();
        let count = consumers.len().max(1);
        Self {
            name,
            racks,
            rack_aware: racks_matter(&consumer_racks.values().copied().collect(), racks.iter()),
            quota: racks.len() / count,
            extras_left: racks.len() % count,
            unassigned: if consumers.is_empty() { BTreeSet::new() } else { (0..racks.len()).collect() },
            assigned: BTreeMap::new(),
            consumers,
            consumer_racks,
        }
    }
    fn assign_ranges(&mut self, shares: &mut [Vec<TopicPartition>], may: impl Fn(&Self, usize, usize) -> bool) {
        for consumer in self.consumers.clone() {
            let room = self.room(consumer);
            let wanted = self.unassigned.iter().copied().filter(|partition| may(self, consumer, *partition));
            let taken: Vec<usize> = wanted.take(room).collect();
            self.give(consumer, &taken, shares);
        }
    }
    fn give(&mut self, consumer: usize, partitions: &[usize], shares: &mut [Vec<TopicPartition>]) {
        let count = self.assigned.entry(consumer).or_default();
        *count += partitions.len();
        if !partitions.is_empty() && *count > self.quota {
            self.extras_left = self.extras_left.saturating_sub(1);
        }
        for partition in partitions {
            self.unassigned.remove(partition);
            // Partition counts came as int32 from the wire.
            shares[consumer].push(TopicPartition::new(self.name, i32::try_from(*partition).unwrap_or(i32::MAX)));
        }
    }
    fn room(&self, consumer: usize) -> usize {
        let most = self.quota + usize::from(self.extras_left > 0);
        most.saturating_sub(self.assigned.get(&consumer).copied().unwrap_or_default())
    }
    /// Members without a rack match everywhere.
    fn racks_match(&self, consumer: usize, partition: usize) -> bool {
        let replicas = self.racks.get(partition);
        self.consumer_racks.get(&consumer).is_none_or(|rack| replicas.is_some_and(|racks| racks.contains(*rack)))
    }
}

fn consumers_of(topic: &TopicName, members: &[GroupMember]) -> Vec<usize> {
    let subscribed = |index: &usize| members[*index].subscription.topics.contains(topic);
    let mut consumers: Vec<usize> = (0..members.len()).filter(subscribed).collect();
    consumers.sort_by_key(|index| {
        let member = &members[*index];
        (member.instance_id.is_none(), member.instance_id.as_deref(), member.member_id.as_str())
    });
    consumers
}

/// Topics with the same members and as many partitions are shared out together, so that they stay co-partitioned.
fn assign_within_racks(topics: &mut [Topic<'_>], shares: &mut [Vec<TopicPartition>]) {
    let mut alike: BTreeMap<(Vec<usize>, usize), Vec<usize>> = BTreeMap::new();
    for (index, topic) in topics.iter().enumerate() {
        alike.entry((topic.consumers.clone(), topic.racks.len())).or_default().push(index);
    }
    for ((consumers, partitions), group) in alike {
        match group.as_slice() {
            [only] => {
                let topic = &mut topics[*only];
                if topic.rack_aware {
                    topic.assign_ranges(shares, Topic::racks_match);
                }
            }
            group => assign_together(topics, group, &consumers, partitions, shares),
        }
    }
}

fn assign_together(
    topics: &mut [Topic<'_>],
    group: &[usize],
    consumers: &[usize],
    partitions: usize,
    shares: &mut [Vec<TopicPartition>],
) {
    let mut open = consumers.to_vec();
    for partition in 0..partitions {
        let fits = |consumer: &usize| {
            group
                .iter()
                .all(|index| topics[*index].racks_match(*consumer, partition) && topics[*index].room(*consumer) > 0)
        };
        let Some(consumer) = open.iter().copied().find(fits) else { continue };
        for index in group {
            topics[*index].give(consumer, &[partition], shares);
        }
        if group.iter().all(|index| topics[*index].room(consumer) == 0) {
            open.retain(|each| *each != consumer);
        }
    }
}
