//! The group coordinator: all groups of the cluster, each of one protocol at a time. Which node answers for a group is decided elsewhere.

pub(crate) mod classic;
pub(crate) mod committing;
pub(crate) mod consumer;
pub(crate) mod embedded;
mod expiry;
mod journal;
mod migration;
pub(crate) mod offsets;
pub(crate) mod protocols;
pub(crate) mod settings;

use super::Broker;
use super::bounds::text_weight;
use super::timers::TimerKey;
use classic::{ClassicGroup, GroupReply, Rules, State};
use committing::Committer;
use consumer::expressions::Compiled;
use consumer::{ConsumerGroup, Context};
use journal::Written;
use millstream_protocol::messages::{JoinGroupRequest, StrBytes, SyncGroupRequest};
use millstream_protocol::{ErrorCode, NodeId, Timestamp};
use offsets::GroupOffsets;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The members of a group, in the form of the protocol that it is in.
#[derive(Debug)]
pub(crate) enum Body {
    Classic(ClassicGroup),
    Consumer(ConsumerGroup),
}

/// Whether a coordinator still knows a group.
///
/// ```text
///              who knows an id joins, and it is empty              something is written
///   Known ─────────────────────────────────────────► StillShown ──────────────────────► Gone
///     ▲                                                    │                              │
///     └──────────── somebody founds a group of this name ──┴──────────────────────────────┘
/// ```
/// Whoever joins an empty group of the consumer protocol with an id, which nobody can have, makes Kafka forget that group without writing that
/// down. What it tells of groups is what was there when it wrote last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Known,
    StillShown,
    /// But for its positions, which the next group of this name finds.
    Gone,
}

/// A group: its members, and what it has committed, which outlives a change of protocol.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) id: StrBytes,
    pub(crate) offsets: GroupOffsets,
    pub(crate) body: Body,
    /// Since when nobody is in it.
    pub(crate) empty_since: Timestamp,
    written: Written,
    standing: Standing,
}
impl Group {
    fn new(id: StrBytes, now: Timestamp) -> Self {
        let body = Body::Classic(ClassicGroup::new(id.clone()));
        Self {
            id,
            offsets: GroupOffsets::default(),
            body,
            empty_since: now,
            written: Written::default(),
            standing: Standing::Known,
        }
    }
    pub(crate) fn classic(&self) -> Option<&ClassicGroup> {
        match &self.body {
            Body::Classic(group) => Some(group),
            Body::Consumer(_) => None,
        }
    }
    pub(crate) fn consumer(&self) -> Option<&ConsumerGroup> {
        match &self.body {
            Body::Consumer(group) => Some(group),
            Body::Classic(_) => None,
        }
    }
    pub(crate) fn consumer_mut(&mut self) -> Option<&mut ConsumerGroup> {
        match &mut self.body {
            Body::Consumer(group) => Some(group),
            Body::Classic(_) => None,
        }
    }
    pub(crate) fn is_empty(&self) -> bool {
        match &self.body {
            Body::Classic(group) => group.state == State::Empty,
            Body::Consumer(group) => group.members.is_empty(),
        }
    }
    /// Whether it is told of.
    pub(crate) fn is_shown(&self) -> bool {
        self.standing != Standing::Gone
    }
    /// As ListGroups names it.
    pub(crate) fn state_name(&self) -> &'static str {
        match &self.body {
            Body::Classic(group) => group.state.name(),
            Body::Consumer(group) => group.state().name(),
        }
    }
    /// As ListGroups names it.
    pub(crate) fn type_name(&self) -> &'static str {
        match &self.body {
            Body::Classic(_) => "classic",
            Body::Consumer(_) => "consumer",
        }
    }
    pub(crate) fn protocol_type(&self) -> StrBytes {
        match &self.body {
            Body::Classic(group) => group.protocol_type.clone().unwrap_or_default(),
            Body::Consumer(_) => StrBytes::from_static_str(consumer::classic_members::CONSUMER),
        }
    }
    /// Whether these offsets may be committed (OffsetCommit, TxnOffsetCommit).
    pub(crate) fn check_commit(&self, by: &Committer<'_>) -> Result<(), ErrorCode> {
        match &self.body {
            Body::Classic(group) => group.check_commit(by),
            Body::Consumer(group) => group.check_commit(by),
        }
    }
    /// Tells of any number of topics whether somebody is subscribed to them.
    pub(crate) fn subscriptions(&self) -> impl Fn(&str) -> bool {
        let names = match &self.body {
            Body::Classic(_) => BTreeSet::new(),
            Body::Consumer(group) => group.subscribed_names(),
        };
        move |topic| match &self.body {
            Body::Classic(group) => group.is_subscribed(topic),
            Body::Consumer(_) => names.contains(topic),
        }
    }
    /// Whether it has a member of this member id or of this instance id.
    fn has_member(&self, member_id: &str, instance_id: Option<&str>) -> bool {
        match &self.body {
            Body::Classic(group) => {
                group.members.contains_key(member_id.as_bytes())
                    || instance_id.is_some_and(|id| group.find_static(id).is_some())
            }
            Body::Consumer(group) => {
                group.members.contains_key(member_id.as_bytes())
                    || instance_id.is_some_and(|id| group.find_static(id).is_some())
            }
        }
    }
    /// About how many bytes it takes; what was last written of it takes about as much again.
    pub(crate) fn weight(&self) -> usize {
        let members = match &self.body {
            Body::Classic(group) => group.weight(),
            Body::Consumer(group) => group.weight(),
        };
        size_of::<Self>() + 3 * text_weight(&self.id) + 2 * members + self.offsets.weight()
    }
    fn next_deadline(&self) -> Option<Timestamp> {
        match &self.body {
            Body::Classic(group) => group.next_deadline(),
            Body::Consumer(group) => group.next_deadline(),
        }
    }
}

