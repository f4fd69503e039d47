//! Groups, their members and offsets.

use super::per_item::{PerItem, judged, shared_code};
use super::{brokers, text};
use crate::client::{Call, Client, Target};
use crate::consumer::NAMES_UP_TO;
use crate::{Error, OffsetAndMetadata, OffsetSpec, Offsets};
use millstream_client_core::cluster::CoordinatorKey;
use millstream_client_core::group::Assignment;
use millstream_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use millstream_protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use millstream_protocol::messages::{
    DeleteGroupsRequest, DeleteGroupsResponse, DescribeGroupsRequest, DescribeGroupsResponse, ListGroupsRequest,
    ListGroupsResponse, OffsetFetchRequest, OffsetFetchResponse,
};
use millstream_protocol::{ErrorCode, LeaderEpoch, Offset, TopicPartition};
use std::collections::BTreeMap;

/// A kind of group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "Kafka's names")]
pub enum GroupType {
    Classic,
    Consumer,
    Share,
    Streams,
    /// One that this client does not know, or that the broker (before 3.7) does not tell.
    Unknown,
}
/// What a group is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "Kafka's names")]
pub enum GroupState {
    Empty,
    PreparingRebalance,
    CompletingRebalance,
    Assigning,
    Reconciling,
    Stable,
    Dead,
    /// One that this client does not know, or that the broker (before 2.6) does not tell.
    Unknown,
}
/// A group's line in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupListing {
    /// Its id.
    pub group_id: String,
    /// Its kind.
    pub group_type: GroupType,
    /// What it is doing.
    pub state: GroupState,
}
/// A group as it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroupDescription {
    /// Its line in a list.
    pub listing: GroupListing,
    /// What all members have agreed on, such as `range`; empty while there is no agreement.
    pub protocol: String,
    /// Its members.
    pub members: Vec<MemberDescription>,
}
/// A member as it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemberDescription {
    /// Its id.
    pub member_id: String,
    /// Its id through restarts, if it is static.
    pub group_instance_id: Option<String>,
    /// The name that its client gave itself.
    pub client_id: String,
    /// Where it connects from.
    pub client_host: String,
    /// What it has.
    pub assignment: Vec<TopicPartition>,
}

/// Groups, their members and offsets.
#[derive(Debug, Clone, Copy)]
pub struct Groups<'a> {
    client: &'a Client,
}

impl<'a> Groups<'a> {
    pub(super) const fn of(client: &'a Client) -> Self {
        Self { client }
    }

