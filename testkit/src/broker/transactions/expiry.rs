//! Transactional ids do not stay for ever: those that have rested for `transactional.id.expiration.ms` are forgotten at the next check
//! (`transaction.remove.expired.transaction.cleanup.interval.ms`). Who uses one again gets another producer id.

use super::transaction::Transaction;
use crate::broker::Broker;
use crate::broker::timers::TimerKey;
use millstream_protocol::Timestamp;
use millstream_protocol::messages::StrBytes;
use std::time::Duration;

impl Transaction {
    /// Whether nobody has used it for so long.
    fn is_expired(&self, now: Timestamp, after: Duration) -> bool {
        let touched = self.written.as_ref().map(|written| written.transaction_last_update_timestamp_ms);
        self.state.is_at_rest() && touched.is_some_and(|at| Timestamp::from_millis(at) + after <= now)
    }
}

impl Broker {
    /// Forgets the ids that nobody has used for long.
    pub(crate) fn expire_transactions(&mut self) {
        let (now, after) = (self.now, self.settings.transactional_id_expiration);
        let gone: Vec<StrBytes> = self
            .transactions
            .all()
            .filter(|(_, transaction)| transaction.is_expired(now, after))
            .map(|(id, _)| id.clone())
            .collect();
        for id in gone {
            self.transactions.by_id.remove(&id);
            self.timers.arm(TimerKey::Transaction(id.clone()), None);
            self.write_transaction_end(&id);
        }
    }
}
