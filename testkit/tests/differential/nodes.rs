//! Three nodes: who leads what, who answers for a group or a transactional id, what the others say instead, and what becomes of it when a
//! node dies or is stopped and comes back. Replicas are placed by the test, since each cluster would place them in its own way.

use crate::chance::Chance;
use crate::data::{ask_leader_epoch, produce_request, text, tidy_fetch, tidy_produce};
use crate::ids::Ids;
use crate::moves;
use crate::pair::{Kind, Pair};
use crate::real_kafka::RealKafka;
use crate::transactions::tidy_state;
use bytes::Bytes;
use millstream_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use millstream_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use millstream_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use millstream_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use millstream_protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use millstream_protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use millstream_protocol::messages::offset_for_leader_epoch_request::OffsetForLeaderPartition;
use millstream_protocol::messages::{
    BrokerId, ConsumerGroupHeartbeatRequest, CreateTopicsRequest, DeleteGroupsRequest, DeleteRecordsRequest,
    DescribeGroupsRequest, DescribeTransactionsRequest, EndTxnRequest, FetchRequest, FindCoordinatorRequest, GroupId,
    HeartbeatRequest, InitProducerIdRequest, ListOffsetsRequest, MetadataRequest, MetadataResponse,
    OffsetCommitRequest, OffsetFetchRequest, TopicName, TransactionalId,
};
use millstream_protocol::record::{BatchBuilder, Stamp};
use millstream_protocol::{ApiKey, Compressor, Headers, Timestamp};
use std::process::Command;
use std::time::Duration;

/// One random exchange with one of the nodes.
pub(crate) type Step = fn(&mut Pair, &mut Chance);

