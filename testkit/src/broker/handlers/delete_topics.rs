//! DeleteTopics: by name, from version 6 on by id too.
//!
//! Versions 1 to 6. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::delete_topics_request::DeleteTopicState;
use millstream_protocol::messages::delete_topics_response::DeletableTopicResult;
use millstream_protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse, StrBytes, TopicName, Uuid};
use std::collections::BTreeSet;

pub(super) struct DeleteTopics;

impl Handler for DeleteTopics {
    type Request = DeleteTopicsRequest;
    fn handle(broker: &mut Broker, _: &Call, request: DeleteTopicsRequest) -> Answer<DeleteTopicsResponse> {
        let mut gone = Vec::new();
        let responses = asked(&request).into_iter().map(|topic| delete(broker, &topic, &mut gone)).collect();
        broker.forget_topics(&gone);
        Answer::Reply(DeleteTopicsResponse::default().with_responses(responses))
    }
    fn refuse(request: &DeleteTopicsRequest, code: ErrorCode) -> DeleteTopicsResponse {
        let responses = asked(request).iter().map(|topic| refused(topic, code)).collect();
        DeleteTopicsResponse::default().with_responses(responses)
    }
}

fn asked(request: &DeleteTopicsRequest) -> Vec<DeleteTopicState> {
    let by_name = request.topic_names.iter().map(|name| DeleteTopicState::default().with_name(Some(name.clone())));
    request.topics.iter().cloned().chain(by_name).collect()
}
fn delete(broker: &mut Broker, asked: &DeleteTopicState, gone: &mut Vec<(StrBytes, Uuid)>) -> DeletableTopicResult {
    if !broker.settings.delete_topics {
        return refused(asked, ErrorCode::TOPIC_DELETION_DISABLED);
    }
    let name = match &asked.name {
        Some(name) => {
            broker.topics.find(&name.0).map(|topic| topic.name.clone()).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
        }
        None => broker.topics.name_of(asked.topic_id).cloned().ok_or(ErrorCode::UNKNOWN_TOPIC_ID),
    };
    match name {
        Err(code) => refused(asked, code),
        Ok(name) => {
            let id = broker.topics.delete(&name).map(|topic| topic.id).unwrap_or_default();
            gone.push((name.clone(), id));
            let result = DeletableTopicResult::default().with_name(Some(TopicName(name))).with_error_message(None);
            result.with_topic_id(id)
        }
    }
}
fn refused(asked: &DeleteTopicState, code: ErrorCode) -> DeletableTopicResult {
    DeletableTopicResult::default()
        .with_name(asked.name.clone())
        .with_topic_id(asked.topic_id)
        .with_error_code(code.get())
        .with_error_message(Some(StrBytes::from_static_str(code.message())))
}

impl Broker {
    /// Deletes a topic, and what groups and transactions know of it; says whether there was one.
    pub(crate) fn delete_topic(&mut self, name: &str) -> bool {
        let Some(topic) = self.topics.delete(name) else { return false };
        self.forget_topics(&[(topic.name, topic.id)]);
        true
    }
    /// What groups, transactions and readers know of topics that were deleted is gone.
    fn forget_topics(&mut self, gone: &[(StrBytes, Uuid)]) {
        if gone.is_empty() {
            return;
        }
        let (names, ids): (BTreeSet<StrBytes>, BTreeSet<Uuid>) = gone.iter().cloned().unzip();
        let positions: Vec<_> =
            self.groups.all_mut().map(|group| (group.id.clone(), group.offsets.remove_topics(&names))).collect();
        positions.iter().for_each(|(group, keys)| self.write_positions_end(group, keys));
        self.transactions.remove_topics(&ids);
        self.wake_all_fetches();
        ids.iter().for_each(|id| self.forget_watchers(*id));
    }
}
