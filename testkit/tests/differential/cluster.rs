//! The cluster: ApiVersions, DescribeCluster, DescribeQuorum, UpdateFeatures, UnregisterBroker, voters, and directories of logs.
//!
//! Not compared: addresses of nodes and controllers; how far the log of metadata is; the APIs and features of what this broker does not
//! serve yet.

use crate::Step;
use crate::chance::Chance;
use crate::data::{TOPICS, partition, text};
use crate::ids::Ids;
use crate::pair::{Kind, Pair};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::add_raft_voter_request::Listener as AddedListener;
use millstream_protocol::messages::alter_replica_log_dirs_request::{AlterReplicaLogDir, AlterReplicaLogDirTopic};
use millstream_protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use millstream_protocol::messages::describe_quorum_request::{PartitionData, TopicData};
use millstream_protocol::messages::describe_quorum_response::ReplicaState;
use millstream_protocol::messages::update_features_request::FeatureUpdateKey;
use millstream_protocol::messages::{
    AddRaftVoterRequest, AlterReplicaLogDirsRequest, ApiVersionsRequest, ApiVersionsResponse, BrokerId,
    DescribeClusterRequest, DescribeLogDirsRequest, DescribeLogDirsResponse, DescribeQuorumRequest,
    DescribeQuorumResponse, InitProducerIdRequest, RemoveRaftVoterRequest, StrBytes, TopicName,
    UnregisterBrokerRequest, UpdateFeaturesRequest, Uuid,
};
use std::collections::BTreeSet;

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::API_VERSIONS, api_versions),
        (ApiKey::DESCRIBE_CLUSTER, describe),
        (ApiKey::DESCRIBE_QUORUM, quorum),
        (ApiKey::UPDATE_FEATURES, update_features),
        (ApiKey::UNREGISTER_BROKER, unregister),
        (ApiKey::ADD_RAFT_VOTER, add_voter),
        (ApiKey::REMOVE_RAFT_VOTER, remove_voter),
        (ApiKey::DESCRIBE_LOG_DIRS, describe_dirs),
        (ApiKey::ALTER_REPLICA_LOG_DIRS, alter_dirs),
        (ApiKey::INIT_PRODUCER_ID, unsettled),
    ]
}

/// Delegation tokens, share groups, streams groups, and what controllers ask each other, which this broker does not serve.
const LATER: &[std::ops::RangeInclusive<i16>] = &[38..=41, 76..=79, 82..=94];
/// Features of what it does not serve.
const LATER_FEATURES: &[&str] = &["share.version", "streams.version"];

fn api_versions(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::API_VERSIONS);
    let version = chance.version(min, max);
    let (name, number) = (
        chance.word(&["apache-kafka-java", "a.b", "", "-a", "a b", "x-"]),
        chance.word(&["4.4.0", "1", "1.0-rc1", "", "_", "1.0.", "."]),
    );
    let request = if version >= 3 {
        ApiVersionsRequest::default().with_client_software_name(text(name)).with_client_software_version(text(number))
    } else {
        ApiVersionsRequest::default()
    };
    pair.ask(Kind::Reads, version, |_| request.clone(), tidy_versions);
}
fn tidy_versions(response: &mut ApiVersionsResponse, _: &mut Ids) {
    let is_later = |key: i16| LATER.iter().any(|keys| keys.contains(&key));
    response.api_keys.retain(|row| !is_later(row.api_key));
    response.api_keys.sort_by_key(|row| row.api_key);
    response.supported_features.retain(|feature| !LATER_FEATURES.contains(&feature.name.as_str()));
    response.supported_features.sort_by(|one, other| one.name.cmp(&other.name));
    response.finalized_features.retain(|feature| !LATER_FEATURES.contains(&feature.name.as_str()));
    response.finalized_features.sort_by(|one, other| one.name.cmp(&other.name));
    response.finalized_features_epoch = response.finalized_features_epoch.min(1);
}

fn describe(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DESCRIBE_CLUSTER);
    let version = chance.version(min, max);
    let request = DescribeClusterRequest::default()
        .with_include_cluster_authorized_operations(chance.once_in(2))
        .with_endpoint_type(if version >= 1 { *chance.pick(&[1, 1, 1, 2, 3, 0]) } else { 1 })
        .with_include_fenced_brokers(version >= 2 && chance.once_in(2));
    pair.ask(
        Kind::Reads,
        version,
        |_| request.clone(),
        |response, _| {
            response.brokers.iter_mut().for_each(|broker| broker.port = 1);
            response.brokers.sort_by_key(|broker| broker.broker_id);
            if response.brokers.len() > 1 {
                // In KRaft any that is up.
                response.controller_id = BrokerId(response.controller_id.0.min(0));
            }
            if !response.cluster_id.is_empty() {
                response.cluster_id = text("cluster");
            }
        },
    );
}

