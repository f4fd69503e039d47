//! The picture of the cluster by direct calls: answers in, pictures out, and a clock that jumps.

use super::*;
use crate::backoff::Random;
use millstream_protocol::messages::metadata_response::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use millstream_protocol::messages::{StrBytes, Uuid};
use millstream_protocol::{ErrorCode, LeaderEpoch, NodeId, TopicName};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

#[expect(
    clippy::disallowed_methods,
    reason = "there is no other way to make a first instant; the tests move it by hand"
)]
fn start() -> Instant {
    Instant::now()
}

fn answer(topics: Vec<MetadataResponseTopic>) -> MetadataResponse {
    let mut answer = MetadataResponse::default();
    for id in [1, 2] {
        let mut broker = MetadataResponseBroker::default();
        broker.node_id = id.into();
        broker.host = StrBytes::from_static_str("same-host");
        broker.port = 9092;
        answer.brokers.push(broker);
    }
    answer.topics = topics;
    answer
}
/// A topic whose partitions have these leaders and terms.
fn topic(id: u128, partitions: &[(i32, i32)]) -> MetadataResponseTopic {
    let mut topic = MetadataResponseTopic::default();
    topic.name = Some(StrBytes::from_static_str("t").into());
    topic.topic_id = Uuid::from_u128(id);
    for (index, (leader, epoch)) in (0..).zip(partitions) {
        let mut partition = MetadataResponsePartition::default();
        partition.partition_index = index;
        partition.leader_id = (*leader).into();
        partition.leader_epoch = *epoch;
        topic.partitions.push(partition);
    }
    topic
}
fn refused(code: ErrorCode) -> MetadataResponseTopic {
    let mut topic = topic(0, &[]);
    topic.error_code = code.get();
    topic
}

struct World {
    now: Instant,
    cluster: Cluster,
}
impl World {
    fn new() -> Self {
        let now = start();
        let mut cluster = Cluster::new(now, RefreshOptions::default(), Random::new(1));
        cluster.handle_interest(now, &TopicName::from("t"), Creation::Allowed);
        Self { now, cluster }
    }
    fn round(&mut self, topic: MetadataResponseTopic) -> Arc<Image> {
        self.cluster.request(self.now);
        self.now += SECOND;
        assert!(self.cluster.poll_request(self.now).is_some());
        self.cluster.handle_answer(self.now, &answer(vec![topic]))
    }
    fn leader(&self) -> Option<(i32, i32)> {
        let (node, epoch) = self.cluster.image().leader(&("t", 0).into())?;
        Some((node.get(), epoch.map_or(-1, LeaderEpoch::get)))
    }
}

// M-2
#[test]
fn only_a_leader_of_the_same_or_a_newer_term_is_taken() {
    let mut world = World::new();
    for (told, expected) in [((1, 5), (1, 5)), ((2, 4), (1, 5)), ((2, 5), (2, 5)), ((1, 6), (1, 6)), ((2, -1), (2, -1))]
    {
        world.round(topic(7, &[told]));
        assert_eq!(world.leader(), Some(expected), "after {told:?}");
    }
}

// M-4
#[test]
fn an_error_about_a_topic_does_not_erase_its_partitions() {
    let mut world = World::new();
    world.round(topic(7, &[(1, 5), (2, 5)]));
    let image = world.round(refused(ErrorCode::LEADER_NOT_AVAILABLE));
    assert_eq!(image.topic("t").map(|topic| topic.partitions.len()), Some(2));
    assert_eq!(world.leader(), Some((1, 5)));
}

// M-5
#[test]
fn a_topic_that_was_made_anew_starts_its_terms_again() {
    let mut world = World::new();
    world.round(topic(7, &[(1, 5), (1, 5)]));
    let image = world.round(topic(8, &[(2, 0)]));
    assert_eq!(world.leader(), Some((2, 0)));
    assert_eq!(image.topic("t").map(|topic| topic.partitions.len()), Some(1));
    assert_eq!(image.topic_name(&Uuid::from_u128(7)), None);
    assert_eq!(image.topic_name(&Uuid::from_u128(8)).map(TopicName::as_str), Some("t"));
}

