//! DescribeTransactions: each transactional id; of its topics those that may be described.

use crate::broker::authorizer::guard::{Refuse, split};
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::{DescribeTransactionsRequest, DescribeTransactionsResponse};

impl Guard for DescribeTransactionsRequest {
    const NEEDS: &'static [Need] =
        &[(ResourceType::TransactionalId, Operation::Describe), (ResourceType::Topic, Operation::Describe)];

    fn screen(&mut self, rights: &Rights<'_>, refuse: Refuse<Self>) -> Verdict<Self::Response> {
        let denied = split(&mut self.transactional_ids, |id| rights.may_transactional_id(Operation::Describe, &id.0));
        let refused = (!denied.is_empty()).then(|| {
            let denied = self.clone().with_transactional_ids(denied);
            refuse(&denied, ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        });
        Verdict::patched(move |rights, answer: &mut DescribeTransactionsResponse| {
            for state in &mut answer.transaction_states {
                state.topics.retain(|topic| rights.may_topic(Operation::Describe, &topic.topic.0));
            }
            answer.transaction_states.extend(refused.into_iter().flat_map(|refused| refused.transaction_states));
        })
    }
}
