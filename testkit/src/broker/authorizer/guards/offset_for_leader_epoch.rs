//! OffsetForLeaderEpoch: brokers ask for all, clients for topics that they may describe.

use crate::broker::authorizer::guard::{Refuse, joined, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::OffsetForLeaderEpochRequest;

impl Guard for OffsetForLeaderEpochRequest {
    const NEEDS: &'static [Need] =
        &[(ResourceType::Cluster, Operation::ClusterAction), (ResourceType::Topic, Operation::Describe)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        if rights.may_cluster(Operation::ClusterAction) {
            return Verdict::GRANTED;
        }
        let denied = split(&mut self.topics, |topic| rights.may_topic(Operation::Describe, &topic.topic.0));
        if denied.is_empty() {
            return Verdict::GRANTED;
        }
        let refused = refuse(&self.clone().with_topics(denied), ErrorCode::TOPIC_AUTHORIZATION_FAILED);
        joined(vec![refused], |answer, refused| answer.topics.extend(refused.topics))
    }
}
