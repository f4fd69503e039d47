//! Reads records.
//!
//! A [`Consumer`] is the application's side: it takes what the driver fetched, decodes it, and counts what is finished.
//! The driver, in `engine`, does the I/O and the group's business on a thread of its own.

mod builder;
mod committer;
mod committing;
mod engine;
mod hand;
mod poll;
mod tracker;
mod values;

pub use builder::ConsumerBuilder;
pub use committer::Committer;
pub use millstream_client_core::fetch::{IsolationLevel, OffsetReset};
pub use millstream_client_core::group::GroupMetadata;
pub use values::{Assignor, GroupProtocol};

pub(crate) use builder::ConsumerOptions;
pub(crate) use engine::{CommitGuard, Engine, EngineConfig, LossAck, NAMES_UP_TO, Shared, committed};
pub(crate) use hand::edge_error as fetch_error;

use crate::client::ClientSource;
use crate::records::to_commit;
use crate::{ConsumerRecord, Error, ErrorKind, OffsetSpec, Offsets, Properties, RecordStream, Records};
use committing::Limits;
use hand::Hand;
use millstream_client_core::fetch::{OffsetTarget, Position};
use millstream_client_core::group::LeavePolicy;
use millstream_protocol::record::CrcCheck;
use millstream_protocol::{Offset, TopicName, TopicPartition};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};
use tracker::Tracker;

/// Reads records, in a group or from partitions it is told. One task at a time, as `&mut self` says; heartbeats go on while
/// that task works.
///
/// ```no_run
/// # async fn bill(orders: &[u8]) {}
/// # async fn consume() -> Result<(), millstream_client::Error> {
/// use millstream_client::Consumer;
/// let mut consumer = Consumer::builder("localhost:9092").group_id("billing").topics(["orders"]).build().await?;
/// loop {
///     let records = consumer.poll().await?;
///     for record in &records {
///         bill(record.value().unwrap_or_default()).await; // borrowed from the response
///     }
///     consumer.commit().await?;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Consumer {
    engine: Engine,
    options: ConsumerOptions,
    hand: Hand,
    tracker: Tracker,
    next_auto_commit: Instant,
    /// What was committed last, so that auto-commit is silent while nothing moves.
    committed: Offsets,
    /// How long the revocation that was seen last may take.
    revocation: Option<Limits>,
    /// Topics to subscribe to at the first poll: only then is the group joined.
    to_subscribe: Option<BTreeSet<TopicName>>,
}

impl Consumer {
    /// Starts with where to connect: an address, a `ClientBuilder`, or a `&Client` to share.
    pub fn builder(client: impl Into<ClientSource>) -> ConsumerBuilder {
        ConsumerBuilder::new(client.into())
    }
    /// Starts with a properties file's keys.
    pub fn from_properties(properties: &Properties) -> ConsumerBuilder {
        ConsumerBuilder::from_properties(properties)
    }
    fn new(engine: Engine, options: ConsumerOptions, topics: BTreeSet<TopicName>) -> Self {
        let crc = if options.check_crcs { CrcCheck::Check } else { CrcCheck::Skip };
        let next_auto_commit = engine.shared.now() + options.auto_commit_interval;
        Self {
            engine,
            options,
            hand: Hand::new(crc),
            tracker: Tracker::default(),
            next_auto_commit,
            committed: Offsets::new(),
            revocation: None,
            to_subscribe: (!topics.is_empty()).then_some(topics),
        }
    }
    /// Records as a [`Stream`](futures_core::Stream).
    #[must_use]
    pub fn into_stream(self) -> RecordStream {
        RecordStream::new(self)
    }

    // --- what to read

