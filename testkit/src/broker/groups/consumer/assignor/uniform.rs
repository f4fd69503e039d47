//! All members are subscribed to the same topics: each gets its share, and keeps what it has up to it.

use super::{Assignment, Subscriber, Targets, size_of, topics_in_order};
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
    for member in members {
        let mut quota = share;
        if extra > 0 {
            extra -= 1;
            quota += 1;
        }
        targets.insert(member.id.clone(), keep(member, &first.topics, &mut quota, &mut free));
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
        for partition in member.target.get(&topic).into_iter().flatten() {
            if *quota > 0 {
                *quota -= 1;
                kept.entry(topic).or_default().insert(*partition);
            } else {
                free.push_back((topic, *partition));
            }
        }
    }
    kept
}