fn quorum(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DESCRIBE_QUORUM);
    let version = chance.version(min, max);
    let topic = chance.word(&["__cluster_metadata", "__cluster_metadata", "plain", ""]);
    let indexes = *chance.pick::<&[i32]>(&[&[0], &[0], &[1], &[0, 1], &[]]);
    let partitions = indexes.iter().map(|index| PartitionData::default().with_partition_index(*index));
    let topic = TopicData::default().with_topic_name(TopicName(text(topic))).with_partitions(partitions.collect());
    let request = DescribeQuorumRequest::default().with_topics(vec![topic]);
    pair.ask(Kind::Reads, version, |_| request.clone(), tidy_quorum);
}
fn tidy_quorum(response: &mut DescribeQuorumResponse, _: &mut Ids) {
    let tidy = |replica: &mut ReplicaState| {
        replica.log_end_offset = replica.log_end_offset.min(1);
        replica.last_fetch_timestamp = replica.last_fetch_timestamp.min(1);
        replica.last_caught_up_timestamp = replica.last_caught_up_timestamp.min(1);
        if !replica.replica_directory_id.is_nil() {
            replica.replica_directory_id = Uuid::from_u128(1);
        }
    };
    for partition in response.topics.iter_mut().flat_map(|topic| &mut topic.partitions) {
        partition.high_watermark = partition.high_watermark.min(1);
        partition.leader_epoch = partition.leader_epoch.min(1);
        partition.current_voters.iter_mut().chain(&mut partition.observers).for_each(tidy);
    }
    response.nodes.iter_mut().flat_map(|node| &mut node.listeners).for_each(|listener| listener.port = 1);
}

/// Only looks at what would be changed, so that the others' rules stay as they are.
fn update_features(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::UPDATE_FEATURES);
    let version = chance.version(min, max);
    let features =
        ["group.version", "transaction.version", "metadata.version", "eligible.leader.replicas.version", "nope"];
    let updates = (0..*chance.pick(&[1, 1, 1, 2, 3, 0])).map(|_| {
        let level = *chance.pick(&[0, 1, 2, 3, 20, 33, 99, -1]);
        let update =
            FeatureUpdateKey::default().with_feature(text(chance.word(&features))).with_max_version_level(level);
        if version == 0 {
            return update.with_allow_downgrade(chance.once_in(2));
        }
        update.with_upgrade_type(*chance.pick(&[1, 1, 2, 3, 0, 9]))
    });
    let mut updates: Vec<_> = updates.collect();
    // In a list without order.
    let mut seen = BTreeSet::new();
    updates.retain(|update| seen.insert(update.feature.clone()));
    // Version 0 cannot only look: there a downgrade of nothing is asked for.
    if version == 0 {
        updates.truncate(1);
        updates.iter_mut().for_each(|update| update.feature = text("nope"));
    }
    let request = UpdateFeaturesRequest::default()
        .with_timeout_ms(5000)
        .with_feature_updates(updates)
        .with_validate_only(version >= 1);
    pair.ask(
        Kind::Writes,
        version,
        |_| request.clone(),
        |response, _| {
            response.results.sort_by(|one, other| one.feature.cmp(&other.feature));
            let results = response.results.iter_mut().map(|result| &mut result.error_message);
            let reasons = results.chain([&mut response.error_message]).flatten();
            reasons.for_each(|reason| *reason = without_controller(reason));
        },
    );
}

/// Beside several nodes the launcher's controller is a process of its own, with a number of its own.
fn without_controller(reason: &str) -> StrBytes {
    text(&reason.replace("Local controller 100 ", "Local controller 1 "))
}

fn unregister(pair: &mut Pair, chance: &mut Chance) {
    let request = UnregisterBrokerRequest::default().with_broker_id(BrokerId(*chance.pick(&[7, 99, -1])));
    pair.ask(Kind::Writes, 0, |_| request.clone(), |_, _| {});
}

