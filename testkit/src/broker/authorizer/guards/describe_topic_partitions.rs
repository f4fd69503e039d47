//! DescribeTopicPartitions: named topics, each alone; all topics, those that may be described.

use crate::broker::authorizer::guard::{Refuse, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_topic_partitions_response::DescribeTopicPartitionsResponseTopic;
use millstream_protocol::messages::{DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse};

impl Guard for DescribeTopicPartitionsRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Topic, Operation::Describe)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let denied = split(&mut self.topics, |topic| rights.may_topic(Operation::Describe, &topic.name.0));
        let refused = (!denied.is_empty())
            .then(|| refuse(&self.clone().with_topics(denied), ErrorCode::TOPIC_AUTHORIZATION_FAILED));
        match refused {
            // An empty list would ask for all.
            Some(refused) if self.topics.is_empty() => Verdict::Answered(refused),
            refused => Verdict::patched(move |rights, answer: &mut DescribeTopicPartitionsResponse| {
                answer.topics.retain(|topic| may(rights, topic));
                for topic in answer.topics.iter_mut().filter(|topic| topic.error_code == 0) {
                    let name = topic.name.as_ref().map(|name| name.0.as_str()).unwrap_or_default();
                    topic.topic_authorized_operations = rights.operations(ResourceType::Topic, name);
                }
                answer.topics.extend(refused.into_iter().flat_map(|refused| refused.topics));
            }),
        }
    }
}
fn may(rights: &Rights<'_>, topic: &DescribeTopicPartitionsResponseTopic) -> bool {
    topic.name.as_ref().is_none_or(|name| rights.may_topic(Operation::Describe, &name.0))
}
