//! Metadata: named topics, each alone, and whether it may be made; all topics, those that may be described; operations, where asked for.

use super::describe_cluster::cluster_operations;
use crate::broker::authorizer::guard::{Refuse, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::metadata_response::MetadataResponseTopic;
use millstream_protocol::messages::{MetadataRequest, MetadataResponse};

impl Guard for MetadataRequest {
    const NEEDS: &'static [Need] = &[
        (ResourceType::Topic, Operation::Describe),
        (ResourceType::Topic, Operation::Create),
        (ResourceType::Cluster, Operation::Create),
        (ResourceType::Cluster, Operation::Describe),
    ];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let asked = self
            .topics
            .as_mut()
            .map(|topics| split(topics, |topic| may(rights, topic, self.allow_auto_topic_creation)));
        let denied = asked.filter(|denied| !denied.is_empty());
        // In version 0 an empty list asks for all.
        let is_none = denied.is_some() && self.topics.as_ref().is_some_and(Vec::is_empty);
        let request = (self.include_topic_authorized_operations, self.include_cluster_authorized_operations);
        let refused = denied.map(|topics| {
            refuse(&self.clone().with_topics(Some(topics)), ErrorCode::TOPIC_AUTHORIZATION_FAILED).topics
        });
        Verdict::patched(move |rights, answer: &mut MetadataResponse| {
            answer.topics.retain(|topic| !is_none && is_seen(rights, topic));
            tell_operations(rights, answer, request);
            answer.topics.extend(refused.into_iter().flatten());
        })
    }
}

fn may(rights: &Rights<'_>, topic: &MetadataRequestTopic, creates: bool) -> bool {
    let Some(name) = &topic.name else {
        return rights.topic_name(topic.topic_id).is_none_or(|name| rights.may_topic(Operation::Describe, name));
    };
    let creates = creates && rights.makes_topics() && !rights.has_topic(&name.0);
    rights.may_topic(Operation::Describe, &name.0)
        && (!creates || rights.may_cluster(Operation::Create) || rights.may_topic(Operation::Create, &name.0))
}
fn is_seen(rights: &Rights<'_>, topic: &MetadataResponseTopic) -> bool {
    topic.name.as_ref().is_none_or(|name| rights.may_topic(Operation::Describe, &name.0))
}
fn tell_operations(rights: &Rights<'_>, answer: &mut MetadataResponse, (topics, cluster): (bool, bool)) {
    // Also of topics that are not there, if they have a name.
    for topic in answer.topics.iter_mut().filter(|topic| topics && topic.name.is_some()) {
        let name = topic.name.as_ref().map(|name| name.0.as_str()).unwrap_or_default();
        topic.topic_authorized_operations = rights.operations(ResourceType::Topic, name);
    }
    if cluster {
        answer.cluster_authorized_operations = cluster_operations(rights);
    }
}
