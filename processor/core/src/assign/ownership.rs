//! Who says that it runs which task, and who is believed.

use super::{MemberFacts, TaskPartitions};

/// The members that claim each task.
#[derive(Debug)]
pub(super) struct Claims {
    /// By task: the claimants, and their generations.
    by_task: Vec<Vec<(usize, Option<i32>)>>,
}

impl Claims {
    pub(super) fn of(tasks: &TaskPartitions, members: &[&MemberFacts]) -> Self {
        let mut by_task = vec![Vec::new(); tasks.len()];
        for (at, member) in members.iter().enumerate() {
            let positions = member.owned.iter().filter_map(|partition| tasks.position_of(partition));
            for position in positions {
                if by_task[position].last().is_none_or(|(last, _)| *last != at) {
                    by_task[position].push((at, member.generation));
                }
            }
        }
        by_task.iter_mut().for_each(|claims: &mut Vec<_>| {
            claims.sort_unstable();
            claims.dedup();
        });
        Self { by_task }
    }

    /// Per task, the claimant of the newest generation. Two of the same generation cannot both be right: neither is believed.
    pub(super) fn owners(&self) -> Vec<Option<usize>> {
        let newest = |claims: &Vec<(usize, Option<i32>)>| {
            let generation = claims.iter().map(|(_, generation)| *generation).max()?;
            let mut newest = claims.iter().filter(|(_, other)| *other == generation);
            let owner = newest.next()?.0;
            newest.next().is_none().then_some(owner)
        };
        self.by_task.iter().map(newest).collect()
    }

    /// Whether nobody else claims the task. A claim of an old generation counts here: that member has yet to let go.
    pub(super) fn is_free_for(&self, task: usize, member: usize) -> bool {
        self.by_task[task].iter().all(|(claimant, _)| *claimant == member)
    }
}
