//! Partitions are shared out in the order in which Java has the ids of their topics, and those are each cluster's own. So the topics that somebody
//! may ask for together are made anew until both sides have them in the same order.

use crate::admin::{tidy_created, tidy_metadata};
use crate::data::text;
use crate::ids::Ids;
use crate::pair::{ADMINISTRATOR, Kind, Pair};
use millstream_protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use millstream_protocol::messages::delete_topics_request::DeleteTopicState;
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::{CreateTopicsRequest, DeleteTopicsRequest, MetadataRequest, TopicName, Uuid};
use std::cmp::Ordering;

/// With how they are cleaned.
const TOGETHER: [(&str, &str); 2] = [("plain", "delete"), ("compacted", "compact")];

/// Who asks is none of the clients that take turns: whose turn it is does not depend on chance that no seed repeats.
pub(crate) fn align(pair: &mut Pair) {
    for _ in 0..MOST_TRIES {
        if order(&pair.ours.ids) == order(&pair.real.ids) {
            return;
        }
        delete(pair);
        look(pair);
        create(pair);
        look(pair);
    }
    panic!("after {MOST_TRIES} tries: {:?} here, {:?} there", order(&pair.ours.ids), order(&pair.real.ids));
}
/// One of four comes by chance.
const MOST_TRIES: usize = 100;
/// In a small hash table, and as two signed numbers.
fn order(ids: &Ids) -> (Ordering, Ordering) {
    let [one, other] = TOGETHER.map(|(name, _)| ids.topic(name));
    (bucket(one).cmp(&bucket(other)), rank(one).cmp(&rank(other)))
}
fn bucket(id: Uuid) -> u64 {
    let (high, low) = id.as_u64_pair();
    let folded = ((high ^ low) >> 32) ^ (high ^ low) & 0xffff_ffff;
    (folded ^ folded >> 16) % 16
}
fn rank(id: Uuid) -> (i64, i64) {
    let (high, low) = id.as_u64_pair();
    (high.cast_signed(), low.cast_signed())
}

fn delete(pair: &mut Pair) {
    let topics = TOGETHER.map(|(name, _)| DeleteTopicState::default().with_name(Some(TopicName(text(name)))));
    let request = DeleteTopicsRequest::default().with_timeout_ms(5000).with_topics(topics.to_vec());
    pair.ask_as(
        ADMINISTRATOR,
        Kind::Writes,
        6,
        |_| request.clone(),
        |response, ids| {
            // Kafka shuffles them.
            response.responses.sort_by(|one, other| one.name.cmp(&other.name));
            response.responses.iter_mut().for_each(|topic| topic.topic_id = ids.tidy(topic.topic_id));
        },
    );
}
fn create(pair: &mut Pair) {
    let topic = |(name, policy)| {
        let option = CreatableTopicConfig::default().with_name(text("cleanup.policy")).with_value(Some(text(policy)));
        CreatableTopic::default()
            .with_name(TopicName(text(name)))
            .with_num_partitions(3)
            .with_replication_factor(1)
            .with_configs(if policy == "delete" { Vec::new() } else { vec![option] })
    };
    let request = CreateTopicsRequest::default().with_timeout_ms(5000).with_topics(TOGETHER.map(topic).to_vec());
    pair.ask_as(
        ADMINISTRATOR,
        Kind::Writes,
        7,
        |_| request.clone(),
        |response, ids| {
            response.topics.sort_by(|one, other| other.name.cmp(&one.name));
            response.topics.iter_mut().for_each(|topic| tidy_created(topic, ids));
        },
    );
}
/// Until both know of it.
fn look(pair: &mut Pair) {
    let topics = TOGETHER.map(|(name, _)| MetadataRequestTopic::default().with_name(Some(TopicName(text(name)))));
    let request = MetadataRequest::default().with_topics(Some(topics.to_vec()));
    pair.ask_as(ADMINISTRATOR, Kind::Reads, 12, |_| request.clone(), tidy_metadata);
}
