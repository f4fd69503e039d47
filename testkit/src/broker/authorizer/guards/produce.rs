//! Produce: writes under the transactional id, if there is one, and to each topic by name or id.

use crate::broker::authorizer::guard::{Refuse, joined, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::ProduceRequest;

impl Guard for ProduceRequest {
    const NEEDS: &'static [Need] =
        &[(ResourceType::TransactionalId, Operation::Write), (ResourceType::Topic, Operation::Write)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let may_id = |id| rights.may_transactional_id(Operation::Write, id);
        if !self.transactional_id.as_deref().is_none_or(may_id) {
            return Verdict::Denied(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
        }
        let denied = split(&mut self.topic_data, |topic| {
            let name =
                if topic.topic_id.is_nil() { Some(topic.name.as_str()) } else { rights.topic_name(topic.topic_id) };
            name.is_none_or(|name| rights.may_topic(Operation::Write, name))
        });
        if denied.is_empty() {
            return Verdict::GRANTED;
        }
        let refused = refuse(&Self { topic_data: denied, ..self.clone() }, ErrorCode::TOPIC_AUTHORIZATION_FAILED);
        joined(vec![refused], |answer, refused| answer.responses.extend(refused.responses))
    }
}
