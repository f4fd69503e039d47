//! Between the buffer and the application: batches are decoded here, on the application's side, and dealt out.

use super::engine::Shared;
use super::tracker::Tracker;
use crate::records::{Part, Records, Run};
use crate::{Error, ErrorKind};
use millstream_client_core::fetch::{FetchFailure, FetchProblem, Fetched, Generation, Position, Taken};
use millstream_protocol::record::{Batch, CrcCheck, DecodedBatch, RecordCursor};
use millstream_protocol::{Decompressor, ErrorCode, LeaderEpoch, Offset, TopicPartition};
use std::collections::VecDeque;
use std::time::Instant;

/// What was taken from the buffer and not yet handed out.
#[derive(Debug)]
pub(super) struct Hand {
    taken: VecDeque<Taken>,
    /// The batch that is being dealt out; it belongs to the first of `taken`.
    open: Option<(DecodedBatch, RecordCursor)>,
    decompressor: Decompressor,
    crc: CrcCheck,
    /// What comes after the records that were dealt before it, unless its partition is moved or lost before.
    error: Option<(Error, TopicPartition, Generation)>,
    /// A partition whose batch cannot be decoded: it is fetched again once what lay before it is handed out.
    refetch: Option<(TopicPartition, Generation, Instant)>,
}

impl Hand {
    pub(super) fn new(crc: CrcCheck) -> Self {
        Self { taken: VecDeque::new(), open: None, decompressor: Decompressor::new(), crc, error: None, refetch: None }
    }
    /// Deals out up to `max` records; none when nothing is buffered. A failure comes after everything that lay before it.
    pub(super) fn deal(
        &mut self,
        shared: &Shared,
        tracker: &Tracker,
        max: usize,
        now: Instant,
    ) -> Result<Option<Records>, Error> {
        if let Some((error, id, generation)) = self.error.take()
            && shared.fetcher().is_current(&id, generation)
        {
            return Err(error);
        }
        let mut deal = Deal { parts: Vec::new(), left: max };
        while deal.left > 0 && self.error.is_none() && self.bring_next_to_front(shared, tracker) {
            self.deal_first(shared, &mut deal, now);
        }
        self.finish(shared, tracker, deal)
    }
    /// Finds what may be dealt from now, in the hand or else in the buffer. False when there is nothing.
    fn bring_next_to_front(&mut self, shared: &Shared, tracker: &Tracker) -> bool {
        let first = self.first_generation();
        let free = {
            let fetcher = shared.fetcher();
            self.taken.retain(|taken| match taken {
                Taken::Fetched(fetched) => fetcher.is_current(&fetched.partition, fetched.generation),
                Taken::Failed(failure) => fetcher.is_current(&failure.partition, failure.generation),
                _ => true,
            });
            let held_back = |id: &TopicPartition| fetcher.is_paused(id) || tracker.is_full(id);
            self.taken
                .iter()
                .position(|taken| !matches!(taken, Taken::Fetched(fetched) if held_back(&fetched.partition)))
        };
        let next = match free {
            Some(index) => self.taken.remove(index),
            // What the hand holds back may be let go meanwhile, by a committer; what is buffered of it still comes behind that.
            None => {
                let held = partitions_of(&self.taken);
                shared.take(|id| !held.contains(&id) && !tracker.is_full(id))
            }
        };
        let Some(next) = next else { return false };
        self.taken.push_front(next);
        // An open batch goes on only where it was; else its fetch is dealt from its last place on.
        if first != self.first_generation() {
            self.open = None;
        }
        true
    }
    fn deal_first(&mut self, shared: &Shared, deal: &mut Deal, now: Instant) {
        match self.taken.front_mut() {
            Some(Taken::Fetched(fetched)) => {
                match step(fetched, &mut self.open, &mut self.decompressor, self.crc, deal) {
                    Step::More => {}
                    Step::Done => self.drop_first(),
                    Step::Bad(error) => {
                        let (id, generation) = (fetched.partition.clone(), fetched.generation);
                        deal.settle(shared);
                        self.drop_first();
                        self.error = Some((error, id.clone(), generation));
                        self.refetch = Some((id, generation, now));
                    }
                }
            }
            Some(Taken::Failed(failure)) => {
                self.error = Some((edge_error(failure), failure.partition.clone(), failure.generation));
                self.drop_first();
            }
            _ => self.drop_first(),
        }
    }
    fn drop_first(&mut self) {
        self.open = None;
        self.taken.pop_front();
    }
    fn finish(&mut self, shared: &Shared, tracker: &Tracker, mut deal: Deal) -> Result<Option<Records>, Error> {
        deal.settle(shared);
        deal.parts
            .retain(|part| !part.runs.is_empty() && shared.fetcher().is_current(&part.partition, part.generation));
        if deal.parts.is_empty() {
            self.refetch_bad(shared);
            return self.error.take().map_or(Ok(None), |(error, ..)| Err(error));
        }
        for part in &mut deal.parts {
            part.lag = shared.fetcher().lag(&part.partition).unwrap_or(0);
            tracker.handed_out(part);
        }
        self.refetch_bad(shared);
        Ok(Some(Records::new(deal.parts)))
    }
    fn refetch_bad(&mut self, shared: &Shared) {
        if let Some((id, generation, now)) = self.refetch.take() {
            shared.change(|fetcher| fetcher.refetch(now, &id, generation));
        }
    }
    fn first_generation(&self) -> Option<Generation> {
        match self.taken.front() {
            Some(Taken::Fetched(fetched)) => Some(fetched.generation),
            _ => None,
        }
    }
}

