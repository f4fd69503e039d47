//! AlterPartitionReassignments (KIP-455): moves partitions to other nodes, or takes a move back. Added replicas fetch all at once, unless a
//! test holds them; then the move is done.
//!
//! Versions 0 to 1. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::topics::PartitionKey;
use crate::broker::topics::reassignment::Irrevocable;
use crate::broker::topics::topic::{MinIsr, Minima};
use millstream_protocol::messages::alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic};
use millstream_protocol::messages::alter_partition_reassignments_response::{
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use millstream_protocol::messages::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, StrBytes,
};
use millstream_protocol::{ErrorCode, NodeId};
use std::collections::BTreeSet;

/// From this version on a request says whether the number of replicas may change.
const FACTOR_SINCE: i16 = 1;

pub(super) struct AlterPartitionReassignments;

type Refused = (ErrorCode, Option<String>);
type Moved = Result<(), Refused>;

impl Handler for AlterPartitionReassignments {
    type Request = AlterPartitionReassignmentsRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: AlterPartitionReassignmentsRequest,
    ) -> Answer<AlterPartitionReassignmentsResponse> {
        let may_resize = call.version < FACTOR_SINCE || request.allow_replication_factor_change;
        // However often a partition is named, its followers and whoever waits for it are looked at once.
        let (mut moved, mut minima) = (BTreeSet::new(), Minima::default());
        let response = answer(&request, |topic, asked| {
            moved.insert(alter(broker, topic, asked, may_resize, &mut minima)?);
            Ok(())
        });
        moved.into_iter().for_each(|key| broker.replicate(key));
        broker.wake_all_fetches();
        Answer::Reply(response.with_error_message(None).with_allow_replication_factor_change(may_resize))
    }
    fn refuse(request: &AlterPartitionReassignmentsRequest, code: ErrorCode) -> AlterPartitionReassignmentsResponse {
        let message = Some(StrBytes::from_static_str(code.message()));
        let response = answer(request, |_, _| Err((code, Some(code.message().to_owned()))));
        response.with_error_code(code.get()).with_error_message(message)
    }
}

fn answer(
    request: &AlterPartitionReassignmentsRequest,
    mut each: impl FnMut(&str, &ReassignablePartition) -> Moved,
) -> AlterPartitionReassignmentsResponse {
    let mut topic = |topic: &ReassignableTopic| {
        let partitions = topic.partitions.iter().map(|asked| {
            let (code, message) = each(&topic.name.0, asked).err().unzip();
            ReassignablePartitionResponse::default()
                .with_partition_index(asked.partition_index)
                .with_error_code(code.unwrap_or(ErrorCode::NONE).get())
                .with_error_message(message.flatten().map(StrBytes::from_string))
        });
        ReassignableTopicResponse::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
    };
    AlterPartitionReassignmentsResponse::default().with_responses(request.topics.iter().map(&mut topic).collect())
}

fn alter(
    broker: &mut Broker,
    name: &str,
    asked: &ReassignablePartition,
    may_resize: bool,
    minima: &mut Minima,
) -> Result<PartitionKey, Refused> {
    let index = asked.partition_index;
    let unknown = |what: String| (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, Some(what));
    let topic = broker.topics.find(name).ok_or_else(|| unknown(format!("Unable to find a topic named {name}.")))?;
    let key = (topic.id, index);
    let min_isr = minima.of(topic, broker.in_sync_rules());
    let partition =
        topic.partition(index).ok_or_else(|| unknown(format!("Unable to find partition {name}:{index}.")))?;
    let target: Option<Vec<NodeId>> =
        asked.replicas.as_ref().map(|ids| ids.iter().map(|id| NodeId::new(id.0)).collect());
    if let Some(target) = &target {
        check(broker, target)?;
        let (from, to) = (partition.settled_replicas(), target.len());
        if !may_resize && from != to {
            let reason = format!("The replication factor is changed from {from} to {to}");
            return Err((ErrorCode::INVALID_REPLICATION_FACTOR, Some(reason)));
        }
    }
    change(broker, key, target, min_isr)?;
    Ok(key)
}
fn change(broker: &mut Broker, (id, index): PartitionKey, target: Option<Vec<NodeId>>, min_isr: MinIsr) -> Moved {
    let Broker { nodes, topics, .. } = broker;
    let Some(topic) = topics.find_id_mut(id) else { return Ok(()) };
    let (name, election) = (topic.name.clone(), topic.election());
    let Some(partition) = topic.partition_mut(index) else { return Ok(()) };
    match target {
        Some(target) => partition.reassign(target, nodes, min_isr),
        None => partition
            .cancel_reassignment(nodes, election, min_isr)
            .map_err(|reason| irrevocable(reason, &name, index))?,
    }
    Ok(())
}
fn irrevocable(reason: Irrevocable, name: &str, index: i32) -> Refused {
    let message = match reason {
        Irrevocable::NotUnderWay => return (ErrorCode::NO_REASSIGNMENT_IN_PROGRESS, None),
        Irrevocable::AddsAll => "Invalid replica assignment: addingReplicas contains all replicas.".to_owned(),
        Irrevocable::Unclean => format!(
            "Unable to revert partition assignment for {name}:{index} because it would require an unclean leader election."
        ),
    };
    (ErrorCode::INVALID_REPLICA_ASSIGNMENT, Some(message))
}
fn check(broker: &Broker, target: &[NodeId]) -> Moved {
    let invalid = |reason: String| (ErrorCode::INVALID_REPLICA_ASSIGNMENT, Some(reason));
    if target.is_empty() {
        return Err(invalid("The manual partition assignment includes an empty replica list.".to_owned()));
    }
    let mut sorted = target.to_vec();
    sorted.sort_unstable();
    for pair in sorted.windows(2) {
        if let [one, other] = pair
            && one == other
        {
            return Err(invalid(format!("The manual partition assignment includes the broker {one} more than once.")));
        }
    }
    if let Some(unknown) = sorted.iter().find(|id| broker.nodes.find(**id).is_none()) {
        let reason =
            format!("The manual partition assignment includes broker {unknown}, but no such broker is registered.");
        return Err(invalid(reason));
    }
    Ok(())
}
