//! Per topic one range of partitions for each member, members in the order of their names. Where partitions do not come out even, the first
//! members of each topic get one more. Nothing is kept from before.

use super::{Assignment, Subscriber, Targets, size_of};
use millstream_protocol::messages::Uuid;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How much of a topic is still to be given out.
#[derive(Debug)]
struct Rest {
    next: i32,
    size: i32,
    quota: i32,
    extra: i32,
}

/// As if all had the first one's topics.
pub(super) fn assign_alike(mut members: Vec<Subscriber>, sizes: &BTreeMap<Uuid, i32>) -> Targets {
    members.sort_by(compare);
    let topics = members.first().map(|member| member.topics.clone()).unwrap_or_default();
    members.iter_mut().for_each(|member| member.topics.clone_from(&topics));
    assign(members, sizes)
}
pub(super) fn assign(mut members: Vec<Subscriber>, sizes: &BTreeMap<Uuid, i32>) -> Targets {
    members.sort_by(compare);
    let mut rests = rests(&members, sizes);
    let ranges = |member: Subscriber| {
        let mut target = Assignment::new();
        for topic in member.topics.iter() {
            if let Some(rest) = rests.get_mut(topic) {
                take_range(rest, *topic, &mut target);
            }
        }
        (member.id, target)
    };
    members.into_iter().map(ranges).collect()
}
/// Static members first, by their instance ids; the others by their ids.
fn compare(one: &Subscriber, two: &Subscriber) -> Ordering {
    match (&one.instance_id, &two.instance_id) {
        (Some(one), Some(two)) => one.cmp(two),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.id.cmp(&two.id),
    }
}
fn rests(members: &[Subscriber], sizes: &BTreeMap<Uuid, i32>) -> BTreeMap<Uuid, Rest> {
    let mut subscribers: BTreeMap<Uuid, i32> = BTreeMap::new();
    for topic in members.iter().flat_map(|member| member.topics.iter()) {
        *subscribers.entry(*topic).or_default() += 1;
    }
    let rest = |(topic, count): (Uuid, i32)| {
        let size = size_of(sizes, topic);
        (topic, Rest { next: 0, size, quota: size / count, extra: size % count })
    };
    subscribers.into_iter().map(rest).collect()
}
fn take_range(rest: &mut Rest, topic: Uuid, target: &mut Assignment) {
    let mut end = rest.next + rest.quota;
    if rest.extra > 0 {
        rest.extra -= 1;
        end += 1;
    }
    let end = end.min(rest.size);
    if rest.next < end {
        target.insert(topic, (rest.next..end).collect());
    }
    rest.next = end;
}
