//! DescribeQuorum (KIP-595, KIP-836, KIP-853): the brokers are the controllers, and all have what the leader has.
//!
//! Versions 0 to 2. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::quorum::{LISTENER, Voter};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_quorum_request::TopicData as Asked;
use millstream_protocol::messages::describe_quorum_response::{Listener, Node, PartitionData, ReplicaState, TopicData};
use millstream_protocol::messages::{BrokerId, DescribeQuorumRequest, DescribeQuorumResponse, StrBytes, Uuid};

/// The log of the cluster's metadata, which has one partition.
const METADATA: &str = "__cluster_metadata";
/// From this version on the controllers' addresses and directories are told (KIP-853).
const NODES_SINCE: i16 = 2;

pub(super) struct DescribeQuorum;

impl Handler for DescribeQuorum {
    type Request = DescribeQuorumRequest;
    fn handle(broker: &mut Broker, call: &Call, request: DescribeQuorumRequest) -> Answer<DescribeQuorumResponse> {
        let is_asked = |asked: &Asked| asked.topic_name.0.as_str() == METADATA;
        // Kafka answers for that partition, and nothing else beside it.
        let is_known = match request.topics.as_slice() {
            [only] => is_asked(only) && matches!(only.partitions.as_slice(), [one] if one.partition_index == 0),
            _ => false,
        };
        let topics = request.topics.iter().map(|asked| {
            let partitions = asked.partitions.iter().map(|partition| match is_known {
                true => quorum(broker, call.version),
                false => unknown(partition.partition_index),
            });
            TopicData::default().with_topic_name(asked.topic_name.clone()).with_partitions(partitions.collect())
        });
        let nodes = if is_known && call.version >= NODES_SINCE { nodes(broker, call) } else { Vec::new() };
        Answer::Reply(
            DescribeQuorumResponse::default()
                .with_error_message(Some(StrBytes::new()))
                .with_topics(topics.collect())
                .with_nodes(nodes),
        )
    }
    fn refuse(_: &DescribeQuorumRequest, code: ErrorCode) -> DescribeQuorumResponse {
        DescribeQuorumResponse::default()
            .with_error_code(code.get())
            .with_error_message(Some(StrBytes::from_static_str(code.message())))
    }
}

fn unknown(index: i32) -> PartitionData {
    let code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    PartitionData::default()
        .with_partition_index(index)
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_static_str(code.message())))
}
fn quorum(broker: &Broker, version: i16) -> PartitionData {
    // Each change of a feature, topic or node is a record there; nobody reads them, so that their number will do.
    let end = broker.features.epoch.saturating_add(broker.topics.created());
    let now = broker.now.as_millis();
    let state = |voter: Voter| {
        ReplicaState::default()
            .with_replica_id(BrokerId(voter.id))
            .with_replica_directory_id(if version < NODES_SINCE { Uuid::nil() } else { voter.directory })
            .with_log_end_offset(end)
            .with_last_fetch_timestamp(now)
            .with_last_caught_up_timestamp(now)
    };
    let (voters, observers) = broker.controllers();
    PartitionData::default()
        .with_error_message(Some(StrBytes::new()))
        .with_leader_id(BrokerId(broker.nodes.controller().map_or(-1, |node| node.id.get())))
        .with_leader_epoch(1)
        .with_high_watermark(end)
        .with_current_voters(voters.into_iter().map(state).collect())
        .with_observers(observers.into_iter().map(state).collect())
}
fn nodes(broker: &Broker, call: &Call) -> Vec<Node> {
    let node = |node: &crate::broker::Node| {
        let listener = Listener::default()
            .with_name(StrBytes::from_static_str(LISTENER))
            .with_host(node.host(call.listener))
            .with_port(u16::try_from(node.port(call.listener)).unwrap_or(0));
        Node::default().with_node_id(BrokerId(node.id.get())).with_listeners(vec![listener])
    };
    broker.nodes.all().iter().map(node).collect()
}