// M-6
#[test]
fn an_unknown_topic_is_waited_for_as_long_as_news_takes() {
    let mut world = World::new();
    world.round(refused(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
    assert_eq!(world.cluster.verdict(world.now, "t"), None);
    world.now += 29 * SECOND;
    assert_eq!(world.cluster.verdict(world.now, "t"), None);
    world.now += SECOND;
    assert_eq!(world.cluster.verdict(world.now, "t"), Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
    world.round(topic(7, &[(1, 0)]));
    assert_eq!(world.cluster.verdict(world.now, "t"), None);
    world.round(refused(ErrorCode::TOPIC_AUTHORIZATION_FAILED));
    assert_eq!(world.cluster.verdict(world.now, "t"), Some(ErrorCode::TOPIC_AUTHORIZATION_FAILED), "final at once");
}

// M-7
#[test]
fn one_request_is_under_way_and_failures_wait_longer_and_longer() {
    let mut world = World::new();
    assert!(world.cluster.poll_request(world.now).is_some());
    world.cluster.request(world.now);
    assert_eq!(world.cluster.poll_request(world.now), None);
    assert_eq!(world.cluster.poll_deadline(), None);
    for expected in [100_u64, 200, 400, 800, 1000, 1000] {
        world.cluster.handle_failure(world.now);
        let due = world.cluster.poll_deadline().expect("idle");
        let wait = due - world.now;
        assert!(
            wait >= Duration::from_millis(expected * 8 / 10) && wait <= Duration::from_millis(expected * 12 / 10),
            "{wait:?}"
        );
        world.now = due;
        assert!(world.cluster.poll_request(world.now).is_some());
    }
}

#[test]
fn a_quiet_cluster_is_looked_at_when_the_picture_is_old() {
    let mut world = World::new();
    world.round(topic(7, &[(1, 0)]));
    let wait = world.cluster.poll_deadline().expect("idle") - world.now;
    assert!(wait >= 240 * SECOND && wait <= 360 * SECOND, "{wait:?}");
}

#[test]
fn a_new_topic_is_asked_for_at_once() {
    let mut world = World::new();
    world.round(topic(7, &[(1, 0)]));
    world.cluster.handle_interest(world.now, &TopicName::from("u"), Creation::Allowed);
    let wanted = world.cluster.poll_request(world.now).expect("no pause for what was never asked");
    let mut topics = wanted.topics;
    topics.sort();
    assert_eq!(topics, ["t", "u"]);
}

#[test]
fn a_topic_comes_to_be_only_if_nobody_minds() {
    let mut world = World::new();
    assert_eq!(world.cluster.poll_request(world.now).map(|wanted| wanted.creation), Some(Creation::Allowed));
    world.cluster.handle_answer(world.now, &answer(vec![topic(7, &[(1, 0)])]));
    world.cluster.handle_interest(world.now, &TopicName::from("u"), Creation::Forbidden);
    assert_eq!(world.cluster.poll_request(world.now).map(|wanted| wanted.creation), Some(Creation::Forbidden));
}

// M-3
#[test]
fn a_hint_moves_one_leader_and_keeps_the_other_brokers() {
    let mut world = World::new();
    world.round(topic(7, &[(1, 5)]));
    let hint = |node, epoch| [LeaderHint::new(("t", 0).into(), NodeId::new(node), LeaderEpoch::new(epoch))];
    assert!(world.cluster.handle_hints(&hint(2, 5), Vec::new()).is_none(), "no news");
    let image = world.cluster.handle_hints(&hint(3, 6), vec![Broker::new(NodeId::new(3), "new", 9092)]).expect("news");
    assert_eq!(world.leader(), Some((3, 6)));
    assert_eq!(image.brokers().len(), 3);
}

// W-7: a hostile index must not make the picture large.
#[test]
fn a_partition_beyond_the_others_is_left_out() {
    let mut world = World::new();
    let mut hostile = topic(7, &[(1, 0), (1, 0)]);
    hostile.partitions[1].partition_index = i32::MAX;
    let image = world.round(hostile);
    assert_eq!(image.topic("t").map(|topic| topic.partitions.len()), Some(2));
}
