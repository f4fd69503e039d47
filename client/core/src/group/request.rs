//! A member's identity, and the requests that carry it.

use super::MemberConfig;
use bytes::Bytes;
use millstream_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use millstream_protocol::messages::leave_group_request::MemberIdentity;
use millstream_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use millstream_protocol::messages::{
    HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, StrBytes, SyncGroupRequest,
};
use std::time::Duration;

pub(super) const PROTOCOL_TYPE: &str = "consumer";

/// A member of a group at one generation: what an offset commit inside a transaction proves itself with (KIP-447).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupMetadata {
    /// `group.id`.
    pub group_id: String,
    /// The generation; −1 when it is in none.
    pub generation: i32,
    /// The id that the coordinator gave; empty when it has none.
    pub member_id: String,
    /// `group.instance.id`.
    pub instance_id: Option<String>,
}

impl GroupMetadata {
    /// Of a consumer without a group.
    #[must_use]
    pub const fn none() -> Self {
        Self { group_id: String::new(), generation: -1, member_id: String::new(), instance_id: None }
    }
    /// Nobody of this group: for offsets that are committed from outside of any membership.
    #[must_use]
    pub fn outside(group_id: impl Into<String>) -> Self {
        Self { group_id: group_id.into(), generation: -1, member_id: String::new(), instance_id: None }
    }
    pub(super) fn of(config: &MemberConfig) -> Self {
        Self {
            group_id: config.group_id.clone(),
            generation: -1,
            member_id: String::new(),
            instance_id: config.instance_id.clone(),
        }
    }
    pub(super) fn join(
        &self,
        config: &MemberConfig,
        protocols: Vec<(String, Bytes)>,
        reason: &str,
    ) -> JoinGroupRequest {
        let mut request = JoinGroupRequest::default();
        request.group_id = text(&self.group_id).into();
        request.session_timeout_ms = millis(config.session_timeout);
        request.rebalance_timeout_ms = millis(config.rebalance_timeout);
        request.member_id = text(&self.member_id);
        request.group_instance_id = self.instance();
        request.protocol_type = StrBytes::from_static_str(PROTOCOL_TYPE);
        request.protocols = protocols.into_iter().map(protocol).collect();
        request.reason = Some(text(reason));
        request
    }
    pub(super) fn sync(&self, protocol: &str, assignments: Vec<(String, Bytes)>) -> SyncGroupRequest {
        let mut request = SyncGroupRequest::default();
        request.group_id = text(&self.group_id).into();
        request.generation_id = self.generation;
        request.member_id = text(&self.member_id);
        request.group_instance_id = self.instance();
        request.protocol_type = Some(StrBytes::from_static_str(PROTOCOL_TYPE));
        request.protocol_name = Some(text(protocol));
        request.assignments = assignments.into_iter().map(assignment).collect();
        request
    }
    pub(super) fn heartbeat(&self) -> HeartbeatRequest {
        let mut request = HeartbeatRequest::default();
        request.group_id = text(&self.group_id).into();
        request.generation_id = self.generation;
        request.member_id = text(&self.member_id);
        request.group_instance_id = self.instance();
        request
    }
    pub(super) fn leave(&self, reason: &'static str) -> Leave {
        Leave { who: self.clone(), reason }
    }

    fn instance(&self) -> Option<StrBytes> {
        self.instance_id.as_deref().map(text)
    }
}

/// A LeaveGroup to be sent. Its shape depends on the version: one member before 3, a list since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leave {
    who: GroupMetadata,
    reason: &'static str,
}

impl Leave {
    /// The request in this version.
    #[must_use]
    pub fn request(&self, version: i16) -> LeaveGroupRequest {
        let mut request = LeaveGroupRequest::default();
        request.group_id = text(&self.who.group_id).into();
        if version < 3 {
            request.member_id = text(&self.who.member_id);
            return request;
        }
        let mut member = MemberIdentity::default();
        member.member_id = text(&self.who.member_id);
        member.group_instance_id = self.who.instance();
        member.reason = Some(StrBytes::from_static_str(self.reason));
        request.members = vec![member];
        request
    }
}

fn protocol((name, metadata): (String, Bytes)) -> JoinGroupRequestProtocol {
    let mut protocol = JoinGroupRequestProtocol::default();
    protocol.name = text(&name);
    protocol.metadata = metadata;
    protocol
}

fn assignment((member_id, bytes): (String, Bytes)) -> SyncGroupRequestAssignment {
    let mut assignment = SyncGroupRequestAssignment::default();
    assignment.member_id = text(&member_id);
    assignment.assignment = bytes;
    assignment
}

fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

fn millis(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX)
}
