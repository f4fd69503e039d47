//! Folds the values of a key.

use crate::topic::Serdes;
use crate::{Context, Data, Processor, ProcessorError, ProcessorResult, Record};
use millstream_protocol::Timestamp;
use millstream_state::TimestampedStore;
use std::sync::Arc;

/// Makes a key's aggregate of the old one, if there is one, and a value.
pub(super) type Fold<K, V, A> = Arc<dyn Fn(&K, V, Option<A>) -> Result<A, ProcessorError> + Send + Sync>;

/// Folds the values of a key, and forwards each new aggregate; `None` if it is null, and so deleted.
pub(super) struct Aggregate<K, V, A> {
    pub(super) store: TimestampedStore<K, A>,
    pub(super) fold: Fold<K, V, A>,
    /// Of what is grouped: what is null for them is dropped.
    pub(super) grouped: Serdes<K, V>,
    /// Of the aggregate.
    pub(super) result: Serdes<K, A>,
}
impl<K: Data, V: Data, A: Data> Processor for Aggregate<K, V, A> {
    type In = Record<K, V>;
    type Out = Record<K, Option<A>>;

    fn process(&mut self, record: Self::In, ctx: &mut Context<'_, Self>) -> ProcessorResult {
        if self.grouped.key.is_null(&record.key) || self.grouped.value.is_null(&record.value) {
            ctx.count_dropped();
            return Ok(());
        }
        let (old, old_time) = match self.store.get_with_time(&record.key)? {
            Some((old, time)) => (Some(old), time),
            None => (None, Timestamp::NONE),
        };
        let new = (self.fold)(&record.key, record.value, old)?;
        let time = record.timestamp.max(old_time);
        let new = if self.result.value.is_null(&new) {
            self.store.delete(&record.key)?;
            None
        } else {
            self.store.put(&record.key, &new, time)?;
            Some(new)
        };
        ctx.forward(Record::new(record.key, new, time).with_headers(record.headers));
        Ok(())
    }
}
