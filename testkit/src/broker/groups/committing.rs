//! Committing positions: what OffsetCommit and TxnOffsetCommit have in common.

use super::Group;
use super::journal;
use super::offsets::Committed;
use crate::broker::Broker;
use crate::broker::call::Call;
use crate::broker::coordinating::Records;
use crate::broker::own;
use crate::broker::topics::topic::Topic;
use millstream_protocol::messages::{GroupId, StrBytes, Uuid};
use millstream_protocol::record::Stamp;
use millstream_protocol::{ErrorCode, ProducerEpoch, ProducerId};

/// OffsetCommit from this version on knows members of the consumer protocol.
pub(crate) const CONSUMERS_SINCE: i16 = 9;

/// Who commits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Committer<'a> {
    pub(crate) group: &'a GroupId,
    pub(crate) member_id: &'a str,
    pub(crate) instance_id: Option<&'a str>,
    /// The generation, or the member's epoch; below 0 from whoever is no member.
    pub(crate) epoch: i32,
    /// In whose transaction, if in one: a producer's id and epoch.
    pub(crate) producer: Option<(i64, i16)>,
    /// The request's version.
    pub(crate) version: i16,
    /// Whether the client knows GROUP_ID_NOT_FOUND.
    pub(crate) knows_missing_groups: bool,
}

/// How a request names a topic.
#[derive(Debug, Clone)]
pub(crate) enum TopicRef {
    Name(StrBytes),
    Id(Uuid),
}

/// A position that is to be committed.
#[derive(Debug, Clone)]
pub(crate) struct Position {
    pub(crate) topic: TopicRef,
    pub(crate) partition: i32,
    pub(crate) offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) metadata: Option<StrBytes>,
    /// How long it is kept, if the client says so (OffsetCommit up to version 4).
    pub(crate) retention_ms: Option<i64>,
}

impl Broker {
    /// Whether a group takes positions from this committer. A member shows by it that it is there.
    pub(crate) fn check_committer(&mut self, call: &Call, by: &Committer<'_>) -> Result<(), ErrorCode> {
        // Whoever names a generation is a member of something.
        let missing = match (by.epoch < 0, by.knows_missing_groups) {
            (true, _) => ErrorCode::NONE,
            (false, true) => ErrorCode::GROUP_ID_NOT_FOUND,
            (false, false) => ErrorCode::ILLEGAL_GENERATION,
        };
        match self.check_kept_by(call, by, missing) {
            Err(ErrorCode::NONE) => return Ok(()),
            result => result?,
        }
        let Some(group) = self.groups.find(&by.group.0) else { return Ok(()) };
        group.check_commit(by)?;
        if group.classic().is_some() && by.producer.is_none() {
            self.with_classic(&by.group.0, |group, rules| group.touch(by.member_id, rules));
        }
        Ok(())
    }
    // Positions outside of transactions may be kept under the empty name.
    fn check_kept_by(&self, call: &Call, by: &Committer<'_>, missing: ErrorCode) -> Result<(), ErrorCode> {
        if !by.group.0.is_empty() || by.producer.is_some() {
            return self.check_group(call, &by.group.0, missing);
        }
        match self.groups.find(&by.group.0) {
            _ if !self.is_coordinator(call.node, &by.group.0) => Err(ErrorCode::NOT_COORDINATOR),
            Some(_) => Ok(()),
            None => Err(missing),
        }
    }
    /// Commits positions, each by itself; gives their codes in the same order. Whether the committer is admitted is asked only if it names a
    /// partition that there is, and only of those it is told.
    pub(crate) fn commit(
        &mut self,
        by: &Committer<'_>,
        positions: Vec<Position>,
        admit: impl FnOnce(&mut Self) -> Result<(), ErrorCode>,
    ) -> Vec<ErrorCode> {
        let missing: Vec<Option<ErrorCode>> =
            positions.iter().map(|position| self.find_place(position).err()).collect();
        if missing.iter().any(Option::is_none)
            && let Err(code) = admit(self).and_then(|()| self.check_assigned(by, &positions))
        {
            return missing.into_iter().map(|missing| missing.unwrap_or(code)).collect();
        }
        let mut records = Records::new();
        let codes = positions
            .into_iter()
            .map(|position| self.commit_position(by, position, &mut records).err().unwrap_or(ErrorCode::NONE))
            .collect();
        let stamp = by.producer.map_or_else(Stamp::plain, |(id, epoch)| {
            Stamp::transactional(ProducerId::new(id), ProducerEpoch::new(epoch), -1)
        });
        self.write_records(&by.group.0, &records, &stamp);
        self.arm_offsets_check();
        codes
    }
    fn check_assigned(&self, by: &Committer<'_>, positions: &[Position]) -> Result<(), ErrorCode> {
        let Some(group) = self.groups.find(&by.group.0).and_then(Group::consumer) else { return Ok(()) };
        let kept = positions.iter().filter(|position| !self.is_too_long(position.metadata.as_ref()));
        let place = |position: &Position| Some((self.find_place(position).ok()?.id, position.partition));
        group.check_assigned(by, kept.filter_map(place))
    }
    fn is_too_long(&self, metadata: Option<&StrBytes>) -> bool {
        metadata.is_some_and(|metadata| metadata.len() > self.settings.offset_metadata_max_bytes)
    }
    fn find_place(&self, position: &Position) -> Result<&Topic, ErrorCode> {
        let topic = match &position.topic {
            TopicRef::Name(name) => self.topics.find(name).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?,
            TopicRef::Id(id) => self.topics.find_id(*id).ok_or(ErrorCode::UNKNOWN_TOPIC_ID)?,
        };
        topic.partition(position.partition).map(|_| topic).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
    }
    fn commit_position(
        &mut self,
        by: &Committer<'_>,
        position: Position,
        records: &mut Records,
    ) -> Result<(), ErrorCode> {
        let topic = self.find_place(&position)?;
        if self.is_too_long(position.metadata.as_ref()) {
            return Err(ErrorCode::OFFSET_METADATA_TOO_LARGE);
        }
        let metadata = position.metadata.unwrap_or_default();
        let expires_at = position.retention_ms.map(|ms| self.now.as_millis().saturating_add(ms));
        let committed = Committed {
            offset: position.offset,
            leader_epoch: position.leader_epoch,
            metadata: own::text(&metadata),
            topic_id: topic.id,
            committed_at: self.now,
            expires_at: expires_at.map(millstream_protocol::Timestamp::from_millis),
        };
        let key = (topic.name.clone(), position.partition);
        records.extend(journal::position(&by.group.0, &key, &committed));
        let offsets = &mut self.groups.entry(&by.group.0, self.now).offsets;
        match by.producer {
            None => offsets.commit(key, committed),
            Some((producer_id, _)) => offsets.commit_in_transaction(producer_id, key, committed),
        }
        Ok(())
    }
}
