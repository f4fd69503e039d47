//! What a group has committed, and what open transactions are about to commit for it.

use millstream_protocol::Timestamp;
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::{BTreeMap, BTreeSet};

/// A partition as groups know it: by its topic's name.
pub(crate) type OffsetKey = (StrBytes, i32);

/// One committed position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Committed {
    pub(crate) offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) metadata: StrBytes,
    pub(crate) topic_id: Uuid,
    pub(crate) committed_at: Timestamp,
    /// When it is forgotten, if its client said so.
    pub(crate) expires_at: Option<Timestamp>,
}

/// All positions of one group.
#[derive(Debug, Default)]
pub(crate) struct GroupOffsets {
    committed: BTreeMap<OffsetKey, Committed>,
    pending: HashMap<i64, BTreeMap<OffsetKey, Committed>>,
    /// How many open transactions are about to change a position.
    changing: HashMap<OffsetKey, usize>,
}
impl GroupOffsets {
    pub(crate) fn commit(&mut self, key: OffsetKey, position: Committed) {
        self.committed.insert(key, position);
    }
    /// Holds a position until the producer's transaction ends.
    pub(crate) fn commit_in_transaction(&mut self, producer_id: i64, key: OffsetKey, position: Committed) {
        let before = self.pending.entry(producer_id).or_default().insert(key.clone(), position);
        if before.is_none() {
            *self.changing.entry(key).or_default() += 1;
        }
    }
    /// Ends a producer's transaction.
    pub(crate) fn end_transaction(&mut self, producer_id: i64, is_commit: bool) {
        let pending = self.pending.remove(&producer_id).unwrap_or_default();
        pending.keys().for_each(|key| self.settle(key));
        if is_commit {
            self.committed.extend(pending);
        }
    }
    fn settle(&mut self, key: &OffsetKey) {
        if let Some(count) = self.changing.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                self.changing.remove(key);
            }
        }
    }
    /// All committed positions.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&OffsetKey, &Committed)> {
        self.committed.iter()
    }
    pub(crate) fn find(&self, key: &OffsetKey) -> Option<&Committed> {
        self.committed.get(key)
    }
    /// Whether an open transaction is about to change a position.
    pub(crate) fn is_pending(&self, key: &OffsetKey) -> bool {
        self.changing.contains_key(key)
    }
    /// About how many bytes they take.
    pub(crate) fn weight(&self) -> usize {
        let of = |positions: &BTreeMap<OffsetKey, Committed>| {
            let entry = size_of::<(OffsetKey, Committed)>();
            positions.values().map(|committed| entry + committed.metadata.len()).sum::<usize>()
        };
        of(&self.committed) + self.pending.values().map(|pending| size_of::<Self>() + of(pending)).sum::<usize>()
    }
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }
    /// Every partition with a committed or a pending position.
    pub(crate) fn keys(&self) -> Vec<OffsetKey> {
        let mut keys: Vec<OffsetKey> =
            self.committed.keys().chain(self.pending.values().flat_map(BTreeMap::keys)).cloned().collect();
        keys.sort();
        keys.dedup();
        keys
    }
    pub(crate) fn remove(&mut self, key: &OffsetKey) {
        self.committed.remove(key);
    }
    /// Forgets topics that were deleted; tells what was committed for them.
    pub(crate) fn remove_topics(&mut self, topics: &BTreeSet<StrBytes>) -> Vec<OffsetKey> {
        let is_gone = |(name, _): &OffsetKey| topics.contains(name);
        let gone = self.committed.keys().filter(|key| is_gone(key)).cloned().collect();
        self.committed.retain(|key, _| !is_gone(key));
        self.pending.values_mut().for_each(|pending| pending.retain(|key, _| !is_gone(key)));
        self.changing.retain(|key, _| !is_gone(key));
        gone
    }
}
