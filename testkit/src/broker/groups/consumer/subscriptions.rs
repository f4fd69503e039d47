//! What members are subscribed to: topics by name, and topics whose whole name an expression matches (KIP-848's `SubscribedTopicRegex`).

use super::member::Member;
use super::{ConsumerGroup, Context, Refusal};
use crate::broker::topics::Topics;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{StrBytes, Uuid};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// Reads an expression that has to match from a name's beginning to its end.
pub(super) fn compile(expression: &str) -> Result<Regex, Refusal> {
    Regex::new(expression).and_then(|_| Regex::new(&format!("^(?:{expression})$"))).map_err(|error| {
        let reason = reason(&error.to_string());
        let sentence = format!("SubscribedTopicRegex `{expression}` is not a valid regular expression: {reason}.");
        (ErrorCode::INVALID_REGULAR_EXPRESSION, sentence)
    })
}
// Kafka's library names the common mistakes so.
fn reason(error: &str) -> String {
    let known = [
        ("unclosed character class", "missing closing ]"),
        ("unclosed group", "missing closing )"),
        ("unopened group", "unexpected )"),
        ("repetition operator missing expression", "missing argument to repetition operator"),
        ("invalid repetition count range", "invalid repeat count"),
    ];
    let named = known.iter().find(|(ours, _)| error.contains(ours)).map(|(_, kafkas)| (*kafkas).to_owned());
    named.unwrap_or_else(|| error.lines().last().unwrap_or_default().to_owned())
}

impl ConsumerGroup {
    /// The topics that a member's expression matched last.
    pub(super) fn matches_of(&self, member: &Member) -> Option<&BTreeSet<StrBytes>> {
        self.regexes.get(member.regex.as_ref()?)
    }
    /// The names to which a member is subscribed, in one way or the other.
    pub(super) fn names_of(&self, member: &Member) -> BTreeSet<StrBytes> {
        member.topics.iter().chain(self.matches_of(member).into_iter().flatten()).cloned().collect()
    }
    /// The names to which any member is subscribed.
    pub(crate) fn subscribed_names(&self) -> BTreeSet<&str> {
        let matches = self.members.values().filter_map(|member| self.matches_of(member)).flatten();
        let named = self.members.values().flat_map(|member| &member.topics);
        named.chain(matches).map(StrBytes::as_str).collect()
    }
    /// The topics to which a member is subscribed, as far as they exist.
    pub(super) fn topics_of(&self, member: &Member, topics: &Topics) -> BTreeSet<Uuid> {
        self.names_of(member).iter().filter_map(|name| topics.find(name)).map(|topic| topic.id).collect()
    }
    /// The subscribed topics that there are.
    pub(super) fn subscribed_image(&self, topics: &Topics) -> BTreeMap<StrBytes, (Uuid, usize)> {
        let names: BTreeSet<StrBytes> = self.members.values().flat_map(|member| self.names_of(member)).collect();
        let found = names.into_iter().filter_map(|name| {
            let topic = topics.find(&name)?;
            Some((name, (topic.id, topic.partitions.len())))
        });
        found.collect()
    }
    /// Matches all expressions against the topics that there are now. Kafka does it aside: what comes of it is a new epoch whose target is
    /// made with a later heartbeat.
    pub(super) fn resolve_regexes(&mut self, ctx: &Context<'_>) {
        let used: BTreeSet<StrBytes> = self.members.values().filter_map(|member| member.regex.clone()).collect();
        let resolved: BTreeMap<StrBytes, BTreeSet<StrBytes>> =
            used.into_iter().map(|expression| (expression.clone(), matching(&expression, ctx.topics))).collect();
        let nothing = BTreeSet::new();
        // One that matches nothing changes nothing.
        let is_new =
            resolved.iter().any(|(expression, topics)| self.regexes.get(expression).unwrap_or(&nothing) != topics);
        self.regexes = resolved;
        if is_new {
            self.bump(ctx);
        }
    }
}
fn matching(expression: &str, topics: &Topics) -> BTreeSet<StrBytes> {
    let Ok(expression) = compile(expression) else { return BTreeSet::new() };
    topics.all().filter(|topic| expression.is_match(&topic.name)).map(|topic| topic.name.clone()).collect()
}
