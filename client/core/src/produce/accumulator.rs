//! The callers' side of a producer: topics, their partitions' open batches, and what the driver has to look at.

use super::budget::Budget;
use super::codec::Codec;
use super::shard::{Aftermath, Closed};
use super::sticky::Sticky;
use super::{AppendError, Appended, BatchHandle, Failure, RecordFields, Shard, TransactionNumber};
use millstream_protocol::compression::{Compression, CompressionError};
use millstream_protocol::hash::HashMap;
use millstream_protocol::record::BatchBuilder;
use millstream_protocol::{PartitionId, TopicName, TopicPartition, murmur2};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

/// How batches are built.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AccumulatorOptions {
    /// How full a batch may become, in bytes (`batch.size`).
    pub batch_size: usize,
    /// What all batches not yet acknowledged may take, in bytes (`buffer.memory`).
    pub buffer_memory: usize,
    /// How batches are compressed (`compression.type`).
    pub compression: Compression,
    /// The codec's own level; none is its default.
    pub compression_level: Option<i32>,
    /// Whether records are taken inside transactions only.
    pub transactional: bool,
}

impl Default for AccumulatorOptions {
    fn default() -> Self {
        Self {
            batch_size: 1_000_000,
            buffer_memory: 64 << 20,
            compression: Compression::None,
            compression_level: None,
            transactional: false,
        }
    }
}

/// A topic's partitions, as a producer has them.
#[derive(Debug)]
pub struct TopicShards {
    shards: Vec<Arc<Shard>>,
    leaderless: Vec<bool>,
    sticky: Arc<Sticky>,
}

impl TopicShards {
    /// How many partitions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.len()
    }
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shards.is_empty()
    }
    /// A partition.
    #[must_use]
    pub fn shard(&self, partition: PartitionId) -> Option<&Arc<Shard>> {
        self.shards.get(usize::try_from(partition.get()).ok()?)
    }
    /// The partition by Kafka's default rule: by the key's murmur2, and without a key one for some time, then another.
    #[must_use]
    pub fn choose(&self, record: &RecordFields<'_>) -> Option<&Arc<Shard>> {
        let count = self.shards.len();
        let index = match record.key {
            Some(key) => {
                let positive = u64::from((murmur2(key) & i32::MAX).unsigned_abs());
                usize::try_from(positive % u64::try_from(count).ok().filter(|count| *count > 0)?).ok()?
            }
            None => {
                let bytes = BatchBuilder::upper_bound(None, record.value, record.headers);
                self.sticky.choose(bytes, count, |index| !self.leaderless.get(index).copied().unwrap_or(false))
            }
        };
        self.shards.get(index)
    }
}

/// What the driver has to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Note {
    /// A batch was begun.
    Opened(usize, Instant),
    /// A batch is ready, or should be.
    Ready(usize),
}

/// The callers' side of a producer.
pub struct Accumulator {
    options: AccumulatorOptions,
    topics: RwLock<HashMap<TopicName, Arc<TopicShards>>>,
    table: Mutex<Table>,
    budget: Budget,
    notes: Mutex<Vec<Note>>,
    noted: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
    codec: Codec,
    starving: AtomicUsize,
}

/// All partitions by index, and in which phase a new one starts.
#[derive(Debug)]
struct Table {
    shards: Vec<Arc<Shard>>,
    transaction: Option<TransactionNumber>,
    closed: Option<Arc<Failure>>,
}

impl Accumulator {
    /// An accumulator that calls `wake` when the driver has something to look at.
    ///
    /// # Errors
    ///
    /// When the codec is not compiled in, or does not have the level.
    pub fn new(options: AccumulatorOptions, wake: impl Fn() + Send + Sync + 'static) -> Result<Self, CompressionError> {
        let codec = Codec::new(options.compression, options.compression_level)?;
        let transaction = (!options.transactional).then_some(0);
        Ok(Self {
            budget: Budget::new(options.buffer_memory),
            topics: RwLock::default(),
            table: Mutex::new(Table { shards: Vec::new(), transaction, closed: None }),
            notes: Mutex::default(),
            noted: AtomicBool::new(false),
            wake: Box::new(wake),
            codec,
            starving: AtomicUsize::new(0),
            options,
        })
    }

    // --- for callers

