//! Balancing when all members want the same topics: everyone keeps up to its quota, the rest goes round.

use super::{Claims, Place, Problem, Solution};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(super) fn solve(problem: &Problem<'_>, claims: Claims) -> Solution {
    let mut round = Round::new(problem, claims.claimed_twice);
    round.keep_owned(claims.owned);
    round.give_out_the_rest();
    Solution { shares: round.shares, moving: Some(round.moving) }
}

struct Round<'p, 'a> {
    problem: &'p Problem<'a>,
    shares: Vec<Vec<Place>>,
    /// Every member gets at least this many.
    least: usize,
    /// No member gets more than this.
    most: usize,
    /// How many may get one more than the least, and how many already do.
    may_exceed: usize,
    exceeding: usize,
    /// Members below the least; members at the least that may get one more.
    below: Vec<usize>,
    at_least: VecDeque<usize>,
    claimed_twice: BTreeSet<Place>,
    /// What was taken from its owner. It moves unless the owner gets it back.
    revoked: BTreeMap<Place, usize>,
    moving: BTreeSet<Place>,
}

impl<'p, 'a> Round<'p, 'a> {
    fn new(problem: &'p Problem<'a>, claimed_twice: BTreeSet<Place>) -> Self {
        let members = problem.members.len().max(1);
        let partitions = problem.all_places().count();
        Self {
            problem,
            shares: vec![Vec::new(); problem.members.len()],
            least: partitions / members,
            most: partitions.div_ceil(members),
            may_exceed: partitions % members,
            exceeding: 0,
            below: Vec::new(),
            at_least: VecDeque::new(),
            claimed_twice,
            revoked: BTreeMap::new(),
            moving: BTreeSet::new(),
        }
    }
    fn keep_owned(&mut self, owned: Vec<Vec<Place>>) {
        for (member, owned) in owned.into_iter().enumerate() {
            let keeps =
                |place: &Place| !self.problem.racks.mismatch(member, *place) && !self.claimed_twice.contains(place);
            let (mut kept, mismatched): (Vec<Place>, Vec<Place>) = owned.into_iter().partition(keeps);
            self.revoke(member, mismatched);
            kept.sort_by_key(|(topic, partition)| (*partition, *topic));
            self.keep(member, kept);
        }
    }
    fn keep(&mut self, member: usize, mut owned: Vec<Place>) {
        if owned.len() < self.least {
            self.below.push(member);
        } else if owned.len() >= self.most && self.exceeding < self.may_exceed {
            self.count_exceeding();
            self.revoke(member, owned.split_off(self.most));
        } else {
            self.revoke(member, owned.split_off(self.least));
            if self.exceeding < self.may_exceed {
                self.at_least.push_back(member);
            }
        }
        self.shares[member] = owned;
    }
    fn revoke(&mut self, member: usize, places: Vec<Place>) {
        self.revoked.extend(places.into_iter().map(|place| (place, member)));
    }
    fn count_exceeding(&mut self) {
        self.exceeding += 1;
        if self.exceeding == self.may_exceed {
            self.at_least.clear();
        }
    }
    fn give_out_the_rest(&mut self) {
        let taken: BTreeSet<Place> = self.shares.iter().flatten().copied().collect();
        let mut rest: Vec<Place> = self.problem.all_places().filter(|place| !taken.contains(place)).collect();
        self.below.sort_by_key(|member| self.problem.by_id(*member));
        self.at_least.make_contiguous().sort_by_key(|member| self.problem.by_id(*member));
        self.problem.racks.sort(&mut rest);
        if self.problem.racks.matter {
            self.give_within_racks(&mut rest);
        }
        self.give_round(&rest);
    }
    fn give_within_racks(&mut self, rest: &mut Vec<Place>) {
        let mut turn = 0;
        rest.retain(|place| {
            let taker = self.taker_below(*place, &mut turn).or_else(|| self.taker_at_least(*place));
            if let Some(member) = taker {
                self.give(*place, member);
            }
            taker.is_none()
        });
    }
    fn taker_below(&mut self, place: Place, turn: &mut usize) -> Option<usize> {
        let count = self.below.len();
        let from = *turn;
        let near = |index: &usize| self.problem.racks.matches(self.below[*index], place);
        let index = (0..count).map(|step| (from + step) % count).find(near)?;
        let member = self.below[index];
        let has = self.shares[member].len() + 1;
        let mut next = index + 1;
        if has >= self.least {
            self.below.remove(index);
            next = index;
            if has < self.most {
                self.at_least.push_back(member);
            }
        }
        *turn = if self.below.is_empty() { 0 } else { next % self.below.len() };
        Some(member)
    }
    fn taker_at_least(&mut self, place: Place) -> Option<usize> {
        let index = (0..self.at_least.len()).find(|index| self.problem.racks.matches(self.at_least[*index], place))?;
        let member = self.at_least.remove(index)?;
        self.count_exceeding();
        Some(member)
    }
    fn give_round(&mut self, rest: &[Place]) {
        let mut turn = 0;
        for place in rest {
            if turn >= self.below.len() {
                turn = 0;
            }
            let Some(member) = self.below.get(turn).copied().or_else(|| self.at_least.pop_front()) else { return };
            self.give(*place, member);
            if self.shares[member].len() < self.least {
                turn += 1;
            } else if turn < self.below.len() {
                self.below.remove(turn);
                self.at_least.push_back(member);
            }
        }
    }
    fn give(&mut self, place: Place, member: usize) {
        self.shares[member].push(place);
        if self.revoked.get(&place).is_some_and(|owner| *owner != member) || self.claimed_twice.contains(&place) {
            self.moving.insert(place);
        }
    }
}
