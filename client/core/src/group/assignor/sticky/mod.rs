//! What Kafka's two sticky assignors share: who claims what, and the two ways to balance.
//!
//! Members are indices into the group; a partition is a [`Place`]. Places order as topic names, then partitions do.
//! What members claim is not trusted: partitions that do not exist or that they do not want are left out, so every loop ends.

mod general;
mod movements;
mod uniform;

use super::{ClusterLayout, GroupMember, racks_matter};
use millstream_protocol::hash::HashMap;
use millstream_protocol::{TopicName, TopicPartition};
use std::collections::{BTreeMap, BTreeSet};

/// A partition: index of its topic among the sorted topics, and its number.
pub(super) type Place = (usize, usize);

/// The result: shares by member, and the partitions that change hands if the balancing way knows them.
pub(super) struct Solution {
    pub(super) shares: Vec<Vec<Place>>,
    pub(super) moving: Option<BTreeSet<Place>>,
}

/// A group to be balanced.
pub(super) struct Problem<'a> {
    members: &'a [GroupMember],
    generations: &'a [Option<i32>],
    topics: Vec<(&'a TopicName, usize)>,
    topic_index: HashMap<&'a str, usize>,
    /// Per member, the existing topics that it wants, in its own order.
    wanted: Vec<Vec<usize>>,
    racks: Racks<'a>,
}

pub(super) fn solve(problem: &Problem<'_>) -> Solution {
    let claims = Claims::of(problem);
    if problem.all_want_the_same() { uniform::solve(problem, claims) } else { general::solve(problem, claims) }
}

impl<'a> Problem<'a> {
    pub(super) fn new(members: &'a [GroupMember], generations: &'a [Option<i32>], layout: &'a ClusterLayout) -> Self {
        let subscribed: BTreeSet<&TopicName> = members.iter().flat_map(|member| &member.subscription.topics).collect();
        let topics: Vec<_> = layout.topics().filter(|(topic, _)| subscribed.contains(topic)).collect();
        let topic_index: HashMap<_, _> =
            topics.iter().enumerate().map(|(index, (topic, _))| (topic.as_str(), index)).collect();
        let wanted = members.iter().map(|member| wanted_by(member, &topic_index)).collect();
        let racks = Racks::new(members, &topics, layout);
        Self { members, generations, topics, topic_index, wanted, racks }
    }
    pub(super) fn partitions(&self, share: &[Place]) -> Vec<TopicPartition> {
        // Partition counts came as int32 from the wire.
        let partition = |(topic, number): &Place| {
            TopicPartition::new(self.topics[*topic].0, i32::try_from(*number).unwrap_or(i32::MAX))
        };
        share.iter().map(partition).collect()
    }
    /// What a member says it has, of what exists.
    pub(super) fn owned_as_told(&self, member: usize) -> BTreeSet<Place> {
        self.members[member].subscription.owned.iter().filter_map(|owned| self.place(owned)).collect()
    }

    fn place(&self, partition: &TopicPartition) -> Option<Place> {
        let topic = *self.topic_index.get(partition.topic.as_str())?;
        let number = usize::try_from(partition.partition.get()).ok()?;
        (number < self.topics[topic].1).then_some((topic, number))
    }
    fn all_places(&self) -> impl Iterator<Item = Place> {
        self.topics.iter().enumerate().flat_map(|(topic, (_, count))| (0..*count).map(move |number| (topic, number)))
    }
    fn all_want_the_same(&self) -> bool {
        let set = |member: &GroupMember| member.subscription.topics.iter().cloned().collect::<BTreeSet<_>>();
        let mut sets = self.members.iter().map(set);
        let first = sets.next();
        sets.all(|each| Some(each) == first)
    }
    /// Members by their ids: the order that breaks ties.
    fn by_id(&self, member: usize) -> &'a str {
        &self.members[member].member_id
    }
}

fn wanted_by(member: &GroupMember, topic_index: &HashMap<&str, usize>) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let topics = member.subscription.topics.iter().filter_map(|topic| topic_index.get(topic.as_str()).copied());
    topics.filter(|topic| seen.insert(*topic)).collect()
}

