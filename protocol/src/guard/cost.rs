//! What decoding will take in memory, reckoned from shapes and counts before anything is allocated.
//!
//! An upper bound of what the decoders do: every array is one allocation of exactly its elements, text and bytes are
//! views of the frame, a tagged field that nobody knows is an entry of a map of its own. The property test
//! `what_the_guard_accepts_is_read_within_its_limit` holds the decoders to it.

use super::shape::{Field, Kind};
use crate::messages::{RecordData, TaggedFields};
use bytes::Bytes;

/// A leaf of the map that a struct keeps its unknown tagged fields in, a share of its inner nodes included.
pub(super) const UNKNOWN_TAG: usize = 420;
/// What every message costs: handles of the frame's memory, and the like.
pub(super) const MESSAGE: usize = 256;

/// A value in its struct or array.
pub(super) fn size_in_memory(kind: Kind) -> usize {
    match kind {
        Kind::Bool | Kind::Int8 => 1,
        Kind::Int16 | Kind::Uint16 => 2,
        Kind::Int32 => 4,
        Kind::Int64 | Kind::Float64 => 8,
        Kind::Uuid => 16,
        Kind::String | Kind::ClassicString | Kind::Bytes => size_of::<Option<Bytes>>(),
        Kind::Records => size_of::<RecordData>(),
        Kind::Array(_) => size_of::<Option<Vec<u8>>>(),
        Kind::Struct(fields) => size_of_struct(fields),
    }
}

/// Fields of all versions, whatever the version: a struct has them all. The compiler orders them without holes but the
/// last; a struct that may be null can need a word more.
fn size_of_struct(fields: &[Field]) -> usize {
    let of_field = |field: &Field| {
        let mark = if field.nullable.is_empty() || !matches!(field.kind, Kind::Struct(_)) { 0 } else { 8 };
        size_in_memory(field.kind) + mark
    };
    (fields.iter().map(of_field).sum::<usize>() + size_of::<TaggedFields>()).next_multiple_of(8)
}

/// Whether a message's topic names are copied out of the frame: those of ours that clients keep.
pub(super) fn copies_text(message: &str) -> bool {
    matches!(message, "ProduceRequest" | "ProduceResponse" | "FetchRequest" | "FetchResponse")
}

/// A topic's name that is copied out of the frame, with what counts its owners.
pub(super) const fn copied_text(length: usize) -> usize {
    (length + 16).next_multiple_of(8)
}
