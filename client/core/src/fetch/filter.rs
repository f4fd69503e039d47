//! What of a partition's answer the application may see: nothing of aborted transactions, nothing that the cluster wrote for itself.

use super::IsolationLevel;
use super::partition::Item;
use super::terms::Terms;
use super::{FetchProblem, Position};
use millstream_protocol::hash::HashSet;
use millstream_protocol::messages::fetch_response::AbortedTransaction;
use millstream_protocol::record::{Batch, ControlKind, CrcCheck, RecordError, batches};
use millstream_protocol::{Decompressor, LeaderEpoch, Offset};
use std::iter::Peekable;
use std::vec::IntoIter;

/// What an answer's records come to.
#[derive(Debug, Default)]
pub(super) struct Filtered {
    pub(super) items: Vec<Item>,
    /// Where the next fetch starts; none: where it did.
    pub(super) position: Option<Position>,
    /// Bytes of the batches among the items.
    pub(super) bytes: usize,
    /// The leaders' terms in which all of it was written.
    pub(super) terms: Terms,
}

/// Cuts records into batches and leaves out what is not to be seen. Batches that end before `from` are skipped (C-1).
pub(super) fn filter(
    records: bytes::Bytes,
    from: i64,
    aborted: Vec<AbortedTransaction>,
    isolation: IsolationLevel,
    response: u64,
) -> Filtered {
    let mut aborted = Aborted::new(aborted, isolation);
    let mut filtered = Filtered::default();
    let all = records.len();
    let mut batches = batches(records);
    for batch in &mut batches {
        match batch.and_then(|batch| aborted.judge(batch)) {
            Ok((batch, _)) if batch.header().last_offset() < from => {}
            Ok((batch, verdict)) => filtered.push(from, batch, verdict, response),
            Err(error) => {
                filtered.fail(FetchProblem::Undecodable(error));
                return filtered;
            }
        }
    }
    if filtered.position.is_none() && batches.left_over() > 0 {
        filtered.fail(FetchProblem::Incomplete { bytes: all });
    }
    filtered
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Visible,
    Hidden,
}

impl Filtered {
    fn push(&mut self, from: i64, batch: Batch, verdict: Verdict, response: u64) {
        let header = batch.header();
        let epoch = Some(header.leader_epoch).filter(|epoch| *epoch >= 0).map(LeaderEpoch::new);
        let next = Position::after(Offset::new(header.last_offset().saturating_add(1)), epoch);
        self.position = Some(next);
        epoch.into_iter().for_each(|epoch| self.terms.note(epoch, header.base_offset.max(from)));
        // Compaction may leave a batch without records; its offsets are passed all the same (C-2).
        if verdict == Verdict::Visible && header.count != 0 {
            self.bytes += batch.size();
            self.items.push(Item::Batch(batch, response));
        } else if let Some(Item::Gap(end)) = self.items.last_mut() {
            *end = next;
        } else {
            self.items.push(Item::Gap(next));
        }
    }
    /// The position stays behind what could be read, or where it was.
    fn fail(&mut self, problem: FetchProblem) {
        self.items.push(Item::Problem(problem));
    }
}

/// The aborted transactions of one answer, as its batches go by in offset order (C-5).
struct Aborted {
    isolation: IsolationLevel,
    upcoming: Peekable<IntoIter<AbortedTransaction>>,
    active: HashSet<i64>,
}

impl Aborted {
    fn new(mut list: Vec<AbortedTransaction>, isolation: IsolationLevel) -> Self {
        // Some brokers send it unsorted.
        list.sort_by_key(|transaction| transaction.first_offset);
        Self { isolation, upcoming: list.into_iter().peekable(), active: HashSet::default() }
    }
    fn judge(&mut self, batch: Batch) -> Result<(Batch, Verdict), RecordError> {
        let header = *batch.header();
        let follows = self.isolation == IsolationLevel::ReadCommitted && header.producer_id >= 0;
        if follows {
            while let Some(begun) = self.upcoming.next_if(|next| next.first_offset <= header.last_offset()) {
                self.active.insert(begun.producer_id);
            }
        }
        if header.is_control() {
            if follows && is_abort(&batch)? {
                self.active.remove(&header.producer_id);
            }
            return Ok((batch, Verdict::Hidden));
        }
        let hidden = follows && header.is_transactional() && self.active.contains(&header.producer_id);
        Ok((batch, if hidden { Verdict::Hidden } else { Verdict::Visible }))
    }
}

/// An empty control batch ends nothing: compaction took its marker.
fn is_abort(batch: &Batch) -> Result<bool, RecordError> {
    let decoded = batch.decode(&mut Decompressor::new(), CrcCheck::Check)?;
    Ok(decoded.control().is_some_and(|control| control.kind == ControlKind::Abort))
}
