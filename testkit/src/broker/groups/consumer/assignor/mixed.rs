//! Members are subscribed to different topics: what is free goes to whoever has least, topic by topic; then partitions move from those with
//! most to those with least, until no topic's members differ by more than one.

use super::{Assignment, Subscriber, Targets, size_of};
use crate::broker::java_order::uuid_rank;
use millstream_protocol::messages::Uuid;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Balancing ends after so many rounds, balanced or not.
const MAX_ROUNDS: usize = 16;

pub(super) fn assign(members: &[Subscriber], sizes: &BTreeMap<Uuid, i32>) -> Targets {
    let mut plan = Plan::new(members, sizes);
    plan.hand_out();
    plan.balance();
    plan.into_targets(members)
}

/// Who owns what, by the members' places.
#[derive(Debug)]
struct Plan {
    owners: BTreeMap<Uuid, Vec<Option<usize>>>,
    subscribers: BTreeMap<Uuid, Vec<usize>>,
    /// How many partitions each member has.
    loads: Vec<i32>,
}
impl Plan {
    fn new(members: &[Subscriber], sizes: &BTreeMap<Uuid, i32>) -> Self {
        let mut plan = Self { owners: BTreeMap::new(), subscribers: BTreeMap::new(), loads: vec![0; members.len()] };
        for (place, member) in members.iter().enumerate() {
            for topic in member.topics.iter() {
                plan.subscribers.entry(*topic).or_default().push(place);
                let size = usize::try_from(size_of(sizes, *topic)).unwrap_or(0);
                plan.owners.entry(*topic).or_insert_with(|| vec![None; size]);
            }
        }
        for (place, member) in members.iter().enumerate() {
            let kept = member.target.iter().filter(|(topic, _)| member.topics.contains(*topic));
            kept.for_each(|(topic, partitions)| {
                partitions.iter().for_each(|index| plan.give(*topic, at(*index), place))
            });
        }
        plan
    }
    fn give(&mut self, topic: Uuid, partition: usize, to: usize) {
        let Some(owner) = self.owners.get_mut(&topic).and_then(|owners| owners.get_mut(partition)) else { return };
        if let Some(load) = owner.replace(to).and_then(|before| self.loads.get_mut(before)) {
            *load -= 1;
        }
        if let Some(load) = self.loads.get_mut(to) {
            *load += 1;
        }
    }
    fn load(&self, member: usize) -> i32 {
        self.loads.get(member).copied().unwrap_or(0)
    }
    /// Most partitions for each subscriber first, then fewest subscribers.
    fn sorted_topics(&self) -> Vec<Uuid> {
        let mut topics: Vec<Uuid> = self.owners.keys().copied().collect();
        topics.sort_by(|one, two| self.compare(*one, *two));
        topics
    }
    fn compare(&self, one: Uuid, two: Uuid) -> Ordering {
        let size = |topic| self.owners.get(&topic).map_or(0, Vec::len);
        let count = |topic| self.subscribers.get(&topic).map_or(1, Vec::len);
        // a/b against c/d, without dividing.
        let by_share = (size(two) * count(one)).cmp(&(size(one) * count(two)));
        by_share.then(count(one).cmp(&count(two))).then_with(|| uuid_rank(one).cmp(&uuid_rank(two)))
    }
    fn hand_out(&mut self) {
        for topic in self.sorted_topics() {
            let free: Vec<usize> = self.owners.get(&topic).map_or_else(Vec::new, |owners| {
                owners.iter().enumerate().filter(|(_, owner)| owner.is_none()).map(|(partition, _)| partition).collect()
            });
            let mut ladder = Ladder::new(self, topic);
            for partition in free {
                if let Some(member) = ladder.next_least(self) {
                    self.give(topic, partition, member);
                }
            }
        }
    }
    fn balance(&mut self) {
        let mut topics = self.sorted_topics();
        topics.retain(|topic| self.subscribers.get(topic).is_some_and(|members| members.len() >= 2));
        let mut last_moved = None;
        for _ in 0..MAX_ROUNDS {
            for (place, topic) in topics.iter().enumerate() {
                if last_moved == Some(place) {
                    return;
                }
                if self.balance_topic(*topic) > 0 || last_moved.is_none() {
                    last_moved = Some(place);
                }
            }
        }
    }
    fn balance_topic(&mut self, topic: Uuid) -> usize {
        let mut ladder = Ladder::new(self, topic);
        if ladder.spread(self) <= 1 {
            return 0;
        }
        let mut stock = self.stock(topic);
        let mut moved = 0;
        while let Some((from, partition)) = ladder.take_from_most(self, &mut stock) {
            let Some(to) = ladder.next_least(self) else { break };
            if ladder.is_balanced() {
                break;
            }
            debug_assert!(from != to, "who has most is not who has least");
            self.give(topic, partition, to);
            moved += 1;
        }
        moved
    }
    /// The partitions of each member, the one to go first at the end.
    fn stock(&self, topic: Uuid) -> BTreeMap<usize, Vec<usize>> {
        let mut stock: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (partition, owner) in self.owners.get(&topic).into_iter().flatten().enumerate() {
            if let Some(owner) = owner {
                stock.entry(*owner).or_default().push(partition);
            }
        }
        stock
    }
    fn into_targets(self, members: &[Subscriber]) -> Targets {
        let mut targets: Targets = members.iter().map(|member| (member.id.clone(), Assignment::new())).collect();
        for (topic, owners) in self.owners {
            for (partition, owner) in (0..).zip(owners) {
                let target = owner.and_then(|owner| members.get(owner)).and_then(|member| targets.get_mut(&member.id));
                if let Some(target) = target {
                    target.entry(topic).or_default().insert(partition);
                }
            }
        }
        targets
    }
}
fn at(partition: i32) -> usize {
    usize::try_from(partition).unwrap_or(usize::MAX)
}

