//! How much a cluster keeps in all, so that no client can make it grow without end: bytes of records, bytes of everything else that clients
//! make it remember, and partitions. `docs/decisions.md` says why these, and why the answers are what they are.
//!
//! What is kept is counted now and then; in between, what comes is added to what was counted, so that a bound costs nothing until it is near.

use super::Broker;
use super::call::{self, Call};
use super::producing::Refusal;
use super::topics::topic::Topic;
use millstream_protocol::{ApiKey, ErrorCode, Timestamp};
use std::time::Duration;

/// The bounds, each an option of the broker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Of records, with what is remembered of their producers.
    pub(crate) record_bytes: usize,
    /// Of what else is remembered: topics, groups, positions, transactions, rules, options, credentials, fetch sessions.
    pub(crate) state_bytes: usize,
    /// Partitions of all topics.
    pub(crate) partitions: usize,
    /// Of requests that have come in part, on all connections.
    pub(crate) buffer_bytes: usize,
    /// Of answers that have not been read, on all connections.
    pub(crate) unread_bytes: usize,
}
impl Bounds {
    pub(crate) const RECORD_BYTES: &'static str = "millstream.max.record.bytes";
    pub(crate) const STATE_BYTES: &'static str = "millstream.max.state.bytes";
    pub(crate) const PARTITIONS: &'static str = "millstream.max.partitions";
    pub(crate) const BUFFER_BYTES: &'static str = "millstream.max.buffer.bytes";
    pub(crate) const UNREAD_BYTES: &'static str = "millstream.max.unread.bytes";

    /// Whether there may be so many more partitions beside those that there are.
    pub(crate) fn check_partitions(&self, has: usize, more: usize) -> Result<(), call::Refusal> {
        let (bound, option) = (self.partitions, Self::PARTITIONS);
        if has.saturating_add(more) <= bound {
            return Ok(());
        }
        let reason = format!("The cluster has {has} partitions and may have {bound} ({option}), not {more} more.");
        Err((ErrorCode::POLICY_VIOLATION, reason))
    }
}
impl Default for Bounds {
    fn default() -> Self {
        Self {
            record_bytes: 4 << 30,
            state_bytes: 512 << 20,
            partitions: 100_000,
            buffer_bytes: 1 << 30,
            unread_bytes: 1 << 30,
        }
    }
}

/// What is kept of one kind: as it was counted, and what may have come since.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counted: usize,
    added: usize,
    counted_at: Option<Timestamp>,
    has_told: bool,
}
impl Tally {
    /// Takes so much more in, if there is room.
    fn try_add(&mut self, bytes: usize, bound: usize) -> bool {
        let fits = self.counted.saturating_add(self.added).saturating_add(bytes) <= bound;
        if fits {
            self.added += bytes;
        }
        fits
    }
    /// Whether to count anew: who is full and asked all the time does not count all the time.
    fn is_stale(&self, now: Timestamp) -> bool {
        self.added > 0 || self.counted_at.is_none_or(|at| at + COUNTED_FOR <= now)
    }
    fn count(&mut self, counted: usize, now: Timestamp) {
        // Where nothing went, it is as full as it was told to be.
        self.has_told &= counted >= self.counted;
        (self.counted, self.added, self.counted_at) = (counted, 0, Some(now));
    }
    /// Whether nobody was told yet that it is full.
    fn is_news(&mut self) -> bool {
        !std::mem::replace(&mut self.has_told, true)
    }
}

/// Who wants to be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comer {
    New,
    /// A member or a producer that goes on: it may go beyond what is for those who are new, as it cannot work otherwise.
    Known,
    /// Somebody who ends what it was let in for: it may always, as it could never make room otherwise. What that takes counts all the same.
    Ending,
}
impl Comer {
    pub(crate) fn who(goes_on: bool) -> Self {
        if goes_on { Self::Known } else { Self::New }
    }
}

/// What a coordinator writes down about a group or a transaction goes beyond what producers may write.
const fn with_margin(bound: usize) -> usize {
    bound.saturating_add(bound / 8)
}
/// For so long a cluster that is full takes itself for full.
const COUNTED_FOR: Duration = Duration::from_millis(100);
/// What a request makes the cluster remember is taken for so much at first: so many times its size, and so much for each.
const TIMES: usize = 4;
const EACH: usize = 512;

