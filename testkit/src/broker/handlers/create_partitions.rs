//! CreatePartitions: more partitions for a topic.
//!
//! Versions 0 to 3. Left out: nothing.

use super::create_topics::check_replicas;
use super::{Handler, counted_by};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call, Refusal};
use crate::broker::topics::{check_count, layout};
use millstream_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use millstream_protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use millstream_protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse, StrBytes};
use millstream_protocol::{ErrorCode, NodeId};

pub(super) struct CreatePartitions;

impl Handler for CreatePartitions {
    type Request = CreatePartitionsRequest;
    fn handle(broker: &mut Broker, _: &Call, request: CreatePartitionsRequest) -> Answer<CreatePartitionsResponse> {
        if let Err((code, reason)) = check_total(broker, &request) {
            let results = request.topics.iter().map(|asked| refused(asked, code, reason.clone()));
            return Answer::Reply(CreatePartitionsResponse::default().with_results(results.collect()));
        }
        let asked = counted_by(&request.topics, |asked| &asked.name);
        let results = asked.into_iter().map(|(asked, times)| match more(broker, asked) {
            _ if times > 1 => refused(asked, ErrorCode::INVALID_REQUEST, "Duplicate topic name.".to_owned()),
            Err((code, reason)) => refused(asked, code, reason),
            Ok(layout) => {
                if !request.validate_only {
                    broker.topics.extend(&asked.name.0, layout, &broker.nodes);
                }
                CreatePartitionsTopicResult::default().with_name(asked.name.clone()).with_error_message(None)
            }
        });
        let results = results.collect();
        Answer::Reply(CreatePartitionsResponse::default().with_results(results))
    }
    fn when_full(_: &Broker, _: &CreatePartitionsRequest) -> Option<ErrorCode> {
        Some(ErrorCode::POLICY_VIOLATION)
    }
    fn refuse(request: &CreatePartitionsRequest, code: ErrorCode) -> CreatePartitionsResponse {
        let results = request.topics.iter().map(|asked| refused(asked, code, code.message().to_owned()));
        CreatePartitionsResponse::default().with_results(results.collect())
    }
}

/// Refuses all of a request that asks for too much.
fn check_total(broker: &Broker, request: &CreatePartitionsRequest) -> Result<(), Refusal> {
    let more = |asked: &CreatePartitionsTopic| {
        let has = broker.topics.find(&asked.name.0)?.partitions.len();
        Some(usize::try_from(asked.count).unwrap_or(0).saturating_sub(has))
    };
    check_count(request.topics.iter().filter_map(more).sum(), "additional partitions")
}
fn more(broker: &Broker, asked: &CreatePartitionsTopic) -> Result<Vec<Vec<NodeId>>, Refusal> {
    // Of an unknown topic Kafka says no more than the code.
    let topic = broker.topics.find(&asked.name.0).ok_or((ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, String::new()))?;
    let has = topic.partitions.len();
    let wanted = usize::try_from(asked.count).unwrap_or(0);
    if wanted <= has {
        let name = &asked.name.0;
        let reason = if wanted == has {
            format!("Topic already has {has} partition(s).")
        } else {
            format!("The topic {name} currently has {has} partition(s); {} would not be an increase.", asked.count)
        };
        return Err((ErrorCode::INVALID_PARTITIONS, reason));
    }
    broker.check_partition_room(wanted - has)?;
    let Some(assignments) = &asked.assignments else {
        let factor = topic.partitions.first().map_or(1, |partition| partition.replicas.len());
        return Ok(layout(&asked.name.0, has, wanted - has, factor, &broker.nodes));
    };
    let layout: Vec<Vec<NodeId>> =
        assignments.iter().map(|each| each.broker_ids.iter().map(|id| NodeId::new(id.0)).collect()).collect();
    if layout.len() != wanted - has {
        let reason = format!(
            "Attempted to add {} additional partition(s), but only {} assignment(s) were specified.",
            wanted - has,
            layout.len()
        );
        return Err((ErrorCode::INVALID_REPLICA_ASSIGNMENT, reason));
    }
    layout.iter().try_for_each(|replicas| check_replicas(broker, replicas))?;
    Ok(layout)
}
fn refused(asked: &CreatePartitionsTopic, code: ErrorCode, reason: String) -> CreatePartitionsTopicResult {
    CreatePartitionsTopicResult::default()
        .with_name(asked.name.clone())
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_string(reason)).filter(|reason| !reason.is_empty()))
}
