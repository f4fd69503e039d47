//! TxnOffsetCommit: offsets that count when the transaction commits. From version 5 on it adds the group to the transaction (KIP-890).
//!
//! Versions 0 to 6. Left out: nothing.

use super::Handler;
use super::committed::{Told, arranged};
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::committing::{Committer, Position, TopicRef};
use crate::broker::transactions::transaction::{Edition, Identity, State};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use millstream_protocol::messages::txn_offset_commit_response::{
    TxnOffsetCommitResponsePartition, TxnOffsetCommitResponseTopic,
};
use millstream_protocol::messages::{StrBytes, TopicName, TxnOffsetCommitRequest, TxnOffsetCommitResponse, Uuid};

/// From this version on topics have ids instead of names (KIP-1319).
const IDS_SINCE: i16 = 6;
/// From this version on clients know STALE_MEMBER_EPOCH and GROUP_ID_NOT_FOUND.
const EPOCHS_SINCE: i16 = IDS_SINCE;
/// From this version on clients know TRANSACTION_ABORTABLE (KIP-890).
const ABORTABLE_SINCE: i16 = 4;
/// From this version on the commit adds its group.
const ADDS_SINCE: i16 = 5;
/// From this version on the consumer says who it is (KIP-447).
const MEMBERS_SINCE: i16 = 3;

pub(super) struct TxnOffsetCommit;

impl Handler for TxnOffsetCommit {
    type Request = TxnOffsetCommitRequest;
    fn handle(broker: &mut Broker, call: &Call, request: TxnOffsetCommitRequest) -> Answer<TxnOffsetCommitResponse> {
        let names_member = call.version >= MEMBERS_SINCE;
        let by = Committer {
            group: &request.group_id,
            member_id: if names_member { &request.member_id } else { "" },
            instance_id: request.group_instance_id.as_deref().filter(|_| names_member),
            epoch: if names_member { request.generation_id_or_member_epoch } else { -1 },
            producer: Some((request.producer_id.0, request.producer_epoch)),
            version: call.version,
            knows_missing_groups: call.version >= EPOCHS_SINCE,
        };
        let admit = |broker: &mut Broker| {
            if by.group.0.is_empty() {
                return Err(ErrorCode::INVALID_GROUP_ID);
            }
            admit(broker, call, &request)?;
            broker.check_committer(call, &by)
        };
        let codes = broker.commit(&by, positions(&request, call.version), admit);
        let mut codes = codes.into_iter().map(|code| told(code, call.version));
        Answer::Reply(answer(&request, || codes.next().unwrap_or(ErrorCode::UNKNOWN_SERVER_ERROR)))
    }
    fn when_full(_: &Broker, _: &TxnOffsetCommitRequest) -> Option<ErrorCode> {
        Some(ErrorCode::INVALID_COMMIT_OFFSET_SIZE)
    }
    fn comer(broker: &Broker, request: &TxnOffsetCommitRequest) -> Comer {
        Comer::who(broker.transactions.has(&request.transactional_id.0))
    }
    fn refuse(request: &TxnOffsetCommitRequest, code: ErrorCode) -> TxnOffsetCommitResponse {
        answer(request, || code)
    }
}

fn admit(broker: &mut Broker, call: &Call, request: &TxnOffsetCommitRequest) -> Result<(), ErrorCode> {
    let (id, group) = (&request.transactional_id.0, &request.group_id.0);
    let identity = Identity { id: request.producer_id.0, epoch: request.producer_epoch };
    let adds = call.version >= ADDS_SINCE && broker.features.transaction_version() >= 2;
    let admitted = match adds {
        true => broker.add_group(id, identity, Edition::Second, group),
        false => check_added(broker, id, identity, group),
    };
    // This API has always had the older name for it.
    admitted.map_err(|code| match code {
        ErrorCode::PRODUCER_FENCED => ErrorCode::INVALID_PRODUCER_EPOCH,
        ErrorCode::INVALID_TXN_STATE if call.version >= ABORTABLE_SINCE => ErrorCode::TRANSACTION_ABORTABLE,
        code => code,
    })
}
fn check_added(broker: &mut Broker, id: &str, identity: Identity, group: &StrBytes) -> Result<(), ErrorCode> {
    let transaction = broker.transactions.find(id).ok_or(ErrorCode::INVALID_PRODUCER_ID_MAPPING)?;
    transaction.check(identity)?;
    // What Kafka adds is the partition of `__consumer_offsets`, which groups share.
    let partition = broker.group_partition(group);
    let is_added = transaction.groups.iter().any(|added| broker.group_partition(added) == partition);
    if !is_added || !matches!(transaction.state, State::Ongoing { .. }) {
        return Err(ErrorCode::INVALID_TXN_STATE);
    }
    broker.transactions.find_mut(id)?.groups.insert(group.clone());
    Ok(())
}
// Older clients know only the older name for it.
fn told(code: ErrorCode, version: i16) -> ErrorCode {
    if code == ErrorCode::STALE_MEMBER_EPOCH && version < EPOCHS_SINCE { ErrorCode::ILLEGAL_GENERATION } else { code }
}
fn positions(request: &TxnOffsetCommitRequest, version: i16) -> Vec<Position> {
    let topics =
        request.topics.iter().flat_map(|topic| topic.partitions.iter().map(move |partition| (topic, partition)));
    let position = |(topic, partition): (&TxnOffsetCommitRequestTopic, &TxnOffsetCommitRequestPartition)| Position {
        topic: if version >= IDS_SINCE { TopicRef::Id(topic.topic_id) } else { TopicRef::Name(topic.name.0.clone()) },
        partition: partition.partition_index,
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        metadata: partition.committed_metadata.clone(),
        retention_ms: None,
    };
    topics.map(position).collect()
}
fn answer(request: &TxnOffsetCommitRequest, mut code: impl FnMut() -> ErrorCode) -> TxnOffsetCommitResponse {
    let became = |topic: &TxnOffsetCommitRequestTopic| {
        let told = topic.partitions.iter().map(|partition| (partition.partition_index, code()));
        ((topic.name.clone(), topic.topic_id), told.collect())
    };
    let topics = arranged(request.topics.iter().map(became).collect());
    TxnOffsetCommitResponse::default().with_topics(topics.into_iter().map(told_topic).collect())
}
fn told_topic(((name, id), told): ((TopicName, Uuid), Told)) -> TxnOffsetCommitResponseTopic {
    let partitions = told.into_iter().map(|(index, code)| {
        TxnOffsetCommitResponsePartition::default().with_partition_index(index).with_error_code(code.get())
    });
    TxnOffsetCommitResponseTopic::default().with_name(name).with_topic_id(id).with_partitions(partitions.collect())
}
