//! One transactional id: who holds it, and how far its transaction is. Decides; what follows in the logs and groups is `mod.rs`'s.
//!
//! ```text
//!              partition or group added          EndTxn, timeout, fencing        markers written
//!   Empty ──────────────► Ongoing ──────────────────────► Prepared ──────────────────► Complete
//!     ▲                      ▲                                                             │
//!     │                      └───────────────── partition or group added ──────────────────┤
//!     └──────────────────────────────────────── InitProducerId ────────────────────────────┘
//! ```

use super::journal::Written;
use crate::broker::bounds::text_weight;
use crate::broker::log::batch::Marker;
use crate::broker::topics::PartitionKey;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::{ErrorCode, Timestamp};
use std::collections::BTreeSet;
use std::time::Duration;

/// The last epoch that a client gets; the one after is kept for fencing, then the id changes (`isProducerEpochExhausted`).
const LAST_EPOCH: i16 = i16::MAX - 1;

/// An id and its epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) id: i64,
    pub(crate) epoch: i16,
}
impl Identity {
    pub(crate) fn is_exhausted(self) -> bool {
        self.epoch >= LAST_EPOCH
    }
    pub(crate) fn bumped(self) -> Self {
        Self { epoch: self.epoch.saturating_add(1), ..self }
    }
}

/// Which of the protocol's editions a client last spoke (`transaction.version`): the second gives each transaction an epoch of its own
/// (KIP-890).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edition {
    First,
    Second,
}

/// How far a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Empty,
    Ongoing { since: Timestamp },
    Prepared { marker: Marker, until: Timestamp },
    Complete(Marker),
}
impl State {
    /// As ListTransactions names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Ongoing { .. } => "Ongoing",
            Self::Prepared { marker: Marker::Commit, .. } => "PrepareCommit",
            Self::Prepared { marker: Marker::Abort, .. } => "PrepareAbort",
            Self::Complete(Marker::Commit) => "CompleteCommit",
            Self::Complete(Marker::Abort) => "CompleteAbort",
        }
    }
    /// Whether the id may be forgotten: nothing is open or under way.
    pub(crate) fn is_at_rest(self) -> bool {
        matches!(self, Self::Empty | Self::Complete(_))
    }
}

/// What EndTxn leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The transaction ends now.
    Begin,
    /// It has ended so before.
    Repeat,
}

/// One transactional id.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) identity: Identity,
    /// Who the holder was before its identity was bumped, so that a repeated request is known.
    pub(crate) before: Option<Identity>,
    /// With whose epoch the markers of the prepared transaction are written.
    pub(crate) marker_identity: Identity,
    pub(crate) timeout: Duration,
    pub(crate) state: State,
    /// When the transaction began: the one that is open, or the last one.
    pub(crate) started: Option<Timestamp>,
    pub(crate) partitions: BTreeSet<PartitionKey>,
    pub(crate) groups: BTreeSet<StrBytes>,
    pub(crate) edition: Edition,
    /// What was written down of it last; none before that.
    pub(super) written: Option<Written>,
}

