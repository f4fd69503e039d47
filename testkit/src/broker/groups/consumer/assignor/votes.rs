//! Which assignor the members want: the one that most of them ask for. Of two that as many ask for it is the one that comes first in Java's
//! hash table. When a member is heard, Kafka takes its vote out of a copy and puts it in again, before the other: a group whose members cannot
//! agree begins an epoch with every heartbeat of those who ask for the second.

use super::Assignor;

/// How many ask for what, in the table's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Votes(Vec<(Assignor, usize)>);

impl Votes {
    pub(crate) fn count(asked: impl Iterator<Item = Assignor> + Clone) -> Self {
        let count = |assignor| (assignor, asked.clone().filter(|asked| *asked == assignor).count());
        Self([Assignor::Uniform, Assignor::Range].map(count).into_iter().filter(|(_, count)| *count > 0).collect())
    }
    /// A member that asked for the one asks for the other now, or for the same again.
    pub(crate) fn change(&mut self, from: Option<Assignor>, to: Option<Assignor>) {
        if let Some((_, count)) = self.0.iter_mut().find(|(assignor, _)| Some(*assignor) == from) {
            *count -= 1;
        }
        self.0.retain(|(_, count)| *count > 0);
        let Some(to) = to else { return };
        match self.0.iter_mut().find(|(assignor, _)| *assignor == to) {
            Some((_, count)) => *count += 1,
            None => self.0.insert(0, (to, 1)),
        }
    }
    /// What most ask for; none if nobody asks.
    pub(crate) fn winner(&self) -> Option<Assignor> {
        let most = self.0.iter().reduce(|most, next| if next.1 > most.1 { next } else { most });
        most.map(|(assignor, _)| *assignor)
    }
}

#[cfg(test)]
mod tests {
    use super::Assignor::{Range, Uniform};
    use super::*;

    /// Found beside a real Kafka (answers, seed 29).
    #[test]
    fn of_two_that_as_many_ask_for_it_is_the_one_of_whom_was_heard() {
        let both = Votes::count([Uniform, Range].into_iter());
        let heard = |assignor| {
            let mut votes = both.clone();
            votes.change(Some(assignor), Some(assignor));
            votes.winner()
        };
        assert_eq!(both.winner(), Some(Uniform));
        assert_eq!((heard(Range), heard(Uniform)), (Some(Range), Some(Uniform)));
        let mut votes = Votes::count([Range].into_iter());
        votes.change(None, Some(Uniform));
        assert_eq!(votes.winner(), Some(Uniform), "who asks for the first time is heard, too");
    }

    #[test]
    fn most_votes_win_whoever_is_heard() {
        let mut votes = Votes::count([Uniform, Range, Uniform].into_iter());
        assert_eq!(votes.winner(), Some(Uniform));
        votes.change(Some(Uniform), Some(Range));
        assert_eq!(votes.winner(), Some(Range));
        votes.change(Some(Range), None);
        votes.change(Some(Range), None);
        assert_eq!((votes.winner(), Votes::count(std::iter::empty()).winner()), (Some(Uniform), None));
    }
}
