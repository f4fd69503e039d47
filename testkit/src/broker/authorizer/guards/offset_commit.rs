//! OffsetCommit: reads the group, and each topic by name or id.

use crate::broker::authorizer::guard::{Refuse, joined, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::OffsetCommitRequest;

impl Guard for OffsetCommitRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Group, Operation::Read), (ResourceType::Topic, Operation::Read)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        if !rights.may_group(Operation::Read, &self.group_id.0) {
            return Verdict::Denied(ErrorCode::GROUP_AUTHORIZATION_FAILED);
        }
        let denied = split(&mut self.topics, |topic| rights.may_meant(Operation::Read, &topic.name.0, topic.topic_id));
        if denied.is_empty() {
            return Verdict::GRANTED;
        }
        let refused = refuse(&self.clone().with_topics(denied), ErrorCode::TOPIC_AUTHORIZATION_FAILED);
        joined(vec![refused], |answer, refused| answer.topics.extend(refused.topics))
    }
}
