//! Topics and the cluster: CreateTopics, DeleteTopics, Metadata, FindCoordinator, elections and moves.

use crate::Step;
use crate::chance::Chance;
use crate::data::{TOPICS, partition, text};
use crate::ids::Ids;
use crate::pair::{Kind, Pair};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic};
use millstream_protocol::messages::create_partitions_request::{CreatePartitionsAssignment, CreatePartitionsTopic};
use millstream_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use millstream_protocol::messages::create_topics_response::CreatableTopicResult;
use millstream_protocol::messages::delete_topics_request::DeleteTopicState;
use millstream_protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use millstream_protocol::messages::elect_leaders_request::TopicPartitions;
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::{
    AlterPartitionReassignmentsRequest, BrokerId, CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest,
    DescribeTopicPartitionsRequest, ElectLeadersRequest, FindCoordinatorRequest, ListPartitionReassignmentsRequest,
    MetadataRequest, MetadataResponse, TopicName,
};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::METADATA, metadata),
        (ApiKey::CREATE_TOPICS, create),
        (ApiKey::DELETE_TOPICS, delete),
        (ApiKey::FIND_COORDINATOR, find_coordinator),
        (ApiKey::ELECT_LEADERS, elect),
        (ApiKey::ALTER_PARTITION_REASSIGNMENTS, reassign),
        (ApiKey::LIST_PARTITION_REASSIGNMENTS, list_reassignments),
        (ApiKey::CREATE_PARTITIONS, create_partitions),
        (ApiKey::DESCRIBE_TOPIC_PARTITIONS, describe_partitions),
    ]
}

/// Makes the topics that all steps use.
pub(crate) fn prepare(pair: &mut Pair) {
    let topics: &[(&str, &[(&str, &str)])] = &[
        ("plain", &[]),
        ("compacted", &[("cleanup.policy", "compact")]),
        ("append-time", &[("message.timestamp.type", "LogAppendTime")]),
        ("small", &[("max.message.bytes", "300")]),
        ("late", &[("message.timestamp.before.max.ms", "3600000"), ("message.timestamp.after.max.ms", "60000")]),
        ("recoded", &[("compression.type", "gzip")]),
        ("configured", &[]),
    ];
    for (name, configs) in topics {
        let configs = configs
            .iter()
            .map(|(key, value)| CreatableTopicConfig::default().with_name(text(key)).with_value(Some(text(value))));
        make(
            pair,
            (7, false),
            CreatableTopic::default()
                .with_name(TopicName(text(name)))
                .with_num_partitions(3)
                .with_replication_factor(1)
                .with_configs(configs.collect()),
        );
    }
    // Until a real Kafka's coordinators have loaded.
    for kind in [0, 1] {
        let request = FindCoordinatorRequest::default().with_key_type(kind).with_coordinator_keys(vec![text("tx-a")]);
        pair.ask(
            Kind::Reads,
            4,
            |_| request.clone(),
            |response, _| response.coordinators.iter_mut().for_each(|each| each.port = each.port.min(1)),
        );
    }
}
fn make(pair: &mut Pair, (version, only_validates): (i16, bool), topic: CreatableTopic) {
    let request = CreateTopicsRequest::default()
        .with_timeout_ms(5000)
        .with_topics(vec![topic.clone()])
        .with_validate_only(only_validates);
    pair.ask(
        Kind::Writes,
        version,
        |_| request.clone(),
        |response, ids| response.topics.iter_mut().for_each(|topic| tidy_created(topic, ids)),
    );
    look(pair, &topic.name.0);
}
pub(crate) fn tidy_created(topic: &mut CreatableTopicResult, ids: &mut Ids) {
    if topic.error_code == 0 && !topic.topic_id.is_nil() {
        ids.learn_topic(&topic.name.0, topic.topic_id);
    }
    topic.topic_id = ids.tidy(topic.topic_id);
    topic.configs.iter_mut().for_each(|configs| configs.sort_by(|one, other| one.name.cmp(&other.name)));
}
/// Waits until both know a topic, or that it has gone.
fn look(pair: &mut Pair, name: &str) {
    let asked = MetadataRequestTopic::default().with_name(Some(TopicName(text(name))));
    let request = MetadataRequest::default().with_topics(Some(vec![asked]));
    pair.ask(Kind::Reads, 12, |_| request.clone(), tidy_metadata);
}
pub(crate) fn tidy_metadata(response: &mut MetadataResponse, ids: &mut Ids) {
    response.brokers.iter_mut().for_each(|broker| broker.port = 1);
    response.cluster_id = response.cluster_id.as_ref().map(|_| text("cluster"));
    response.topics.sort_by(|one, other| one.name.cmp(&other.name));
    for topic in &mut response.topics {
        if let Some(name) = topic.name.as_ref().filter(|_| topic.error_code == 0 && !topic.topic_id.is_nil()) {
            ids.learn_topic(&name.0, topic.topic_id);
        }
        topic.topic_id = ids.tidy(topic.topic_id);
        topic.partitions.sort_by_key(|partition| partition.partition_index);
    }
}

const MADE: &[&str] = &["made-a", "made-b", "bad name", "", "..", "plain"];