impl Transaction {
    pub(crate) fn new(identity: Identity, timeout: Duration) -> Self {
        Self {
            identity,
            before: None,
            marker_identity: identity,
            timeout,
            state: State::Empty,
            started: None,
            partitions: BTreeSet::new(),
            groups: BTreeSet::new(),
            edition: Edition::First,
            written: None,
        }
    }
    /// About how many bytes it takes; what was last written of it takes about as much again.
    pub(crate) fn weight(&self) -> usize {
        let groups = self.groups.iter().map(|group| text_weight(group)).sum::<usize>();
        size_of::<Self>() + 2 * (self.partitions.len() * size_of::<PartitionKey>() + groups)
    }
    /// Whether there is something to end.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, State::Ongoing { .. })
    }
    /// When it next has something to do by itself.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        match self.state {
            State::Ongoing { since } => Some(since + self.timeout),
            State::Prepared { until, .. } => Some(until),
            State::Empty | State::Complete(_) => None,
        }
    }
    /// Whether a request comes from the holder.
    pub(crate) fn check(&self, asked: Identity) -> Result<(), ErrorCode> {
        if asked.id != self.identity.id {
            return Err(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
        }
        if asked.epoch == self.identity.epoch { Ok(()) } else { Err(ErrorCode::PRODUCER_FENCED) }
    }
    /// Opens the transaction, if it is not open, for something to be added.
    pub(crate) fn open(&mut self, asked: Identity, now: Timestamp) -> Result<(), ErrorCode> {
        self.check(asked)?;
        match self.state {
            State::Prepared { .. } => return Err(ErrorCode::CONCURRENT_TRANSACTIONS),
            State::Ongoing { .. } => {}
            State::Empty | State::Complete(_) => {
                self.state = State::Ongoing { since: now };
                self.started = Some(now);
            }
        }
        Ok(())
    }
    /// Takes the id over, for a producer that says who it was or that does not. `fresh` is the next free producer id.
    pub(crate) fn take_over(&mut self, expected: Option<Identity>, fresh: i64) -> Result<TakeOver, ErrorCode> {
        let is_known = |expected: Identity| {
            let was_before = self.before.is_some_and(|before| before.id == expected.id);
            expected.id == self.identity.id || was_before && expected.is_exhausted()
        };
        if !expected.is_none_or(is_known) {
            return Err(ErrorCode::PRODUCER_FENCED);
        }
        match self.state {
            State::Prepared { .. } => Err(ErrorCode::CONCURRENT_TRANSACTIONS),
            // Whatever epoch is named: it is the next try that is held against it.
            State::Ongoing { .. } => Ok(TakeOver::AbortFirst),
            State::Empty | State::Complete(_) => {
                let is_repeat =
                    expected.is_some_and(|expected| self.before.is_some_and(|before| before.epoch == expected.epoch));
                match expected {
                    Some(expected) if expected.epoch != self.identity.epoch && !is_repeat => {
                        return Err(ErrorCode::PRODUCER_FENCED);
                    }
                    Some(expected) if expected.epoch != self.identity.epoch => {}
                    _ => self.succeed(expected.is_some(), fresh),
                }
                self.state = State::Empty;
                self.started = None;
                Ok(TakeOver::Done)
            }
        }
    }
    fn succeed(&mut self, remembers: bool, fresh: i64) {
        let old = self.identity;
        self.identity = if old.is_exhausted() { Identity { id: fresh, epoch: 0 } } else { old.bumped() };
        self.before = remembers.then_some(old);
    }
    /// Whether EndTxn may end the transaction. `bumps` is KIP-890's second part: every transaction has an epoch of its own.
    pub(crate) fn check_end(&self, asked: Identity, marker: Marker, bumps: bool) -> Result<Ending, ErrorCode> {
        if bumps { self.check_end_of_second(asked, marker) } else { self.check_end_of_first(asked, marker) }
    }
    fn check_end_of_first(&self, asked: Identity, marker: Marker) -> Result<Ending, ErrorCode> {
        self.check(asked)?;
        match self.state {
            State::Ongoing { .. } => Ok(Ending::Begin),
            State::Prepared { .. } => Err(ErrorCode::CONCURRENT_TRANSACTIONS),
            State::Complete(done) if done == marker => Ok(Ending::Repeat),
            State::Complete(_) | State::Empty => Err(ErrorCode::INVALID_TXN_STATE),
        }
    }
    /// Who names the epoch before this one repeats what ended that one, if that is what happened last: where a transaction was opened since, or
    /// the id taken over, it is somebody from before.
    fn check_end_of_second(&self, asked: Identity, marker: Marker) -> Result<Ending, ErrorCode> {
        let is_repeat = self.before == Some(asked) || asked.bumped() == self.identity;
        if !is_repeat {
            self.check(asked)?;
        }
        match self.state {
            State::Ongoing { .. } | State::Empty if is_repeat => Err(ErrorCode::PRODUCER_FENCED),
            State::Ongoing { .. } => Ok(Ending::Begin),
            State::Prepared { .. } if is_repeat => Err(ErrorCode::CONCURRENT_TRANSACTIONS),
            State::Prepared { .. } => Err(ErrorCode::PRODUCER_FENCED),
            State::Complete(done) if is_repeat && done == marker => Ok(Ending::Repeat),
            // An abort of nothing bumps the epoch all the same.
            State::Complete(_) | State::Empty if !is_repeat && marker == Marker::Abort => Ok(Ending::Begin),
            State::Complete(_) | State::Empty => Err(ErrorCode::INVALID_TXN_STATE),
        }
    }
    /// Prepares the end. With `bumps` the holder is somebody else from here on: the next epoch, or `fresh` once the epochs are used up.
    pub(crate) fn prepare(&mut self, marker: Marker, bumps: bool, fresh: i64, (now, until): (Timestamp, Timestamp)) {
        self.marker_identity = self.identity;
        if !matches!(self.state, State::Ongoing { .. }) {
            // An abort of nothing begins when it ends.
            self.started = Some(now);
        }
        if bumps {
            self.marker_identity = self.identity.bumped();
            self.succeed(true, fresh);
        }
        self.state = State::Prepared { marker, until };
    }
    /// Prepares an abort that the holder did not ask for: its epoch is taken from it.
    pub(crate) fn fence(&mut self, until: Timestamp) {
        self.before = Some(self.identity);
        self.identity = self.identity.bumped();
        self.marker_identity = self.identity;
        self.state = State::Prepared { marker: Marker::Abort, until };
    }
}

