//! Metadata: nodes, topics by name or id, who leads and who is in sync. A topic that is made because it was asked for is there at once, or, as
//! Kafka has it, unknown until it has been made: `millstream.auto.create.delay.ms`.
//!
//! Versions 0 to 13. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call, ListenerId};
use crate::broker::nodes::Node;
use crate::broker::timers::TimerKey;
use crate::broker::topics::partition::Partition;
use crate::broker::topics::topic::Topic;
use crate::broker::topics::{TestTopic, check_name};
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use millstream_protocol::messages::{BrokerId, MetadataRequest, MetadataResponse, StrBytes, TopicName};
use millstream_protocol::{ErrorCode, NodeId};
use std::collections::BTreeSet;

/// What everybody may do with a topic and with the cluster, as a bit field.
pub(super) const TOPIC_OPERATIONS: i32 = 0b1101_1111_1000;
pub(super) const CLUSTER_OPERATIONS: i32 = 0b1_1111_1010_0000;

pub(super) struct Metadata;

impl Handler for Metadata {
    type Request = MetadataRequest;
    fn handle(broker: &mut Broker, call: &Call, request: MetadataRequest) -> Answer<MetadataResponse> {
        let may_create = request.allow_auto_topic_creation && broker.settings.auto_create_topics;
        let describe = |topic: &Topic| describe_topic(broker, topic, request.include_topic_authorized_operations);
        let mut topics: Vec<_> = match &request.topics {
            // In version 0 an empty list asks for all.
            Some(asked) if !(call.version == 0 && asked.is_empty()) => each_once(asked)
                .map(|asked| find(broker, asked, may_create, request.include_topic_authorized_operations))
                .collect(),
            _ => broker.topics.all().map(describe).collect(),
        };
        push_leaders(broker, &mut topics);
        let operations = if request.include_cluster_authorized_operations { CLUSTER_OPERATIONS } else { i32::MIN };
        Answer::Reply(
            MetadataResponse::default()
                .with_brokers(broker.nodes.visible().map(|node| describe_node(node, call.listener)).collect())
                .with_cluster_id(Some(broker.cluster_id.clone()))
                .with_controller_id(BrokerId(broker.nodes.controller().map_or(-1, |node| node.id.get())))
                .with_topics(topics)
                .with_cluster_authorized_operations(operations),
        )
    }
    fn refuse(request: &MetadataRequest, code: ErrorCode) -> MetadataResponse {
        let topics = request.topics.iter().flatten().map(|asked| failed(asked, code)).collect();
        MetadataResponse::default().with_topics(topics).with_error_code(code.get())
    }
}