fn metadata(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::METADATA);
    let version = chance.version(min, max);
    let (by_id, all) = (version >= 12 && chance.once_in(3), chance.once_in(4));
    let name = *chance.pick(&[TOPICS, MADE].concat());
    let operations = version >= 8 && chance.once_in(2);
    let make = |ids: &Ids| {
        let asked = MetadataRequestTopic::default();
        let asked = if by_id {
            asked.with_name(None).with_topic_id(ids.topic(name))
        } else {
            asked.with_name(Some(TopicName(text(name))))
        };
        let topics = if all { if version == 0 { Some(Vec::new()) } else { None } } else { Some(vec![asked]) };
        MetadataRequest::default()
            .with_topics(topics)
            .with_allow_auto_topic_creation(version < 4)
            .with_include_topic_authorized_operations(operations)
            .with_include_cluster_authorized_operations((8..=10).contains(&version) && operations)
    };
    pair.ask(Kind::Reads, version, make, tidy_metadata);
}

fn create(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::CREATE_TOPICS);
    let version = chance.version(min, max);
    let name = *chance.pick(MADE);
    let topic = CreatableTopic::default().with_name(TopicName(text(name))).with_configs(some_configs(chance));
    let topic = if chance.once_in(5) {
        topic
            .with_num_partitions(*chance.pick(&[-1, -1, 1]))
            .with_replication_factor(-1)
            .with_assignments(placed(chance))
    } else {
        topic
            .with_num_partitions(*chance.pick(&[1, 2, 0, -1, -2, 11_000]))
            .with_replication_factor(*chance.pick(&[1, 1, 2, 0, -1]))
    };
    make(pair, (version, chance.once_in(6)), topic);
}
fn some_configs(chance: &mut Chance) -> Vec<CreatableTopicConfig> {
    let configs = [
        ("cleanup.policy", Some("compact")),
        ("cleanup.policy", Some("shred")),
        ("retention.ms", Some("x")),
        ("nope", Some("1")),
        ("retention.ms", None),
        ("min.insync.replicas", Some("1")),
        ("min.insync.replicas", Some(" 2 ")),
        ("min.cleanable.dirty.ratio", Some("1")),
        ("preallocate", Some("TRUE")),
        ("message.format.version", Some("3.0")),
        ("remote.storage.enable", Some("true")),
        ("min.compaction.lag.ms", Some("9223372036854775807")),
        ("max.compaction.lag.ms", Some("1")),
    ];
    let some = (0..*chance.pick(&[0, 0, 1, 2, 3])).map(|_| {
        let (name, value) = *chance.pick(&configs);
        CreatableTopicConfig::default().with_name(text(name)).with_value(value.map(text))
    });
    some.collect()
}
/// Replicas by partition.
fn placed(chance: &mut Chance) -> Vec<CreatableReplicaAssignment> {
    let places: &[(i32, &[i32])] = chance.pick::<&[(i32, &[i32])]>(&[
        &[(0, &[1])],
        &[(0, &[1]), (1, &[1])],
        &[(1, &[1])],
        &[(0, &[1]), (0, &[1])],
        &[(0, &[9])],
        &[(0, &[1, 1])],
        &[(0, &[])],
        &[(0, &[-1])],
    ]);
    let placed = places.iter().map(|(index, nodes)| {
        let nodes = nodes.iter().map(|node| BrokerId(*node)).collect();
        CreatableReplicaAssignment::default().with_partition_index(*index).with_broker_ids(nodes)
    });
    placed.collect()
}

fn create_partitions(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::CREATE_PARTITIONS);
    let version = chance.version(min, max);
    let names = ["made-a", "made-b", "missing", "bad name", ""];
    let topics: Vec<CreatePartitionsTopic> = (0..*chance.pick(&[1, 1, 1, 2]))
        .map(|_| {
            let nodes: Option<&[&[i32]]> = *chance.pick::<Option<&[&[i32]]>>(&[
                None,
                None,
                None,
                Some(&[&[1]]),
                Some(&[&[1], &[1]]),
                Some(&[&[9]]),
                Some(&[&[]]),
                Some(&[]),
            ]);
            let assignment = |nodes: &&[i32]| {
                CreatePartitionsAssignment::default()
                    .with_broker_ids(nodes.iter().map(|node| BrokerId(*node)).collect())
            };
            CreatePartitionsTopic::default()
                .with_name(TopicName(text(chance.word(&names))))
                .with_count(*chance.pick(&[1, 2, 3, 4, 0, -1, 11_000]))
                .with_assignments(nodes.map(|nodes| nodes.iter().map(assignment).collect()))
        })
        .collect();
    let looked_at: Vec<_> = topics.iter().map(|topic| topic.name.0.to_string()).collect();
    let request = CreatePartitionsRequest::default()
        .with_topics(topics)
        .with_timeout_ms(5000)
        .with_validate_only(chance.once_in(4));
    pair.ask(
        Kind::Writes,
        version,
        |_| request.clone(),
        |response, _| {
            response.results.sort_by(|one, other| one.name.cmp(&other.name));
        },
    );
    looked_at.iter().for_each(|name| look(pair, name));
}

