//! DescribeTopicPartitions: named topics, each alone; all topics, those that may be described.

use crate::broker::authorizer::guard::{Refuse, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use crate::broker::handlers::page_refusal;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_topic_partitions_request::TopicRequest;
use millstream_protocol::messages::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, StrBytes, TopicName,
};

impl Guard for DescribeTopicPartitionsRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Topic, Operation::Describe)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        if let Some(code) = page_refusal(self, |name| rights.may_topic(Operation::Describe, name)) {
            return Verdict::Denied(code);
        }
        if self.topics.is_empty() {
            // All that there are and may be seen, page by page.
            let named =
                |name: &str| TopicRequest::default().with_name(TopicName(StrBytes::from_string(name.to_owned())));
            let seen = rights.topics().filter(|name| rights.may_topic(Operation::Describe, name));
            let from = self.cursor.as_ref().map_or("", |cursor| cursor.topic_name.0.as_str());
            let mut names: Vec<&str> = seen.filter(|name| *name >= from).collect();
            names.sort_unstable();
            let Some(first) = names.first() else {
                return Verdict::Answered(DescribeTopicPartitionsResponse::default());
            };
            // Where the cursor's topic may not be seen, or is gone, the page begins with the next one.
            if from != *first {
                self.cursor = None;
            }
            self.topics = names.into_iter().map(named).collect();
        }
        let mut denied = split(&mut self.topics, |topic| rights.may_topic(Operation::Describe, &topic.name.0));
        denied.retain(|topic| self.cursor.as_ref().is_none_or(|cursor| topic.name >= cursor.topic_name));
        denied.sort_by(|one, other| one.name.cmp(&other.name));
        denied.dedup();
        let refused = refuse(&self.clone().with_topics(denied), ErrorCode::TOPIC_AUTHORIZATION_FAILED);
        if self.topics.is_empty() {
            return Verdict::Answered(refused);
        }
        Verdict::patched(move |rights, answer: &mut DescribeTopicPartitionsResponse| {
            for topic in &mut answer.topics {
                let name = topic.name.as_ref().map(|name| name.0.as_str()).unwrap_or_default();
                topic.topic_authorized_operations = rights.operations(ResourceType::Topic, name);
            }
            answer.topics.extend(refused.topics);
        })
    }
}
