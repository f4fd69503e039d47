//! The way of one member towards its target: it gives up before anybody gets, and gets what is free.

use super::member::{Assignment, Member, MemberState, Owned};
use millstream_protocol::messages::Uuid;
use std::collections::BTreeSet;

/// What a member is to be brought to.
#[derive(Debug)]
pub(super) struct Goal<'a> {
    pub(super) epoch: i32,
    pub(super) target: &'a Assignment,
    /// The topics to which it is subscribed, as far as they exist.
    pub(super) subscribed: &'a BTreeSet<Uuid>,
    /// What it says it owns, if it says so.
    pub(super) owned: Option<&'a Assignment>,
    /// Partitions that some member has, this one included.
    pub(super) taken: &'a BTreeSet<(Uuid, i32)>,
}

impl Member {
    /// Takes the next step, if there is one.
    pub(super) fn reconcile(&mut self, goal: &Goal<'_>) {
        match self.state {
            MemberState::Stable if self.epoch == goal.epoch => self.drop_unsubscribed(goal),
            MemberState::UnrevokedPartitions if owns_any(goal.owned, &self.revoking) => self.drop_unsubscribed(goal),
            MemberState::Stable | MemberState::UnrevokedPartitions | MemberState::UnreleasedPartitions => {
                self.approach(goal);
            }
        }
    }
    /// What it is not subscribed to any more goes at once, before there is a new target.
    fn drop_unsubscribed(&mut self, goal: &Goal<'_>) {
        let gone: Vec<Uuid> = self.assigned.keys().filter(|topic| !goal.subscribed.contains(*topic)).copied().collect();
        if gone.is_empty() {
            return;
        }
        let mut revoking = self.revoking.clone();
        for topic in gone {
            let partitions = self.assigned.remove(&topic).unwrap_or_default();
            revoking.entry(topic).or_default().extend(partitions);
        }
        if owns_any(goal.owned, &revoking) {
            self.state = MemberState::UnrevokedPartitions;
            self.revoking = revoking;
        }
        self.advance(self.epoch);
    }
    fn approach(&mut self, goal: &Goal<'_>) {
        let (kept, given_up) = self.split(goal);
        if !given_up.is_empty() && owns_any(goal.owned, &given_up) {
            self.state = MemberState::UnrevokedPartitions;
            self.assigned = kept;
            self.revoking = given_up;
            return self.advance(self.epoch);
        }
        let (gets, waits) = self.claim(goal, &kept);
        self.assigned = kept;
        for (topic, partition) in gets {
            self.assigned.entry(topic).or_default().insert(partition, goal.epoch);
        }
        self.state = if waits { MemberState::UnreleasedPartitions } else { MemberState::Stable };
        self.revoking = Owned::new();
        self.advance(goal.epoch);
    }
    /// What of its partitions it keeps and what it loses.
    fn split(&self, goal: &Goal<'_>) -> (Owned, Owned) {
        let (mut kept, mut given_up) = (Owned::new(), Owned::new());
        for (topic, partitions) in &self.assigned {
            for (partition, epoch) in partitions {
                let side = if is_wanted(goal, *topic, *partition) { &mut kept } else { &mut given_up };
                side.entry(*topic).or_default().insert(*partition, *epoch);
            }
        }
        (kept, given_up)
    }
    /// What it gets now, and whether it has to wait for more.
    fn claim(&self, goal: &Goal<'_>, kept: &Owned) -> (Vec<(Uuid, i32)>, bool) {
        let (mut gets, mut waits) = (Vec::new(), false);
        for (topic, partitions) in goal.target.iter().filter(|(topic, _)| goal.subscribed.contains(*topic)) {
            for partition in partitions.iter().filter(|partition| !has(kept, *topic, **partition)) {
                // What it is giving up itself, nobody else can have.
                let is_free = !goal.taken.contains(&(*topic, *partition)) || has(&self.revoking, *topic, *partition);
                if is_free { gets.push((*topic, *partition)) } else { waits = true }
            }
        }
        (gets, waits)
    }
}