/// Whose records these are.
fn partitions_of(taken: &VecDeque<Taken>) -> Vec<&TopicPartition> {
    let of = taken.iter().map(|taken| match taken {
        Taken::Fetched(fetched) => Some(&fetched.partition),
        _ => None,
    });
    of.flatten().collect()
}

/// Records on their way to the application.
struct Deal {
    parts: Vec<Part>,
    left: usize,
}

enum Step {
    /// There may be more of this fetch.
    More,
    /// It is used up.
    Done,
    Bad(Error),
}

impl Deal {
    fn part(&mut self, fetched: &Fetched) -> &mut Part {
        let same = |part: &Part| part.generation == fetched.generation;
        if !self.parts.last().is_some_and(same) {
            let place = Position::after(Offset::new(fetched.from), None);
            self.parts.push(Part {
                partition: fetched.partition.clone(),
                generation: fetched.generation,
                runs: Vec::new(),
                before: place,
                next: place,
                lag: 0,
            });
        }
        self.parts.last_mut().expect("a part was pushed if there was none")
    }
    /// Moves the application's place behind what it is about to get.
    fn settle(&self, shared: &Shared) {
        let mut fetcher = shared.fetcher();
        for part in &self.parts {
            fetcher.advance(&part.partition, part.generation, part.next);
        }
    }
}

fn step(
    fetched: &mut Fetched,
    open: &mut Option<(DecodedBatch, RecordCursor)>,
    decompressor: &mut Decompressor,
    crc: CrcCheck,
    deal: &mut Deal,
) -> Step {
    if open.is_none() {
        let Some(batch) = fetched.batches.front() else {
            let next = fetched.next;
            deal.part(fetched).next = next;
            return Step::Done;
        };
        match batch.decode(decompressor, crc) {
            Ok(decoded) => *open = Some((decoded, RecordCursor::default())),
            Err(error) => return Step::Bad(undecodable(fetched, batch, error)),
        }
    }
    let Some((batch, cursor)) = open else { return Step::More };
    skip_to(batch, cursor, fetched.from);
    let left = deal.left;
    let epoch = Some(batch.header().leader_epoch).filter(|epoch| *epoch >= 0).map(LeaderEpoch::new);
    let (run, after) = cut(batch, cursor, left);
    let used_up = after.is_none();
    let next = after.unwrap_or_else(|| batch.next_offset());
    deal.left -= run.count;
    let part = deal.part(fetched);
    part.next = Position::after(next, epoch);
    if run.count > 0 {
        part.runs.push(run);
    }
    fetched.from = next.get();
    if used_up {
        *open = None;
        fetched.batches.pop_front();
    }
    Step::More
}

/// Passes over records before the one that was asked for (C-1).
fn skip_to(batch: &DecodedBatch, cursor: &mut RecordCursor, from: i64) {
    if batch.header().base_offset >= from {
        return;
    }
    loop {
        let mut ahead = *cursor;
        match batch.next(&mut ahead) {
            Some(record) if record.offset.get() < from => *cursor = ahead,
            _ => return,
        }
    }
}

/// Up to `most` records from the cursor on, and the offset after them if the batch goes on; then the cursor moves behind them.
fn cut(batch: &DecodedBatch, cursor: &mut RecordCursor, most: usize) -> (Run, Option<Offset>) {
    let from = *cursor;
    let left = batch.len() - from.index();
    // All of it: no need to walk to its end.
    if left <= most {
        return (Run { batch: batch.clone(), from, count: left }, None);
    }
    let mut after = None;
    for _ in 0..most {
        after = batch.next(cursor).map(|record| record.offset.next());
    }
    (Run { batch: batch.clone(), from, count: most }, after)
}

fn undecodable(fetched: &Fetched, batch: &Batch, error: millstream_protocol::record::RecordError) -> Error {
    let offset = batch.header().base_offset.max(fetched.from);
    Error::new(ErrorKind::Malformed, format!("read records at offset {offset}"))
        .about(fetched.partition.clone())
        .reason(format_args!("{error}; it is fetched again in a moment, `seek` passes over it"))
        .because(error)
}

/// A fetcher's failure as an error of the edge.
pub(crate) fn edge_error(failure: &FetchFailure) -> Error {
    let operation = match failure.offset {
        Some(offset) => format!("read records at offset {offset}"),
        None => "find where to read".to_owned(),
    };
    let about = |error: Error, id: &TopicPartition| error.about(id.clone());
    let error = match &failure.problem {
        FetchProblem::Refused(code) => Error::broker(*code, operation),
        FetchProblem::OutOfRange | FetchProblem::NoPolicy => Error::new(ErrorKind::OutOfRange, operation),
        FetchProblem::Truncated { .. } => Error::broker(ErrorCode::OFFSET_OUT_OF_RANGE, operation),
        _ => Error::new(ErrorKind::Malformed, operation),
    };
    about(error.reason(&failure.problem).because(failure.problem.clone()), &failure.partition)
}