/// A cluster of one node has one voter, whose directory differs, and is not asked for.
fn add_voter(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::ADD_RAFT_VOTER);
    let listener =
        |name: &str| AddedListener::default().with_name(text(name)).with_host(text("127.0.0.1")).with_port(1);
    let names: &[&[&str]] = &[&["CONTROLLER"], &["CONTROLLER"], &["X"], &[]];
    let request = AddRaftVoterRequest::default()
        .with_cluster_id(chance.once_in(4).then(|| text("another")))
        .with_timeout_ms(1000)
        .with_voter_id(*chance.pick(&[99, 99, 99, -1]))
        .with_voter_directory_id(*chance.pick(&[Uuid::from_u64_pair(0, 5), Uuid::from_u64_pair(0, 5), Uuid::nil()]))
        .with_listeners(chance.pick(names).iter().map(|name| listener(name)).collect());
    pair.ask(
        Kind::Writes,
        chance.version(min, max),
        |_| request.clone(),
        |response, _| {
            response.error_message = response.error_message.take().map(|reason| tidy_reason(&reason));
        },
    );
}
fn remove_voter(pair: &mut Pair, chance: &mut Chance) {
    let request = RemoveRaftVoterRequest::default()
        .with_cluster_id(chance.once_in(4).then(|| text("another")))
        .with_voter_id(*chance.pick(&[1, 99, 99, -1]))
        .with_voter_directory_id(*chance.pick(&[Uuid::from_u64_pair(0, 5), Uuid::from_u64_pair(0, 5), Uuid::nil()]));
    pair.ask(
        Kind::Writes,
        0,
        |_| request.clone(),
        |response, _| {
            response.error_message = response.error_message.take().map(|reason| tidy_reason(&reason));
        },
    );
}
/// Who votes and what the cluster is called is each one's own.
fn tidy_reason(reason: &StrBytes) -> StrBytes {
    let own = [" the set of voters ", " the cluster id "];
    let end = own.iter().find_map(|own| Some(reason.find(own)? + own.len())).unwrap_or(reason.len());
    text(&reason[..end])
}

fn describe_dirs(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DESCRIBE_LOG_DIRS);
    let version = chance.version(min, max);
    let topics = (0..*chance.pick(&[1, 1, 2, 0])).map(|_| {
        let topic = DescribableLogDirTopic::default().with_topic(TopicName(text(chance.word(TOPICS))));
        topic.with_partitions(vec![partition(chance), partition(chance)])
    });
    let request = DescribeLogDirsRequest::default().with_topics(Some(topics.collect()));
    pair.ask(Kind::Reads, version, |_| request.clone(), tidy_dirs);
}
fn tidy_dirs(response: &mut DescribeLogDirsResponse, ids: &mut Ids) {
    for result in &mut response.results {
        ids.log_dir = Some(result.log_dir.clone());
        result.log_dir = text("directory");
        result.total_bytes = result.total_bytes.min(1);
        result.usable_bytes = result.usable_bytes.min(1);
        result.topics.sort_by(|one, other| one.name.cmp(&other.name));
        for topic in &mut result.topics {
            topic.partitions.sort_by_key(|partition| partition.partition_index);
            // What was deleted is gone from memory at once, from a disk with its segment; and codecs differ by bytes.
            topic
                .partitions
                .iter_mut()
                .for_each(|partition| partition.partition_size = partition.partition_size.min(0));
        }
    }
}

fn alter_dirs(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::ALTER_REPLICA_LOG_DIRS);
    let version = chance.version(min, max);
    let is_there = chance.once_in(2);
    let topic = AlterReplicaLogDirTopic::default()
        .with_name(TopicName(text(chance.word(TOPICS))))
        .with_partitions(vec![partition(chance)]);
    let make = |ids: &Ids| {
        let path = ids.log_dir.clone().filter(|_| is_there).unwrap_or_else(|| text("/nowhere"));
        let dir = AlterReplicaLogDir::default().with_path(path).with_topics(vec![topic.clone()]);
        AlterReplicaLogDirsRequest::default().with_dirs(vec![dir])
    };
    pair.ask(Kind::Writes, version, make, |_, _| {});
}

/// A version that is not settled yet ends the connection.
fn unsettled(pair: &mut Pair, _: &mut Chance) {
    pair.ask(Kind::Writes, 6, |_| InitProducerIdRequest::default().with_transaction_timeout_ms(1000), |_, _| {});
}
