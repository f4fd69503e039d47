//! Which topics the driver keeps the cluster's picture of, and the layout that a group's leader assigns by.

use super::driver::{Done, Driver};
use crate::Error;
use crate::client::Client;
use crate::runtime::timeout_at;
use millstream_client_core::cluster::{Creation, Image, Topic};
use millstream_client_core::group::Call;
use millstream_client_core::group::assignor::ClusterLayout;
use millstream_protocol::{NodeId, TopicName};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often it is said that topics are still in use; `metadata.max.idle.ms` is far longer.
const STILL_IN_USE: Duration = Duration::from_secs(60);
/// How often a topic that nobody has described yet is asked after.
const LOOK_FOR_MISSING: Duration = Duration::from_millis(500);

impl Driver {
    /// Follows changes in what is read and subscribed to, and in the cluster.
    pub(super) fn look_at_topics(&mut self, now: Instant) {
        let image = self.client.hub().image();
        let versions = (self.shared.fetcher().version(), self.shared.queue().topics_version, image.generation);
        let due = self.topics_told.is_none_or(|told| told + STILL_IN_USE <= now);
        if due || versions != self.looked_at {
            if due || (versions.0, versions.1) != (self.looked_at.0, self.looked_at.1) {
                self.use_topics(now);
            }
            self.compare_layout(now, &image);
            self.looked_at = versions;
        }
        if self.next_missing.is_none_or(|at| at <= now) {
            self.tell_missing();
            self.next_missing = (!self.topics_in_use.is_empty()).then(|| now + LOOK_FOR_MISSING);
        }
    }
    /// Registers interest in all topics that are read, subscribed to, or watched as the group's leader.
    fn use_topics(&mut self, now: Instant) {
        let mut topics: BTreeSet<TopicName> = self.shared.fetcher().partitions().map(|id| id.topic.clone()).collect();
        topics.extend(self.shared.subscription());
        topics.extend(self.shared.member().and_then(|member| member.watched_topics()).into_iter().flatten());
        topics.iter().for_each(|topic| self.client.hub().use_topic(topic, Creation::Forbidden));
        self.missing_told.retain(|topic| topics.contains(topic));
        self.topics_in_use = topics;
        self.topics_told = Some(now);
        self.next_missing = None;
    }
    pub(super) fn topics_deadline(&self) -> Option<Instant> {
        let told = self.topics_told.filter(|_| !self.topics_in_use.is_empty()).map(|told| told + STILL_IN_USE);
        [told, self.next_missing].into_iter().flatten().min()
    }
    /// A topic that the cluster is sure not to have is told of once. It is read all the same, should it appear.
    fn tell_missing(&mut self) {
        for topic in &self.topics_in_use {
            let Some(code) = self.client.hub().verdict(topic.as_str()) else {
                self.missing_told.remove(topic);
                continue;
            };
            if self.missing_told.insert(topic.clone()) {
                self.shared.fail(Error::topic(code, format!("read topic `{topic}`")));
            }
        }
    }

    /// A leader whose topics have other partition counts than it assigned makes the group rebalance (G-10).
    fn compare_layout(&self, now: Instant, image: &Arc<Image>) {
        self.with_member(|member| {
            if let Some(topics) = member.watched_topics().filter(|_| member.is_stable()) {
                member.handle_watched(now, &layout(image, &topics));
            }
        });
    }
    pub(super) fn start_layout(&mut self, call: Call, topics: BTreeSet<TopicName>) {
        let client = self.client.clone();
        self.in_flight.push(async move { Done::Layout(call, fresh_layout(&client, topics).await) });
    }
}

/// The layout after one more round of questions to the cluster, unless the last one was a moment ago; none when nobody answers in time.
async fn fresh_layout(client: &Client, topics: BTreeSet<TopicName>) -> Option<ClusterLayout> {
    let hub = client.hub();
    if let Some(image) = hub.fresh_image()
        && topics.iter().all(|topic| image.topic(topic.as_str()).is_some_and(|topic| !topic.error.is_error()))
    {
        return Some(layout(&image, &topics));
    }
    let mut view = hub.watch();
    let before = view.borrow_and_update().rounds;
    topics.iter().for_each(|topic| hub.use_topic(topic, Creation::Forbidden));
    hub.request_refresh();
    let deadline = client.now() + client.options().request_timeout;
    let fresh = async {
        loop {
            let known = view.borrow_and_update().clone();
            let settled = |topic: &TopicName| {
                known.image.topic(topic.as_str()).is_some() || hub.verdict(topic.as_str()).is_some()
            };
            // The first round after the question may have begun before it.
            if known.rounds > before + 1 || known.rounds > before && topics.iter().all(settled) {
                return Some(known.image);
            }
            view.changed().await.ok()?;
        }
    };
    let image = timeout_at(&**client.runtime(), deadline, fresh).await??;
    Some(layout(&image, &topics))
}

fn layout(image: &Arc<Image>, topics: &BTreeSet<TopicName>) -> ClusterLayout {
    let mut layout = ClusterLayout::new();
    for topic in topics.iter().filter_map(|topic| image.topic(topic.as_str())) {
        layout.insert_with_racks(topic.name.clone(), racks(image, topic));
    }
    layout
}

fn racks(image: &Image, topic: &Topic) -> Vec<BTreeSet<String>> {
    let rack = |id: &NodeId| image.broker(*id).and_then(|broker| broker.rack.clone());
    topic.partitions.iter().map(|partition| partition.replicas.iter().filter_map(rack).collect()).collect()
}
