//! Balancing when members want different topics: keep what may be kept, give the rest to whoever has least, then move
//! partitions one by one while that evens things out.

use super::movements::Movements;
use super::{Claims, Place, Problem, Solution};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn solve(problem: &Problem<'_>, claims: Claims) -> Solution {
    let mut balance = Balance::new(problem, claims.previous);
    balance.keep(claims.owned);
    balance.run();
    Solution { shares: balance.shares, moving: None }
}

struct Balance<'p, 'a> {
    problem: &'p Problem<'a>,
    /// Per topic, the members that want it.
    wanted_by: Vec<Vec<usize>>,
    shares: Vec<Vec<Place>>,
    owner: BTreeMap<Place, usize>,
    /// Members by how much they have, then by id (as its rank). Those that cannot take part are out of it.
    order: BTreeSet<(usize, usize)>,
    rank: Vec<usize>,
    at_rank: Vec<usize>,
    previous: BTreeMap<Place, usize>,
    movements: Movements,
    must_revoke: bool,
    /// Moves left before giving up: real groups need a fraction; what is claimed by hostile ones cannot make it endless.
    moves_left: usize,
}

impl<'p, 'a> Balance<'p, 'a> {
    fn new(problem: &'p Problem<'a>, previous: BTreeMap<Place, usize>) -> Self {
        let members = problem.members.len();
        let mut wanted_by = vec![Vec::new(); problem.topics.len()];
        for (member, topics) in problem.wanted.iter().enumerate() {
            topics.iter().for_each(|topic| wanted_by[*topic].push(member));
        }
        let mut at_rank: Vec<usize> = (0..members).collect();
        at_rank.sort_by_key(|member| problem.by_id(*member));
        let mut rank = vec![0; members];
        at_rank.iter().enumerate().for_each(|(place, member)| rank[*member] = place);
        Self {
            problem,
            wanted_by,
            shares: vec![Vec::new(); members],
            owner: BTreeMap::new(),
            order: BTreeSet::new(),
            rank,
            at_rank,
            previous,
            movements: Movements::default(),
            must_revoke: false,
            moves_left: problem.all_places().count().saturating_mul(members.max(1)),
        }
    }
    fn keep(&mut self, owned: Vec<Vec<Place>>) {
        for (member, owned) in owned.into_iter().enumerate() {
            for place in owned {
                if self.wants(member, place) && !self.problem.racks.mismatch(member, place) {
                    self.shares[member].push(place);
                    self.owner.insert(place, member);
                } else {
                    self.must_revoke = true;
                }
            }
        }
        self.order = (0..self.shares.len()).map(|member| self.key(member)).collect();
    }
    fn run(&mut self) {
        let from_nothing = self.shares.iter().all(Vec::is_empty);
        let all = self.places_by_demand();
        let unassigned: Vec<Place> = all.iter().copied().filter(|place| !self.owner.contains_key(place)).collect();
        self.give_out(&unassigned);

        let movable = |place: &Place| self.wanted_by[place.0].len() >= 2;
        let unassigned: Vec<Place> = unassigned.into_iter().filter(movable).collect();
        let all: Vec<Place> = all.into_iter().filter(movable).collect();
        let fixed: Vec<usize> = (0..self.shares.len()).filter(|member| !self.takes_part(*member)).collect();
        for member in fixed {
            self.order.remove(&self.key(member));
        }
        self.even_out(&unassigned, &all, from_nothing);
    }
    fn even_out(&mut self, unassigned: &[Place], all: &[Place], from_nothing: bool) {
        let before = (self.shares.clone(), self.score());
        // New partitions alone may do; old ones move only if they do not.
        if !self.must_revoke {
            self.reassign(unassigned);
        }
        let moved = self.reassign(all);
        if !from_nothing && moved && self.score() >= before.1 {
            self.shares = before.0;
        }
    }
    /// Partitions of topics that few want come first.
    fn places_by_demand(&self) -> Vec<Place> {
        let mut topics: Vec<usize> = (0..self.problem.topics.len()).collect();
        topics.sort_by_key(|topic| (self.wanted_by[*topic].len(), *topic));
        let places = |topic: usize| (0..self.problem.topics[topic].1).map(move |partition| (topic, partition));
        topics.into_iter().flat_map(places).collect()
    }
    fn give_out(&mut self, unassigned: &[Place]) {
        let racks = &self.problem.racks;
        let mut rest = unassigned.to_vec();
        rest.retain(|place| !self.give_to_least(*place, |member| !racks.mismatch(member, *place)));
        for place in rest {
            self.give_to_least(place, |_| true);
        }
    }
    fn give_to_least(&mut self, place: Place, fits: impl Fn(usize) -> bool) -> bool {
        let Some(member) = self.least_loaded(place, fits) else { return false };
        self.order.remove(&self.key(member));
        self.shares[member].push(place);
        self.owner.insert(place, member);
        self.order.insert(self.key(member));
        true
    }
    fn least_loaded(&self, place: Place, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let members = self.order.iter().map(|(_, rank)| self.at_rank[*rank]);
        members.into_iter().find(|member| self.wants(*member, place) && fits(*member))
    }
    /// Moves partitions of these until none can be moved for a better balance. True if any moved.
    fn reassign(&mut self, places: &[Place]) -> bool {
        let mut any = false;
        loop {
            let mut moved = false;
            for place in places {
                if self.moves_left == 0 || self.is_balanced() {
                    break;
                }
                moved |= self.try_move(*place);
            }
            any |= moved;
            if !moved || self.moves_left == 0 {
                return any;
            }
        }
    }
    fn try_move(&mut self, place: Place) -> bool {
        let Some(owner) = self.owner.get(&place).copied() else { return false };
        let has = self.shares[owner].len();
        let lighter = |member: usize| has > self.shares[member].len() + 1;
        let previous = self.previous.get(&place).copied();
        let back = previous.filter(|member| self.order.contains(&self.key(*member)) && self.wants(*member, place));
        if let Some(back) = back.filter(|member| lighter(*member)) {
            return self.move_to(place, back);
        }
        let wanting = &self.wanted_by[place.0];
        if !wanting.iter().any(|member| lighter(*member)) {
            return false;
        }
        self.least_loaded(place, |_| true).is_some_and(|to| self.move_to(place, to))
    }
    fn move_to(&mut self, place: Place, to: usize) -> bool {
        let Some(from) = self.owner.get(&place).copied() else { return false };
        let place = self.movements.actual(place, from, to);
        let Some(from) = self.owner.get(&place).copied() else { return false };
        self.moves_left = self.moves_left.saturating_sub(1);
        self.order.remove(&self.key(from));
        self.order.remove(&self.key(to));
        self.movements.record(place, from, to);
        self.shares[from].retain(|each| *each != place);
        self.shares[to].push(place);
        self.owner.insert(place, to);
        self.order.insert(self.key(to));
        self.order.insert(self.key(from));
        true
    }