/// A topic's name, the nodes of each of its partitions, and how many of them must be in sync.
type Placed = (&'static str, &'static [&'static [i32]], &'static str);

const ALL: &[&[i32]] = &[&[1, 2, 3], &[2, 3, 1], &[3, 1, 2]];
const PLACED: &[Placed] = &[
    ("spread", ALL, "2"),
    ("strict", ALL, "3"),
    ("pairs", &[&[1, 2], &[2, 3], &[3, 1]], "1"),
    ("single", &[&[1], &[2], &[3]], "1"),
];
const INTERNAL: &[Placed] = &[
    ("__consumer_offsets", &[&[1, 2, 3], &[2, 3, 1], &[3, 1, 2], &[1, 3, 2]], "2"),
    ("__transaction_state", &[&[2, 3, 1], &[3, 1, 2], &[1, 2, 3], &[2, 1, 3]], "2"),
];
pub(crate) const NAMES: &[&str] = &["spread", "spread", "strict", "pairs", "single", "missing"];
const GROUPS: &[&str] = &["g1", "g2", "g3", "g4", "g5"];
const IDS: &[&str] = &["tx-1", "tx-2", "tx-3", "tx-4"];
/// After so many differences a run is given up.
const MOST_DIFFERENCES: usize = 12;
/// Within this time the nodes of a real Kafka have heard of the last high watermark and saved it, as they are set.
const HEARD: Duration = Duration::from_secs(1);
/// A node of a real Kafka tells of who is in sync before those of its replicas that lead go by it: for a moment they take what too few can follow.
const TAKEN_IN: Duration = Duration::from_millis(300);

const STEPS: &[Step] = &[
    metadata,
    produce,
    produce,
    produce,
    fetch,
    fetch,
    list_offsets,
    leader_epoch,
    find_coordinator,
    commit,
    commit,
    committed,
    heartbeat,
    beat,
    describe_group,
    delete_group,
    init,
    init,
    end,
    describe_transaction,
];
/// What a Kafka waits with for a follower that is away, until the request's time is over.
const DELETIONS: &[Step] = &[delete_records];
/// What needs no coordinator.
const DATA: &[Step] = &[metadata, produce, produce, produce, fetch, fetch, list_offsets, leader_epoch];

/// Two nodes die one after the other, while replicas move. Who died first comes back first, so that nobody who was in sync leads what both
/// had alone.
pub(crate) fn live(pair: &mut Pair, kafka: &RealKafka, chance: &mut Chance) {
    let (first, second) = *chance.pick(&[(1, 2), (2, 3), (3, 1), (1, 3), (2, 1), (3, 2)]);
    go(pair, chance, 50, &[STEPS, DELETIONS, moves::ELECTIONS]);
    kill(pair, kafka, first);
    ask_all(pair);
    go(pair, chance, 50, &[STEPS, moves::ALL]);
    kill(pair, kafka, second);
    go(pair, chance, 25, &[DATA, moves::ELECTIONS]);
    start(pair, kafka, first);
    go(pair, chance, 40, &[DATA, moves::ELECTIONS, moves::UNCLEAN]);
    start(pair, kafka, second);
    ask_all(pair);
    go(pair, chance, 60, &[STEPS, DELETIONS, moves::ALL]);
    live_on(pair, kafka, chance, first, second);
}
/// The same two are stopped in order: they stay eligible, so that either may come back first.
fn live_on(pair: &mut Pair, kafka: &RealKafka, chance: &mut Chance, first: i32, second: i32) {
    stop(pair, kafka, first);
    ask_all(pair);
    go(pair, chance, 40, &[STEPS, moves::ALL, moves::OPTIONS]);
    stop(pair, kafka, second);
    go(pair, chance, 25, &[DATA, moves::ELECTIONS, moves::OPTIONS]);
    let (early, late) = if chance.once_in(2) { (first, second) } else { (second, first) };
    start(pair, kafka, early);
    go(pair, chance, 25, &[DATA, moves::ELECTIONS]);
    start(pair, kafka, late);
    ask_all(pair);
    go(pair, chance, 30, &[STEPS, moves::ALL, moves::OPTIONS]);
}
/// So many exchanges.
fn go(pair: &mut Pair, chance: &mut Chance, count: usize, steps: &[&[Step]]) {
    let steps = steps.concat();
    for _ in 0..count {
        pair.step += 1;
        chance.pick(&steps)(pair, chance);
        assert!(pair.differences < MOST_DIFFERENCES, "too many differences");
    }
}
fn kill(pair: &mut Pair, kafka: &RealKafka, node: i32) {
    std::thread::sleep(HEARD);
    tell(kafka, "kill", node);
    pair.cluster.crash(node);
    lose(pair, node);
}
fn stop(pair: &mut Pair, kafka: &RealKafka, node: i32) {
    std::thread::sleep(HEARD);
    tell(kafka, "stop", node);
    pair.cluster.stop(node);
    lose(pair, node);
}
fn lose(pair: &mut Pair, node: i32) {
    pair.up.retain(|client| *client != client_of(node));
    settle(pair);
    std::thread::sleep(TAKEN_IN);
}
fn start(pair: &mut Pair, kafka: &RealKafka, node: i32) {
    tell(kafka, "start", node);
    pair.cluster.restart(node);
    pair.up.push(client_of(node));
    pair.up.sort_unstable();
    settle(pair);
}
/// Who speaks to a node: the first client to the first.
fn client_of(node: i32) -> usize {
    usize::try_from(node - 1).expect("nodes count from 1")
}
/// Has the launcher do something with a node.
fn tell(kafka: &RealKafka, verb: &str, node: i32) {
    let mut command = Command::new(&kafka.launcher);
    let ended = command.args([verb, "--dir"]).arg(kafka.dir.path()).arg(node.to_string()).output().expect("it runs");
    assert!(ended.status.success(), "{verb} {node}: {}", String::from_utf8_lossy(&ended.stderr));
}

/// Makes the topics, the internal ones among them.
pub(crate) fn prepare(pair: &mut Pair) {
    for (name, places, in_sync) in INTERNAL.iter().chain(PLACED) {
        let place = |(index, nodes): (i32, &&[i32])| {
            CreatableReplicaAssignment::default()
                .with_partition_index(index)
                .with_broker_ids(nodes.iter().map(|node| BrokerId(*node)).collect())
        };
        let option =
            |key: &str, value: &str| CreatableTopicConfig::default().with_name(text(key)).with_value(Some(text(value)));
        let mut configs = vec![option("min.insync.replicas", in_sync)];
        if name.starts_with('_') {
            configs.push(option("cleanup.policy", "compact"));
        }
        let topic = CreatableTopic::default()
            .with_name(TopicName(text(name)))
            .with_num_partitions(-1)
            .with_replication_factor(-1)
            .with_assignments((0..).zip(*places).map(place).collect())
            .with_configs(configs);
        let request = CreateTopicsRequest::default().with_timeout_ms(5000).with_topics(vec![topic]);
        pair.ask_as(
            0,
            Kind::Writes,
            7,
            |_| request.clone(),
            |response, ids| {
                for topic in &mut response.topics {
                    ids.learn_topic(&topic.name.0, topic.topic_id);
                    topic.topic_id = ids.tidy(topic.topic_id);
                    topic.configs = None;
                }
            },
        );
    }
    settle(pair);
    ask_all(pair);
}
/// Waits until all coordinators have loaded.
fn ask_all(pair: &mut Pair) {
    for node in pair.up.clone() {
        GROUPS.iter().for_each(|group| ask_group(pair, node, group));
        IDS.iter().for_each(|id| ask_transaction(pair, node, id));
    }
}
/// Waits until all nodes that are up say the same of all topics as those of the other side.
pub(crate) fn settle(pair: &mut Pair) {
    for node in pair.up.clone() {
        pair.ask_as(node, Kind::Settles, 12, |_| MetadataRequest::default().with_topics(None), tidy_metadata);
    }
}
fn tidy_metadata(response: &mut MetadataResponse, ids: &mut Ids) {
    response.brokers.iter_mut().for_each(|broker| broker.port = 1);
    response.brokers.sort_by_key(|broker| broker.node_id);
    response.cluster_id = response.cluster_id.as_ref().map(|_| text("cluster"));
    // Each node names some controller: in KRaft any that is up.
    response.controller_id = BrokerId(response.controller_id.0.min(0));
    response.topics.retain(|topic| topic.name.as_ref().is_none_or(|name| *name.0 != *"__share_group_state"));
    response.topics.sort_by(|one, other| one.name.cmp(&other.name));
    for topic in &mut response.topics {
        topic.topic_id = ids.tidy(topic.topic_id);
        topic.partitions.sort_by_key(|partition| partition.partition_index);
        // In which order followers came into step is chance.
        topic.partitions.iter_mut().for_each(|partition| partition.isr_nodes.sort_unstable());
    }
}
pub(crate) fn partition(chance: &mut Chance) -> i32 {
    *chance.pick(&[0, 0, 1, 1, 2, 2, 9])
}

fn metadata(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::METADATA);
    let version = chance.version(min.max(1), max);
    pair.ask(Kind::Reads, version, |_| MetadataRequest::default().with_topics(None), tidy_metadata);
}
fn produce(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::PRODUCE);
    let version = chance.version(min, max);
    let (topic, index) = (chance.word(NAMES), partition(chance));
    let mut builder = BatchBuilder::new();
    builder.append(Timestamp::from_millis(pair.now), Some(b"k"), Some(b"v"), &Headers::new()).expect("it fits");
    let bytes: Bytes = builder.seal(&mut Compressor::none()).expect("no codec, no error").to_bytes(&Stamp::plain());
    let acks = *chance.pick(&[-1, -1, 1]);
    pair.ask(
        Kind::Writes,
        version,
        |ids| produce_request(topic, index, acks, None, &bytes, ids),
        |response, ids| {
            response.node_endpoints.iter_mut().for_each(|node| node.port = 1);
            tidy_produce(response, ids);
        },
    );
}
fn fetch(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::FETCH);
    let version = chance.version(min, max);
    let topic = chance.word(NAMES);
    // Of the racks of the first two nodes: the leader sends whoever says one to its replica there (KIP-392).
    let rack = if version >= 11 { chance.word(&["", "", "1", "2", "nowhere"]) } else { "" };
    let partition = FetchPartition {
        partition: partition(chance),
        fetch_offset: *chance.pick(&[0, 0, 1, 2, 1000]),
        current_leader_epoch: if version >= 9 { *chance.pick(&[-1, 0, 1, 2, 9]) } else { -1 },
        partition_max_bytes: 1 << 20,
        ..FetchPartition::default()
    };
    let make = |ids: &Ids| {
        let topic = FetchTopic {
            topic: topic.into(),
            topic_id: ids.topic(topic),
            partitions: vec![partition.clone()],
            ..FetchTopic::default()
        };
        let rack_id = text(rack);
        FetchRequest { max_bytes: 1 << 20, topics: vec![topic], session_epoch: -1, rack_id, ..FetchRequest::default() }
    };
    pair.ask(Kind::Reads, version, make, |response, ids| {
        response.node_endpoints.iter_mut().for_each(|node| node.port = 1);
        tidy_fetch(response, ids);
    });
}
fn list_offsets(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::LIST_OFFSETS);
    let version = chance.version(min, max);
    let asked = ListOffsetsPartition::default()
        .with_partition_index(partition(chance))
        .with_timestamp(*chance.pick(&[-1, -2]))
        .with_current_leader_epoch(if version >= 4 { *chance.pick(&[-1, 0, 1, 9]) } else { -1 });
    let topic = ListOffsetsTopic::default().with_name(TopicName(text(chance.word(NAMES))));
    let request = ListOffsetsRequest::default()
        .with_replica_id(BrokerId(-1))
        .with_topics(vec![topic.with_partitions(vec![asked])]);
    pair.ask(Kind::Reads, version, |_| request.clone(), |_, _| {});
}
fn leader_epoch(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::OFFSET_FOR_LEADER_EPOCH);
    let version = chance.version(min, max);
    let asked = OffsetForLeaderPartition::default()
        .with_partition(partition(chance))
        .with_current_leader_epoch(*chance.pick(&[-1, 0, 1, 9]))
        .with_leader_epoch(*chance.pick(&[0, 0, 1, 2]));
    ask_leader_epoch(pair, version, chance.word(NAMES), asked);
}
fn delete_records(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::DELETE_RECORDS);
    let version = chance.version(min, max);
    let asked = DeleteRecordsPartition::default()
        .with_partition_index(partition(chance))
        .with_offset(*chance.pick(&[0, 1, 100_000]));
    let topic = DeleteRecordsTopic::default().with_name(TopicName(text(chance.word(&["single", "missing"]))));
    let request =
        DeleteRecordsRequest::default().with_timeout_ms(5000).with_topics(vec![topic.with_partitions(vec![asked])]);
    pair.ask(Kind::Writes, version, |_| request.clone(), |_, _| {});
}
fn find_coordinator(pair: &mut Pair, chance: &mut Chance) {
    let kind = *chance.pick(&[0, 1]);
    let key = chance.word(if kind == 0 { GROUPS } else { IDS });
    let request = FindCoordinatorRequest::default().with_key_type(kind).with_coordinator_keys(vec![text(key)]);
    pair.ask(
        Kind::Reads,
        chance.version(4, 6),
        |_| request.clone(),
        |response, _| response.coordinators.iter_mut().for_each(|each| each.port = each.port.min(1)),
    );
}