    /// All groups, in the order of their ids.
    ///
    /// # Errors
    ///
    /// When a broker could not be asked: its groups would be missing.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn list(&self) -> Result<Vec<GroupListing>, Error> {
        // By id: a group whose coordinator moves may be named by two brokers (M-10).
        let mut found = BTreeMap::new();
        for node in brokers::all(self.client).await? {
            let call = Call::new("list groups", Target::Node(node));
            let code = |answer: &ListGroupsResponse| ErrorCode::new(answer.error_code);
            let reply = self.client.call::<ListGroupsRequest>(call, |_| ListGroupsRequest::default(), code).await?;
            judged(reply.body.error_code, None, "list groups").map_err(|error| error.at(node))?;
            for group in &reply.body.groups {
                let group_type = group_type(&group.group_type, &group.protocol_type);
                let group_id = group.group_id.as_str().to_owned();
                let listing = GroupListing { group_id: group_id.clone(), group_type, state: state(&group.group_state) };
                found.insert(group_id, listing);
            }
        }
        Ok(found.into_values().collect())
    }

    /// Classic groups as they are.
    ///
    /// # Errors
    ///
    /// Only for single groups: each answer tells. A group that is not there is `GROUP_ID_NOT_FOUND`.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn describe<I>(&self, groups: I) -> Result<PerItem<String, GroupDescription>, Error>
    where
        I: IntoIterator<Item: Into<String>> + Send,
    {
        let groups: Vec<String> = groups.into_iter().map(Into::into).collect();
        let mut answers = PerItem::new();
        for group in groups {
            let answer = self.describe_one(&group).await;
            answers.insert(group, answer);
        }
        Ok(answers)
    }
    async fn describe_one(&self, group: &str) -> Result<GroupDescription, Error> {
        let operation = format!("describe group `{group}`");
        let call = Call::new(operation.as_str(), coordinator(group));
        let asked = text(group);
        let request = move |_| DescribeGroupsRequest::default().with_groups(vec![asked.clone().into()]);
        let code = |answer: &DescribeGroupsResponse| shared_code(answer.groups.iter().map(|group| group.error_code));
        let reply = self.client.call::<DescribeGroupsRequest>(call, request, code).await?;
        let missing = || Error::broker(ErrorCode::GROUP_ID_NOT_FOUND, &operation).reason(ErrorCode::GROUP_ID_NOT_FOUND);
        let found = reply.body.groups.first().ok_or_else(missing)?;
        judged(found.error_code, found.error_message.as_deref(), &operation)?;
        // Brokers before 4.0 describe what is not there as dead.
        if &*found.group_state == "Dead" && found.members.is_empty() {
            return Err(missing());
        }
        described(group, found)
    }

    /// Deletes groups that have no members, with what they have committed.
    ///
    /// # Errors
    ///
    /// Only for single groups: each answer tells. A group with members is `NON_EMPTY_GROUP`.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, some may be deleted and others not.
    pub async fn delete<I>(&self, groups: I) -> Result<PerItem<String, ()>, Error>
    where
        I: IntoIterator<Item: Into<String>> + Send,
    {
        let groups: Vec<String> = groups.into_iter().map(Into::into).collect();
        let mut answers = PerItem::new();
        for group in groups {
            let answer = self.delete_one(&group).await;
            answers.insert(group, answer);
        }
        Ok(answers)
    }
    async fn delete_one(&self, group: &str) -> Result<(), Error> {
        let operation = format!("delete group `{group}`");
        let call = Call::new(operation.as_str(), coordinator(group));
        let asked = text(group);
        let request = move |_| DeleteGroupsRequest::default().with_groups_names(vec![asked.clone().into()]);
        let code = |answer: &DeleteGroupsResponse| shared_code(answer.results.iter().map(|group| group.error_code));
        let reply = self.client.call::<DeleteGroupsRequest>(call, request, code).await?;
        reply.body.results.first().map_or(Ok(()), |result| judged(result.error_code, None, &operation))
    }

    /// What a group has committed. A group that is not there has committed nothing.
    ///
    /// # Errors
    ///
    /// When the group's coordinator could not be asked within `default.api.timeout.ms`, or refuses.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn offsets(&self, group: &str) -> Result<Offsets, Error> {
        let operation = format!("fetch the offsets of group `{group}`");
        let call = Call::new(operation.as_str(), coordinator(group)).max_version(NAMES_UP_TO);
        let asked = group.to_owned();
        let request = move |version| offset_request(&asked, version);
        let reply = self.client.call::<OffsetFetchRequest>(call, request, offset_code).await?;
        judged(offset_code(&reply.body).get(), None, &operation)?;
        committed(&reply.body)
            .map(|(partition, code, next)| {
                judged(code, None, &operation).map_err(|error| error.about(partition.clone()))?;
                Ok((partition, next))
            })
            .filter(|answer| !matches!(answer, Ok((_, next)) if next.offset.get() < 0))
            .collect()
    }

    /// How many records a group is behind, for each partition that it has committed.
    ///
    /// # Errors
    ///
    /// When the group's coordinator could not be asked; a partition whose end is not to be had answers for itself.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn lag(&self, group: &str) -> Result<PerItem<TopicPartition, u64>, Error> {
        let committed = self.offsets(group).await?;
        let specs = committed.iter().map(|(partition, _)| (partition.clone(), OffsetSpec::Latest));
        let ends = super::Topics::of(self.client).offsets(specs.collect::<Vec<_>>()).await?;
        let lag = ends.iter().map(|(partition, end)| {
            let next = committed.of(partition).map_or(0, |committed| committed.offset.get());
            let behind = |end: &Option<Offset>| end.map_or(0, Offset::get).saturating_sub(next);
            (partition.clone(), end.as_ref().map(|end| u64::try_from(behind(end)).unwrap_or(0)).map_err(Clone::clone))
        });
        Ok(lag.collect())
    }
}