    fn wants(&self, member: usize, place: Place) -> bool {
        self.problem.wanted[member].contains(&place.0)
    }
    fn key(&self, member: usize) -> (usize, usize) {
        (self.shares[member].len(), self.rank[member])
    }
    fn most_for(&self, member: usize) -> usize {
        self.problem.wanted[member].iter().map(|topic| self.problem.topics[*topic].1).sum()
    }
    fn takes_part(&self, member: usize) -> bool {
        let contested = |place: &Place| self.wanted_by[place.0].len() >= 2;
        self.shares[member].len() < self.most_for(member) || self.shares[member].iter().any(contested)
    }
    fn is_balanced(&self) -> bool {
        let (Some((least, _)), Some((most, _))) = (self.order.first(), self.order.last()) else { return true };
        least + 1 >= *most || self.order.iter().all(|(has, rank)| !self.could_take(self.at_rank[*rank], *has))
    }
    /// Whether some partition that the member wants is with one that has more.
    fn could_take(&self, member: usize, has: usize) -> bool {
        if has == self.most_for(member) {
            return false;
        }
        let of_topic = |topic: &usize| self.owner.range((*topic, 0)..(*topic + 1, 0));
        let mut owners = self.problem.wanted[member].iter().flat_map(of_topic).map(|(_, owner)| *owner);
        owners.any(|owner| owner != member && has < self.shares[owner].len())
    }
    /// How uneven the shares are that can change: the sum of all differences. `order` ascends, so none is negative.
    fn score(&self) -> usize {
        let mut sum_below = 0;
        let mut score = 0;
        for (index, (has, _)) in self.order.iter().enumerate() {
            score += has * index - sum_below;
            sum_below += has;
        }
        score
    }
}