fn commit(pair: &mut Pair, chance: &mut Chance) {
    let (min, _) = pair.versions(ApiKey::OFFSET_COMMIT);
    let partition = OffsetCommitRequestPartition::default()
        .with_partition_index(partition(chance))
        .with_committed_offset(*chance.pick(&[1, 2, 3]));
    let topic = OffsetCommitRequestTopic::default().with_name(TopicName(text(chance.word(NAMES))));
    let request = OffsetCommitRequest::default()
        .with_group_id(GroupId(text(chance.word(GROUPS))))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic.with_partitions(vec![partition])]);
    pair.ask(Kind::Writes, chance.version(min, 9), |_| request.clone(), |_, _| {});
}
fn committed(pair: &mut Pair, chance: &mut Chance) {
    let group = OffsetFetchRequestGroup::default().with_group_id(GroupId(text(chance.word(GROUPS)))).with_topics(None);
    let request = OffsetFetchRequest::default().with_groups(vec![group]).with_require_stable(chance.once_in(2));
    pair.ask(
        Kind::Reads,
        chance.version(8, 9),
        |_| request.clone(),
        |response, _| {
            for group in &mut response.groups {
                group.topics.sort_by(|one, other| one.name.cmp(&other.name));
                group.topics.iter_mut().for_each(|topic| topic.partitions.sort_by_key(|each| each.partition_index));
            }
        },
    );
}
fn heartbeat(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::HEARTBEAT);
    let request =
        HeartbeatRequest::default().with_group_id(GroupId(text(chance.word(GROUPS)))).with_member_id(text("nobody"));
    pair.ask(Kind::Writes, chance.version(min, max), |_| request.clone(), |_, _| {});
}
fn beat(pair: &mut Pair, chance: &mut Chance) {
    let request = ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(text(chance.word(GROUPS))))
        .with_member_id(text("nobody"))
        .with_member_epoch(*chance.pick(&[1, -1]))
        .with_subscribed_topic_names(None)
        .with_topic_partitions(None);
    pair.ask(Kind::Writes, 1, |_| request.clone(), |_, _| {});
}
fn describe_group(pair: &mut Pair, chance: &mut Chance) {
    let node = pair.next_client();
    ask_group(pair, node, chance.word(GROUPS));
}
fn ask_group(pair: &mut Pair, node: usize, group: &str) {
    let request = DescribeGroupsRequest::default().with_groups(vec![GroupId(text(group))]);
    pair.ask_as(node, Kind::Settles, 5, |_| request.clone(), |_, _| {});
}
fn delete_group(pair: &mut Pair, chance: &mut Chance) {
    let request = DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text(chance.word(GROUPS)))]);
    pair.ask(Kind::Writes, 2, |_| request.clone(), |_, _| {});
}

