//! From a record in the caller's hand to an acknowledged batch.
//!
//! ```text
//!   callers                          │ driver
//!   Accumulator ── Shard (a lock) ──▶│ Sender ── Lane (a partition's order) ──▶ ProduceCall ──▶ the shell
//!     append: encodes in place       │   poll_calls: seals, numbers, coalesces by broker
//!     BatchHandle ◀──────────────────│── handle_response / handle_failure: retries, splits, resolves
//! ```
//!
//! No object per record: an acknowledgement is a batch's handle and the record's place in it.

mod accumulator;
mod batch;
mod budget;
mod codec;
mod handle;
mod outcome;
mod sealing;
mod sender;
mod shard;
mod sticky;

pub use accumulator::{Accumulator, AccumulatorOptions, TopicShards};
pub use handle::BatchHandle;
pub use outcome::{Failure, Outcome, Written};
pub use sealing::Sealing;
pub use sender::{Identity, ProduceCall, Sender, SenderOptions};
pub use shard::{AppendError, Appended, RecordFields, Shard, TransactionNumber};

#[cfg(test)]
mod tests;
