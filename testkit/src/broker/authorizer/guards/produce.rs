//! Produce: writes under the transactional id, if the records are transactional, and to each topic by name or id.

use crate::broker::authorizer::guard::{Refuse, joined, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use crate::broker::producing::first_flaw;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::produce_request::TopicProduceData;
use millstream_protocol::messages::{ProduceRequest, RecordData};

impl Guard for ProduceRequest {
    const NEEDS: &'static [Need] =
        &[(ResourceType::TransactionalId, Operation::Write), (ResourceType::Topic, Operation::Write)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        if first_flaw(self).is_some() {
            // Nothing is written, whatever is allowed.
            return Verdict::GRANTED;
        }
        let mut records =
            self.topic_data.iter().flat_map(|topic| &topic.partition_data).map(|partition| &partition.records);
        let may_id = |id| rights.may_transactional_id(Operation::Write, id);
        if records.any(is_transactional) && !self.transactional_id.as_deref().is_some_and(may_id) {
            return Verdict::Denied(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
        }
        let may = |topic: &TopicProduceData| rights.may_meant(Operation::Write, topic.name.as_str(), topic.topic_id);
        let denied = split(&mut self.topic_data, may);
        if denied.is_empty() {
            return Verdict::GRANTED;
        }
        let refused = refuse(&Self { topic_data: denied, ..self.clone() }, ErrorCode::TOPIC_AUTHORIZATION_FAILED);
        joined(vec![refused], |answer, refused| answer.responses.extend(refused.responses))
    }
}
/// Whether the first batch says so, in the lower byte of its attributes.
fn is_transactional(records: &RecordData) -> bool {
    const ATTRIBUTES: usize = 22;
    const TRANSACTIONAL: u8 = 0x10;
    let mut bytes = records.chunks().iter().flat_map(|chunk| chunk.iter());
    bytes.nth(ATTRIBUTES).is_some_and(|attributes| attributes & TRANSACTIONAL != 0)
}