    /// A topic that was announced by [`set_topic`](Self::set_topic).
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<Arc<TopicShards>> {
        self.topics.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
    /// Announces a topic's partitions; those that are there stay. `has_leader` is asked for each.
    pub fn set_topic(
        &self,
        name: &TopicName,
        partitions: usize,
        has_leader: impl Fn(usize) -> bool,
        seed: u64,
    ) -> Arc<TopicShards> {
        let mut topics = self.topics.write().unwrap_or_else(PoisonError::into_inner);
        let known = topics.get(name);
        let mut shards = known.map_or_else(Vec::new, |known| known.shards.clone());
        let mut table = self.table();
        for index in shards.len()..partitions {
            let partition = TopicPartition::new(name.clone(), i32::try_from(index).unwrap_or(i32::MAX));
            shards.push(table.add(partition));
        }
        let sticky = known.map_or_else(|| Arc::new(Sticky::new(seed)), |known| Arc::clone(&known.sticky));
        let leaderless = (0..shards.len()).map(|index| !has_leader(index)).collect();
        let topic = Arc::new(TopicShards { shards, leaderless, sticky });
        topics.insert(name.clone(), Arc::clone(&topic));
        topic
    }
    /// Whether any topic was announced.
    #[must_use]
    pub fn has_topics(&self) -> bool {
        !self.topics.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
    /// The names of the topics in use.
    #[must_use]
    pub fn topic_names(&self) -> Vec<TopicName> {
        self.topics.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }
    /// Encodes a record into its partition's open batch. `now` is asked only when a batch begins.
    ///
    /// # Errors
    ///
    /// When memory is used up, or the partition takes no records (of this transaction).
    pub fn append(
        &self,
        shard: &Shard,
        record: &RecordFields<'_>,
        transaction: TransactionNumber,
        now: impl FnOnce() -> Instant,
    ) -> Result<Appended, AppendError> {
        let appended = match shard.append(record, transaction, self.options.batch_size, &self.budget, now) {
            Ok((appended, aftermath)) => {
                self.follow_up(shard, aftermath);
                appended
            }
            Err(error) => Err(error),
        };
        if matches!(appended, Err(AppendError::Full)) {
            self.note(Note::Ready(shard.index()));
        }
        appended
    }
    /// Somebody waits for memory: batches do not linger meanwhile.
    pub fn begin_starving(&self) {
        self.starving.fetch_add(1, Ordering::Relaxed);
        self.mark_all_ready();
    }
    /// The wait is over.
    pub fn end_starving(&self) {
        self.starving.fetch_sub(1, Ordering::Relaxed);
    }
    /// Whether anybody waits for memory.
    #[must_use]
    pub fn is_starving(&self) -> bool {
        self.starving.load(Ordering::Relaxed) > 0
    }
    /// Everything that was appended goes now; returns the batches that are not resolved (P-16).
    #[must_use]
    pub fn flush(&self) -> Vec<Arc<BatchHandle>> {
        let mut unresolved = Vec::new();
        for shard in self.shards() {
            if shard.mark_due(&mut unresolved) {
                self.note(Note::Ready(shard.index()));
            }
        }
        unresolved
    }
    /// Whether there is memory left.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.budget.used() < self.options.buffer_memory
    }
    /// What batches take, in bytes.
    #[must_use]
    pub fn bytes_used(&self) -> usize {
        self.budget.used()
    }

    // --- for the driver

    /// Takes records of this transaction, and of no other, from now on.
    pub fn begin(&self, transaction: TransactionNumber) {
        let shards = {
            let mut table = self.table();
            table.transaction = Some(transaction);
            table.shards.clone()
        };
        shards.iter().for_each(|shard| shard.begin(transaction));
    }
    /// Takes no records until the next [`begin`](Self::begin). `drop_waiting`: those that wait fail as well; answers the first partition that had any.
    pub fn end(&self, failure: &Arc<Failure>, drop_waiting: bool) -> Option<TopicPartition> {
        let shards = {
            let mut table = self.table();
            table.transaction = None;
            table.shards.clone()
        };
        let mut first = None;
        for shard in &shards {
            let Some(freed) = shard.close(failure, drop_waiting) else { continue };
            self.budget.give_back(freed);
            first.get_or_insert_with(|| shard.partition().clone());
        }
        first
    }
    /// Takes no records any more; as [`end`](Self::end), but for good.
    pub fn close(&self, failure: &Arc<Failure>, drop_waiting: bool) -> Option<TopicPartition> {
        self.table().closed = Some(Arc::clone(failure));
        self.end(failure, drop_waiting)
    }

    pub(super) fn shards(&self) -> Vec<Arc<Shard>> {
        self.table().shards.clone()
    }
    pub(super) fn shard(&self, index: usize) -> Option<Arc<Shard>> {
        self.table().shards.get(index).cloned()
    }
    pub(super) fn take_notes(&self, into: &mut Vec<Note>) {
        self.noted.store(false, Ordering::Release);
        into.append(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner));
    }
    /// Compresses and checksums a batch that was closed, and puts it into its place.
    pub(super) fn seal(&self, shard: &Shard, mut closed: Closed) {
        let builder = closed.builder();
        let sealed = self.codec.with(|compressor| builder.seal(compressor));
        if let Some(freed) = shard.hand_in(closed, sealed) {
            self.budget.give_back(freed);
        }
    }
    /// Tells the driver to look at a batch that was put into its place.
    pub(super) fn note_ready(&self, shard: &Shard) {
        self.note(Note::Ready(shard.index()));
    }
    pub(super) const fn codec(&self) -> Codec {
        self.codec
    }
    pub(super) fn give_back(&self, bytes: usize) {
        self.budget.give_back(bytes);
    }

    fn follow_up(&self, shard: &Shard, aftermath: Aftermath) {
        if let Some(closed) = aftermath.full {
            self.seal(shard, closed);
            self.note(Note::Ready(shard.index()));
        }
        if let Some(opened) = aftermath.opened {
            self.note(Note::Opened(shard.index(), opened));
        }
    }
    fn mark_all_ready(&self) {
        self.shards().iter().for_each(|shard| self.note(Note::Ready(shard.index())));
    }
    /// One list and one flag for the whole producer: the driver is woken once for many notes.
    fn note(&self, note: Note) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
        if !self.noted.swap(true, Ordering::AcqRel) {
            (self.wake)();
        }
    }
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn add(&mut self, partition: TopicPartition) -> Arc<Shard> {
        let shard = Arc::new(Shard::new(partition, self.shards.len(), self.transaction));
        if let Some(failure) = &self.closed {
            shard.close(failure, true);
        }
        self.shards.push(Arc::clone(&shard));
        shard
    }
}

impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulator")
            .field("options", &self.options)
            .field("used", &self.budget.used())
            .finish_non_exhaustive()
    }
}