impl Broker {
    /// How many bytes of requests that have come in part all connections may hold.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.settings.bounds.buffer_bytes
    }
    /// How many bytes of answers that are not read all connections may hold.
    pub(crate) fn unread_bytes(&self) -> usize {
        self.settings.bounds.unread_bytes
    }
    /// Whether so many bytes of records may be appended; if not, what their producer is told.
    pub(crate) fn check_record_room(&mut self, bytes: usize) -> Result<(), Refusal> {
        let bound = self.settings.bounds.record_bytes;
        if self.has_record_room(bytes, bound) {
            return Ok(());
        }
        let reason = self.record_bytes_reason(bound);
        if self.records_kept.is_news() {
            tracing::warn!("a batch of {bytes} bytes is refused. {reason}");
        }
        Err(Refusal::from(ErrorCode::KAFKA_STORAGE_ERROR).with_message(reason))
    }
    fn record_bytes_reason(&self, bound: usize) -> String {
        let (kept, option) = (self.records_kept.counted, Bounds::RECORD_BYTES);
        format!(
            "The cluster keeps {kept} bytes of records and may keep {bound} ({option}): delete records or topics, or raise it"
        )
    }
    fn has_record_room(&mut self, bytes: usize, bound: usize) -> bool {
        if self.records_kept.try_add(bytes, bound) {
            return true;
        }
        if self.records_kept.is_stale(self.now) {
            let counted = self.topics.all().flat_map(|topic| &topic.partitions).map(|each| each.records_weight()).sum();
            self.records_kept.count(counted, self.now);
        }
        self.records_kept.try_add(bytes, bound)
    }
    /// Whether a request that makes the cluster remember something may do so.
    pub(crate) fn has_state_room(&mut self, api: ApiKey, call: &Call, bytes: usize, comer: Comer) -> bool {
        let bytes = bytes.saturating_mul(TIMES).saturating_add(EACH);
        let Bounds { state_bytes, record_bytes, .. } = self.settings.bounds;
        let (state_bytes, record_bytes) = match comer {
            // What coordinators write down are records, too.
            Comer::New => (state_bytes, with_margin(record_bytes)),
            Comer::Known => (with_margin(state_bytes), with_margin(record_bytes)),
            Comer::Ending => (usize::MAX, usize::MAX),
        };
        let remembers = self.state_kept.try_add(bytes, state_bytes) || self.count_state(bytes, state_bytes);
        if !remembers {
            if self.state_kept.is_news() {
                let (client, kept) = (&call.client_id, self.state_kept.counted);
                tracing::warn!(
                    "{api} of client `{client}` is refused: the cluster remembers {kept} bytes of groups, topics and the like and may \
                     remember {state_bytes} ({}): delete some, or raise it",
                    Bounds::STATE_BYTES
                );
            }
            return false;
        }
        let has_room = self.has_record_room(bytes, record_bytes);
        if !has_room && self.records_kept.is_news() {
            let (client, reason) = (&call.client_id, self.record_bytes_reason(record_bytes));
            tracing::warn!("{api} of client `{client}` is refused, as it would be written down. {reason}");
        }
        has_room
    }
    fn count_state(&mut self, bytes: usize, bound: usize) -> bool {
        if self.state_kept.is_stale(self.now) {
            let counted = self.topics.all().map(Topic::weight).sum::<usize>()
                + self.groups.weight()
                + self.transactions.weight()
                + self.configs.weight()
                + self.quotas.weight()
                + self.authorizer.weight()
                + self.security.credentials.weight()
                + self.fetch_sessions.weight();
            self.state_kept.count(counted, self.now);
        }
        self.state_kept.try_add(bytes, bound)
    }
    /// Whether there may be so many more partitions.
    pub(crate) fn check_partition_room(&self, more: usize) -> Result<(), call::Refusal> {
        self.settings.bounds.check_partitions(self.topics.partition_count(), more)
    }
}

/// About how much a text takes where it is kept.
pub(crate) fn text_weight(text: &str) -> usize {
    text.len() + size_of::<String>()
}
/// About how much options and their values take.
pub(crate) fn values_weight<'a>(values: impl IntoIterator<Item = (&'a String, &'a String)>) -> usize {
    values.into_iter().map(|(key, value)| text_weight(key) + text_weight(value)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Whatever small thing still fitted had the next refusal told again.
    #[test]
    fn that_it_is_full_is_news_once_until_there_is_less() {
        let at = Timestamp::from_millis;
        let mut tally = Tally::default();
        tally.count(90, at(0));
        assert!(tally.is_news() && !tally.is_news());
        assert!(tally.try_add(5, 100) && !tally.is_news());
        tally.count(95, at(100));
        assert!(!tally.is_news());
        tally.count(94, at(200));
        assert!(tally.is_news());
    }
    #[test]
    fn what_was_counted_stands_until_something_may_have_changed() {
        let at = Timestamp::from_millis;
        let mut tally = Tally::default();
        assert!(tally.try_add(60, 100) && !tally.try_add(60, 100) && tally.is_stale(at(0)));
        tally.count(90, at(0));
        assert!(!tally.try_add(60, 100) && !tally.is_stale(at(99)) && tally.is_stale(at(100)));
        tally.count(10, at(100));
        assert!(tally.try_add(60, 100) && tally.is_stale(at(100)));
    }
}