/// A topic's subscribers by how much they have. Two ranges of equal load grow towards each other: from below, whose members get; from above,
/// whose members give.
///
/// ```text
///   load ▲                #
///        │           [####]
///        │   [..→ ]  [←...]
///        │   [####]##[####]
///        └──────────────────► members
/// ```
#[derive(Debug)]
struct Ladder {
    members: Vec<usize>,
    least_end: usize,
    least_level: i32,
    next_least: usize,
    most_start: usize,
    most_end: usize,
    most_level: i32,
    /// One past the member that gives next.
    next_most: usize,
}
impl Ladder {
    fn new(plan: &Plan, topic: Uuid) -> Self {
        let mut members = plan.subscribers.get(&topic).cloned().unwrap_or_default();
        members.sort_by_key(|member| (plan.load(*member), *member));
        let level = |member: Option<&usize>| member.map_or(0, |member| plan.load(*member));
        Self {
            least_end: 0,
            least_level: level(members.first()) - 1,
            next_least: 0,
            most_start: members.len(),
            most_end: members.len(),
            most_level: level(members.last()) + 1,
            next_most: members.len(),
            members,
        }
    }
    fn spread(&self, plan: &Plan) -> i32 {
        let level = |member: Option<&usize>| member.map_or(0, |member| plan.load(*member));
        level(self.members.last()) - level(self.members.first())
    }
    fn is_balanced(&self) -> bool {
        self.most_level - self.least_level <= 1
    }
    fn level_at(&self, plan: &Plan, place: usize) -> Option<i32> {
        self.members.get(place).map(|member| plan.load(*member))
    }
    fn next_least(&mut self, plan: &Plan) -> Option<usize> {
        if self.next_least >= self.least_end {
            self.least_level += 1;
            while self.level_at(plan, self.least_end) == Some(self.least_level) {
                self.least_end += 1;
            }
            self.next_least = 0;
        }
        let member = self.members.get(self.next_least).copied();
        self.next_least += 1;
        member
    }
    fn next_most(&mut self, plan: &Plan) -> Option<usize> {
        if self.next_most <= self.most_start {
            let below = self.most_start.checked_sub(1).and_then(|place| self.level_at(plan, place));
            self.most_level = match below {
                // Nobody in the range has anything to give: the next lower level is where its members are.
                Some(level) if self.most_end <= self.most_start => level,
                _ => self.most_level - 1,
            };
            while let Some(place) = self.most_start.checked_sub(1)
                && self.level_at(plan, place) == Some(self.most_level)
            {
                self.most_start = place;
            }
            self.next_most = self.most_end;
        }
        self.next_most = self.next_most.checked_sub(1)?;
        self.members.get(self.next_most).copied()
    }
    /// Leaves the member that `next_most` named out of the range.
    fn leave_out(&mut self) {
        self.most_end -= 1;
        self.members.swap(self.next_most, self.most_end);
    }
    fn take_from_most(&mut self, plan: &Plan, stock: &mut BTreeMap<usize, Vec<usize>>) -> Option<(usize, usize)> {
        while !self.is_balanced() {
            let member = self.next_most(plan)?;
            match stock.get_mut(&member).and_then(Vec::pop) {
                Some(partition) => return Some((member, partition)),
                None => self.leave_out(),
            }
        }
        None
    }
}
