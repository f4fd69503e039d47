//! CreatePartitions: each topic. A topic that is named twice is wrong, whoever asks; of those that are refused no more is told than that.

use crate::broker::authorizer::guard::{Refuse, joined, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::CreatePartitionsRequest;
use std::collections::BTreeSet;

impl Guard for CreatePartitionsRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Topic, Operation::Alter)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let mut seen = BTreeSet::new();
        let twice: BTreeSet<_> =
            self.topics.iter().map(|topic| topic.name.clone()).filter(|name| !seen.insert(name.clone())).collect();
        let denied = split(&mut self.topics, |topic| {
            twice.contains(&topic.name) || rights.may_topic(Operation::Alter, &topic.name.0)
        });
        if denied.is_empty() {
            return Verdict::GRANTED;
        }
        let mut refused = refuse(&self.clone().with_topics(denied), ErrorCode::TOPIC_AUTHORIZATION_FAILED);
        refused.results.iter_mut().for_each(|topic| topic.error_message = None);
        joined(vec![refused], |answer, refused| answer.results.extend(refused.results))
    }
}
