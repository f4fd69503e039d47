//! DeleteTopics: by name or by id. Those who may delete in the cluster may delete any topic. Whoever may not see a topic does not learn its name.

use crate::broker::authorizer::guard::{Refuse, joined, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{DeleteTopicsRequest, StrBytes, TopicName};

impl Guard for DeleteTopicsRequest {
    const NEEDS: &'static [Need] = &[
        (ResourceType::Cluster, Operation::Delete),
        (ResourceType::Topic, Operation::Delete),
        (ResourceType::Topic, Operation::Describe),
    ];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        if rights.may_cluster(Operation::Delete) {
            return Verdict::GRANTED;
        }
        // Whoever may see topics learns which there are not.
        let may = |name: &str| {
            let sees = rights.may_topic(Operation::Describe, name);
            sees && (!rights.has_topic(name) || rights.may_topic(Operation::Delete, name))
        };
        let topic_names = split(&mut self.topic_names, |name| may(&name.0));
        let mut topics = split(&mut self.topics, |topic| match &topic.name {
            Some(name) => may(&name.0),
            None => rights.topic_name(topic.topic_id).is_none_or(may),
        });
        for topic in topics.iter_mut().filter(|topic| topic.name.is_none()) {
            let seen = rights.topic_name(topic.topic_id).filter(|name| rights.may_topic(Operation::Describe, name));
            topic.name = seen.map(|name| TopicName(StrBytes::from_string(name.to_owned())));
        }
        if topics.is_empty() && topic_names.is_empty() {
            return Verdict::GRANTED;
        }
        let refused = refuse(
            &self.clone().with_topics(topics).with_topic_names(topic_names),
            ErrorCode::TOPIC_AUTHORIZATION_FAILED,
        );
        joined(vec![refused], |answer, refused| answer.responses.extend(refused.responses))
    }
}