fn coordinator(group: &str) -> Target {
    Target::Coordinator(CoordinatorKey::Group(group.to_owned()))
}

fn group_type(name: &str, protocol_type: &str) -> GroupType {
    match name.to_ascii_lowercase().as_str() {
        "classic" => GroupType::Classic,
        "consumer" => GroupType::Consumer,
        "share" => GroupType::Share,
        "streams" => GroupType::Streams,
        // Brokers that do not tell have classic groups only.
        "" if !protocol_type.is_empty() => GroupType::Classic,
        _ => GroupType::Unknown,
    }
}

fn state(name: &str) -> GroupState {
    match name {
        "Empty" => GroupState::Empty,
        "PreparingRebalance" => GroupState::PreparingRebalance,
        "CompletingRebalance" => GroupState::CompletingRebalance,
        "Assigning" => GroupState::Assigning,
        "Reconciling" => GroupState::Reconciling,
        "Stable" => GroupState::Stable,
        "Dead" => GroupState::Dead,
        _ => GroupState::Unknown,
    }
}

fn described(group: &str, found: &DescribedGroup) -> Result<GroupDescription, Error> {
    let listing =
        GroupListing { group_id: group.to_owned(), group_type: GroupType::Classic, state: state(&found.group_state) };
    let members: Result<_, _> = found.members.iter().map(|each| member(group, &found.protocol_type, each)).collect();
    Ok(GroupDescription { listing, protocol: found.protocol_data.to_string(), members: members? })
}

fn member(group: &str, protocol_type: &str, member: &DescribedGroupMember) -> Result<MemberDescription, Error> {
    // Only consumers' assignments have a form that is known: Connect has another.
    let assignment = if protocol_type == "consumer" {
        let operation = format!("read the assignment of member `{}` of group `{group}`", &*member.member_id);
        let read = Assignment::decode(&member.member_assignment);
        read.map_err(|error| Error::new(crate::ErrorKind::Malformed, operation).reason(&error).because(error))?
            .partitions
    } else {
        Vec::new()
    };
    Ok(MemberDescription {
        member_id: member.member_id.to_string(),
        group_instance_id: member.group_instance_id.as_ref().map(ToString::to_string),
        client_id: member.client_id.to_string(),
        client_host: member.client_host.to_string(),
        assignment,
    })
}

/// All offsets of a group. From version 8 on one request may ask for several groups.
fn offset_request(group: &str, version: i16) -> OffsetFetchRequest {
    if version >= 8 {
        let group = OffsetFetchRequestGroup::default()
            .with_group_id(text(group).into())
            .with_member_epoch(-1)
            .with_topics(None);
        OffsetFetchRequest::default().with_groups(vec![group])
    } else {
        OffsetFetchRequest::default().with_group_id(text(group).into()).with_topics(None)
    }
}

fn offset_code(answer: &OffsetFetchResponse) -> ErrorCode {
    ErrorCode::new(answer.groups.first().map_or(answer.error_code, |group| group.error_code))
}

/// Each partition, the broker's word on it, and its offset, in either layout.
fn committed(answer: &OffsetFetchResponse) -> impl Iterator<Item = (TopicPartition, i16, OffsetAndMetadata)> + '_ {
    let new = answer.groups.iter().flat_map(|group| &group.topics).flat_map(|topic| {
        topic.partitions.iter().map(|each| {
            let next = position(each.committed_offset, each.committed_leader_epoch, each.metadata.as_deref());
            (TopicPartition::new(topic.name.as_str(), each.partition_index), each.error_code, next)
        })
    });
    let old = answer.topics.iter().flat_map(|topic| {
        topic.partitions.iter().map(|each| {
            let next = position(each.committed_offset, each.committed_leader_epoch, each.metadata.as_deref());
            (TopicPartition::new(topic.name.as_str(), each.partition_index), each.error_code, next)
        })
    });
    new.chain(old)
}

fn position(offset: i64, leader_epoch: i32, metadata: Option<&str>) -> OffsetAndMetadata {
    OffsetAndMetadata {
        offset: Offset::new(offset),
        leader_epoch: Some(leader_epoch).filter(|epoch| *epoch >= 0).map(LeaderEpoch::new),
        metadata: metadata.map(str::to_owned),
    }
}
