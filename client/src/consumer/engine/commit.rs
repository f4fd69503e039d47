//! OffsetCommit, in the member's name.

use super::driver::{Done, Driver};
use super::{NAMES_UP_TO, Shared};
use crate::client::{Call, Client, Target};
use crate::{Error, ErrorKind, OffsetAndMetadata, Offsets};
use millstream_client_core::cluster::CoordinatorKey;
use millstream_client_core::group::{CommitRefused, CommitStamp, GroupMetadata};
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::{OffsetCommitRequest, OffsetCommitResponse, StrBytes};
use millstream_protocol::{ErrorCode, LeaderEpoch, TopicName, TopicPartition};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A commit that has begun: the member joins no rebalance before it has ended. Dropping it ends it.
#[derive(Debug)]
#[must_use = "the group waits while it lives"]
pub(crate) struct CommitGuard {
    shared: Arc<Shared>,
    stamp: CommitStamp,
    metadata: GroupMetadata,
    code: Option<ErrorCode>,
}

impl CommitGuard {
    /// Begins a commit in the member's name.
    pub(crate) fn begin(shared: &Arc<Shared>) -> Result<Option<Self>, CommitRefused> {
        let Some(mut member) = shared.member() else { return Ok(None) };
        let stamp = member.begin_commit()?;
        let metadata = member.metadata().clone();
        Ok(Some(Self { shared: Arc::clone(shared), stamp, metadata, code: None }))
    }
    pub(crate) const fn stamp(&self) -> &CommitStamp {
        &self.stamp
    }
    /// Who commits, as it was when the commit began.
    pub(crate) const fn metadata(&self) -> &GroupMetadata {
        &self.metadata
    }
    /// The worst that the coordinator said.
    pub(crate) const fn answered(&mut self, code: ErrorCode) {
        self.code = Some(code);
    }
}
impl Drop for CommitGuard {
    fn drop(&mut self) {
        if let Some(mut member) = self.shared.member() {
            member.end_commit(self.shared.now(), &self.stamp, self.code);
        }
        self.shared.wake_driver.notify_one();
    }
}

/// Commits these offsets, after every commit that began before.
pub(crate) async fn commit(
    client: &Client,
    shared: &Arc<Shared>,
    group: Option<&CoordinatorKey>,
    offsets: Offsets,
) -> Result<(), Error> {
    let Some(group) = group else {
        return Err(
            Error::new(ErrorKind::Misuse, "commit offsets").reason("the consumer has no `group.id` to commit under")
        );
    };
    if offsets.is_empty() {
        return Ok(());
    }
    let _ordered = shared.commit_order.lock().await;
    let operation = format!("commit offsets of {group}");
    // A consumer that assigns its partitions itself is in no generation: the coordinator takes its commits unless the group has members.
    let guard = match CommitGuard::begin(shared) {
        Ok(guard) => guard,
        Err(CommitRefused::NotMember) if shared.subscription().is_empty() => None,
        Err(refused) => {
            return Err(Error::new(ErrorKind::Rebalanced, operation).reason(refused).because(refused).retriable(true));
        }
    };
    if guard.is_some() && shared.is_any_lost(&offsets) {
        let reason = "partitions were lost since the last poll, which tells of it";
        return Err(Error::new(ErrorKind::Rebalanced, operation).reason(reason));
    }
    let body =
        Body { group: group.name().to_owned(), stamp: guard.as_ref().map(|guard| guard.stamp().clone()), offsets };
    let now = client.now();
    let patience = shared.member().filter(|_| guard.is_some()).map(|member| now + member.commit_patience(now));
    let deadline = patience.map_or_else(|| client.api_deadline(), |until| until.min(client.api_deadline()));
    let call =
        Call::new(operation.clone(), Target::Coordinator(group.clone())).max_version(NAMES_UP_TO).deadline(deadline);
    let reply = client.call::<OffsetCommitRequest>(call, move |_| body.request(), worst_code).await?;
    let worst = worst(&reply.body);
    if let (Some(mut guard), Some((code, _))) = (guard, &worst) {
        guard.answered(*code);
    }
    match worst {
        None => Ok(()),
        Some((code, partition)) => Err(Error::broker(code, operation).reason(code).about(partition)),
    }
}

struct Body {
    group: String,
    stamp: Option<CommitStamp>,
    offsets: Offsets,
}

impl Body {
    fn request(&self) -> OffsetCommitRequest {
        let text = |text: &str| StrBytes::from_string(text.to_owned());
        let mut request = OffsetCommitRequest::default();
        request.group_id = text(&self.group).into();
        request.generation_id_or_member_epoch = self.stamp.as_ref().map_or(-1, |stamp| stamp.generation);
        request.member_id = text(self.stamp.as_ref().map_or("", |stamp| &stamp.member_id));
        request.group_instance_id = self.stamp.as_ref().and_then(|stamp| stamp.instance_id.as_deref()).map(text);
        let mut topics: BTreeMap<&TopicName, Vec<OffsetCommitRequestPartition>> = BTreeMap::new();
        for (id, next) in self.offsets.iter() {
            topics.entry(&id.topic).or_default().push(partition(id, next));
        }
        request.topics = topics.into_iter().map(|(name, partitions)| topic(name, partitions)).collect();
        request
    }
}

fn topic(name: &TopicName, partitions: Vec<OffsetCommitRequestPartition>) -> OffsetCommitRequestTopic {
    let mut topic = OffsetCommitRequestTopic::default();
    topic.name = StrBytes::from_string(name.as_str().to_owned()).into();
    topic.partitions = partitions;
    topic
}

fn partition(id: &TopicPartition, next: &OffsetAndMetadata) -> OffsetCommitRequestPartition {
    let mut partition = OffsetCommitRequestPartition::default();
    partition.partition_index = id.partition.get();
    partition.committed_offset = next.offset.get();
    partition.committed_leader_epoch = next.leader_epoch.map_or(-1, LeaderEpoch::get);
    partition.committed_metadata = Some(StrBytes::from_string(next.metadata.clone().unwrap_or_default()));
    partition
}

fn worst_code(answer: &OffsetCommitResponse) -> ErrorCode {
    match worst(answer) {
        // Whoever rebalances commits again later; whoever is fenced, never.
        Some((ErrorCode::REBALANCE_IN_PROGRESS, _)) | None => ErrorCode::NONE,
        Some((code, _)) => code,
    }
}

fn worst(answer: &OffsetCommitResponse) -> Option<(ErrorCode, TopicPartition)> {
    answer.topics.iter().find_map(|topic| {
        let refused = topic.partitions.iter().find(|partition| partition.error_code != 0)?;
        let id = TopicPartition::new(topic.name.as_str(), refused.partition_index);
        Some((ErrorCode::new(refused.error_code), id))
    })
}

impl Driver {
    /// Commits what the application left to be committed in passing, one commit at a time.
    pub(super) fn start_auto_commit(&mut self) {
        if self.committing {
            return;
        }
        let Some(offsets) = self.shared.queue().to_commit.take() else { return };
        self.committing = true;
        let (client, shared, group) = (self.client.clone(), Arc::clone(&self.shared), self.group.clone());
        self.in_flight.push(async move {
            if let Err(error) = commit(&client, &shared, group.as_ref(), offsets).await {
                tracing::warn!(%error, "auto-commit failed; the next one commits more");
                shared.queue().commit_failed = true;
            }
            Done::Commit
        });
    }
}
