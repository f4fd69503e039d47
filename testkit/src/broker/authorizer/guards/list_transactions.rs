//! ListTransactions: those whose transactional id may be described.

use crate::broker::authorizer::guard::Refuse;
use crate::broker::authorizer::{Guard, Need, Operation, ResourceType, Rights, Verdict};
use millstream_protocol::messages::{ListTransactionsRequest, ListTransactionsResponse};

impl Guard for ListTransactionsRequest {
    const NEEDS: &'static [Need] = &[(ResourceType::TransactionalId, Operation::Describe)];

    fn screen(&mut self, _: &Rights<'_>, _: Refuse<Self>) -> Verdict<Self::Response> {
        Verdict::patched(|rights, answer: &mut ListTransactionsResponse| {
            let may = |id: &str| rights.may_transactional_id(Operation::Describe, id);
            answer.transaction_states.retain(|state| may(&state.transactional_id.0));
        })
    }
}
