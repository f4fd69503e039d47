//! What groups keep: OffsetCommit, OffsetFetch, OffsetDelete, TxnOffsetCommit by members of either protocol and by others, ListGroups and
//! DeleteGroups.

use crate::Step;
use crate::chance::Chance;
use crate::consumers::{CONSUMERS, Consumer};
use crate::data::{TOPICS, partition, text};
use crate::ids::Ids;
use crate::members::{CLASSIC_GROUPS, Claim};
use crate::pair::{Kind, Pair};
use crate::transactions::Who;
use crate::{moved, silent};
use millstream_protocol::ApiKey;
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use millstream_protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use millstream_protocol::messages::txn_offset_commit_request::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use millstream_protocol::messages::{
    DeleteGroupsRequest, GroupId, ListGroupsRequest, OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest,
    OffsetFetchResponse, ProducerId as WireId, StrBytes, TopicName, TransactionalId, TxnOffsetCommitRequest,
};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::OFFSET_COMMIT, commit),
        (ApiKey::OFFSET_COMMIT, commit),
        (ApiKey::OFFSET_FETCH, fetch),
        (ApiKey::OFFSET_FETCH, fetch),
        (ApiKey::TXN_OFFSET_COMMIT, commit_in_transaction),
        (ApiKey::TXN_OFFSET_COMMIT, commit_in_transaction),
        (ApiKey::OFFSET_DELETE, delete),
        (ApiKey::LIST_GROUPS, list),
        (ApiKey::DELETE_GROUPS, delete_groups),
    ]
}

/// From these versions on topics have ids instead of names.
const COMMITS_BY_ID: i16 = 10;
const FETCHES_BY_ID: i16 = 10;
const COMMITS_IN_TRANSACTIONS_BY_ID: i16 = 6;

/// Not those of the classic protocol: a group of which nothing is written shows up in Kafka when something is written of another, so that
/// these are kept from the beginning to the end.
const DELETED: &[&str] = &["g1", "g2", "new-a", "new-b", "new-c", "nothing", ""];
const GROUPS: &[&str] = &["g1", "g1", "g2", "classic-a", "classic-b", "new-a", "new-b", "nothing", ""];

/// Who commits or asks.
#[derive(Debug, Clone, Copy)]
enum Asker {
    /// No member.
    Anybody {
        group: &'static str,
        epoch: i32,
    },
    Classic(Claim),
    Consumer {
        consumer: &'static Consumer,
        epoch_off: i32,
    },
}
impl Asker {
    fn choose(chance: &mut Chance) -> Self {
        match chance.below(4) {
            0 | 1 => Self::Anybody { group: chance.word(GROUPS), epoch: *chance.pick(&[-1, -1, -1, 0, 1]) },
            2 => Self::Classic(Claim::choose(chance)),
            _ => Self::Consumer { consumer: chance.pick(CONSUMERS), epoch_off: *chance.pick(&[0, 0, 0, -1, 1]) },
        }
    }
    fn group(self) -> GroupId {
        GroupId(text(match self {
            Self::Anybody { group, .. } => group,
            Self::Classic(claim) => claim.actor.group,
            Self::Consumer { consumer, .. } => consumer.group,
        }))
    }
    fn member_id(self, ids: &Ids) -> StrBytes {
        match self {
            Self::Anybody { .. } => StrBytes::new(),
            Self::Classic(claim) => claim.member_id(ids),
            Self::Consumer { consumer, .. } => consumer.known(ids).id,
        }
    }
    fn epoch(self, ids: &Ids) -> i32 {
        match self {
            Self::Anybody { epoch, .. } => epoch,
            Self::Classic(claim) => claim.generation(ids),
            Self::Consumer { consumer, epoch_off } => consumer.known(ids).epoch + epoch_off,
        }
    }
    fn instance(self, has_instances: bool) -> Option<StrBytes> {
        match self {
            Self::Classic(claim) => claim.instance(has_instances),
            Self::Anybody { .. } | Self::Consumer { .. } => None,
        }
    }
}

