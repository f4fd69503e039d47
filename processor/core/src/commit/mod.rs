//! A commit as decisions: what the committed offsets carry, which numbers commits bear, and a lane's steps with every way out.
//!
//! The protocol is that of `tests/commit_model`, which checks it exhaustively; the names of its steps are the same here.

mod base64;
mod lane;
mod metadata;
mod numbers;

pub use lane::{Ended, Fact, Lane, LaneStep, OffsetsRefused, Order, UnexpectedFact};
pub use metadata::{
    METADATA_MAX_BYTES, MetadataTooLarge, OffsetMetadata, ProcessorEntry, StorePosition, Trailer, store_hash,
};
pub use numbers::CommitNumbers;
