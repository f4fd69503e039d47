//! CreateTopics: those who may create in the cluster may create any topic. Configurations are told to those who may see them (KIP-525).

use crate::broker::authorizer::guard::{Refuse, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::create_topics_response::CreatableTopicResult;
use millstream_protocol::messages::{CreateTopicsRequest, CreateTopicsResponse, StrBytes};

impl Guard for CreateTopicsRequest {
    const NEEDS: &'static [Need] = &[
        (ResourceType::Cluster, Operation::Create),
        (ResourceType::Topic, Operation::Create),
        (ResourceType::Topic, Operation::DescribeConfigs),
    ];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let may = |name: &str| rights.may_cluster(Operation::Create) || rights.may_topic(Operation::Create, name);
        let denied = split(&mut self.topics, |topic| may(&topic.name.0));
        let refused = (!denied.is_empty()).then(|| {
            let mut refused = refuse(&self.clone().with_topics(denied), ErrorCode::TOPIC_AUTHORIZATION_FAILED);
            let sentence = StrBytes::from_static_str("Authorization failed.");
            refused.topics.iter_mut().for_each(|topic| topic.error_message = Some(sentence.clone()));
            refused
        });
        Verdict::patched(move |rights, answer: &mut CreateTopicsResponse| {
            let hidden = |topic: &&mut CreatableTopicResult| {
                topic.error_code == 0 && !rights.may_topic(Operation::DescribeConfigs, &topic.name.0)
            };
            answer.topics.iter_mut().filter(hidden).for_each(hide);
            answer.topics.extend(refused.into_iter().flat_map(|refused| refused.topics));
        })
    }
}
fn hide(topic: &mut CreatableTopicResult) {
    topic.topic_config_error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED.get();
    topic.num_partitions = -1;
    topic.replication_factor = -1;
    topic.configs = Some(Vec::new());
}