/// One position.
#[derive(Debug, Clone, Copy)]
struct Position {
    topic: &'static str,
    index: i32,
    offset: i64,
    leader_epoch: i32,
    metadata: Option<&'static str>,
    /// Longer metadata than a broker keeps.
    is_too_long: bool,
}
impl Position {
    fn choose(chance: &mut Chance) -> Self {
        Self {
            topic: chance.word(TOPICS),
            index: partition(chance),
            offset: *chance.pick(&[0, 1, 2, 5, 100, -1, -7, i64::MAX]),
            leader_epoch: *chance.pick(&[-1, -1, 0, 3]),
            metadata: *chance.pick(&[None, Some(""), Some("note")]),
            is_too_long: chance.once_in(15),
        }
    }
    /// One or two, of different topics: where Kafka puts answers about one topic together is its own affair.
    fn some(chance: &mut Chance) -> Vec<Self> {
        let mut some: Vec<Self> = (0..1 + chance.below(2)).map(|_| Self::choose(chance)).collect();
        if some.iter().any(|position| position.is_too_long) {
            // A group of which nothing is written shows up in Kafka when something is written of another.
            let kept =
                Self { topic: "plain", index: 0, offset: 3, leader_epoch: -1, metadata: None, is_too_long: false };
            some.push(kept);
            some.reverse();
        }
        some.sort_by_key(|position| position.topic);
        some.dedup_by_key(|position| position.topic);
        some
    }
    fn metadata(&self) -> Option<StrBytes> {
        if self.is_too_long { Some(StrBytes::from_string("m".repeat(5000))) } else { self.metadata.map(text) }
    }
}

/// Keeps a position for every group of the classic protocol.
pub(crate) fn prepare(pair: &mut Pair) {
    for group in CLASSIC_GROUPS.iter().chain([&moved::GROUP, &silent::CLASSIC]) {
        let partition = OffsetCommitRequestPartition::default().with_committed_offset(1);
        let topic = OffsetCommitRequestTopic::default().with_name(TopicName(text("plain")));
        let request = OffsetCommitRequest::default()
            .with_group_id(GroupId(text(group)))
            .with_generation_id_or_member_epoch(-1)
            .with_topics(vec![topic.with_partitions(vec![partition])]);
        pair.ask(Kind::Writes, 9, |_| request.clone(), |_, _| {});
    }
}

fn commit(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::OFFSET_COMMIT);
    let version = chance.version(min, max);
    let (asker, positions) = (Asker::choose(chance), Position::some(chance));
    let by_id = version >= COMMITS_BY_ID;
    let make = |ids: &Ids| {
        let topics = positions.iter().map(|position| {
            let partition = OffsetCommitRequestPartition::default()
                .with_partition_index(position.index)
                .with_committed_offset(position.offset)
                .with_committed_leader_epoch(if version >= 6 { position.leader_epoch } else { -1 })
                .with_committed_metadata(position.metadata());
            let topic = OffsetCommitRequestTopic::default().with_partitions(vec![partition]);
            if by_id {
                topic.with_topic_id(ids.topic(position.topic))
            } else {
                topic.with_name(TopicName(text(position.topic)))
            }
        });
        OffsetCommitRequest::default()
            .with_group_id(asker.group())
            .with_member_id(asker.member_id(ids))
            .with_group_instance_id(asker.instance(version >= 7))
            .with_generation_id_or_member_epoch(asker.epoch(ids))
            .with_topics(topics.collect())
    };
    pair.ask(Kind::Writes, version, make, |response, ids| {
        response.topics.iter_mut().for_each(|topic| topic.topic_id = ids.tidy(topic.topic_id));
        response.topics.sort_by(|one, other| (&one.name, one.topic_id).cmp(&(&other.name, other.topic_id)));
    });
}

