//! A classic group's one record: its generation and members, written when these are settled.

use super::{Facts, Written};
use crate::broker::groups::classic::member::Member;
use crate::broker::groups::classic::{ClassicGroup, State};
use millstream_protocol::Timestamp;
use millstream_protocol::embedded::group_metadata_value::MemberMetadata;
use millstream_protocol::embedded::{Embedded, GroupMetadataKey, GroupMetadataValue};

/// The version that Kafka 4.4 writes.
const VERSION: i16 = 3;

/// The group as it is to be remembered; none while it rebalances, or if it only keeps offsets.
pub(super) fn facts(group: &ClassicGroup, written: &mut Written, now: Timestamp) -> Option<Facts> {
    match group.state {
        State::Stable => {}
        State::Empty if group.generation > 0 => {}
        State::Empty | State::PreparingRebalance { .. } | State::CompletingRebalance => return None,
    }
    let stage = (group.generation, group.members.keys().cloned().collect());
    if written.stage.as_ref() == Some(&stage) {
        return None;
    }
    written.stage = Some(stage);
    record(group, now)
}
/// The record of a group as it stands.
pub(super) fn record(group: &ClassicGroup, now: Timestamp) -> Option<Facts> {
    let has_members = group.state == State::Stable;
    let key = GroupMetadataKey { group: group.id.clone(), ..GroupMetadataKey::default() };
    let value = GroupMetadataValue {
        protocol_type: group.protocol_type.clone().unwrap_or_default(),
        generation: group.generation,
        protocol: group.protocol.clone().filter(|_| has_members),
        leader: group.leader.clone().filter(|_| has_members),
        current_state_timestamp: now.as_millis(),
        members: group.members.values().map(|member| describe(group, member)).collect(),
        ..GroupMetadataValue::default()
    };
    Some(Facts::from([(key.encode(0).ok()?, value.encode(VERSION).ok()?)]))
}
fn describe(group: &ClassicGroup, member: &Member) -> MemberMetadata {
    let millis = |duration: std::time::Duration| i32::try_from(duration.as_millis()).unwrap_or(i32::MAX);
    MemberMetadata {
        member_id: member.id.clone(),
        group_instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        rebalance_timeout: millis(member.rebalance_timeout),
        session_timeout: millis(member.session_timeout),
        subscription: member.metadata(group.protocol.as_deref().unwrap_or_default()),
        assignment: member.assignment.clone(),
        ..MemberMetadata::default()
    }
}
