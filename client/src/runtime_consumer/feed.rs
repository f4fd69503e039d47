//! Batches as they come, partition by partition.

use crate::Error;
use crate::consumer::{Shared, fetch_error};
use millstream_client_core::fetch::{Fetched, Position, Taken};
use millstream_protocol::record::Batch;
use millstream_protocol::{LeaderEpoch, Offset, TopicPartition};
use std::sync::{Arc, Mutex, PoisonError};

/// What is read, and what came of it. All methods act at once; none waits for the network.
#[derive(Debug)]
pub struct Feed {
    shared: Arc<Shared>,
    /// A failure that came behind batches which had to be handed out first.
    failure: Mutex<Option<Error>>,
}

/// One partition's batches. With none, only the offset moved: past markers, aborted records or what compaction took.
#[derive(Debug)]
#[non_exhaustive]
pub struct FetchedPartition {
    /// The partition.
    pub topic_partition: TopicPartition,
    /// Where reading stood: records before it in the first batch were asked for by nobody.
    pub from: Offset,
    /// What may be seen by the isolation level, in offset order; checksums are not yet looked at.
    pub batches: Vec<Batch>,
    /// The next offset to read after all of these.
    pub next_offset: Offset,
    /// The leader's term of what lies before it.
    pub leader_epoch: Option<LeaderEpoch>,
    /// The end of what all in-sync replicas have, as last told.
    pub high_watermark: Option<Offset>,
    /// The end of what is decided, as last told.
    pub last_stable_offset: Option<Offset>,
    /// The first record kept, as last told.
    pub log_start_offset: Option<Offset>,
}

impl Feed {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared, failure: Mutex::new(None) }
    }

    /// Reads a partition from an offset on; one that is read already is moved there.
    pub fn add(&self, partition: impl Into<TopicPartition>, from: Offset) {
        let partition = partition.into();
        self.shared.change(|fetcher| fetcher.add_at(partition, Position::at(from)));
    }
    /// Stops reading; what is buffered is dropped.
    pub fn remove<'a>(&self, partitions: impl IntoIterator<Item = &'a TopicPartition>) {
        self.shared.change(|fetcher| fetcher.remove(partitions));
    }
    /// Moves to another offset. Returns false when the partition is not read.
    pub fn seek(&self, partition: &TopicPartition, to: Offset) -> bool {
        self.shared.change(|fetcher| fetcher.seek(partition, Position::at(to)))
    }
    /// Holds a partition back; what is buffered stays.
    pub fn pause(&self, partition: &TopicPartition) {
        self.shared.change(|fetcher| fetcher.pause(partition));
    }
    /// Lets a partition go on.
    pub fn resume(&self, partition: &TopicPartition) {
        self.shared.change(|fetcher| fetcher.resume(partition));
        self.shared.wake_for_records();
    }
    /// The next offset that will be handed out; none until it is known.
    #[must_use]
    pub fn position(&self, partition: &TopicPartition) -> Option<Offset> {
        self.shared.fetcher().consumed(partition).map(|place| Offset::new(place.offset))
    }
    /// How many offsets are ahead, as last told.
    #[must_use]
    pub fn lag(&self, partition: &TopicPartition) -> Option<u64> {
        self.shared.fetcher().lag(partition)
    }
    /// Bytes that are buffered.
    #[must_use]
    pub fn buffered_bytes(&self) -> usize {
        self.shared.fetcher().buffered_bytes()
    }

    /// Waits until there is something to take. One task at a time.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it loses nothing.
    pub async fn ready(&self) {
        while !self.shared.fetcher().has_ready() && self.failure().is_none() && !self.shared.has_ended() {
            self.shared.records_changed().await;
        }
    }
    /// Takes what is buffered, up to about this many bytes; nothing when nothing is.
    ///
    /// # Errors
    ///
    /// When a partition cannot go on: the error names it and its offset, and came after all that lay before it. It is tried
    /// again after a second; `seek` or `remove` ends that.
    pub fn take_batches(&self, max_bytes: usize) -> Result<Vec<FetchedPartition>, Error> {
        if let Some(error) = self.failure().take() {
            return Err(error);
        }
        let mut taken = Vec::new();
        let mut bytes = 0;
        while bytes < max_bytes {
            match self.shared.take(|_| true) {
                None => break,
                Some(Taken::Fetched(fetched)) => {
                    bytes += fetched.batches.iter().map(Batch::size).sum::<usize>();
                    taken.extend(self.hand_out(fetched));
                }
                Some(Taken::Failed(failure)) if taken.is_empty() => return Err(fetch_error(&failure)),
                Some(Taken::Failed(failure)) => {
                    *self.failure() = Some(fetch_error(&failure));
                    break;
                }
                Some(_) => {}
            }
        }
        Ok(taken)
    }

    fn hand_out(&self, fetched: Fetched) -> Option<FetchedPartition> {
        let current = self.shared.fetcher().advance(&fetched.partition, fetched.generation, fetched.next);
        current.then(|| FetchedPartition {
            topic_partition: fetched.partition,
            from: Offset::new(fetched.from),
            batches: fetched.batches.into(),
            next_offset: Offset::new(fetched.next.offset),
            leader_epoch: fetched.next.epoch,
            high_watermark: fetched.high_watermark.map(Offset::new),
            last_stable_offset: fetched.last_stable_offset.map(Offset::new),
            log_start_offset: fetched.log_start_offset.map(Offset::new),
        })
    }
    fn failure(&self) -> std::sync::MutexGuard<'_, Option<Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