fn fetch(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::OFFSET_FETCH);
    let version = chance.version(min, max);
    let askers: Vec<Asker> =
        (0..1 + chance.below(if version >= 8 { 2 } else { 1 })).map(|_| Asker::choose(chance)).collect();
    let all = version >= 2 && chance.once_in(3);
    let asked: Vec<(&'static str, i32)> = Position::some(chance).iter().map(|each| (each.topic, each.index)).collect();
    let is_stable = version >= 7 && chance.once_in(2);
    let make = |ids: &Ids| {
        let request = OffsetFetchRequest::default().with_require_stable(is_stable);
        if version >= 8 {
            let groups = askers.iter().map(|asker| fetched_group(*asker, version, (!all).then_some(&asked), ids));
            return request.with_groups(groups.collect());
        }
        let topics = asked.iter().map(|(topic, index)| {
            OffsetFetchRequestTopic::default().with_name(TopicName(text(topic))).with_partition_indexes(vec![*index])
        });
        request.with_group_id(askers[0].group()).with_topics((!all).then(|| topics.collect()))
    };
    pair.ask(Kind::Reads, version, make, tidy_fetched);
}
fn fetched_group(
    asker: Asker,
    version: i16,
    asked: Option<&Vec<(&'static str, i32)>>,
    ids: &Ids,
) -> OffsetFetchRequestGroup {
    let topic = |(name, index): &(&'static str, i32)| {
        let topic = OffsetFetchRequestTopics::default().with_partition_indexes(vec![*index]);
        if version >= FETCHES_BY_ID {
            topic.with_topic_id(ids.topic(name))
        } else {
            topic.with_name(TopicName(text(name)))
        }
    };
    let group = OffsetFetchRequestGroup::default()
        .with_group_id(asker.group())
        .with_topics(asked.map(|asked| asked.iter().map(topic).collect()));
    match asker {
        Asker::Anybody { .. } => group.with_member_id(None),
        _ if version < 9 => group.with_member_id(None),
        asker => group.with_member_id(Some(asker.member_id(ids))).with_member_epoch(asker.epoch(ids)),
    }
}
fn tidy_fetched(response: &mut OffsetFetchResponse, ids: &mut Ids) {
    response.topics.sort_by(|one, other| one.name.cmp(&other.name));
    response.topics.iter_mut().for_each(|topic| topic.partitions.sort_by_key(|each| each.partition_index));
    response.groups.sort_by(|one, other| one.group_id.cmp(&other.group_id));
    for group in &mut response.groups {
        for topic in &mut group.topics {
            topic.topic_id = ids.tidy(topic.topic_id);
            topic.partitions.sort_by_key(|each| each.partition_index);
        }
        group.topics.sort_by(|one, other| (&one.name, one.topic_id).cmp(&(&other.name, other.topic_id)));
    }
}

fn commit_in_transaction(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::TXN_OFFSET_COMMIT);
    let version = chance.version(min, max);
    let (asker, positions, who) = (Asker::choose(chance), Position::some(chance), Who::choose(chance));
    let by_id = version >= COMMITS_IN_TRANSACTIONS_BY_ID;
    let make = |ids: &Ids| {
        let (id, epoch) = who.identity(ids);
        let topics = positions.iter().map(|position| {
            let partition = TxnOffsetCommitRequestPartition::default()
                .with_partition_index(position.index)
                .with_committed_offset(position.offset)
                .with_committed_leader_epoch(if version >= 2 { position.leader_epoch } else { -1 })
                .with_committed_metadata(position.metadata());
            let topic = TxnOffsetCommitRequestTopic::default().with_partitions(vec![partition]);
            if by_id {
                topic.with_topic_id(ids.topic(position.topic))
            } else {
                topic.with_name(TopicName(text(position.topic)))
            }
        });
        let request = TxnOffsetCommitRequest::default()
            .with_transactional_id(TransactionalId(text(who.name)))
            .with_group_id(asker.group())
            .with_producer_id(WireId(id))
            .with_producer_epoch(epoch)
            .with_topics(topics.collect());
        if version < 3 {
            return request;
        }
        request
            .with_member_id(asker.member_id(ids))
            .with_group_instance_id(asker.instance(true))
            .with_generation_id_or_member_epoch(asker.epoch(ids))
    };
    pair.ask(Kind::Writes, version, make, |response, ids| {
        response.topics.iter_mut().for_each(|topic| topic.topic_id = ids.tidy(topic.topic_id));
        response.topics.sort_by(|one, other| (&one.name, one.topic_id).cmp(&(&other.name, other.topic_id)));
    });
}

fn delete(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::OFFSET_DELETE);
    let version = chance.version(min, max);
    let topics = Position::some(chance).into_iter().map(|position| {
        let partition = OffsetDeleteRequestPartition::default().with_partition_index(position.index);
        OffsetDeleteRequestTopic::default().with_name(TopicName(text(position.topic))).with_partitions(vec![partition])
    });
    let request =
        OffsetDeleteRequest::default().with_topics(topics.collect()).with_group_id(GroupId(text(chance.word(GROUPS))));
    pair.ask(
        Kind::Writes,
        version,
        |_| request.clone(),
        |response, _| response.topics.sort_by(|one, other| one.name.cmp(&other.name)),
    );
}

fn list(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::LIST_GROUPS);
    let version = chance.version(min, max);
    let states: &[&[&str]] = &[&[], &[], &["Stable"], &["empty", "PreparingRebalance"], &["Assigning", "Odd"]];
    let types: &[&[&str]] = &[&[], &[], &["classic"], &["Consumer"], &["odd"]];
    let (states, types) = (chance.pick(states), chance.pick(types));
    let listed = |words: &[&str]| words.iter().map(|word| text(word)).collect::<Vec<_>>();
    let request = ListGroupsRequest::default()
        .with_states_filter(if version >= 4 { listed(states) } else { Vec::new() })
        .with_types_filter(if version >= 5 { listed(types) } else { Vec::new() });
    pair.ask(
        Kind::Reads,
        version,
        |_| request.clone(),
        |response, _| response.groups.sort_by(|one, other| one.group_id.cmp(&other.group_id)),
    );
}

fn delete_groups(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DELETE_GROUPS);
    let version = chance.version(min, max);
    let groups = (0..1 + chance.below(2)).map(|_| GroupId(text(chance.word(DELETED))));
    let request = DeleteGroupsRequest::default().with_groups_names(groups.collect());
    pair.ask(
        Kind::Writes,
        version,
        |_| request.clone(),
        |response, _| response.results.sort_by(|one, other| one.group_id.cmp(&other.group_id)),
    );
}
