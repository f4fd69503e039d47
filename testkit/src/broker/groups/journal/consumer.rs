//! The records of a consumer group: its epoch, and for each member what it wants, what it is to have and what it has.

use super::Facts;
use crate::broker::groups::consumer::ConsumerGroup;
use crate::broker::groups::consumer::member::{Assignment, ClassicPart, Member, MemberState, Owned};
use bytes::Bytes;
use millstream_protocol::Timestamp;
use millstream_protocol::embedded::consumer_group_current_member_assignment_value::TopicPartitions;
use millstream_protocol::embedded::consumer_group_member_metadata_value::{ClassicMemberMetadata, ClassicProtocol};
use millstream_protocol::embedded::consumer_group_target_assignment_member_value::TopicPartition;
use millstream_protocol::embedded::{
    ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue, ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue, ConsumerGroupMetadataKey, ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue, ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue, ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue, Embedded,
};
use millstream_protocol::messages::StrBytes;

/// All that is to be remembered of a group.
pub(super) fn facts(group: &ConsumerGroup) -> Facts {
    let mut facts = Facts::new();
    let group_id = || group.id.clone();
    let key = ConsumerGroupMetadataKey { group_id: group_id(), ..ConsumerGroupMetadataKey::default() };
    let value = ConsumerGroupMetadataValue {
        epoch: group.epoch,
        metadata_hash: group.image_hash(),
        ..ConsumerGroupMetadataValue::default()
    };
    add(&mut facts, &key, &value);
    let key = ConsumerGroupTargetAssignmentMetadataKey {
        group_id: group_id(),
        ..ConsumerGroupTargetAssignmentMetadataKey::default()
    };
    let value = ConsumerGroupTargetAssignmentMetadataValue {
        assignment_epoch: group.assignment_epoch,
        assignment_timestamp: group.assigned_at().map_or(0, Timestamp::as_millis),
        ..ConsumerGroupTargetAssignmentMetadataValue::default()
    };
    add(&mut facts, &key, &value);
    group.members.values().for_each(|member| add_member(&mut facts, group, member));
    let resolution = group.resolution();
    for (expression, topics) in &resolution.matches {
        let key = ConsumerGroupRegularExpressionKey {
            group_id: group_id(),
            regular_expression: expression.clone(),
            ..ConsumerGroupRegularExpressionKey::default()
        };
        let value = ConsumerGroupRegularExpressionValue {
            topics: topics.iter().cloned().collect(),
            version: resolution.created,
            timestamp: resolution.at.as_millis(),
            ..ConsumerGroupRegularExpressionValue::default()
        };
        add(&mut facts, &key, &value);
    }
    facts
}
fn add(facts: &mut Facts, key: &impl Embedded, value: &impl Embedded) {
    if let (Ok(key), Ok(value)) = (key.encode(0), value.encode(0)) {
        facts.insert(key, value);
    }
}
fn add_member(facts: &mut Facts, group: &ConsumerGroup, member: &Member) {
    let (group_id, member_id) = (group.id.clone(), member.id.clone());
    let key = ConsumerGroupMemberMetadataKey {
        group_id: group_id.clone(),
        member_id: member_id.clone(),
        ..ConsumerGroupMemberMetadataKey::default()
    };
    add(facts, &key, &wants(member));
    let key = ConsumerGroupTargetAssignmentMemberKey {
        group_id: group_id.clone(),
        member_id: member_id.clone(),
        ..ConsumerGroupTargetAssignmentMemberKey::default()
    };
    let value = ConsumerGroupTargetAssignmentMemberValue {
        topic_partitions: target(&group.target_of(&member.id)),
        ..ConsumerGroupTargetAssignmentMemberValue::default()
    };
    add(facts, &key, &value);
    let key = ConsumerGroupCurrentMemberAssignmentKey {
        group_id,
        member_id,
        ..ConsumerGroupCurrentMemberAssignmentKey::default()
    };
    add(facts, &key, &has(member));
}
fn wants(member: &Member) -> ConsumerGroupMemberMetadataValue {
    ConsumerGroupMemberMetadataValue {
        instance_id: member.instance_id.clone(),
        rack_id: member.rack_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        subscribed_topic_names: member.topics.iter().cloned().collect(),
        subscribed_topic_regex: Some(member.regex.clone().unwrap_or_default()),
        rebalance_timeout_ms: i32::try_from(member.rebalance_timeout.as_millis()).unwrap_or(i32::MAX),
        server_assignor: member.assignor.map(|assignor| StrBytes::from_static_str(assignor.name())),
        classic_member_metadata: member.classic.as_ref().map(classic),
        ..ConsumerGroupMemberMetadataValue::default()
    }
}
fn classic(part: &ClassicPart) -> ClassicMemberMetadata {
    let protocol = |(name, metadata): &(StrBytes, Bytes)| ClassicProtocol {
        name: name.clone(),
        metadata: metadata.clone(),
        ..ClassicProtocol::default()
    };
    ClassicMemberMetadata {
        session_timeout_ms: i32::try_from(part.session_timeout.as_millis()).unwrap_or(i32::MAX),
        supported_protocols: part.protocols.iter().map(protocol).collect(),
        ..ClassicMemberMetadata::default()
    }
}
fn target(assignment: &Assignment) -> Vec<TopicPartition> {
    let each = assignment.iter().map(|(topic, partitions)| TopicPartition {
        topic_id: *topic,
        partitions: partitions.iter().copied().collect(),
        ..TopicPartition::default()
    });
    each.collect()
}
fn has(member: &Member) -> ConsumerGroupCurrentMemberAssignmentValue {
    let state = match member.state {
        MemberState::Stable => 0,
        MemberState::UnrevokedPartitions => 1,
        MemberState::UnreleasedPartitions => 2,
    };
    ConsumerGroupCurrentMemberAssignmentValue {
        member_epoch: member.epoch,
        previous_member_epoch: member.previous_epoch,
        state,
        assigned_partitions: owned(&member.assigned),
        partitions_pending_revocation: owned(&member.revoking),
        ..ConsumerGroupCurrentMemberAssignmentValue::default()
    }
}
fn owned(owned: &Owned) -> Vec<TopicPartitions> {
    let each = owned.iter().map(|(topic, partitions)| TopicPartitions {
        topic_id: *topic,
        partitions: partitions.keys().copied().collect(),
        assignment_epochs: Some(partitions.values().copied().collect()),
        ..TopicPartitions::default()
    });
    each.collect()
}
