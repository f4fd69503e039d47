//! The process's one membership and fetcher.

use crate::assignor::TaskAssignor;
use crate::config::Changes;
use crate::shared::Shared;
use crate::{StreamsError, StreamsErrorKind};
use millstream_client as client;
use millstream_client::runtime::{Runtime, after, sleep_until};
use millstream_client::runtime_consumer::{
    Ack, CommitGuard, FetchOptions, FetchedPartition, GroupConsumer, GroupConsumerConfig, GroupEvent, LeavePolicy,
};
use millstream_processor_core::restore::Committed;
use millstream_processor_core::{OffsetReset, TaskId};
use millstream_protocol::{Offset, TopicName, TopicPartition};
use std::sync::Arc;
use std::time::Duration;

/// The process's one membership and fetcher. Cloning gives another handle.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    consumer: Arc<GroupConsumer>,
    name: Arc<str>,
}

/// What a membership is made with.
#[derive(Debug)]
pub(crate) struct GroupOptions {
    pub(crate) topics: Vec<TopicName>,
    pub(crate) assignor: TaskAssignor,
}

impl Group {
    /// Starts the member on a thread of its own, which joins the group.
    pub(crate) fn start(shared: &Shared, group: GroupOptions) -> Result<Self, StreamsError> {
        let Shared { application_id, options, changes, client, .. } = shared;
        let mut config = GroupConsumerConfig::new(application_id.clone(), vec![Box::new(group.assignor)]);
        config.instance_id.clone_from(&options.group_instance_id.0);
        config.session_timeout = options.session_timeout;
        config.heartbeat_interval = options.heartbeat_interval;
        config.rebalance_timeout = REBALANCE;
        config.fetch = fetch_options(changes)?;
        // Where an input goes on whose position is gone from the log.
        config.fetch.reset = match options.auto_offset_reset.0 {
            OffsetReset::Latest => client::OffsetReset::Latest,
            OffsetReset::ByDuration(back) => client::OffsetReset::ByDuration(back),
            OffsetReset::None => client::OffsetReset::None,
            _ => client::OffsetReset::Earliest,
        };
        let consumer = GroupConsumer::start(client, config);
        let consumer =
            consumer.map_err(|error| StreamsError::client(format!("join group `{application_id}`"), error))?;
        consumer.subscribe(group.topics);
        Ok(Self { consumer: Arc::new(consumer), name: application_id.as_str().into() })
    }

    /// Waits for what the group says.
    pub(crate) async fn next_event(&self) -> Result<GroupEvent, StreamsError> {
        self.consumer
            .next_event()
            .await
            .map_err(|error| StreamsError::client(format!("be a member of group `{}`", self.name), error))
    }

    /// Tells the group what the assignor now says about this member.
    pub(crate) fn join_anew(&self) {
        self.consumer.join_anew();
    }

    /// Everything that an event asks for is done.
    pub(crate) fn acknowledge(&self, ack: Ack) {
        self.consumer.acknowledge(ack);
    }

    /// Begins a commit in the member's name; none between Join and Sync, or when it is no member now.
    pub(crate) fn begin_commit(&self) -> Option<CommitGuard> {
        self.consumer.begin_commit().inspect_err(|refused| tracing::debug!(%refused, "no commit now")).ok()
    }

    /// What is committed for a task's inputs; offsets that open transactions are about to commit are waited for.
    pub(crate) async fn committed(&self, task: TaskId, inputs: &[TopicPartition]) -> Result<Committed, StreamsError> {
        let offsets = self.consumer.committed(inputs.to_vec()).await;
        let offsets =
            offsets.map_err(|error| StreamsError::client(format!("fetch what is committed of task {task}"), error))?;
        let fetched = inputs.iter().map(|input| {
            let committed = offsets.of(input)?;
            Some((committed.offset, committed.metadata.as_deref().unwrap_or_default()))
        });
        Ok(Committed::read(&fetched.collect::<Vec<_>>()))
    }

    /// Waits until something was fetched.
    pub(crate) async fn ready(&self) {
        self.consumer.feed().ready().await;
    }

    /// Takes what was fetched. What another try may mend is tried again by the fetcher.
    pub(crate) fn take_batches(&self, max_bytes: usize) -> Result<Vec<FetchedPartition>, StreamsError> {
        match self.consumer.feed().take_batches(max_bytes).inspect(|taken| {
            tracing::trace!(partitions = taken.len(), "took what was fetched");
        }) {
            Err(error) if error.is_retriable() => {
                tracing::warn!(%error, "an input cannot be read now");
                Ok(Vec::new())
            }
            taken => taken.map_err(|error| StreamsError::client("read the inputs of tasks", error)),
        }
    }

    /// Reads these from these offsets on.
    pub(crate) fn read(&self, starts: Vec<(TopicPartition, Offset)>) {
        for (partition, offset) in starts {
            self.consumer.feed().add(partition, offset);
        }
    }

    /// Stops reading these; what was fetched of them and not taken is dropped.
    pub(crate) fn stop_reading<'a>(&self, partitions: impl IntoIterator<Item = &'a TopicPartition>) {
        self.consumer.feed().remove(partitions);
    }

    /// Holds a partition back.
    pub(crate) fn pause(&self, partition: &TopicPartition) {
        self.consumer.feed().pause(partition);
    }

    /// Lets partitions go on.
    pub(crate) fn resume(&self, partitions: &[TopicPartition]) {
        partitions.iter().for_each(|partition| self.consumer.feed().resume(partition));
    }

    /// Leaves the group, or stays in it until the session ends. All other handles are on their way out.
    pub(crate) async fn close(
        self,
        policy: LeavePolicy,
        within: Duration,
        runtime: &dyn Runtime,
    ) -> Result<(), StreamsError> {
        let deadline = after(runtime.now(), within);
        let Self { mut consumer, name } = self;
        let failed = || StreamsError::new(format!("leave group `{name}`"), StreamsErrorKind::Client);
        loop {
            match Arc::try_unwrap(consumer) {
                Ok(consumer) => {
                    let left = deadline.saturating_duration_since(runtime.now());
                    return consumer.close(policy, left).await.map_err(|error| failed().because(error));
                }
                Err(_) if runtime.now() >= deadline => {
                    return Err(failed().because("something still uses the membership"));
                }
                Err(shared) => consumer = shared,
            }
            sleep_until(runtime, runtime.now() + LOOK).await;
        }
    }
}

/// `consumer.*` and `main.consumer.*`, as far as they are about fetching.
fn fetch_options(changes: &Changes) -> Result<FetchOptions, StreamsError> {
    let mut fetch = FetchOptions::default();
    for (key, value) in &changes.consumer_options {
        let number = || {
            let wrong = |_| {
                StreamsError::new(format!("option `consumer.{key}`: `{value}` is no number"), StreamsErrorKind::Config)
            };
            value.trim().parse::<usize>().map_err(wrong)
        };
        match key.as_str() {
            "fetch.min.bytes" => fetch.min_bytes = number()?,
            "fetch.max.bytes" => fetch.max_bytes = number()?,
            "max.partition.fetch.bytes" => fetch.max_partition_bytes = number()?,
            "fetch.max.wait.ms" => fetch.max_wait = Duration::from_millis(u64::try_from(number()?).unwrap_or(u64::MAX)),
            other => tracing::debug!(key = other, "an option of consumers that the runtime does not use"),
        }
    }
    Ok(fetch)
}

/// How long a rebalance waits for revocations. Less than a lane's transaction may stay open, so that one is decided by then.
const REBALANCE: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(1);
