//! Record batches: the only part of the protocol where time is spent per record.
//!
//! Writing: [`BatchBuilder`] encodes records into one growing buffer, [`SealedBatch`] holds them compressed and checksummed, [`Stamp`] gives them
//! their producer's id and sequence when they leave. Reading: [`batches`] cuts a buffer into [`Batch`]es by their headers alone; [`Batch::decode`]
//! checks and inflates one into a [`DecodedBatch`], whose records are read by reference, in both directions, without allocation and without errors. [`headers`] looks at a
//! log's headers alone.
//!
//! Rewriting: [`BatchBuilder::append_record`] takes a record as it was read, [`rewrite`] changes a batch's header and nothing else.
//!
//! Memory is used again: a [`BufferPool`]'s by batches that are written, a [`Compressor`](crate::Compressor)'s and a
//! [`Decompressor`](crate::Decompressor)'s by what they return, as soon as nobody holds a slice of it.
//!
//! ```
//! use bytes::Bytes;
//! use millstream_protocol::{Compressor, Decompressor, Headers, Timestamp};
//! use millstream_protocol::record::{BatchBuilder, CrcCheck, Stamp, batches};
//!
//! let mut builder = BatchBuilder::new();
//! builder.append(Timestamp::from_millis(5), Some(b"key"), Some(b"value"), &Headers::new())?;
//! let batch = builder.seal(&mut Compressor::none())?.to_bytes(&Stamp::plain());
//!
//! for batch in batches(batch) {
//!     let decoded = batch?.decode(&mut Decompressor::new(), CrcCheck::Check)?;
//!     let record = decoded.iter().next().expect("one record");
//!     assert_eq!((record.key, record.value), (Some(&b"key"[..]), Some(&b"value"[..])));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::cast_possible_truncation, clippy::unwrap_used))]

mod batch;
mod builder;
mod checksum;
mod control;
mod cursor;
mod decoded;
mod error;
mod header;
mod legacy;
mod names;
pub mod rewrite;
mod sealed;
mod varint;
mod view;

pub use crate::buffers::BufferPool;
pub use batch::{Batch, Batches, CrcCheck, batches, headers};
pub use builder::{BatchBuilder, HeaderList};
pub use control::{ControlKind, ControlRecord, end_transaction_marker};
pub use decoded::{DecodedBatch, RecordCursor, RecordIter};
pub use error::RecordError;
pub use header::{BatchHeader, TimestampType, sequence_after};
pub use sealed::{SealedBatch, Stamp};
pub use view::{HeaderIter, HeadersView, RecordView};
