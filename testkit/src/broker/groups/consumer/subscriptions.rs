//! What members are subscribed to: topics by name, and topics whose name an expression matched when it was resolved last.

use super::assignor::Subscriptions;
use super::member::Member;
use super::{ConsumerGroup, TopicSize};
use crate::broker::topics::Topics;
use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::{BTreeMap, BTreeSet};

impl ConsumerGroup {
    /// The names to which a member is subscribed, in one way or the other.
    pub(super) fn names_of(&self, member: &Member) -> BTreeSet<StrBytes> {
        member.topics.iter().chain(self.matches_of(member).into_iter().flatten()).cloned().collect()
    }
    /// The names to which any member is subscribed.
    pub(crate) fn subscribed_names(&self) -> BTreeSet<&str> {
        self.subscribed().into_iter().map(StrBytes::as_str).collect()
    }
    // Members mostly want the same: each heartbeat asks, and looks at what many want once.
    fn subscribed(&self) -> BTreeSet<&StrBytes> {
        let named: BTreeSet<&BTreeSet<StrBytes>> = self.members.values().map(|member| &member.topics).collect();
        let expressions: BTreeSet<&StrBytes> =
            self.members.values().filter_map(|member| member.regex.as_ref()).collect();
        let matches = expressions.into_iter().filter_map(|expression| self.resolution.matches.get(expression));
        named.into_iter().chain(matches).flatten().collect()
    }
    /// Whether all members are subscribed to the same names, or all by one expression and no name.
    pub(super) fn subscriptions(&self) -> Subscriptions {
        let mut pairs = self.members.values().zip(self.members.values().skip(1));
        let are_same = pairs.all(|(one, other)| (&one.topics, &one.regex) == (&other.topics, &other.regex));
        let has_both = |member: &Member| member.regex.is_some() && !member.topics.is_empty();
        if are_same && !self.members.values().any(has_both) { Subscriptions::Alike } else { Subscriptions::Different }
    }
    /// The same as Kafka knows it, which looks again only when a member changes.
    pub(super) fn known_subscriptions(&self) -> Subscriptions {
        if self.seem_different { Subscriptions::Different } else { self.subscriptions() }
    }
    /// Looks how the members are subscribed, after one has changed and before what nobody wants any more is forgotten: Kafka looks at this moment,
    /// and takes an expression that only who went had for one of those that are there.
    pub(super) fn note_subscriptions(&mut self) {
        let mut matched: Vec<&StrBytes> = self.resolution.matches.values().flatten().collect();
        matched.sort_unstable();
        let first = self.members.values().next();
        self.seem_different = if self.members.values().any(|member| member.regex.is_some()) {
            !matched.is_sorted_by(|one, other| one < other)
        } else {
            matched.into_iter().any(|name| first.is_some_and(|member| !member.topics.contains(name)))
        };
    }
    /// The topics to which a member is subscribed, as far as they exist.
    pub(super) fn topics_of(&self, member: &Member, topics: &Topics) -> BTreeSet<Uuid> {
        self.names_of(member).iter().filter_map(|name| topics.find(name)).map(|topic| topic.id).collect()
    }
    /// The subscribed topics that there are.
    pub(super) fn subscribed_image(&self, topics: &Topics) -> BTreeMap<StrBytes, TopicSize> {
        let names = self.subscribed().into_iter();
        names.filter_map(|name| sized(name, topics).map(|found| (name.clone(), found))).collect()
    }
    /// Whether a topic came, went or grew that somebody is subscribed to. What nobody is subscribed to any more is no news: who gave it up has
    /// begun an epoch, or will when its expression is resolved.
    pub(super) fn has_news(&self, topics: &Topics) -> bool {
        self.subscribed().into_iter().any(|name| self.image.get(name).copied() != sized(name, topics))
    }
}
fn sized(name: &str, topics: &Topics) -> Option<TopicSize> {
    topics.find(name).map(|topic| (topic.id, topic.partitions.len()))
}