fn is_wanted(goal: &Goal<'_>, topic: Uuid, partition: i32) -> bool {
    goal.subscribed.contains(&topic) && goal.target.get(&topic).is_some_and(|target| target.contains(&partition))
}
fn has(owned: &Owned, topic: Uuid, partition: i32) -> bool {
    owned.get(&topic).is_some_and(|partitions| partitions.contains_key(&partition))
}
/// Whether a member owns any of these; one that does not say may own all.
fn owns_any(owned: Option<&Assignment>, of: &Owned) -> bool {
    owned.is_none_or(|owned| {
        owned.iter().any(|(topic, partitions)| partitions.iter().any(|partition| has(of, *topic, *partition)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_protocol::Timestamp;
    use millstream_protocol::messages::StrBytes;

    const TOPIC: Uuid = Uuid::from_u128(1);

    fn set(partitions: &[i32]) -> Assignment {
        if partitions.is_empty() {
            Assignment::new()
        } else {
            Assignment::from([(TOPIC, partitions.iter().copied().collect())])
        }
    }
    fn member(epoch: i32, partitions: &[i32]) -> Member {
        let mut member = Member::new(StrBytes::from_static_str("m"), Timestamp::from_millis(0));
        member.epoch = epoch;
        if !partitions.is_empty() {
            member.assigned = Owned::from([(TOPIC, partitions.iter().map(|partition| (*partition, epoch)).collect())]);
        }
        member
    }
    fn step(
        member: &mut Member,
        epoch: i32,
        target: &[i32],
        owned: Option<&[i32]>,
        taken: &[i32],
    ) -> (MemberState, i32) {
        let (target, owned) = (set(target), owned.map(set));
        let taken = taken.iter().map(|partition| (TOPIC, *partition)).collect();
        let subscribed = BTreeSet::from([TOPIC]);
        member.reconcile(&Goal {
            epoch,
            target: &target,
            subscribed: &subscribed,
            owned: owned.as_ref(),
            taken: &taken,
        });
        (member.state, member.epoch)
    }

    /// Walks the picture at the head of `member`: every arrow once.
    #[test]
    fn a_member_goes_only_where_the_picture_lets_it() {
        use MemberState::{Stable, UnreleasedPartitions, UnrevokedPartitions};
        // Stable, all free.
        let mut one = member(1, &[]);
        assert_eq!(step(&mut one, 2, &[0, 1], Some(&[]), &[]), (Stable, 2));
        assert_eq!(one.assignment(), set(&[0, 1]));
        // Stable, has to give up; stays so until it says that it did.
        assert_eq!(step(&mut one, 3, &[0], None, &[0, 1]), (UnrevokedPartitions, 2));
        assert_eq!(one.assignment(), set(&[0]));
        assert_eq!(step(&mut one, 3, &[0], None, &[0, 1]), (UnrevokedPartitions, 2));
        assert_eq!(step(&mut one, 3, &[0], Some(&[0, 1]), &[0, 1]), (UnrevokedPartitions, 2));
        // Gave up, all free.
        assert_eq!(step(&mut one, 3, &[0], Some(&[0]), &[0, 1]), (Stable, 3));
        // Stable, some is another's; then freed.
        assert_eq!(step(&mut one, 4, &[0, 5], None, &[0, 5]), (UnreleasedPartitions, 4));
        assert_eq!(one.assignment(), set(&[0]));
        assert_eq!(step(&mut one, 4, &[0, 5], None, &[0]), (Stable, 4));
        assert_eq!(one.assignment(), set(&[0, 5]));
        // Gave up, the rest not free.
        assert_eq!(step(&mut one, 5, &[5, 6], None, &[0, 5, 6]), (UnrevokedPartitions, 4));
        assert_eq!(step(&mut one, 5, &[5, 6], Some(&[5]), &[0, 5, 6]), (UnreleasedPartitions, 5));
    }

    #[test]
    fn what_is_not_subscribed_any_more_goes_before_there_is_a_new_target() {
        let mut one = member(2, &[0]);
        let (target, taken) = (set(&[0]), BTreeSet::from([(TOPIC, 0)]));
        let nothing = BTreeSet::new();
        let owned = set(&[0]);
        let goal = Goal { epoch: 2, target: &target, subscribed: &nothing, owned: Some(&owned), taken: &taken };
        one.reconcile(&goal);
        assert_eq!((one.state, one.epoch, one.assignment()), (MemberState::UnrevokedPartitions, 2, set(&[])));
        let mut other = member(2, &[0]);
        let given_up = set(&[]);
        other.reconcile(&Goal { owned: Some(&given_up), ..goal });
        assert_eq!((other.state, other.assignment()), (MemberState::Stable, set(&[])));
    }

    #[test]
    fn what_a_member_is_giving_up_it_may_get_again() {
        let mut one = member(2, &[0, 1]);
        step(&mut one, 3, &[0], None, &[0, 1]);
        assert_eq!(step(&mut one, 4, &[0, 1], Some(&[0]), &[0, 1]), (MemberState::Stable, 4));
        assert_eq!(one.assignment(), set(&[0, 1]));
    }
}
