//! All members are subscribed to the same topics: each gets its share, and keeps what it has up to it.

use super::{Assignment, Subscriber, Targets, size_of, topics_in_order};
use crate::broker::java_order::in_set_order;
use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(super) fn assign(members: &[Subscriber], sizes: &BTreeMap<Uuid, i32>) -> Targets {
    let Some(first) = members.first().filter(|member| !member.topics.is_empty()) else { return Targets::new() };
    let mut free = unassigned(members, first, sizes);
    let total: i32 = first.topics.iter().map(|topic| size_of(sizes, *topic)).sum();
    let count = i32::try_from(members.len()).unwrap_or(i32::MAX);
    let (share, mut extra) = (total / count, total % count);
    let mut targets = Targets::new();
    let mut unfilled: Vec<(StrBytes, i32)> = Vec::new();
    for (left, member) in (1..=count).rev().zip(members) {
        let mut has_extra = extra > 0;
        let mut quota = share + i32::from(has_extra);
        targets.insert(member.id.clone(), keep(member, &first.topics, &mut quota, &mut free));
        // One more than the share is for who has it already, as long as others are left who may take it.
        if quota > 0 && has_extra && left > extra {
            quota -= 1;
            has_extra = false;
        }
        extra -= i32::from(has_extra);
        unfilled.push((member.id.clone(), quota));
    }
    for (id, quota) in unfilled {
        let target = targets.entry(id).or_default();
        for (topic, partition) in (0..quota).map_while(|_| free.pop_front()) {
            target.entry(topic).or_default().insert(partition);
        }
    }
    targets
}
fn unassigned(members: &[Subscriber], first: &Subscriber, sizes: &BTreeMap<Uuid, i32>) -> VecDeque<(Uuid, i32)> {
    let taken: BTreeSet<(Uuid, i32)> = members
        .iter()
        .flat_map(|member| &member.target)
        .flat_map(|(topic, partitions)| partitions.iter().map(|partition| (*topic, *partition)))
        .collect();
    let all = topics_in_order(&first.topics);
    let all = all.into_iter().flat_map(|topic| (0..size_of(sizes, topic)).map(move |partition| (topic, partition)));
    all.filter(|partition| !taken.contains(partition)).collect()
}
/// What a member keeps, within its quota; what is beyond becomes free.
fn keep(member: &Subscriber, topics: &BTreeSet<Uuid>, quota: &mut i32, free: &mut VecDeque<(Uuid, i32)>) -> Assignment {
    let mut kept = Assignment::new();
    let before: BTreeSet<Uuid> = member.target.keys().copied().collect();
    for topic in topics_in_order(&before).into_iter().filter(|topic| topics.contains(topic)) {
        let partitions = member.target.get(&topic).into_iter().flatten().copied().collect();
        for partition in in_set_order(partitions, |partition| *partition) {
            if *quota > 0 {
                *quota -= 1;
                kept.entry(topic).or_default().insert(partition);
            } else {
                free.push_back((topic, partition));
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a real Kafka 4.4 gave three members that came one after the other: the table of the second one's partitions begins with 16.
    #[test]
    fn what_a_member_keeps_follows_the_order_of_javas_tables() {
        let topic = Uuid::from_u128(1);
        let sizes = BTreeMap::from([(topic, 17)]);
        let member = |id: &'static str, target: Assignment| Subscriber {
            id: StrBytes::from_static_str(id),
            instance_id: None,
            topics: BTreeSet::from([topic]).into(),
            target,
        };
        let mut targets = Targets::new();
        for count in 1..=3 {
            let ids = ["a", "b", "c"].into_iter().take(count);
            let members: Vec<_> = ids.map(|id| member(id, targets.remove(id.as_bytes()).unwrap_or_default())).collect();
            targets = assign(&members, &sizes);
        }
        let of =
            |id: &str| targets.get(id.as_bytes()).and_then(|target| target.get(&topic)).cloned().unwrap_or_default();
        assert_eq!(of("a"), BTreeSet::from([0, 1, 2, 3, 4, 5]));
        assert_eq!(of("b"), BTreeSet::from([9, 10, 11, 12, 13, 16]));
        assert_eq!(of("c"), BTreeSet::from([6, 7, 8, 14, 15]));
    }
}
