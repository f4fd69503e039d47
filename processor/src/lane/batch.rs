//! What one commit of a lane is made of: what each task has frozen, how far its changelogs are, what its offsets carry.

use crate::recovery::OpenStore;
use crate::shared::lock;
use crate::slot::{CommittedState, Slot};
use millstream_client::{OffsetAndMetadata, Offsets};
use millstream_processor_core::commit::{MetadataTooLarge, OffsetMetadata, StorePosition, Trailer, store_hash};
use millstream_processor_core::task::{TaskFreeze, TaskPosition};
use millstream_protocol::{Offset, Timestamp, TopicPartition};
use millstream_state::{ChangelogPosition, ChangelogRecord, CommitId, Frozen, StoreError, WriteBatch};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// One task's part of a commit.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) slot: Arc<Slot>,
    positions: Vec<TaskPosition>,
    /// P of each store, in the order of the task's stores; those of step 2 once it is done.
    changelog_ends: Vec<Offset>,
    frozen: Vec<Frozen>,
}

impl Part {
    pub(super) fn new(slot: Arc<Slot>, freeze: TaskFreeze) -> Self {
        let CommittedState { positions: starts, changelog_ends } = slot.committed();
        let TaskFreeze { positions, stores: frozen, .. } = freeze;
        // A partition that was not read yet stays where it begins.
        let read =
            |(reached, start): (TaskPosition, TaskPosition)| if reached.next.is_some() { reached } else { start };
        let positions = positions.into_iter().zip(starts).map(read).collect();
        Self { slot, positions, changelog_ends, frozen }
    }

    /// The records for the changelogs, with the partition that each goes to.
    pub(super) fn changelog(&self) -> impl Iterator<Item = (&TopicPartition, ChangelogRecord<'_>)> {
        self.frozen.iter().flat_map(|frozen| {
            let partition = self.store_of(frozen).and_then(|store| store.changelog.as_ref());
            partition.into_iter().flat_map(|partition| frozen.changelog().map(move |record| (partition, record)))
        })
    }

    /// Step 2 is done: `ends` has the offset behind the last record of each partition that was written.
    pub(super) fn set_changelog_ends(&mut self, ends: &HashMap<TopicPartition, Offset>) {
        for (store, end) in self.slot.stores.stores.iter().zip(&mut self.changelog_ends) {
            if let Some(written) = store.changelog.as_ref().and_then(|partition| ends.get(partition)) {
                *end = *written;
            }
        }
    }

    /// Step 3. Every store takes part, also without a write: its mark names the commit, which is what recovery compares.
    pub(super) fn prepare(&self, commit: CommitId, time: Timestamp) -> Result<(), StoreError> {
        let inputs = self.positions.iter().filter_map(|position| Some((position.partition.clone(), position.next?)));
        let inputs: Vec<(TopicPartition, Offset)> = inputs.collect();
        for (store, end) in self.slot.stores.stores.iter().zip(&self.changelog_ends) {
            let position = ChangelogPosition::new(*end, time).with_inputs(inputs.iter().cloned());
            match self.frozen_of(store) {
                Some(frozen) => frozen.prepare(commit, &position)?,
                None => store.base.prepare(commit, &Arc::new(WriteBatch::default()), &position)?,
            }
        }
        Ok(())
    }

    /// Step 6.
    pub(super) fn apply(&self, commit: CommitId) -> Result<(), StoreError> {
        for store in &self.slot.stores.stores {
            match self.frozen_of(store) {
                Some(frozen) => frozen.apply(commit)?,
                None => store.base.apply(commit)?,
            }
        }
        let (positions, changelog_ends) = (self.positions.clone(), self.changelog_ends.clone());
        self.slot.set_committed(CommittedState { positions, changelog_ends });
        Ok(())
    }

    /// After an abort. What cannot be discarded now is discarded by a recovery.
    pub(super) fn discard(&self, commit: CommitId) -> Result<(), StoreError> {
        self.slot.stores.stores.iter().try_for_each(|store| store.base.discard(commit))
    }

    /// What is committed for the task's inputs. The first one that has an offset is the anchor, and carries the trailer.
    fn offsets(&self, commit: CommitId) -> Result<Vec<(TopicPartition, OffsetAndMetadata)>, MetadataTooLarge> {
        let mut offsets = Vec::with_capacity(self.positions.len());
        for TaskPosition { partition, next, partition_time, .. } in &self.positions {
            let Some(next) = *next else { continue };
            let trailer = offsets.is_empty().then(|| self.trailer(next, commit));
            let metadata = OffsetMetadata { trailer, ..OffsetMetadata::at(partition_time.unwrap_or(Timestamp::NONE)) };
            offsets.push((partition.clone(), OffsetAndMetadata::with_metadata(next, metadata.encode()?)));
        }
        Ok(offsets)
    }

    fn trailer(&self, offset: Offset, commit: CommitId) -> Trailer {
        let stores = self.slot.stores.stores.iter().zip(&self.changelog_ends);
        let logged = stores.filter(|(store, _)| store.changelog.is_some());
        let position =
            |(store, end): (&OpenStore, &Offset)| StorePosition { store: store_hash(&store.name), position: *end };
        Trailer { offset, commit, positions: logged.map(position).collect() }
    }

    fn frozen_of(&self, store: &OpenStore) -> Option<&Frozen> {
        self.frozen.iter().find(|frozen| frozen.store().name() == store.name)
    }

    fn store_of(&self, frozen: &Frozen) -> Option<&OpenStore> {
        self.slot.stores.stores.iter().find(|store| store.name == frozen.store().name())
    }
}

/// A lane's commit in hand. Steps that write to journals run on the thread for that, so it is shared.
#[derive(Debug, Clone, Default)]
pub(super) struct Batch(Arc<Mutex<Vec<Part>>>);

impl Batch {
    pub(super) fn new(parts: Vec<Part>) -> Self {
        Self(Arc::new(Mutex::new(parts)))
    }

    /// Looks at the parts. Nobody else does at the same time: the lane does one step after the other.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut Vec<Part>) -> T) -> T {
        look(&mut lock(&self.0))
    }

    /// The tasks that take part.
    pub(super) fn slots(&self) -> Vec<Arc<Slot>> {
        self.with(|parts| parts.iter().map(|part| Arc::clone(&part.slot)).collect())
    }

    /// The offsets, cut by tasks so that no request is too large.
    pub(super) fn offsets(&self, commit: CommitId) -> Result<Vec<Offsets>, (Arc<Slot>, MetadataTooLarge)> {
        let (mut requests, mut request, mut bytes) = (Vec::new(), Offsets::new(), 0);
        for part in lock(&self.0).iter() {
            let offsets = part.offsets(commit).map_err(|error| (Arc::clone(&part.slot), error))?;
            let more: usize = offsets.iter().map(size).sum();
            if bytes > 0 && bytes + more > REQUEST_BYTES {
                requests.push(std::mem::take(&mut request));
                bytes = 0;
            }
            bytes += more;
            offsets.into_iter().for_each(|(partition, offset)| request.add(partition, offset));
        }
        requests.push(request);
        Ok(requests)
    }
}

fn size((partition, offset): &(TopicPartition, OffsetAndMetadata)) -> usize {
    partition.topic.as_str().len() + offset.metadata.as_ref().map_or(0, String::len) + OFFSET_BYTES
}

/// Brokers refuse an OffsetCommit of about 1 MB whole.
const REQUEST_BYTES: usize = 256 << 10;
/// Partition, offset, epoch and lengths.
const OFFSET_BYTES: usize = 32;
