//! Leaders that the next answers tell, whatever is true: for clients that are to find out by themselves.

use millstream_protocol::NodeId;
use millstream_protocol::messages::{StrBytes, TopicName};
use std::collections::{BTreeMap, VecDeque};

/// What one answer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PushedLeader {
    pub(crate) leader: NodeId,
    pub(crate) leader_epoch: i32,
}

impl PushedLeader {
    /// Refuses what no answer can tell.
    pub(crate) fn check(self) -> Result<(), String> {
        let (leader, epoch) = (self.leader.get(), self.leader_epoch);
        if leader < -1 {
            return Err(format!(
                "no answer can tell of a leader {leader}: brokers count from 0, and -1 tells that nobody leads"
            ));
        }
        if epoch < -1 {
            return Err(format!(
                "no answer can tell of a leader epoch {epoch}: they count from 0, and -1 tells that it is not known"
            ));
        }
        Ok(())
    }
}

/// All that is still to be told, by topic and partition.
#[derive(Debug, Default)]
pub(crate) struct PushedLeaders {
    by_partition: BTreeMap<(StrBytes, i32), VecDeque<PushedLeader>>,
}
impl PushedLeaders {
    pub(crate) fn push(&mut self, partition: (StrBytes, i32), told: PushedLeader) {
        self.by_partition.entry(partition).or_default().push_back(told);
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.by_partition.is_empty()
    }
    /// Takes what is to be told next of a partition.
    pub(crate) fn take(&mut self, topic: &TopicName, partition: i32) -> Option<PushedLeader> {
        let key = (topic.0.clone(), partition);
        let left = self.by_partition.get_mut(&key)?;
        let told = left.pop_front();
        if left.is_empty() {
            self.by_partition.remove(&key);
        }
        told
    }
}
