//! Fetch: topics are judged with each answer, since a session remembers them; see `fetching::plan`.

use crate::broker::authorizer::guard::Refuse;
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::messages::FetchRequest;

impl Guard for FetchRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::Topic, Operation::Read)];

    fn screen(&mut self, _: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        Verdict::GRANTED
    }
}
