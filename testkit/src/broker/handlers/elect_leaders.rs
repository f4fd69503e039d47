//! ElectLeaders: preferred (KIP-183) and unclean (KIP-460) elections, by any node (brokers forward to the controller).
//!
//! Versions 0 to 2. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::partition::Election;
use millstream_protocol::ErrorCode;
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
        let Some(asked) = &request.topic_partitions else {
            let elected = elect_all(broker, kind);
            broker.wake_all_fetches();
            return Answer::Reply(respond(elected));
        };
        let mut results: BTreeMap<StrBytes, Vec<(i32, Elected)>> = BTreeMap::new();
        for topic in asked {
            let elected = topic.partitions.iter().map(|index| (*index, elect(broker, kind, &topic.topic.0, *index)));
            results.entry(topic.topic.0.clone()).or_default().extend(elected);
        }
        broker.wake_all_fetches();
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

// All topics are named, but of their partitions only those are told of that got a leader or should have got one.
fn elect_all(broker: &mut Broker, kind: i8) -> BTreeMap<StrBytes, Vec<(i32, Elected)>> {
    let all: Vec<(StrBytes, i32)> =
        broker.topics.all().flat_map(|topic| topic.numbered().map(|(index, _)| (topic.name.clone(), index))).collect();
    let mut results: BTreeMap<StrBytes, Vec<(i32, Elected)>> = BTreeMap::new();
    for (topic, index) in all {
        let elected = elect(broker, kind, &topic, index);
        let of_topic = results.entry(topic).or_default();
        if !matches!(elected, Err((ErrorCode::ELECTION_NOT_NEEDED, _))) {
            of_topic.push((index, elected));
        }
    }
    results
}
fn elect(broker: &mut Broker, kind: i8, topic: &str, index: i32) -> Elected {
    let rules = broker.in_sync_rules();
    let Broker { nodes, topics, .. } = broker;
    let found = topics.find_mut(topic);
    let Some(topic) = found else {
        return Err((ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, format!("No such topic as {topic}")));
    };
    let (id, name, min_isr) = (topic.id, topic.name.clone(), topic.min_isr(rules));
    let Some(partition) = topic.partition_mut(index) else {
        return Err((ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, format!("No such partition as {name}-{index}")));
    };
    let elected = match kind {
        PREFERRED => partition.elect_preferred(nodes, min_isr),
        _ if partition.leader.is_some() => Err(ErrorCode::ELECTION_NOT_NEEDED),
        _ => {
            partition.elect(nodes, Election::Unclean);
            partition.leader.map(|_| ()).ok_or(ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE)
        }
    };
    // Who did not get another leader goes on as before, however often it is named.
    if elected.is_ok() {
        broker.replicate((id, index));
    }
    elected.map_err(|code| (code, code.message().to_owned()))
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