fn init(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::INIT_PRODUCER_ID);
    let id = chance.word(IDS);
    let request = InitProducerIdRequest::default()
        .with_transactional_id(Some(TransactionalId(text(id))))
        .with_transaction_timeout_ms(60_000);
    pair.ask(
        Kind::Writes,
        chance.version(min, max),
        |_| request.clone(),
        |response, ids| {
            if response.error_code == 0 {
                ids.held.insert(id.to_owned(), (response.producer_id.0, response.producer_epoch));
            }
            response.producer_id.0 = ids.tidy_producer(response.producer_id.0);
        },
    );
}
fn end(pair: &mut Pair, chance: &mut Chance) {
    let (id, committed) = (chance.word(IDS), chance.once_in(2));
    let make = |ids: &Ids| {
        let (producer_id, epoch) = ids.held.get(id).copied().unwrap_or((1 << 42, 0));
        EndTxnRequest::default()
            .with_transactional_id(TransactionalId(text(id)))
            .with_producer_id(millstream_protocol::messages::ProducerId(producer_id))
            .with_producer_epoch(epoch)
            .with_committed(committed)
    };
    pair.ask(Kind::Writes, chance.version(1, 4), make, |response, ids| {
        response.producer_id.0 = ids.tidy_producer(response.producer_id.0);
    });
}
fn describe_transaction(pair: &mut Pair, chance: &mut Chance) {
    let node = pair.next_client();
    ask_transaction(pair, node, chance.word(IDS));
}
fn ask_transaction(pair: &mut Pair, node: usize, id: &str) {
    let request = DescribeTransactionsRequest::default().with_transactional_ids(vec![TransactionalId(text(id))]);
    pair.ask_as(
        node,
        Kind::Settles,
        0,
        |_| request.clone(),
        |response, ids| {
            response.transaction_states.iter_mut().for_each(|state| tidy_state(state, ids));
        },
    );
}
