//! The group's epoch, which counts what changes, and the target, which follows it.

use super::assignor::{Assignor, Subscriber, Subscriptions, Targets};
use super::member::{Assignment, Member};
use super::reconcile::Goal;
use super::{ConsumerGroup, Context, GoingBack};
use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl ConsumerGroup {
    /// Begins a new epoch: somebody came, went, or wants something else.
    pub(super) fn bump(&mut self, ctx: &Context<'_>) {
        self.epoch += 1;
        self.image = self.subscribed_image(ctx.topics);
        // Nobody waits for the target of an empty group.
        if self.members.is_empty() {
            self.assignment_epoch = self.epoch;
            self.targets.clear();
        }
    }
    /// Begins a new epoch because somebody went; not if only members of the classic protocol are left, whose next generation it would be.
    pub(super) fn bump_after_loss(&mut self, ctx: &Context<'_>) {
        self.going_back = Some(GoingBack::Left);
        if !self.is_classic() || !ctx.settings.migration.allows_downgrade() {
            self.bump(ctx);
        }
    }
    /// Begins a new epoch if it is asked for, or if a subscribed topic came, went or grew; says how the members are subscribed. Kafka looks at
    /// that only for a new epoch: who joins with an expression that is yet to be resolved is taken to want what the others do.
    pub(super) fn refresh_epoch(
        &mut self,
        is_changed: bool,
        before: Subscriptions,
        ctx: &Context<'_>,
    ) -> Subscriptions {
        if !is_changed && !self.has_news(ctx.topics) {
            return before;
        }
        self.bump(ctx);
        self.subscriptions()
    }
    /// Computes the target if it is behind, and old enough.
    pub(super) fn refresh_target(&mut self, assignor: Assignor, subscriptions: Subscriptions, ctx: &Context<'_>) {
        let is_young = self.assigned_at.is_some_and(|at| at + ctx.timing.assignment_interval > ctx.now);
        if self.epoch <= self.assignment_epoch || is_young {
            return;
        }
        let sizes = self.image.values().map(|(id, size)| (*id, i32::try_from(*size).unwrap_or(i32::MAX))).collect();
        let subscribers = self.subscribers(ctx);
        let mut targets: Targets = assignor.assign(subscribers, subscriptions, &sizes);
        self.targets =
            self.members.keys().map(|id| (id.clone(), targets.remove(id.as_bytes()).unwrap_or_default())).collect();
        self.assignment_epoch = self.epoch;
        self.assigned_at = Some(ctx.now);
    }
    /// The members, with the targets that are about to be replaced. Those that want the same, as mostly all do, have their topics found once.
    fn subscribers(&mut self, ctx: &Context<'_>) -> Vec<Subscriber> {
        let mut targets = std::mem::take(&mut self.targets);
        let mut found: BTreeMap<_, Rc<BTreeSet<Uuid>>> = BTreeMap::new();
        let mut subscribers = Vec::with_capacity(self.members.len());
        for member in self.members.values() {
            let topics = found.entry((&member.topics, &member.regex));
            subscribers.push(Subscriber {
                id: member.id.clone(),
                instance_id: member.instance_id.clone(),
                topics: Rc::clone(topics.or_insert_with(|| Rc::new(self.topics_of(member, ctx.topics)))),
                target: targets.remove(member.id.as_bytes()).unwrap_or_default(),
            });
        }
        subscribers
    }
    pub(crate) fn target_of(&self, member_id: &str) -> Assignment {
        self.targets.get(member_id.as_bytes()).cloned().unwrap_or_default()
    }
    /// Brings a member a step nearer to its target.
    pub(super) fn reconcile(&mut self, id: &StrBytes, owned: Option<&Assignment>, ctx: &Context<'_>) {
        let Some(member) = self.members.get(id) else { return };
        let (taken, target) = (self.taken(), self.target_of(id));
        let subscribed = self.topics_of(member, ctx.topics);
        let goal =
            Goal { epoch: self.assignment_epoch, target: &target, subscribed: &subscribed, owned, taken: &taken };
        let Some(member) = self.members.get_mut(id) else { return };
        let before = (member.state, member.epoch);
        member.reconcile(&goal);
        member.renew_revocation(before, ctx.now);
    }
    /// Partitions that some member has, or has not said it gave up.
    fn taken(&self) -> BTreeSet<(Uuid, i32)> {
        let held = self.members.values().flat_map(|member| member.assigned.iter().chain(&member.revoking));
        held.flat_map(|(topic, partitions): (&Uuid, &BTreeMap<i32, i32>)| {
            partitions.keys().map(|partition| (*topic, *partition))
        })
        .collect()
    }
    /// Whether a member waits for partitions that others still have.
    pub(super) fn waits_for_others(&self, member: &Member) -> bool {
        let taken = self.taken();
        let target = self.target_of(&member.id);
        let mut missing = target
            .iter()
            .flat_map(|(topic, partitions)| partitions.iter().map(|partition| (*topic, *partition)))
            .filter(|(topic, partition)| {
                !member.assigned.get(topic).is_some_and(|given| given.contains_key(partition))
            });
        missing.any(|partition| taken.contains(&partition))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::groups::settings::ConsumerSettings;
    use crate::broker::topics::Topics;
    use millstream_protocol::Timestamp;

    /// The topics of each were looked up anew: with a hundred members of two hundred topics each join took the brokers' lock for tens of
    /// milliseconds.
    #[test]
    fn members_that_want_the_same_share_what_was_found() {
        let mut group = ConsumerGroup::new(StrBytes::from_static_str("g"));
        for (id, wanted) in [("a", "t"), ("b", "u"), ("c", "t")] {
            let mut member = Member::new(StrBytes::from_static_str(id), Timestamp::from_millis(0));
            member.topics.insert(StrBytes::from_static_str(wanted));
            group.members.insert(member.id.clone(), member);
        }
        let (topics, settings) = (Topics::new(1), ConsumerSettings::default());
        let subscribers = group.subscribers(&Context::new(Timestamp::from_millis(0), &topics, &settings, None));
        let owners: Vec<usize> = subscribers.iter().map(|one| Rc::strong_count(&one.topics)).collect();
        assert_eq!(owners, [2, 1, 2]);
    }
}