/// What is named twice is answered once: so short a name may have so long an answer.
fn each_once(asked: &[MetadataRequestTopic]) -> impl Iterator<Item = &MetadataRequestTopic> {
    let mut seen = BTreeSet::new();
    asked.iter().filter(move |asked| seen.insert((asked.name.as_ref(), asked.topic_id)))
}
fn find(
    broker: &mut Broker,
    asked: &MetadataRequestTopic,
    may_create: bool,
    operations: bool,
) -> MetadataResponseTopic {
    let by_id = asked.name.is_none();
    let name = match &asked.name {
        Some(name) => Some(name.0.clone()),
        None => broker.topics.name_of(asked.topic_id).cloned(),
    };
    let Some(name) = name else { return failed(asked, ErrorCode::UNKNOWN_TOPIC_ID) };
    if let Some(topic) = broker.topics.find(&name) {
        return describe_topic(broker, topic, operations);
    }
    if by_id || !may_create {
        let code = if check_name(&name).is_ok() {
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
        } else {
            ErrorCode::INVALID_TOPIC_EXCEPTION
        };
        return failed_with(asked, code, operations);
    }
    match broker.create_when_used(&name) {
        Ok(()) => broker.topics.find(&name).map_or_else(
            || failed_with(asked, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, operations),
            |topic| describe_topic(broker, topic, operations),
        ),
        Err(code) => failed_with(asked, code, operations),
    }
}
fn failed(asked: &MetadataRequestTopic, code: ErrorCode) -> MetadataResponseTopic {
    MetadataResponseTopic::default()
        .with_name(asked.name.clone())
        .with_topic_id(asked.topic_id)
        .with_error_code(code.get())
}
/// A topic that is asked for by its name may be made, written and so on, whether there is one or not.
fn failed_with(asked: &MetadataRequestTopic, code: ErrorCode, operations: bool) -> MetadataResponseTopic {
    failed(asked, code).with_topic_authorized_operations(if operations { TOPIC_OPERATIONS } else { i32::MIN })
}
fn describe_node(node: &Node, listener: ListenerId) -> MetadataResponseBroker {
    MetadataResponseBroker::default()
        .with_node_id(BrokerId(node.id.get()))
        .with_host(node.host(listener))
        .with_port(node.port(listener))
        .with_rack(node.rack.clone())
}
fn describe_topic(broker: &Broker, topic: &Topic, operations: bool) -> MetadataResponseTopic {
    MetadataResponseTopic::default()
        .with_name(Some(TopicName(topic.name.clone())))
        .with_topic_id(topic.id)
        .with_is_internal(topic.is_internal())
        .with_partitions(
            topic.numbered().map(|(index, partition)| describe_partition(broker, index, partition)).collect(),
        )
        .with_topic_authorized_operations(if operations { TOPIC_OPERATIONS } else { i32::MIN })
}
/// Tells the leaders that a test wants to be told.
fn push_leaders(broker: &mut Broker, topics: &mut [MetadataResponseTopic]) {
    if broker.pushed_leaders.is_empty() {
        return;
    }
    for topic in topics {
        let Some(name) = &topic.name else { continue };
        for partition in &mut topic.partitions {
            if let Some(told) = broker.pushed_leaders.take(name, partition.partition_index) {
                partition.leader_id = BrokerId(told.leader.get());
                partition.leader_epoch = told.leader_epoch;
            }
        }
    }
}
fn describe_partition(broker: &Broker, index: i32, partition: &Partition) -> MetadataResponsePartition {
    let offline: Vec<NodeId> = partition.replicas.iter().copied().filter(|id| !broker.nodes.is_up(*id)).collect();
    let code = if partition.leader.is_some() { ErrorCode::NONE } else { ErrorCode::LEADER_NOT_AVAILABLE };
    MetadataResponsePartition::default()
        .with_error_code(code.get())
        .with_partition_index(index)
        .with_leader_id(BrokerId(partition.leader_id()))
        .with_leader_epoch(partition.leader_epoch)
        .with_replica_nodes(wire_ids(&partition.replicas))
        .with_isr_nodes(wire_ids(&partition.isr))
        .with_offline_replicas(wire_ids(&offline))
}
/// Nodes as messages name them.
pub(super) fn wire_ids(nodes: &[NodeId]) -> Vec<BrokerId> {
    nodes.iter().map(|id| BrokerId(id.get())).collect()
}

impl Broker {
    /// Makes a topic because somebody asked for it: now, or when it has taken as long as it does.
    pub(crate) fn create_when_used(&mut self, name: &StrBytes) -> Result<(), ErrorCode> {
        check_name(name).map_err(|(code, _)| code)?;
        let count = usize::try_from(self.settings.num_partitions).unwrap_or(1);
        self.check_partition_room((self.topics.awaited + 1).saturating_mul(count)).map_err(|(code, _)| code)?;
        if self.settings.auto_create_delay.is_zero() {
            self.create_with_defaults(name);
            return Ok(());
        }
        let key = TimerKey::Topic(StrBytes::from_string(name.to_string()));
        if !self.timers.is_armed(&key) {
            self.timers.arm(key, Some(self.now + self.settings.auto_create_delay));
            self.topics.awaited += 1;
        }
        Ok(())
    }
    /// The topic is made, unless somebody has done it meanwhile.
    pub(crate) fn handle_topic_time(&mut self, name: &str) {
        self.topics.awaited = self.topics.awaited.saturating_sub(1);
        if self.topics.find(name).is_none() {
            self.create_with_defaults(name);
        }
    }
    fn create_with_defaults(&mut self, name: &str) {
        let count = usize::try_from(self.settings.num_partitions).unwrap_or(1);
        self.create_topic(&TestTopic::new(name, count));
    }
}
