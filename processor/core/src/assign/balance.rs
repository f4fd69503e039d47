//! Where tasks should be: with whoever has them, moved only to even out how many each member has.

use super::TaskPartitions;
use millstream_protocol::hash::HashSet;
use std::cmp::Reverse;

/// A placement in the making.
#[derive(Debug)]
pub(super) struct Placement<'a> {
    tasks: &'a TaskPartitions,
    /// By sub-topology and member.
    eligible: Vec<Vec<bool>>,
    /// By member: the tasks whose state it has.
    local_state: Vec<HashSet<usize>>,
    /// By member: the tasks that it has given up.
    given_up: Vec<HashSet<usize>>,
    /// By task.
    owners: Vec<Option<usize>>,
    previous: Vec<Option<usize>>,
    /// By member.
    placed: Vec<Vec<usize>>,
    /// By member and sub-topology.
    per_subtopology: Vec<Vec<usize>>,
}

impl<'a> Placement<'a> {
    pub(super) fn new(
        tasks: &'a TaskPartitions,
        eligible: Vec<Vec<bool>>,
        local_state: Vec<HashSet<usize>>,
        given_up: Vec<HashSet<usize>>,
    ) -> Self {
        let members = local_state.len();
        Self {
            tasks,
            eligible,
            owners: vec![None; tasks.len()],
            previous: vec![None; tasks.len()],
            placed: vec![Vec::new(); members],
            per_subtopology: vec![vec![0; tasks.subtopologies().len()]; members],
            local_state,
            given_up,
        }
    }

    /// Leaves tasks where they are, as far as their owners still subscribe.
    pub(super) fn keep(&mut self, owners: Vec<Option<usize>>) {
        self.previous = owners;
        for task in 0..self.tasks.len() {
            if let Some(owner) = self.previous[task].filter(|owner| self.may_run(task, *owner)) {
                self.place(task, owner);
            }
        }
    }

    /// Gives tasks without an owner to whoever has their state and room, else to whoever has least.
    pub(super) fn place_rest(&mut self) {
        for task in 0..self.tasks.len() {
            if self.owners[task].is_none()
                && let Some(member) = self.best_for(task)
            {
                self.place(task, member);
            }
        }
    }

    /// Moves tasks from who has more to who has at least two fewer. Each move lowers the sum of the squares, so this ends.
    pub(super) fn even_out(&mut self) {
        while let Some((task, to)) = self.best_move() {
            self.unplace(task);
            self.place(task, to);
        }
    }

    /// By task.
    pub(super) fn owners(&self) -> &[Option<usize>] {
        &self.owners
    }

    fn may_run(&self, task: usize, member: usize) -> bool {
        self.eligible[self.tasks.subtopology_of(task)][member] && !self.given_up[member].contains(&task)
    }

    fn best_for(&self, task: usize) -> Option<usize> {
        let subtopology = self.tasks.subtopology_of(task);
        let candidates = (0..self.placed.len()).filter(|member| self.may_run(task, *member));
        let fair_share = self.tasks.len().div_ceil(self.placed.len().max(1));
        let rank = |member: usize| {
            let load = self.placed[member].len();
            let at_home = load < fair_share && self.local_state[member].contains(&task);
            (Reverse(at_home), load, self.per_subtopology[member][subtopology], member)
        };
        candidates.min_by_key(|member| rank(*member))
    }

    fn best_move(&self) -> Option<(usize, usize)> {
        let mut by_load: Vec<usize> = (0..self.placed.len()).collect();
        by_load.sort_by_key(|member| (self.placed[*member].len(), *member));
        for from in by_load.iter().rev().copied() {
            let fewer = by_load.iter().copied().take_while(|to| self.placed[*to].len() + 1 < self.placed[from].len());
            for to in fewer {
                if let Some(task) = self.best_to_move(from, to) {
                    return Some((task, to));
                }
            }
        }
        None
    }

    /// The task whose move costs least: its state is there already, or it was not running here, or its sub-topology is crowded here.
    fn best_to_move(&self, from: usize, to: usize) -> Option<usize> {
        let rank = |task: &usize| {
            let subtopology = self.tasks.subtopology_of(*task);
            let crowd = self.per_subtopology[to][subtopology].wrapping_sub(self.per_subtopology[from][subtopology]);
            let at_home = self.local_state[to].contains(task);
            let runs_here = self.previous[*task] == Some(from);
            (Reverse(at_home), runs_here, crowd.cast_signed(), Reverse(*task))
        };
        self.placed[from].iter().copied().filter(|task| self.may_run(*task, to)).min_by_key(rank)
    }

    fn place(&mut self, task: usize, member: usize) {
        self.owners[task] = Some(member);
        self.placed[member].push(task);
        self.per_subtopology[member][self.tasks.subtopology_of(task)] += 1;
    }

    fn unplace(&mut self, task: usize) {
        if let Some(member) = self.owners[task].take() {
            self.placed[member].retain(|other| *other != task);
            self.per_subtopology[member][self.tasks.subtopology_of(task)] -= 1;
        }
    }
}