/// The groups, by id.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    by_id: BTreeMap<StrBytes, Group>,
    /// Those that are forgotten and still shown.
    still_shown: Vec<StrBytes>,
    /// Of topics that members subscribe to.
    expressions: Compiled,
}

impl Groups {
    pub(crate) fn find(&self, id: &str) -> Option<&Group> {
        self.by_id.get(id.as_bytes()).filter(|group| group.standing == Standing::Known)
    }
    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Group> {
        self.by_id.get_mut(id.as_bytes()).filter(|group| group.standing == Standing::Known)
    }
    /// Finds a group as it is told of: it may be forgotten already.
    pub(crate) fn find_shown(&self, id: &str) -> Option<&Group> {
        self.by_id.get(id.as_bytes()).filter(|group| group.standing != Standing::Gone)
    }
    /// Finds a group, or founds it.
    pub(crate) fn entry(&mut self, id: &str, now: Timestamp) -> &mut Group {
        let id = StrBytes::from_string(id.to_owned());
        let group = self.by_id.entry(id.clone()).or_insert_with(|| Group::new(id.clone(), now));
        if group.standing != Standing::Known {
            let offsets = std::mem::take(&mut group.offsets);
            *group = Group { offsets, ..Group::new(id, now) };
        }
        group
    }
    /// Finds a group whose positions are kept, though it may be forgotten.
    fn find_kept_mut(&mut self, id: &str) -> Option<&mut Group> {
        self.by_id.get_mut(id.as_bytes())
    }
    pub(crate) fn remove(&mut self, id: &str) -> Option<Group> {
        self.by_id.remove(id.as_bytes())
    }
    /// Forgets an empty group of the consumer protocol, without anybody being told.
    pub(crate) fn forget_empty(&mut self, id: &str) {
        let is_empty_consumer = |group: &&mut Group| group.consumer().is_some_and(|group| group.members.is_empty());
        if let Some(group) = self.find_mut(id).filter(is_empty_consumer) {
            group.standing = Standing::StillShown;
            let id = group.id.clone();
            self.still_shown.push(id);
        }
    }
    /// Whether any is forgotten and still shown.
    fn has_forgotten(&self) -> bool {
        !self.still_shown.is_empty()
    }
    /// Shows those no more that are forgotten, among these.
    fn hide_forgotten(&mut self, is_among: impl Fn(&str) -> bool) {
        let (hidden, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.still_shown).into_iter().partition(|id| is_among(id));
        self.still_shown = rest;
        for id in hidden {
            match self.by_id.get_mut(&id).filter(|group| group.standing == Standing::StillShown) {
                Some(group) if group.offsets.keys().is_empty() => drop(self.by_id.remove(&id)),
                Some(group) => group.standing = Standing::Gone,
                None => {}
            }
        }
    }
    /// Whether there is such a group, with a member of this member id or of this instance id.
    pub(crate) fn has_member(&self, id: &str, member_id: &str, instance_id: Option<&str>) -> bool {
        self.find(id).is_some_and(|group| group.has_member(member_id, instance_id))
    }
    pub(crate) fn all(&self) -> impl Iterator<Item = &Group> {
        self.by_id.values()
    }
    /// About how many bytes they take.
    pub(crate) fn weight(&self) -> usize {
        self.by_id.values().map(Group::weight).sum()
    }
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Group> {
        self.by_id.values_mut()
    }
}

