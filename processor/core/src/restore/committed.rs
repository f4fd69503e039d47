//! What a group has committed for a task: the offsets of its inputs, and which commit they are.

use crate::commit::{OffsetMetadata, ProcessorEntry, Trailer};
use millstream_protocol::{Offset, Timestamp};
use millstream_state::CommitId;

/// What is committed for a task's inputs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Committed {
    inputs: Vec<Option<CommittedInput>>,
    trailer: Option<Trailer>,
}

/// What is committed for one input partition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommittedInput {
    /// The next offset to read.
    pub offset: Offset,
    /// The partition's time then.
    pub partition_time: Timestamp,
    /// Kafka Streams' processor metadata.
    pub entries: Vec<ProcessorEntry>,
}

impl Committed {
    /// Reads what was fetched for the task's inputs, in their order: offset and metadata, or none. Of several trailers, the one
    /// with the highest number is the commit: which input is the anchor may have changed.
    #[must_use]
    pub fn read(fetched: &[Option<(Offset, &str)>]) -> Self {
        let mut committed = Self::default();
        for input in fetched {
            let input = input.map(|(offset, text)| (offset, OffsetMetadata::decode(text, offset)));
            if let Some((_, OffsetMetadata { trailer: Some(trailer), .. })) = &input
                && committed.commit().is_none_or(|commit| commit.number() < trailer.commit.number())
            {
                committed.trailer = Some(trailer.clone());
            }
            committed.inputs.push(input.map(|(offset, OffsetMetadata { partition_time, entries, .. })| {
                CommittedInput { offset, partition_time, entries }
            }));
        }
        committed
    }

    /// The inputs, in the task's order; none where nothing is committed.
    #[must_use]
    pub fn inputs(&self) -> &[Option<CommittedInput>] {
        &self.inputs
    }

    /// Which commit it is; none if there is none, or if another program made it.
    #[must_use]
    pub fn commit(&self) -> Option<CommitId> {
        self.trailer.as_ref().map(|trailer| trailer.commit)
    }

    /// Whether nothing is committed for any input.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.inputs.iter().all(Option::is_none)
    }

    /// Whether both are the same commit: offsets, number and life.
    #[must_use]
    pub fn is_same_commit(&self, other: &Self) -> bool {
        let offsets = |committed: &Self| {
            committed.inputs.iter().map(|input| input.as_ref().map(|input| input.offset)).collect::<Vec<_>>()
        };
        self.commit() == other.commit() && offsets(self) == offsets(other)
    }

    pub(super) fn position_of(&self, store: u32) -> Option<Offset> {
        self.trailer.as_ref().and_then(|trailer| trailer.position_of(store))
    }
}
