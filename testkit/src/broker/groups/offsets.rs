//! What a group has committed, and what open transactions are about to commit for it.

use millstream_protocol::Timestamp;
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::{StrBytes, Uuid};
use std::collections::BTreeMap;

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
}
impl GroupOffsets {
    pub(crate) fn commit(&mut self, key: OffsetKey, position: Committed) {
        self.committed.insert(key, position);
    }
    /// Holds a position until the producer's transaction ends.
    pub(crate) fn commit_in_transaction(&mut self, producer_id: i64, key: OffsetKey, position: Committed) {
        self.pending.entry(producer_id).or_default().insert(key, position);
    }
    /// Ends a producer's transaction.
    pub(crate) fn end_transaction(&mut self, producer_id: i64, is_commit: bool) {
        let pending = self.pending.remove(&producer_id).unwrap_or_default();
        if is_commit {
            self.committed.extend(pending);
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
        self.pending.values().any(|pending| pending.contains_key(key))
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
    /// Forgets a topic that was deleted; tells what was committed for it.
    pub(crate) fn remove_topic(&mut self, topic: &str) -> Vec<OffsetKey> {
        let gone = self.committed.keys().filter(|(name, _)| name.as_str() == topic).cloned().collect();
        self.committed.retain(|(name, _), _| name.as_str() != topic);
        self.pending.values_mut().for_each(|pending| pending.retain(|(name, _), _| name.as_str() != topic));
        gone
    }
}
