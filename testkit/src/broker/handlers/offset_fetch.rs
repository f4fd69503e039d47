//! OffsetFetch: one group (up to version 7) or several; all partitions or some; with `require_stable` a partition whose offset an open
//! transaction is about to change is answered with UNSTABLE_OFFSET_COMMIT.
//!
//! Versions 1 to 10. Left out: nothing.

use super::Handler;
use super::told::{tells_too_much_of_groups, weighs_too_much};
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::groups::offsets::OffsetKey;
use crate::broker::groups::{Body, Group};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use millstream_protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions, OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
};
use millstream_protocol::messages::{OffsetFetchRequest, OffsetFetchResponse, StrBytes, TopicName, Uuid};

/// From this version on a refusal is told once, and not partition by partition.
const OWN_CODE_SINCE: i16 = 2;
/// From this version on topics have ids instead of names.
const IDS_SINCE: i16 = 10;

pub(super) struct OffsetFetch;

/// One partition's answer, in no version's layout yet.
struct Found {
    key: OffsetKey,
    offset: i64,
    leader_epoch: i32,
    metadata: StrBytes,
    code: ErrorCode,
}

impl Handler for OffsetFetch {
    type Request = OffsetFetchRequest;
    fn handle(broker: &mut Broker, call: &Call, request: OffsetFetchRequest) -> Answer<OffsetFetchResponse> {
        let is_too_much = tells_too_much_of_groups(broker, request.groups.iter().map(|asked| &asked.group_id));
        if is_too_much || weighs_too_much(weights(broker, &request)) {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
        }
        if call.version >= 8 {
            let groups = request.groups.iter().map(|asked| {
                let (code, topics) = match find_group(broker, call, asked, request.require_stable) {
                    Ok(topics) => (ErrorCode::NONE, topics),
                    Err(code) => (code, Vec::new()),
                };
                OffsetFetchResponseGroup::default()
                    .with_group_id(asked.group_id.clone())
                    .with_error_code(code.get())
                    .with_topics(topics)
            });
            return Answer::Reply(OffsetFetchResponse::default().with_groups(groups.collect()));
        }
        let topics = request
            .topics
            .as_ref()
            .map(|topics| keys(topics.iter().map(|topic| (&topic.name.0, &topic.partition_indexes))));
        let (code, found) = find(broker, call, &request.group_id.0, topics, request.require_stable);
        let mut response = OffsetFetchResponse::default().with_error_code(code.get()).with_topics(single(found));
        Self::fit(&mut response, call.version);
        Answer::Reply(response)
    }
    fn refuse(request: &OffsetFetchRequest, code: ErrorCode) -> OffsetFetchResponse {
        if !request.groups.is_empty() {
            let groups = request.groups.iter().map(|asked| {
                OffsetFetchResponseGroup::default().with_group_id(asked.group_id.clone()).with_error_code(code.get())
            });
            return OffsetFetchResponse::default().with_groups(groups.collect());
        }
        let asked = request.topics.iter().flatten().map(|topic| (&topic.name.0, &topic.partition_indexes));
        let refused = keys(asked).into_iter().map(|key| missing(key, code)).collect();
        OffsetFetchResponse::default().with_error_code(code.get()).with_topics(single(refused))
    }
    fn fit(response: &mut OffsetFetchResponse, version: i16) {
        if version >= OWN_CODE_SINCE && response.error_code != 0 {
            response.topics.clear();
        }
    }
}

/// What there is to tell of each position that is asked for by name: with it comes what its client said of it.
fn weights<'b>(broker: &'b Broker, request: &'b OffsetFetchRequest) -> impl Iterator<Item = usize> + 'b {
    let of_groups = request.groups.iter().flat_map(|asked| {
        let topics = asked.topics.iter().flatten();
        topics.map(|topic| (&asked.group_id, named(broker, topic), &topic.partition_indexes))
    });
    let topics = request.topics.iter().flatten();
    let of_one = topics.map(|topic| (&request.group_id, Some(&topic.name.0), &topic.partition_indexes));
    of_groups.chain(of_one).flat_map(|(group, name, indexes)| {
        let group = broker.groups.find_shown(&group.0);
        let position = move |index| group?.offsets.find(&(name?.clone(), index));
        indexes.iter().map(move |index| position(*index).map_or(0, |position| position.metadata.len()))
    })
}
/// A topic's name: from version 10 on it is asked for by its id.
fn named<'b>(broker: &'b Broker, asked: &'b OffsetFetchRequestTopics) -> Option<&'b StrBytes> {
    if asked.topic_id.is_nil() { Some(&asked.name.0) } else { broker.topics.name_of(asked.topic_id) }
}

