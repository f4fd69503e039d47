//! A picture of a cluster for benchmarks: one broker, one topic.

use millstream_client_core::backoff::Random;
use millstream_client_core::cluster::{Cluster, Image, RefreshOptions};
use millstream_protocol::NodeId;
use millstream_protocol::messages::metadata_response::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use millstream_protocol::messages::{BrokerId, StrBytes, Uuid};
use std::sync::Arc;
use std::time::Instant;

/// The broker.
pub const NODE: NodeId = NodeId::new(1);
/// The topic.
pub const TOPIC: &str = "t";

/// The topic's id.
#[must_use]
pub const fn topic_id() -> Uuid {
    Uuid::from_u128(7)
}

/// A picture in which the broker leads all of the topic's partitions.
#[must_use]
pub fn image(partitions: i32) -> Arc<Image> {
    let mut answer = MetadataResponse::default();
    let mut broker = MetadataResponseBroker::default();
    (broker.node_id, broker.host, broker.port) = (BrokerId(NODE.get()), StrBytes::from_static_str("broker"), 9092);
    answer.brokers.push(broker);
    let mut topic = MetadataResponseTopic::default();
    (topic.name, topic.topic_id) = (Some(StrBytes::from_static_str(TOPIC).into()), topic_id());
    for index in 0..partitions {
        let mut partition = MetadataResponsePartition::default();
        (partition.partition_index, partition.leader_id, partition.leader_epoch) = (index, BrokerId(NODE.get()), 1);
        topic.partitions.push(partition);
    }
    answer.topics.push(topic);
    Cluster::new(Instant::now(), RefreshOptions::default(), Random::new(1)).handle_answer(Instant::now(), &answer)
}