impl Broker {
    /// Does something with a group of the classic protocol, founding it if need be, then sends what it has to say and sets its timer. An
    /// empty group of the other protocol becomes one of this.
    pub(crate) fn with_classic<T>(&mut self, id: &str, act: impl FnOnce(&mut ClassicGroup, &Rules) -> T) -> T {
        let rules = self.group_rules();
        let is_there = self.groups.find(id).is_some_and(|group| group.classic().is_some());
        let group = self.groups.entry(id, self.now);
        if let Body::Consumer(_) = group.body {
            group.body = Body::Classic(ClassicGroup::new(group.id.clone()));
        }
        if !is_there {
            self.write_new_group(id);
        }
        let group = self.groups.entry(id, self.now);
        let Body::Classic(classic) = &mut group.body else { unreachable!("it was made one just now") };
        let result = act(classic, &rules);
        let replies = classic.poll_replies();
        self.settle_group(id);
        replies.into_iter().for_each(|reply| self.send_group_reply(reply));
        result
    }
    /// The groups of the classic protocol that a node coordinates.
    pub(crate) fn groups_at(&self, node: NodeId) -> Vec<StrBytes> {
        let classic = self.groups.all().filter(|group| group.classic().is_some());
        classic.filter(|group| self.is_coordinator(node, &group.id)).map(|group| group.id.clone()).collect()
    }
    /// The coordinator of a group goes: whoever waits for its answer is to look for another.
    pub(crate) fn resign_group(&mut self, id: &str) {
        self.with_classic(id, |group, _| group.refuse_all(ErrorCode::NOT_COORDINATOR));
    }
    /// Does something with a group of the consumer protocol, if this is one.
    pub(crate) fn with_consumer<T>(
        &mut self,
        id: &str,
        act: impl FnOnce(&mut ConsumerGroup, &Context<'_>) -> T,
    ) -> Option<T> {
        let own = self.configs.groups.get(id);
        let ctx = Context::new(self.now, &self.topics, &self.settings.consumer_groups, own);
        let Body::Consumer(consumer) = &mut self.groups.find_mut(id)?.body else { return None };
        let result = act(consumer, &ctx);
        self.settle_consumer(id);
        Some(result)
    }
    /// Lets a group of the consumer protocol go on from what it has become: back to the classic one if nobody is left who needs this.
    fn settle_consumer(&mut self, id: &str) {
        self.try_downgrade(id);
        self.settle_group(id);
    }
    fn group_context(&self, id: &str) -> Context<'_> {
        Context::new(self.now, &self.topics, &self.settings.consumer_groups, self.configs.groups.get(id))
    }
    fn settle_group(&mut self, id: &str) {
        let now = self.now;
        let Some(group) = self.groups.find_mut(id) else { return };
        if !group.is_empty() {
            group.empty_since = now;
        }
        let (key, deadline) = (TimerKey::Group(group.id.clone()), group.next_deadline());
        self.timers.arm(key, deadline);
        self.write_group(id);
        self.arm_offsets_check();
    }
    fn group_rules(&self) -> Rules {
        let initial_delay = Duration::from_millis(self.settings.group_initial_rebalance_delay_ms.unsigned_abs());
        Rules { now: self.now, initial_delay, max_size: self.settings.group_max_size }
    }
    fn send_group_reply(&mut self, reply: GroupReply) {
        match reply {
            GroupReply::Join(call, response) => self.complete::<JoinGroupRequest>(&call, &response),
            GroupReply::Sync(call, response) => self.complete::<SyncGroupRequest>(&call, &response),
        }
    }
    /// A group's timer has come.
    pub(crate) fn handle_group_time(&mut self, id: &str) {
        match self.groups.find(id).map(|group| &group.body) {
            Some(Body::Classic(_)) => self.with_classic(id, ClassicGroup::handle_time),
            Some(Body::Consumer(_)) => {
                self.with_consumer(id, ConsumerGroup::handle_time);
            }
            None => {}
        }
    }
}
