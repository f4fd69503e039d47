//! Makes consumed offsets part of a transaction (KIP-447, T-6).

use super::RawTransactions;
use crate::client::{Call, Target};
use crate::net::Purpose;
use crate::{Error, ErrorKind, GroupMetadata, Offsets};
use millstream_client_core::cluster::CoordinatorKey;
use millstream_client_core::produce::Identity;
use millstream_client_core::transaction::{Edition, Phase, Step, Verdict, judge};
use millstream_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequest, TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use millstream_protocol::messages::{AddOffsetsToTxnRequest, StrBytes, TxnOffsetCommitResponse};
use millstream_protocol::{ErrorCode, TopicPartition};

impl RawTransactions {
    /// Makes consumed offsets, with their notes, part of the open transaction. May be tried again in the same transaction with
    /// newer group metadata.
    ///
    /// # Errors
    ///
    /// By the broker's code ([`Error::code`]): a stale generation or member, metadata that is too large, a producer that was
    /// fenced. The transaction stays open unless the error [is fatal](Error::is_fatal).
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the offsets may or may not be part of it.
    pub async fn send_offsets(&self, offsets: &Offsets, group: &GroupMetadata) -> Result<(), Error> {
        if offsets.is_empty() {
            return Ok(());
        }
        let operation =
            format!("send offsets of group `{}` in the transaction of `{}`", group.group_id, self.transactional_id());
        let misuse = |error| Error::new(ErrorKind::Misuse, operation.clone()).reason(&error).because(error);
        let needs_group = self.course().needs_group(&group.group_id).map_err(misuse)?;
        if needs_group {
            self.add_group(&group.group_id).await?;
        }
        let edition = self.edition();
        // From here on the coordinator may have them, also if no answer comes.
        self.course().handle_group(&group.group_id);
        let request = request(self.transactional_id(), self.identity()?, offsets, group);
        let target = Target::Coordinator(CoordinatorKey::Group(group.group_id.clone()));
        let max = if edition == Edition::One { 4 } else { 5 };
        let call = Call::new(operation.clone(), target).purpose(Purpose::Other).max_version(max);
        let reply = self
            .engine()
            .client
            .call(
                call,
                move |version| fitted(&request, version),
                |answer| first_error(answer).map_or(ErrorCode::NONE, |(_, code)| code),
            )
            .await?;
        match first_error(&reply.body) {
            None => Ok(()),
            Some((partition, code)) => Err(self.refused(Step::SendOffsets, code, operation).about(partition)),
        }
    }

    async fn add_group(&self, group: &str) -> Result<(), Error> {
        let operation = format!("add group `{group}` to the transaction of `{}`", self.transactional_id());
        let identity = self.identity()?;
        let mut request = AddOffsetsToTxnRequest::default();
        request.transactional_id = text(self.transactional_id()).into();
        request.producer_id = identity.id.get().into();
        request.producer_epoch = identity.epoch.get();
        request.group_id = text(group).into();
        let target = Target::Coordinator(CoordinatorKey::Transaction(self.transactional_id().to_owned()));
        let call = Call::new(operation.clone(), target);
        let reply = self
            .engine()
            .client
            .call(call, move |_| request.clone(), |answer| ErrorCode::new(answer.error_code))
            .await?;
        match ErrorCode::new(reply.body.error_code) {
            ErrorCode::NONE => {
                self.course().handle_group(group);
                Ok(())
            }
            code => Err(self.refused(Step::Add, code, operation)),
        }
    }

    /// A refusal as an error; a fenced producer is over.
    pub(super) fn refused(&self, step: Step, code: ErrorCode, operation: String) -> Error {
        let error = Error::broker(code, operation).reason(code);
        match judge(step, code) {
            Verdict::Fenced => {
                self.handle_fenced(code);
                error
            }
            Verdict::Abort => error.aborting(),
            _ => error,
        }
    }
    fn edition(&self) -> Edition {
        match self.course().phase() {
            Phase::Open { edition, .. } | Phase::Ending { edition, .. } => *edition,
            _ => Edition::One,
        }
    }
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn request(id: &str, identity: Identity, offsets: &Offsets, group: &GroupMetadata) -> TxnOffsetCommitRequest {
    let mut request = TxnOffsetCommitRequest::default();
    request.transactional_id = text(id).into();
    request.group_id = text(&group.group_id).into();
    request.producer_id = identity.id.get().into();
    request.producer_epoch = identity.epoch.get();
    request.generation_id_or_member_epoch = group.generation;
    request.member_id = text(&group.member_id);
    request.group_instance_id = group.instance_id.as_deref().map(text);
    for (partition, position) in offsets.iter() {
        let known = request.topics.iter().position(|topic| topic.name.as_str() == partition.topic.as_str());
        let index = known.unwrap_or_else(|| {
            let mut topic = TxnOffsetCommitRequestTopic::default();
            topic.name = text(partition.topic.as_str()).into();
            request.topics.push(topic);
            request.topics.len() - 1
        });
        let mut each = TxnOffsetCommitRequestPartition::default();
        each.partition_index = partition.partition.get();
        each.committed_offset = position.offset.get();
        each.committed_leader_epoch = position.leader_epoch.map_or(-1, millstream_protocol::LeaderEpoch::get);
        each.committed_metadata = Some(position.metadata.as_deref().map_or_else(StrBytes::new, text));
        request.topics[index].partitions.push(each);
    }
    request
}

/// Without what the version does not carry: the member from 3 on, the leader's term from 2 on.
fn fitted(request: &TxnOffsetCommitRequest, version: i16) -> TxnOffsetCommitRequest {
    let mut request = request.clone();
    if version < 3 {
        request.generation_id_or_member_epoch = -1;
        request.member_id = StrBytes::new();
        request.group_instance_id = None;
    }
    if version < 2 {
        request
            .topics
            .iter_mut()
            .flat_map(|topic| &mut topic.partitions)
            .for_each(|each| each.committed_leader_epoch = -1);
    }
    request
}

fn first_error(answer: &TxnOffsetCommitResponse) -> Option<(TopicPartition, ErrorCode)> {
    let each = answer.topics.iter().flat_map(|topic| topic.partitions.iter().map(move |partition| (topic, partition)));
    each.filter(|(_, partition)| partition.error_code != 0)
        .map(|(topic, partition)| {
            (TopicPartition::new(topic.name.as_str(), partition.partition_index), ErrorCode::new(partition.error_code))
        })
        .next()
}