fn find_group(
    broker: &Broker,
    call: &Call,
    asked: &OffsetFetchRequestGroup,
    require_stable: bool,
) -> Result<Vec<OffsetFetchResponseTopics>, ErrorCode> {
    let id = &asked.group_id.0;
    if !broker.is_coordinator(call.node, id) {
        return Err(ErrorCode::NOT_COORDINATOR);
    }
    let group = broker.groups.find_shown(id);
    check_asker(group, asked)?;
    let Some(topics) = &asked.topics else {
        let keys = group.map(|group| group.offsets.committed_keys()).unwrap_or_default();
        let found = keys.into_iter().map(|key| position(group, key, require_stable)).collect();
        return Ok(by_topic(found).into_iter().filter_map(|(name, found)| known(broker, call, name, found)).collect());
    };
    Ok(topics.iter().map(|topic| find_topic(broker, call, group, topic, require_stable)).collect())
}
/// Only a member of the consumer protocol says who it is (KIP-848), from version 9 on.
fn check_asker(group: Option<&Group>, asked: &OffsetFetchRequestGroup) -> Result<(), ErrorCode> {
    match group.map(|group| &group.body) {
        Some(Body::Consumer(group)) => group.check_fetch(asked.member_id.as_deref(), asked.member_epoch),
        Some(Body::Classic(_)) | None => Ok(()),
    }
}
/// A topic of which all positions were asked for; from version 10 on only if it is still there.
fn known(broker: &Broker, call: &Call, name: StrBytes, found: Vec<Found>) -> Option<OffsetFetchResponseTopics> {
    let id = broker.topics.find(&name).map(|topic| topic.id);
    (id.is_some() || call.version < IDS_SINCE).then(|| batched(name, id.unwrap_or_default(), found))
}
fn find_topic(
    broker: &Broker,
    call: &Call,
    group: Option<&Group>,
    asked: &OffsetFetchRequestTopics,
    require_stable: bool,
) -> OffsetFetchResponseTopics {
    let by_id = call.version >= IDS_SINCE;
    let name = if by_id { broker.topics.name_of(asked.topic_id) } else { Some(&asked.name.0) };
    let found = asked.partition_indexes.iter().map(|index| match name {
        Some(name) => position(group, (name.clone(), *index), require_stable),
        None => missing((StrBytes::new(), *index), ErrorCode::UNKNOWN_TOPIC_ID),
    });
    batched(asked.name.0.clone(), asked.topic_id, found.collect())
}
fn keys<'a>(topics: impl Iterator<Item = (&'a StrBytes, &'a Vec<i32>)>) -> Vec<OffsetKey> {
    topics.flat_map(|(name, partitions)| partitions.iter().map(|partition| (name.clone(), *partition))).collect()
}
fn find(
    broker: &Broker,
    call: &Call,
    id: &str,
    keys: Option<Vec<OffsetKey>>,
    require_stable: bool,
) -> (ErrorCode, Vec<Found>) {
    if !broker.is_coordinator(call.node, id) {
        let refused = keys.unwrap_or_default().into_iter().map(|key| missing(key, ErrorCode::NOT_COORDINATOR));
        return (ErrorCode::NOT_COORDINATOR, refused.collect());
    }
    let group = broker.groups.find_shown(id);
    let keys = keys.unwrap_or_else(|| group.map(|group| group.offsets.committed_keys()).unwrap_or_default());
    let found = keys.into_iter().map(|key| position(group, key, require_stable)).collect();
    (ErrorCode::NONE, found)
}
fn position(group: Option<&Group>, key: OffsetKey, require_stable: bool) -> Found {
    let Some(group) = group else { return missing(key, ErrorCode::NONE) };
    if require_stable && group.offsets.is_pending(&key) {
        return missing(key, ErrorCode::UNSTABLE_OFFSET_COMMIT);
    }
    match group.offsets.find(&key) {
        None => missing(key, ErrorCode::NONE),
        Some(position) => {
            let metadata = position.metadata.clone();
            Found { key, offset: position.offset, leader_epoch: position.leader_epoch, metadata, code: ErrorCode::NONE }
        }
    }
}
fn missing(key: OffsetKey, code: ErrorCode) -> Found {
    Found { key, offset: -1, leader_epoch: -1, metadata: StrBytes::new(), code }
}

// Kafka groups by topic; what is asked for topic by topic stays so.
fn by_topic(found: Vec<Found>) -> Vec<(StrBytes, Vec<Found>)> {
    let mut topics: Vec<(StrBytes, Vec<Found>)> = Vec::new();
    for each in found {
        match topics.last_mut() {
            Some((name, partitions)) if *name == each.key.0 => partitions.push(each),
            _ => topics.push((each.key.0.clone(), vec![each])),
        }
    }
    topics
}
fn batched(name: StrBytes, id: Uuid, found: Vec<Found>) -> OffsetFetchResponseTopics {
    let partition = |found: Found| {
        OffsetFetchResponsePartitions::default()
            .with_partition_index(found.key.1)
            .with_committed_offset(found.offset)
            .with_committed_leader_epoch(found.leader_epoch)
            .with_metadata(Some(found.metadata))
            .with_error_code(found.code.get())
    };
    OffsetFetchResponseTopics::default()
        .with_name(TopicName(name))
        .with_topic_id(id)
        .with_partitions(found.into_iter().map(partition).collect())
}
fn single(found: Vec<Found>) -> Vec<OffsetFetchResponseTopic> {
    let partition = |found: Found| {
        OffsetFetchResponsePartition::default()
            .with_partition_index(found.key.1)
            .with_committed_offset(found.offset)
            .with_committed_leader_epoch(found.leader_epoch)
            .with_metadata(Some(found.metadata))
            .with_error_code(found.code.get())
    };
    let topic = |(name, found): (StrBytes, Vec<Found>)| {
        OffsetFetchResponseTopic::default()
            .with_name(TopicName(name))
            .with_partitions(found.into_iter().map(partition).collect())
    };
    by_topic(found).into_iter().map(topic).collect()
}