/// Who had what, conflicts settled: the higher generation wins, equal ones both lose.
struct Claims {
    owned: Vec<Vec<Place>>,
    claimed_twice: BTreeSet<Place>,
    /// Claims of earlier generations: where a partition was before, for going back there.
    previous: BTreeMap<Place, usize>,
}

impl Claims {
    fn of(problem: &Problem<'_>) -> Self {
        let mut claims = Self {
            owned: vec![Vec::new(); problem.members.len()],
            claimed_twice: BTreeSet::new(),
            previous: BTreeMap::new(),
        };
        let mut owners: HashMap<Place, usize> = HashMap::default();
        for (member, told) in problem.members.iter().enumerate() {
            for place in told.subscription.owned.iter().filter_map(|owned| problem.place(owned)) {
                claims.add(problem, &mut owners, member, place);
            }
        }
        claims.remember_previous(problem);
        claims
    }
    fn add(&mut self, problem: &Problem<'_>, owners: &mut HashMap<Place, usize>, member: usize, place: Place) {
        let generation = |member: usize| problem.generations[member].unwrap_or(-1);
        let Some(other) = owners.get(&place).copied() else {
            owners.insert(place, member);
            self.owned[member].push(place);
            return;
        };
        if generation(member) < generation(other) || other == member {
            return;
        }
        self.owned[other].retain(|each| *each != place);
        owners.insert(place, member);
        if generation(member) == generation(other) {
            self.claimed_twice.insert(place);
        } else {
            self.owned[member].push(place);
        }
    }
    fn remember_previous(&mut self, problem: &Problem<'_>) {
        let newest = problem.generations.iter().map(|generation| generation.unwrap_or(-1)).max().unwrap_or(-1);
        let mut generations: HashMap<Place, i32> = HashMap::default();
        for (member, told) in problem.members.iter().enumerate() {
            let generation = problem.generations[member].unwrap_or(-1);
            if generation >= newest {
                continue;
            }
            for place in told.subscription.owned.iter().filter_map(|owned| problem.place(owned)) {
                if generations.get(&place).is_none_or(|known| generation > *known) {
                    generations.insert(place, generation);
                    self.previous.insert(place, member);
                }
            }
        }
    }
}

/// Racks, if they can make a difference; otherwise nothing is known of any.
struct Racks<'a> {
    of_member: Vec<Option<&'a str>>,
    of_topic: Vec<&'a [BTreeSet<String>]>,
    members_in: HashMap<&'a str, usize>,
    matter: bool,
}

impl<'a> Racks<'a> {
    fn new(members: &'a [GroupMember], topics: &[(&'a TopicName, usize)], layout: &'a ClusterLayout) -> Self {
        let rack = |member: &'a GroupMember| member.subscription.rack.as_deref().filter(|rack| !rack.is_empty());
        let of_member: Vec<_> = members.iter().map(rack).collect();
        let of_topic: Vec<_> = topics.iter().map(|(topic, _)| layout.racks(topic.as_str())).collect();
        let matter = racks_matter(&of_member.iter().flatten().copied().collect(), of_topic.iter().copied().flatten());
        let mut members_in = HashMap::default();
        for rack in of_member.iter().flatten() {
            *members_in.entry(*rack).or_default() += 1;
        }
        Self { of_member, of_topic, members_in, matter }
    }
    /// The member has a rack, and the partition no replica there.
    fn mismatch(&self, member: usize, place: Place) -> bool {
        self.matter && self.of_member[member].is_some_and(|rack| !self.replicas(place).contains(rack))
    }
    /// The member has a rack, and the partition a replica there.
    fn matches(&self, member: usize, place: Place) -> bool {
        self.matter && self.of_member[member].is_some_and(|rack| self.replicas(place).contains(rack))
    }
    /// Partitions that fewer members are near to come first.
    fn sort(&self, places: &mut [Place]) {
        if !self.members_in.is_empty() {
            places.sort_by_key(|place| self.members_near(*place));
        }
    }
    fn members_near(&self, place: Place) -> usize {
        self.replicas(place).iter().map(|rack| self.members_in.get(rack.as_str()).copied().unwrap_or_default()).sum()
    }
    fn replicas(&self, (topic, partition): Place) -> &'a BTreeSet<String> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        self.of_topic[topic].get(partition).unwrap_or(&NONE)
    }
}
