//! ElectLeaders: preferred (KIP-183) and unclean (KIP-460) elections, by any node (brokers forward to the controller).
//!
//! Versions 0 to 2. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::nodes::Nodes;
use crate::broker::topics::PartitionKey;
use crate::broker::topics::partition::{Election, Partition};
use crate::broker::topics::topic::{MinIsr, Minima};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::elect_leaders_request::TopicPartitions;
use millstream_protocol::messages::elect_leaders_response::{PartitionResult, ReplicaElectionResult};
use millstream_protocol::messages::{ElectLeadersRequest, ElectLeadersResponse, StrBytes, TopicName};
use std::collections::BTreeMap;

const PREFERRED: i8 = 0;
const UNCLEAN: i8 = 1;

pub(super) struct ElectLeaders;

/// What became of a partition's election: a code and what there is to say.
type Elected = Result<(), (ErrorCode, String)>;

impl Handler for ElectLeaders {
    type Request = ElectLeadersRequest;
    fn handle(broker: &mut Broker, call: &Call, request: ElectLeadersRequest) -> Answer<ElectLeadersResponse> {
        // Version 0 knows preferred elections alone.
        let kind = if call.version == 0 { PREFERRED } else { request.election_type };
        if !matches!(kind, PREFERRED | UNCLEAN) {
            return Answer::Reply(ElectLeadersResponse::default().with_error_code(ErrorCode::INVALID_REQUEST.get()));
        }
        let mut poll = Poll { broker, kind, minima: Minima::default(), done: BTreeMap::new() };
        let results = match &request.topic_partitions {
            None => elect_all(&mut poll),
            Some(asked) => elect_each(&mut poll, asked),
        };
        poll.end();
        Answer::Reply(respond(results))
    }
    fn refuse(request: &ElectLeadersRequest, code: ErrorCode) -> ElectLeadersResponse {
        let asked = request.topic_partitions.iter().flatten().map(|topic| {
            let refused = topic.partitions.iter().map(|index| (*index, Err((code, code.message().to_owned()))));
            (topic.topic.0.clone(), refused.collect())
        });
        respond(asked.collect()).with_error_code(code.get())
    }
    fn fit(response: &mut ElectLeadersResponse, version: i16) {
        if version == 0 {
            // It has no code for the whole, only those of the partitions.
            response.error_code = 0;
        }
    }
}

/// The elections of a request. The controller decides on all of them by what was before the first: one that comes twice ends twice in the same
/// way, and the minimum of replicas in sync is what it was, though the partition by which it goes may be among them.
struct Poll<'b> {
    broker: &'b mut Broker,
    kind: i8,
    minima: Minima,
    /// What became of each partition.
    done: BTreeMap<PartitionKey, Elected>,
}
impl Poll<'_> {
    fn elect(&mut self, topic: &str, index: i32) -> Elected {
        let rules = self.broker.in_sync_rules();
        let Broker { nodes, topics, .. } = &mut *self.broker;
        let unknown = |reason| (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, reason);
        let topic = topics.find_mut(topic).ok_or_else(|| unknown(format!("No such topic as {topic}")))?;
        let (id, name, min_isr) = (topic.id, topic.name.clone(), self.minima.of(topic, rules));
        let partition =
            topic.partition_mut(index).ok_or_else(|| unknown(format!("No such partition as {name}-{index}")))?;
        let elected = self.done.entry((id, index)).or_insert_with(|| {
            elect(partition, nodes, self.kind, min_isr).map_err(|code| (code, code.message().to_owned()))
        });
        elected.clone()
    }
    /// Lets those that have another leader go on from there.
    fn end(self) {
        let elected = self.done.iter().filter(|(_, elected)| elected.is_ok());
        elected.for_each(|(key, _)| self.broker.replicate(*key));
        self.broker.wake_all_fetches();
    }
}
fn elect(partition: &mut Partition, nodes: &Nodes, kind: i8, min_isr: MinIsr) -> Result<(), ErrorCode> {
    if kind == PREFERRED {
        return partition.elect_preferred(nodes, min_isr);
    }
    if partition.leader.is_some() {
        return Err(ErrorCode::ELECTION_NOT_NEEDED);
    }
    partition.elect(nodes, Election::Unclean);
    partition.leader.map(|_| ()).ok_or(ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE)
}
fn elect_each(poll: &mut Poll<'_>, asked: &[TopicPartitions]) -> BTreeMap<StrBytes, Vec<(i32, Elected)>> {
    let mut results: BTreeMap<StrBytes, Vec<(i32, Elected)>> = BTreeMap::new();
    for topic in asked {
        let elected = topic.partitions.iter().map(|index| (*index, poll.elect(&topic.topic.0, *index)));
        results.entry(topic.topic.0.clone()).or_default().extend(elected);
    }
    results
}
// All topics are named, but of their partitions only those are told of that got a leader or should have got one.
fn elect_all(poll: &mut Poll<'_>) -> BTreeMap<StrBytes, Vec<(i32, Elected)>> {
    let topics = &poll.broker.topics;
    let all: Vec<(StrBytes, i32)> =
        topics.all().flat_map(|topic| topic.numbered().map(|(index, _)| (topic.name.clone(), index))).collect();
    let mut results: BTreeMap<StrBytes, Vec<(i32, Elected)>> = BTreeMap::new();
    for (topic, index) in all {
        let elected = poll.elect(&topic, index);
        let of_topic = results.entry(topic).or_default();
        if !matches!(elected, Err((ErrorCode::ELECTION_NOT_NEEDED, _))) {
            of_topic.push((index, elected));
        }
    }
    results
}
fn respond(results: BTreeMap<StrBytes, Vec<(i32, Elected)>>) -> ElectLeadersResponse {
    let result = |(index, elected): (i32, Elected)| {
        let (code, message) = elected.err().unzip();
        PartitionResult::default()
            .with_partition_id(index)
            .with_error_code(code.unwrap_or(ErrorCode::NONE).get())
            .with_error_message(message.map(StrBytes::from_string))
    };
    let topics = results.into_iter().map(|(topic, partitions)| {
        ReplicaElectionResult::default()
            .with_topic(TopicName(topic))
            .with_partition_result(partitions.into_iter().map(result).collect())
    });
    ElectLeadersResponse::default().with_replica_election_results(topics.collect())
}
