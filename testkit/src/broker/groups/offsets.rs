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
    committed: BTreeMap<OffsetKey, Written>,
    pending: HashMap<i64, BTreeMap<OffsetKey, Written>>,
    /// How many open transactions are about to change a position.
    changing: HashMap<OffsetKey, usize>,
    /// How many were written.
    count: u64,
}
/// A position and its place among all that were written.
#[derive(Debug)]
struct Written {
    at: u64,
    position: Committed,
}
impl GroupOffsets {
    pub(crate) fn commit(&mut self, key: OffsetKey, position: Committed) {
        let written = self.written(position);
        self.committed.insert(key, written);
    }
    /// Holds a position until the producer's transaction ends.
    pub(crate) fn commit_in_transaction(&mut self, producer_id: i64, key: OffsetKey, position: Committed) {
        let written = self.written(position);
        let before = self.pending.entry(producer_id).or_default().insert(key.clone(), written);
        if before.is_none() {
            *self.changing.entry(key).or_default() += 1;
        }
    }
    fn written(&mut self, position: Committed) -> Written {
        self.count += 1;
        Written { at: self.count, position }
    }
    /// Ends a producer's transaction. Of positions in and outside of transactions the one counts that was written last.
    pub(crate) fn end_transaction(&mut self, producer_id: i64, is_commit: bool) {
        let pending = self.pending.remove(&producer_id).unwrap_or_default();
        pending.keys().for_each(|key| self.settle(key));
        for (key, written) in pending.into_iter().filter(|_| is_commit) {
            if self.committed.get(&key).is_none_or(|last| last.at < written.at) {
                self.committed.insert(key, written);
            }
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
        self.committed.iter().map(|(key, written)| (key, &written.position))
    }
    pub(crate) fn find(&self, key: &OffsetKey) -> Option<&Committed> {
        self.committed.get(key).map(|written| &written.position)
    }
    /// Whether an open transaction is about to change a position.
    pub(crate) fn is_pending(&self, key: &OffsetKey) -> bool {
        self.changing.contains_key(key)
    }
    /// About how many bytes they take.
    pub(crate) fn weight(&self) -> usize {
        let of = |positions: &BTreeMap<OffsetKey, Written>| {
            let entry = size_of::<(OffsetKey, Written)>();
            positions.values().map(|written| entry + written.position.metadata.len()).sum::<usize>()
        };
        of(&self.committed) + self.pending.values().map(|pending| size_of::<Self>() + of(pending)).sum::<usize>()
    }
    /// Every partition with a committed position.
    pub(crate) fn committed_keys(&self) -> Vec<OffsetKey> {
        self.committed.keys().cloned().collect()
    }
    /// Every partition with a committed or a pending position.
    pub(crate) fn keys(&self) -> Vec<OffsetKey> {
        let mut keys: Vec<OffsetKey> =
            self.committed.keys().chain(self.pending.values().flat_map(BTreeMap::keys)).cloned().collect();
        keys.sort();
        keys.dedup();
        keys
    }
    /// Forgets a position, and what open transactions are about to make of it.
    pub(crate) fn remove(&mut self, key: &OffsetKey) {
        self.committed.remove(key);
        if self.changing.remove(key).is_some() {
            self.pending.values_mut().for_each(|pending| drop(pending.remove(key)));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: i64) -> Committed {
        Committed {
            offset,
            leader_epoch: -1,
            metadata: StrBytes::new(),
            topic_id: Uuid::nil(),
            committed_at: Timestamp::EPOCH,
            expires_at: None,
        }
    }

    /// Kafka's topic of positions is compacted: whoever reads it again must come to the same position whatever lies between.
    #[test]
    fn a_position_is_not_set_back_by_a_transaction_that_began_before_it() {
        let key = (StrBytes::from_static_str("t"), 0);
        let mut offsets = GroupOffsets::default();
        offsets.commit_in_transaction(7, key.clone(), at(1));
        offsets.commit(key.clone(), at(2));
        offsets.end_transaction(7, true);
        assert_eq!(offsets.find(&key).map(|committed| committed.offset), Some(2));
        offsets.commit_in_transaction(7, key.clone(), at(3));
        offsets.end_transaction(7, true);
        assert_eq!(offsets.find(&key).map(|committed| committed.offset), Some(3));
    }

    #[test]
    fn a_position_that_is_deleted_does_not_come_back_with_a_transaction() {
        let key = (StrBytes::from_static_str("t"), 0);
        let mut offsets = GroupOffsets::default();
        offsets.commit_in_transaction(7, key.clone(), at(1));
        assert_eq!(offsets.committed_keys(), []);
        offsets.remove(&key);
        offsets.end_transaction(7, true);
        assert_eq!(offsets.find(&key), None);
    }
}
