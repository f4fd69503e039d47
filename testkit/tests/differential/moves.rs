//! What moves replicas and those who lead: elections, clean and not, and reassignments, those among them that wait for a node which is down.

use crate::chance::Chance;
use crate::data::text;
use crate::ids::Ids;
use crate::nodes::{NAMES, Step, partition, settle};
use crate::pair::{Kind, Pair};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic};
use millstream_protocol::messages::describe_topic_partitions_request::TopicRequest;
use millstream_protocol::messages::elect_leaders_request::TopicPartitions;
use millstream_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use millstream_protocol::messages::{
    AlterPartitionReassignmentsRequest, BrokerId, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
    ElectLeadersRequest, ElectLeadersResponse, IncrementalAlterConfigsRequest, ListPartitionReassignmentsRequest,
    TopicName,
};

pub(crate) const ALL: &[Step] = &[reassign, reassign, elect, describe, list_reassignments];
pub(crate) const ELECTIONS: &[Step] = &[elect, describe];
/// What says how many replicas must be in sync.
pub(crate) const OPTIONS: &[Step] = &[require, describe];
pub(crate) const UNCLEAN: &[Step] = &[elect_unclean, elect_unclean, describe];

/// DescribeConfigs' number for topics.
const TOPIC: i8 = 2;
const PREFERRED: i8 = 0;
const ANYBODY: i8 = 1;

fn elect(pair: &mut Pair, chance: &mut Chance) {
    let kind = *chance.pick(&[PREFERRED, PREFERRED, ANYBODY]);
    ask_election(pair, chance, kind);
}
fn elect_unclean(pair: &mut Pair, chance: &mut Chance) {
    ask_election(pair, chance, ANYBODY);
}
fn ask_election(pair: &mut Pair, chance: &mut Chance, kind: i8) {
    let asked = TopicPartitions::default()
        .with_topic(TopicName(text(chance.word(NAMES))))
        .with_partitions(vec![partition(chance)]);
    let (min, max) = pair.versions(ApiKey::ELECT_LEADERS);
    let version = chance.version(if kind == PREFERRED { min } else { min.max(1) }, max);
    let request = ElectLeadersRequest::default()
        .with_election_type(kind)
        .with_timeout_ms(5000)
        .with_topic_partitions((!chance.once_in(8)).then(|| vec![asked]));
    pair.ask(Kind::Writes, version, |_| request.clone(), tidy_election);
    settle(pair);
}
fn tidy_election(response: &mut ElectLeadersResponse, _: &mut Ids) {
    response.replica_election_results.retain(|topic| *topic.topic.0 != *"__share_group_state");
    // Of all topics and partitions, in no order.
    response.replica_election_results.sort_by(|one, other| one.topic.0.cmp(&other.topic.0));
    for topic in &mut response.replica_election_results {
        topic.partition_result.sort_by_key(|each| each.partition_id);
    }
}

fn reassign(pair: &mut Pair, chance: &mut Chance) {
    let places: &[Option<&[i32]>] = &[
        None,
        None,
        Some(&[2, 1, 3]),
        Some(&[3, 2, 1]),
        Some(&[1, 2]),
        Some(&[3, 1]),
        Some(&[2]),
        Some(&[3]),
        Some(&[1, 9]),
    ];
    let replicas = chance.pick(places).map(|nodes| nodes.iter().map(|node| BrokerId(*node)).collect());
    let asked = ReassignablePartition::default().with_partition_index(partition(chance)).with_replicas(replicas);
    let topic =
        ReassignableTopic::default().with_name(TopicName(text(chance.word(NAMES)))).with_partitions(vec![asked]);
    let request = AlterPartitionReassignmentsRequest::default()
        .with_timeout_ms(5000)
        .with_topics(vec![topic])
        .with_allow_replication_factor_change(chance.below(3) > 0);
    pair.ask(Kind::Writes, 1, |_| request.clone(), |_, _| {});
    // Until new followers are in step, and the old ones gone.
    list_reassignments(pair, chance);
    settle(pair);
}
fn list_reassignments(pair: &mut Pair, _: &mut Chance) {
    let request = ListPartitionReassignmentsRequest::default().with_timeout_ms(5000).with_topics(None);
    pair.ask(
        Kind::Settles,
        0,
        |_| request.clone(),
        |response, _| {
            response.topics.sort_by(|one, other| one.name.cmp(&other.name));
            response.topics.iter_mut().for_each(|topic| topic.partitions.sort_by_key(|each| each.partition_index));
        },
    );
}

fn require(pair: &mut Pair, chance: &mut Chance) {
    let option = AlterableConfig::default()
        .with_name(text("min.insync.replicas"))
        .with_value(Some(text(chance.word(&["1", "1", "2", "3"]))));
    let topic = AlterConfigsResource::default()
        .with_resource_type(TOPIC)
        .with_resource_name(text(chance.word(NAMES)))
        .with_configs(vec![option]);
    let request = IncrementalAlterConfigsRequest::default().with_resources(vec![topic]);
    pair.ask(Kind::Writes, 1, |_| request.clone(), |_, _| {});
    settle(pair);
}

/// Who may lead, besides who is in sync.
fn describe(pair: &mut Pair, chance: &mut Chance) {
    let topic = TopicRequest::default().with_name(TopicName(text(chance.word(NAMES))));
    let request =
        DescribeTopicPartitionsRequest::default().with_topics(vec![topic]).with_response_partition_limit(2000);
    pair.ask(Kind::Settles, 0, |_| request.clone(), tidy_partitions);
}
fn tidy_partitions(response: &mut DescribeTopicPartitionsResponse, ids: &mut Ids) {
    for topic in &mut response.topics {
        topic.topic_id = ids.tidy(topic.topic_id);
        for partition in &mut topic.partitions {
            partition.isr_nodes.sort_unstable();
            if let Some(eligible) = &mut partition.eligible_leader_replicas {
                eligible.sort_unstable();
            }
        }
    }
}
