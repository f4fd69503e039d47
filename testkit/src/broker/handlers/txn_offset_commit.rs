//! TxnOffsetCommit: offsets that count when the transaction commits. From version 5 on it adds the group to the transaction (KIP-890).

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::offsets::Committed;
use crate::broker::transactions::transaction::{Identity, State};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use millstream_protocol::messages::txn_offset_commit_response::{
    TxnOffsetCommitResponsePartition, TxnOffsetCommitResponseTopic,
};
use millstream_protocol::messages::{StrBytes, TxnOffsetCommitRequest, TxnOffsetCommitResponse};

/// From this version on the commit adds its group.
const ADDS_SINCE: i16 = 5;
/// From this version on the consumer says who it is (KIP-447).
const MEMBERS_SINCE: i16 = 3;

pub(super) struct TxnOffsetCommit;

impl Handler for TxnOffsetCommit {
    type Request = TxnOffsetCommitRequest;
    fn handle(broker: &mut Broker, call: &Call, request: TxnOffsetCommitRequest) -> Answer<TxnOffsetCommitResponse> {
        if let Err(code) = check(broker, call, &request) {
            return Answer::Reply(Self::refuse(&request, code));
        }
        Answer::Reply(answer(&request, |topic, partition| commit(broker, &request, topic, partition)))
    }
    fn refuse(request: &TxnOffsetCommitRequest, code: ErrorCode) -> TxnOffsetCommitResponse {
        answer(request, |_, _| code)
    }
}

fn check(broker: &mut Broker, call: &Call, request: &TxnOffsetCommitRequest) -> Result<(), ErrorCode> {
    let group = &request.group_id.0;
    match broker.check_group(call, group, ErrorCode::NONE) {
        // Whoever names a generation is a member of something.
        Err(ErrorCode::NONE) if request.generation_id_or_member_epoch >= 0 => return Err(ErrorCode::ILLEGAL_GENERATION),
        Err(ErrorCode::NONE) => {}
        result => result?,
    }
    if call.version >= MEMBERS_SINCE
        && let Some(group) = broker.groups.find(group)
    {
        group.check_commit(&request.member_id, request.group_instance_id.as_deref(), request.generation_id_or_member_epoch, true)?;
    }
    admit(broker, call, request)
}
fn admit(broker: &mut Broker, call: &Call, request: &TxnOffsetCommitRequest) -> Result<(), ErrorCode> {
    let (id, group) = (&request.transactional_id.0, &request.group_id.0);
    let identity = Identity { id: request.producer_id.0, epoch: request.producer_epoch };
    let adds = call.version >= ADDS_SINCE && broker.settings.transaction_version >= 2;
    let admitted = if adds { broker.add_group(id, identity, group) } else { check_added(broker, id, identity, group) };
    // This API has always had the older name for it.
    admitted.map_err(|code| if code == ErrorCode::PRODUCER_FENCED { ErrorCode::INVALID_PRODUCER_EPOCH } else { code })
}
fn check_added(broker: &mut Broker, id: &str, identity: Identity, group: &StrBytes) -> Result<(), ErrorCode> {
    let transaction = broker.transactions.find_mut(id)?;
    transaction.check(identity)?;
    let is_open = matches!(transaction.state, State::Ongoing { .. }) && transaction.groups.contains(group);
    if is_open { Ok(()) } else { Err(ErrorCode::INVALID_TXN_STATE) }
}
fn commit(
    broker: &mut Broker,
    request: &TxnOffsetCommitRequest,
    topic: &str,
    partition: &TxnOffsetCommitRequestPartition,
) -> ErrorCode {
    let metadata = partition.committed_metadata.as_deref().unwrap_or_default();
    if let Err(code) = broker.check_offset(topic, partition.partition_index, metadata) {
        return code;
    }
    let position = Committed {
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        metadata: StrBytes::from_string(metadata.to_owned()),
    };
    let key = (StrBytes::from_string(topic.to_owned()), partition.partition_index);
    broker.groups.entry(&request.group_id.0).offsets.commit_in_transaction(request.producer_id.0, key, position);
    ErrorCode::NONE
}
fn answer(
    request: &TxnOffsetCommitRequest,
    mut code: impl FnMut(&str, &TxnOffsetCommitRequestPartition) -> ErrorCode,
) -> TxnOffsetCommitResponse {
    let mut topic = |topic: &TxnOffsetCommitRequestTopic| {
        let partitions = topic.partitions.iter().map(|partition| {
            let code = code(&topic.name.0, partition);
            TxnOffsetCommitResponsePartition::default()
                .with_partition_index(partition.partition_index)
                .with_error_code(code.get())
        });
        TxnOffsetCommitResponseTopic::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
    };
    TxnOffsetCommitResponse::default().with_topics(request.topics.iter().map(&mut topic).collect())
}
