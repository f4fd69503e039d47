//! One member of a group for a whole process.

use super::{Ack, CommitRefused, Feed, FetchOptions, GroupEvent, LeavePolicy, PartitionAssignor};
use crate::consumer::{self, Engine, EngineConfig, LossAck};
use crate::runtime::after;
use crate::{Client, Error, ErrorKind, GroupMetadata, IsolationLevel, Offsets};
use millstream_client_core::group::{Member, MemberConfig};
use millstream_protocol::{ErrorCode, Offset, TopicName, TopicPartition};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// What a [`GroupConsumer`] is told once.
#[derive(Debug)]
#[non_exhaustive]
pub struct GroupConsumerConfig {
    /// `group.id`.
    pub group_id: String,
    /// `group.instance.id`.
    pub instance_id: Option<String>,
    /// The assignors, in order of preference. Their names are the protocols that the member offers.
    pub assignors: Vec<Box<dyn PartitionAssignor>>,
    /// `session.timeout.ms`. Default: 45 s.
    pub session_timeout: Duration,
    /// `heartbeat.interval.ms`. Default: 3 s.
    pub heartbeat_interval: Duration,
    /// How long a rebalance waits for this member's acknowledgements. Default: 15 s.
    pub rebalance_timeout: Duration,
    /// How records are fetched.
    pub fetch: FetchOptions,
}

impl GroupConsumerConfig {
    /// A dynamic member of this group.
    #[must_use]
    pub fn new(group_id: impl Into<String>, assignors: Vec<Box<dyn PartitionAssignor>>) -> Self {
        Self {
            group_id: group_id.into(),
            instance_id: None,
            assignors,
            session_timeout: Duration::from_secs(45),
            heartbeat_interval: Duration::from_secs(3),
            rebalance_timeout: Duration::from_secs(15),
            fetch: FetchOptions::default(),
        }
    }
}

/// A member of a group, on a thread of its own. Revocations and losses wait for [`acknowledge`](Self::acknowledge); what is
/// assigned is read once it is added to the [`Feed`].
#[derive(Debug)]
pub struct GroupConsumer {
    feed: Feed,
    engine: Engine,
}

impl GroupConsumer {
    /// Starts the member; it joins when it is subscribed.
    ///
    /// # Errors
    ///
    /// When the thread cannot be started.
    pub fn start(client: &Client, config: GroupConsumerConfig) -> Result<Self, Error> {
        let GroupConsumerConfig { group_id, instance_id, assignors, session_timeout, .. } = config;
        let mut member = MemberConfig::new(group_id.clone());
        member.instance_id = instance_id;
        member.rack = client.options().client_rack.clone();
        member.session_timeout = session_timeout;
        member.heartbeat_interval = config.heartbeat_interval;
        member.rebalance_timeout = config.rebalance_timeout;
        member.max_poll_interval = None;
        member.retry_backoff = client.options().retry_backoff;
        member.retry_backoff_max = client.options().retry_backoff_max;
        let engine = EngineConfig {
            fetcher: millstream_client_core::fetch::Fetcher::new(config.fetch.config(client)),
            member: Some(Member::new(member, assignors)),
            group_id: Some(group_id),
            loss_ack: LossAck::Explicit,
            session_timeout,
        };
        let engine = Engine::on_thread(client.clone(), engine)?;
        Ok(Self { feed: Feed::new(Arc::clone(&engine.shared)), engine })
    }
    /// What is read, and what came of it.
    #[must_use]
    pub const fn feed(&self) -> &Feed {
        &self.feed
    }

    // --- the group

    /// Replaces the subscription.
    pub fn subscribe<T: Into<TopicName>>(&self, topics: impl IntoIterator<Item = T>) {
        self.engine.shared.subscribe(topics.into_iter().map(Into::into).collect::<BTreeSet<TopicName>>());
    }
    /// Joins again, since what the assignor says about this member has changed. Partitions stay until the group has decided.
    pub fn join_anew(&self) {
        self.engine.shared.join_anew();
    }
    /// Waits for the next event. One task at a time.
    ///
    /// # Errors
    ///
    /// When the membership is over (`is_fatal`, or the coordinator refused for good), or a topic does not exist.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it loses nothing.
    pub async fn next_event(&self) -> Result<GroupEvent, Error> {
        let shared = &self.engine.shared;
        loop {
            if let Some((event, _)) = shared.take_event() {
                return Ok(event);
            }
            if let Some(error) = shared.take_error() {
                return Err(error);
            }
            if shared.has_ended() {
                return Err(
                    Error::new(ErrorKind::Closed, "wait for the group").reason("the consumer's thread has ended")
                );
            }
            shared.event_changed().await;
        }
    }
    /// Says that everything that an event asks for is done: the member may join again.
    pub fn acknowledge(&self, ack: Ack) {
        self.engine.shared.acknowledge(ack);
    }
    /// Who this member is at this moment. May be called from any thread at any time.
    ///
    /// # Panics
    ///
    /// Never: this consumer always has a membership.
    #[must_use]
    pub fn group_metadata(&self) -> GroupMetadata {
        self.engine.shared.group_metadata().expect("a group consumer is made with a member")
    }
    /// Begins a commit in the member's name: until the guard is dropped, the member joins no rebalance.
    ///
    /// # Errors
    ///
    /// Between JoinGroup and the assignment, and when the member is in no generation.
    pub fn begin_commit(&self) -> Result<CommitGuard, CommitRefused> {
        let guard = consumer::CommitGuard::begin(&self.engine.shared)?;
        guard.map(CommitGuard).ok_or(CommitRefused::NotMember)
    }

    // --- offsets

    /// What the group has committed, with its notes; offsets that open transactions are about to commit are waited for.
    /// Partitions without a commit are absent.
    ///
    /// # Errors
    ///
    /// When the coordinator does not answer in time.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn committed(&self, partitions: Vec<TopicPartition>) -> Result<Offsets, Error> {
        let Some(group) = &self.engine.group else { return Ok(Offsets::new()) };
        consumer::committed(&self.engine.client, group, partitions).await
    }
    /// The ends of partitions: the last stable offsets when committed records are read, else the high watermarks.
    ///
    /// # Errors
    ///
    /// When a partition does not exist, or its leader does not answer in time.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn end_offsets(
        &self,
        partitions: Vec<TopicPartition>,
        isolation: IsolationLevel,
    ) -> Result<HashMap<TopicPartition, Offset>, Error> {
        super::end_offsets(&self.engine.client, partitions, isolation).await
    }

    /// Leaves the group, or stays in it until the session ends, and closes.
    ///
    /// # Errors
    ///
    /// When it took longer than `within`: the thread goes on by itself then.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it is as if the consumer had been dropped.
    pub async fn close(mut self, policy: LeavePolicy, within: Duration) -> Result<(), Error> {
        let deadline = after(self.engine.shared.now(), within);
        self.engine.close(policy, deadline).await
    }
}

/// A commit that has begun. Dropping it ends it.
#[derive(Debug)]
#[must_use = "the group waits while it lives"]
pub struct CommitGuard(consumer::CommitGuard);

impl CommitGuard {
    /// Who commits.
    #[must_use]
    pub const fn metadata(&self) -> &GroupMetadata {
        self.0.metadata()
    }
    /// The worst that the coordinator said: a refusal makes the member lose its partitions or join again.
    pub fn answered(&mut self, code: ErrorCode) {
        self.0.answered(code);
    }
}
