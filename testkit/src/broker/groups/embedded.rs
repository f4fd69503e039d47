//! What consumers of the classic protocol put into JoinGroup and SyncGroup, with partitions by topic name.

use bytes::Bytes;
use millstream_protocol::embedded::consumer_protocol_assignment::TopicPartition;
use millstream_protocol::embedded::{ConsumerProtocolAssignment, ConsumerProtocolSubscription, Embedded};
use millstream_protocol::messages::StrBytes;
use std::collections::BTreeMap;

/// The newest version of an assignment.
const NEWEST: i16 = 3;

/// Partitions by topic name.
pub(crate) type Named = BTreeMap<StrBytes, Vec<i32>>;

/// What a consumer tells the assignor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub(crate) version: i16,
    pub(crate) topics: Vec<StrBytes>,
    pub(crate) owned: Named,
    pub(crate) generation: Option<i32>,
    pub(crate) rack: Option<StrBytes>,
}
impl Subscription {
    /// Reads one; none if it is cut short or malformed.
    pub(crate) fn read(bytes: &Bytes) -> Option<Self> {
        let (version, read) = ConsumerProtocolSubscription::decode(bytes).ok()?;
        Some(Self {
            version,
            topics: read.topics,
            owned: read.owned_partitions.into_iter().map(|each| (each.topic, each.partitions)).collect(),
            generation: Some(read.generation_id).filter(|generation| *generation >= 0),
            rack: read.rack_id,
        })
    }
}

/// What the assignor gives a consumer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) partitions: Named,
    pub(crate) user_data: Option<Bytes>,
}
impl Assignment {
    /// Reads one; none if it is cut short or malformed.
    pub(crate) fn read(bytes: &Bytes) -> Option<Self> {
        let (_, read) = ConsumerProtocolAssignment::decode(bytes).ok()?;
        let partitions = read.assigned_partitions.into_iter().map(|each| (each.topic, each.partitions)).collect();
        Some(Self { partitions, user_data: read.user_data })
    }
    /// Writes one, in a version that the member speaks.
    pub(crate) fn write(partitions: &Named, version: i16) -> Bytes {
        let each = |(topic, partitions): (&StrBytes, &Vec<i32>)| TopicPartition {
            topic: topic.clone(),
            partitions: partitions.clone(),
            ..TopicPartition::default()
        };
        let written = ConsumerProtocolAssignment {
            assigned_partitions: partitions.iter().map(each).collect(),
            ..ConsumerProtocolAssignment::default()
        };
        written.encode(version.clamp(0, NEWEST)).unwrap_or_default()
    }
}
