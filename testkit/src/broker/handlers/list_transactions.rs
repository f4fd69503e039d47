//! ListTransactions: those that this node coordinates, filtered by state, producer, age and pattern. To a pattern, as to one for names of
//! topics, a character beyond ASCII is as many as it has bytes, unless it speaks of Unicode.
//!
//! Versions 0 to 2. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::consumer::expressions::whole;
use crate::broker::transactions::transaction::{State, Transaction};
use millstream_protocol::messages::list_transactions_response::TransactionState;
use millstream_protocol::messages::{
    ListTransactionsRequest, ListTransactionsResponse, ProducerId, StrBytes, TransactionalId,
};
use millstream_protocol::{ErrorCode, Timestamp};
use std::collections::BTreeSet;

const STATES: &[&str] =
    &["Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "PrepareEpochFence"];

pub(super) struct ListTransactions;

impl Handler for ListTransactions {
    type Request = ListTransactionsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: ListTransactionsRequest) -> Answer<ListTransactionsResponse> {
        let pattern = request.transactional_id_pattern.as_deref().unwrap_or_default();
        // An empty one is none.
        let pattern = Some(pattern).filter(|pattern| !pattern.is_empty()).map(whole).transpose();
        let Ok(pattern) = pattern else {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REGULAR_EXPRESSION));
        };
        let unknown = request.state_filters.iter().filter(|name| !STATES.contains(&name.as_str())).cloned().collect();
        let wanted = Wanted::of(&request);
        let is_wanted = |(id, transaction): &(&StrBytes, &Transaction)| {
            broker.is_transaction_coordinator(call.node, id)
                && pattern.as_ref().is_none_or(|pattern| pattern.is_match(id.as_bytes()))
                && wanted.has(transaction, broker.now)
        };
        let found = broker.transactions.all().filter(is_wanted).map(|(id, transaction)| {
            TransactionState::default()
                .with_transactional_id(TransactionalId(id.clone()))
                .with_producer_id(ProducerId(transaction.identity.id))
                .with_transaction_state(StrBytes::from_static_str(transaction.state.name()))
        });
        Answer::Reply(
            ListTransactionsResponse::default()
                .with_unknown_state_filters(unknown)
                .with_transaction_states(found.collect()),
        )
    }
    fn refuse(_: &ListTransactionsRequest, code: ErrorCode) -> ListTransactionsResponse {
        ListTransactionsResponse::default().with_error_code(code.get())
    }
}

/// The transactions that a request asks for.
struct Wanted<'r> {
    states: BTreeSet<&'r str>,
    producers: BTreeSet<i64>,
    older_than_ms: i64,
}
impl<'r> Wanted<'r> {
    fn of(request: &'r ListTransactionsRequest) -> Self {
        Self {
            states: request.state_filters.iter().map(StrBytes::as_str).collect(),
            producers: request.producer_id_filters.iter().map(|id| id.0).collect(),
            older_than_ms: request.duration_filter,
        }
    }
    fn has(&self, transaction: &Transaction, now: Timestamp) -> bool {
        let has_state = self.states.is_empty() || self.states.contains(transaction.state.name());
        let has_producer = self.producers.is_empty() || self.producers.contains(&transaction.identity.id);
        let is_old = match transaction.state {
            State::Ongoing { since } => now.as_millis() - since.as_millis() > self.older_than_ms,
            _ => self.older_than_ms < 0,
        };
        has_state && has_producer && (self.older_than_ms < 0 || is_old)
    }
}
