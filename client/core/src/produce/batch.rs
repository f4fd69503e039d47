//! A closed batch on its way: its bytes, who waits for it, how often it was tried.

use super::{BatchHandle, Outcome, TransactionNumber};
use millstream_protocol::compression::{Compressor, Decompressor};
use millstream_protocol::record::{BatchBuilder, CrcCheck, SealedBatch, Stamp, batches};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

#[derive(Debug)]
pub(super) struct Batch {
    pub(super) sealed: SealedBatch,
    pub(super) handle: Arc<BatchHandle>,
    /// Which of the handle's records it holds: all, unless a batch was split.
    pub(super) part: Range<u32>,
    pub(super) created: Instant,
    pub(super) transaction: TransactionNumber,
    /// What it holds of the budget.
    pub(super) reserved: usize,
    pub(super) attempts: u32,
    /// Why the last try ended without an answer, or what the answer was.
    pub(super) last_failure: Option<Arc<str>>,
    /// A try ended without an answer: it may have been written (P-5).
    pub(super) in_doubt: bool,
    /// How often its sequence was started anew.
    pub(super) resets: u32,
}

impl Batch {
    pub(super) const fn count(&self) -> u32 {
        self.part.end - self.part.start
    }
    pub(super) fn resolve(&self, outcome: Outcome) {
        self.handle.resolve(self.part.clone(), outcome);
    }
    /// Two batches with the halves of the records, in order (P-6); none if there is but one, or the bytes cannot be read.
    pub(super) fn split(&self, compressor: &mut Compressor) -> Option<(Self, Self)> {
        if self.count() < 2 {
            return None;
        }
        let whole = batches(self.sealed.to_bytes(&Stamp::plain())).next()?.ok()?;
        let records = whole.decode(&mut Decompressor::with_limit(usize::MAX), CrcCheck::Skip).ok()?;
        let half = self.count() / 2;
        let (mut left, mut right) = (BatchBuilder::new(), BatchBuilder::new());
        for (index, record) in records.iter().enumerate() {
            let target = if index < usize::try_from(half).ok()? { &mut left } else { &mut right };
            target.append(record.timestamp, record.key, record.value, record.headers).ok()?;
        }
        let middle = self.part.start + half;
        let left = self.piece(left.seal(compressor).ok()?, self.part.start..middle, self.reserved / 2);
        let right = self.piece(right.seal(compressor).ok()?, middle..self.part.end, self.reserved - self.reserved / 2);
        Some((left, right))
    }

    fn piece(&self, sealed: SealedBatch, part: Range<u32>, reserved: usize) -> Self {
        Self { sealed, part, reserved, handle: Arc::clone(&self.handle), last_failure: None, ..*self }
    }
}