    /// Replaces the subscription with these topics. The group is joined, or told, at the next poll; it needs `group.id`.
    pub fn subscribe<T: Into<TopicName>>(&mut self, topics: impl IntoIterator<Item = T>) {
        self.forget_manual();
        self.to_subscribe = Some(topics.into_iter().map(Into::into).collect());
    }
    /// Replaces subscription and assignment with these partitions. Needs no group; with one, they start where it committed.
    pub fn assign<P: Into<TopicPartition>>(&mut self, partitions: impl IntoIterator<Item = P>) {
        self.leave_subscription();
        let partitions: BTreeSet<TopicPartition> = partitions.into_iter().map(Into::into).collect();
        let has_group = self.engine.group.is_some();
        self.engine.shared.change(|fetcher| {
            let gone: Vec<TopicPartition> =
                fetcher.partitions().filter(|id| !partitions.contains(*id)).cloned().collect();
            fetcher.remove(&gone);
            if has_group { fetcher.add(partitions) } else { fetcher.add_reset(partitions) }
        });
    }
    /// Reads nothing any more, and leaves the group.
    pub fn unsubscribe(&mut self) {
        self.leave_subscription();
        self.forget_manual();
    }
    /// The partitions that are ours.
    #[must_use]
    pub fn assignment(&self) -> Vec<TopicPartition> {
        self.engine.shared.fetcher().partitions().cloned().collect()
    }
    /// Moves a position; what was fetched ahead from elsewhere is dropped.
    ///
    /// # Errors
    ///
    /// When the partition is not ours.
    pub fn seek(&mut self, partition: impl Into<TopicPartition>, to: impl Into<OffsetSpec>) -> Result<(), Error> {
        let partition = partition.into();
        let moved = self.engine.shared.change(|fetcher| match to.into() {
            OffsetSpec::At(offset) => fetcher.seek(&partition, Position::at(offset)),
            OffsetSpec::Earliest => fetcher.seek_to(&partition, OffsetTarget::Earliest),
            OffsetSpec::Latest => fetcher.seek_to(&partition, OffsetTarget::Latest),
            OffsetSpec::Since(time) => fetcher.seek_to(&partition, OffsetTarget::Since(time)),
        });
        if moved {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Misuse, "seek")
            .about(partition)
            .reason("the partition is not assigned to this consumer"))
    }
    /// Moves back to before these records: after the transaction that was to take them was aborted. Partitions that are no
    /// longer ours, or were moved since, stay as they are.
    pub fn rewind(&mut self, to_before: &Records) {
        self.engine.shared.change(|fetcher| {
            for part in to_before.parts() {
                if fetcher.is_current(&part.partition, part.generation) {
                    fetcher.seek(&part.partition, part.before);
                }
            }
        });
    }
    /// Holds these back; group membership goes on, and what is fetched already stays.
    pub fn pause<'a>(&mut self, partitions: impl IntoIterator<Item = &'a TopicPartition>) {
        self.engine.shared.change(|fetcher| partitions.into_iter().for_each(|partition| fetcher.pause(partition)));
    }
    /// Reads these again.
    pub fn resume<'a>(&mut self, partitions: impl IntoIterator<Item = &'a TopicPartition>) {
        self.engine.shared.change(|fetcher| partitions.into_iter().for_each(|partition| fetcher.resume(partition)));
    }

    // --- asking

    /// The next offset to be read, per partition of ours that has one yet.
    #[must_use]
    pub fn positions(&self) -> Offsets {
        let fetcher = self.engine.shared.fetcher();
        fetcher.all_consumed().map(|(id, place)| (id.clone(), to_commit(place))).collect()
    }
    /// How many offsets are ahead of the position, as the last fetch told; none before the first.
    #[must_use]
    pub fn lag(&self, partition: &TopicPartition) -> Option<u64> {
        self.engine.shared.fetcher().lag(partition)
    }
    /// What the group has committed; partitions without a commit are absent. Offsets that an open transaction is about to
    /// commit are waited for (KIP-447).
    ///
    /// # Errors
    ///
    /// When there is no `group.id`, or the coordinator does not answer in time.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn committed<'a, I>(&self, partitions: I) -> Result<Offsets, Error>
    where
        I: IntoIterator<Item = &'a TopicPartition> + Send,
    {
        let Some(group) = self.engine.group.clone() else { return Err(no_group("fetch committed offsets")) };
        let partitions: Vec<TopicPartition> = partitions.into_iter().cloned().collect();
        committed(&self.engine.client, &group, partitions).await
    }
    /// The offset that each spec means now; a time after the last record has none.
    ///
    /// # Errors
    ///
    /// When a partition does not exist, or its leader does not answer in time.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn resolve_offsets<I>(&self, specs: I) -> Result<HashMap<TopicPartition, Option<Offset>>, Error>
    where
        I: IntoIterator<Item = (TopicPartition, OffsetSpec)> + Send,
    {
        let specs: Vec<(TopicPartition, OffsetSpec)> = specs.into_iter().collect();
        crate::admin::list_offsets::resolve(&self.engine.client, specs, self.options.isolation_level).await.all()
    }
    /// Who this member is as of what polls have brought, for a transaction that sends its offsets: if the group has thrown it out since,
    /// the coordinator refuses them. Generation −1 outside a group.
    #[must_use]
    pub fn group_metadata(&self) -> GroupMetadata {
        self.engine.shared.seen_metadata().unwrap_or_else(GroupMetadata::none)
    }

    /// Commits if auto-commit is on, leaves the group, closes. A static member stays in its group. Dropping leaves in the background.
    ///
    /// # Errors
    ///
    /// When the commit failed, or it took longer than `within`: the driver goes on by itself then.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it is as if the consumer had been dropped.
    pub async fn close(mut self, within: Duration) -> Result<(), Error> {
        let deadline = crate::runtime::after(self.engine.shared.now(), within);
        let runtime = std::sync::Arc::clone(self.engine.client.runtime());
        let committed = crate::runtime::timeout_at(&*runtime, deadline, self.commit_at_end()).await;
        let closed = self.engine.close(LeavePolicy::Dynamic, deadline).await;
        match committed {
            Some(committed) => committed.and(closed),
            None => Err(Error::new(ErrorKind::TimedOut, "commit before closing")),
        }
    }

    /// Takes back records that were handed out and not used.
    pub(crate) fn take_back(&mut self, unused: VecDeque<ConsumerRecord>) {
        let mut seen = BTreeSet::new();
        self.engine.shared.change(|fetcher| {
            for record in unused {
                let first = seen.insert(record.topic_partition.clone());
                if first && fetcher.is_current(&record.topic_partition, record.generation) {
                    fetcher.seek(&record.topic_partition, Position::at(record.offset));
                }
            }
        });
    }
    fn leave_subscription(&mut self) {
        self.to_subscribe = None;
        if !self.engine.shared.subscription().is_empty() {
            self.engine.shared.subscribe(BTreeSet::new());
            self.drop_partitions();
        }
    }
    fn forget_manual(&self) {
        if self.engine.shared.subscription().is_empty() {
            self.drop_partitions();
        }
    }
    fn drop_partitions(&self) {
        self.engine.shared.change(|fetcher| {
            let all: Vec<TopicPartition> = fetcher.partitions().cloned().collect();
            fetcher.remove(&all);
        });
    }
}

fn no_group(operation: &str) -> Error {
    Error::new(ErrorKind::Misuse, operation).reason("the consumer has no `group.id`")
}

// A consumer and its futures may move between threads.
const fn assert_send<T: Send>() {}
const _: () = assert_send::<Consumer>();