fn describe_partitions(pair: &mut Pair, chance: &mut Chance) {
    let topics: Vec<_> = (0..*chance.pick(&[0, 1, 1, 2, 3]))
        .map(|_| TopicRequest::default().with_name(TopicName(text(chance.word(&[TOPICS, MADE].concat())))))
        .collect();
    let cursor = chance.once_in(3).then(|| {
        Cursor::default()
            .with_topic_name(TopicName(text(chance.word(TOPICS))))
            .with_partition_index(*chance.pick(&[0, 1, 2, 9, -1]))
    });
    let request = DescribeTopicPartitionsRequest::default()
        .with_topics(topics)
        .with_response_partition_limit(*chance.pick(&[2000, 1, 2, 4, 0, -1]))
        .with_cursor(cursor);
    pair.ask(
        Kind::Reads,
        0,
        |_| request.clone(),
        |response, ids| {
            response.topics.retain(|topic| topic.name.as_ref().is_none_or(|name| *name.0 != *"__share_group_state"));
            response.topics.iter_mut().for_each(|topic| topic.topic_id = ids.tidy(topic.topic_id));
            // What may not be seen comes last, in no order.
            response.topics.sort_by(|one, other| one.name.cmp(&other.name));
        },
    );
}

fn delete(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DELETE_TOPICS);
    let version = chance.version(min, max);
    let (name, by_id) = (*chance.pick(&["made-a", "made-b", "nothing"]), version >= 6 && chance.once_in(2));
    let make = |ids: &Ids| {
        let request = DeleteTopicsRequest::default().with_timeout_ms(5000);
        if version < 6 {
            return request.with_topic_names(vec![TopicName(text(name))]);
        }
        let state = DeleteTopicState::default();
        let state = if by_id {
            state.with_name(None).with_topic_id(ids.topic(name))
        } else {
            state.with_name(Some(TopicName(text(name))))
        };
        request.with_topics(vec![state])
    };
    pair.ask(Kind::Writes, version, make, |response, ids| {
        response.responses.iter_mut().for_each(|each| each.topic_id = ids.tidy(each.topic_id));
    });
    look(pair, name);
}

fn find_coordinator(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::FIND_COORDINATOR);
    let version = chance.version(min, max);
    // Of share groups (2) only keys that nobody has: they are not served yet.
    let key = text(chance.word(&["tx-a", "g1", "g2", "classic-a", "new-a", "", "g1:1", "a:b:c:d"]));
    let kind = if version >= 1 { *chance.pick(&[0, 0, 1, 1, 2, 9]) } else { 0 };
    let request = if version >= 4 {
        FindCoordinatorRequest::default().with_key_type(kind).with_coordinator_keys(vec![key])
    } else {
        FindCoordinatorRequest::default().with_key_type(kind).with_key(key)
    };
    pair.ask(
        Kind::Reads,
        version,
        |_| request.clone(),
        |response, _| {
            response.port = response.port.min(1);
            response.coordinators.iter_mut().for_each(|each| each.port = each.port.min(1));
        },
    );
}

fn elect(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::ELECT_LEADERS);
    let version = chance.version(min, max);
    let asked = TopicPartitions::default()
        .with_topic(TopicName(text(chance.word(TOPICS))))
        .with_partitions(vec![partition(chance)]);
    let kind = if version >= 1 { *chance.pick(&[0, 1]) } else { 0 };
    let asked = if chance.once_in(4) { None } else { Some(vec![asked]) };
    let request =
        ElectLeadersRequest::default().with_election_type(kind).with_timeout_ms(5000).with_topic_partitions(asked);
    // A controller that is starting has an answer of a code alone, which version 0 has no field for. Of one node nothing is elected.
    pair.ask(
        Kind::Settles,
        version,
        |_| request.clone(),
        |response, _| response.replica_election_results.sort_by(|one, other| one.topic.0.cmp(&other.topic.0)),
    );
}

fn reassign(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::ALTER_PARTITION_REASSIGNMENTS);
    let version = chance.version(min, max);
    let replicas: Option<Vec<i32>> =
        chance.pick(&[None, Some(vec![1]), Some(vec![]), Some(vec![1, 1]), Some(vec![7]), Some(vec![1, 7])]).clone();
    let asked = ReassignablePartition::default()
        .with_partition_index(partition(chance))
        .with_replicas(replicas.map(|ids| ids.into_iter().map(BrokerId).collect()));
    let topic =
        ReassignableTopic::default().with_name(TopicName(text(chance.word(TOPICS)))).with_partitions(vec![asked]);
    let request = AlterPartitionReassignmentsRequest::default()
        .with_timeout_ms(5000)
        .with_topics(vec![topic])
        .with_allow_replication_factor_change(version < 1 || chance.once_in(2));
    pair.ask(Kind::Writes, version, |_| request.clone(), |_, _| {});
}
fn list_reassignments(pair: &mut Pair, _: &mut Chance) {
    let request = ListPartitionReassignmentsRequest::default().with_timeout_ms(5000).with_topics(None);
    pair.ask(Kind::Reads, 0, |_| request.clone(), |_, _| {});
}