/// What InitProducerId leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakeOver {
    Done,
    /// A transaction is open: it is aborted, and whoever asks has to ask again.
    AbortFirst,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::EPOCH;

    fn at(id: i64, epoch: i16) -> Transaction {
        Transaction::new(Identity { id, epoch }, Duration::from_secs(60))
    }
    fn end(transaction: &mut Transaction, marker: Marker, fresh: i64) {
        transaction.open(transaction.identity, NOW).unwrap();
        transaction.prepare(marker, true, fresh, (NOW, NOW));
        transaction.state = State::Complete(marker);
    }

    #[test]
    fn the_id_changes_after_the_last_epoch() {
        let mut transaction = at(7, 32_765);
        end(&mut transaction, Marker::Commit, 8);
        assert_eq!(transaction.identity, Identity { id: 7, epoch: 32_766 });
        end(&mut transaction, Marker::Commit, 8);
        assert_eq!(transaction.identity, Identity { id: 8, epoch: 0 });
        assert_eq!(transaction.marker_identity, Identity { id: 7, epoch: 32_767 });
        assert_eq!(transaction.check_end(Identity { id: 7, epoch: 32_766 }, Marker::Commit, true), Ok(Ending::Repeat));
    }

    #[test]
    fn an_ended_transaction_can_be_ended_again_only_the_same_way() {
        let mut transaction = at(7, 0);
        let holder = transaction.identity;
        end(&mut transaction, Marker::Commit, 8);
        assert_eq!(transaction.check_end(holder, Marker::Commit, true), Ok(Ending::Repeat));
        assert_eq!(transaction.check_end(holder, Marker::Abort, true), Err(ErrorCode::INVALID_TXN_STATE));
        assert_eq!(
            transaction.check_end(transaction.identity, Marker::Commit, true),
            Err(ErrorCode::INVALID_TXN_STATE)
        );
        assert_eq!(transaction.check_end(transaction.identity, Marker::Abort, true), Ok(Ending::Begin));
    }

    #[test]
    fn taking_over_fences_who_held_it() {
        let mut transaction = at(7, 0);
        let holder = transaction.identity;
        assert_eq!(transaction.take_over(None, 8), Ok(TakeOver::Done));
        assert_eq!(transaction.check(holder), Err(ErrorCode::PRODUCER_FENCED));
        assert_eq!(transaction.take_over(Some(holder), 8), Err(ErrorCode::PRODUCER_FENCED));
    }

    #[test]
    fn a_repeated_bump_is_answered_with_the_same_epoch() {
        let mut transaction = at(7, 0);
        let holder = transaction.identity;
        assert_eq!(transaction.take_over(Some(holder), 8), Ok(TakeOver::Done));
        assert_eq!(transaction.take_over(Some(holder), 8), Ok(TakeOver::Done));
        assert_eq!(transaction.identity, Identity { id: 7, epoch: 1 });
    }

    #[test]
    fn an_open_transaction_is_aborted_before_its_id_is_taken_over() {
        let mut transaction = at(7, 0);
        transaction.open(transaction.identity, NOW).unwrap();
        assert_eq!(transaction.take_over(None, 8), Ok(TakeOver::AbortFirst));
        transaction.fence(NOW);
        assert_eq!(transaction.take_over(None, 8), Err(ErrorCode::CONCURRENT_TRANSACTIONS));
    }
}
