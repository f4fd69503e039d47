//! Transactional ids: InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, transactional writes, EndTxn, and what administrators ask.

use crate::Step;
use crate::chance::Chance;
use crate::data::{TOPICS, partition, produce_request, text, tidy_produce};
use crate::ids::Ids;
use crate::pair::{Kind, Pair};
use millstream_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use millstream_protocol::messages::describe_producers_request::TopicRequest;
use millstream_protocol::messages::describe_transactions_response::TransactionState;
use millstream_protocol::messages::write_txn_markers_request::{WritableTxnMarker, WritableTxnMarkerTopic};
use millstream_protocol::messages::{
    AddOffsetsToTxnRequest, AddPartitionsToTxnRequest, DescribeProducersRequest, DescribeTransactionsRequest,
    EndTxnRequest, GroupId, InitProducerIdRequest, ListTransactionsRequest, ProducerId as WireId, TopicName,
    TransactionalId, WriteTxnMarkersRequest,
};
use millstream_protocol::record::{BatchBuilder, Stamp};
use millstream_protocol::{ApiKey, Compressor, Headers, ProducerEpoch, ProducerId, Timestamp};

pub(crate) fn table() -> Vec<(ApiKey, Step)> {
    vec![
        (ApiKey::INIT_PRODUCER_ID, init),
        (ApiKey::INIT_PRODUCER_ID, init),
        (ApiKey::ADD_PARTITIONS_TO_TXN, add_partitions),
        (ApiKey::ADD_OFFSETS_TO_TXN, add_offsets),
        (ApiKey::PRODUCE, produce),
        (ApiKey::PRODUCE, produce),
        (ApiKey::END_TXN, end),
        (ApiKey::DESCRIBE_TRANSACTIONS, describe),
        (ApiKey::LIST_TRANSACTIONS, list),
        (ApiKey::DESCRIBE_PRODUCERS, describe_producers),
        (ApiKey::WRITE_TXN_MARKERS, write_markers),
    ]
}

const IDS: &[&str] = &["tx-a", "tx-b", "tx-c"];

/// Who the test believes to hold a transactional id, or somebody near it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Who {
    pub(crate) name: &'static str,
    id_off: i64,
    epoch_off: i16,
}
impl Who {
    pub(crate) fn choose(chance: &mut Chance) -> Self {
        let wrong = chance.once_in(8);
        Self {
            name: chance.word(IDS),
            id_off: if wrong && chance.once_in(2) { 1 << 41 } else { 0 },
            epoch_off: if wrong { *chance.pick(&[-1, 1]) } else { 0 },
        }
    }
    pub(crate) fn identity(self, ids: &Ids) -> (i64, i16) {
        let (id, epoch) = ids.held.get(self.name).copied().unwrap_or((1 << 42, 0));
        (id + self.id_off, epoch + self.epoch_off)
    }
}

fn init(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::INIT_PRODUCER_ID);
    let version = chance.version(min, max);
    let who = Who::choose(chance);
    let has_id = !chance.once_in(6);
    let says_who = version >= 3 && has_id && chance.once_in(3);
    let is_empty = chance.once_in(15);
    let timeout = *chance.pick(&[60_000, 60_000, 60_000, 0, -1, 10_000_000]);
    let make = |ids: &Ids| {
        let (id, epoch) = if says_who { who.identity(ids) } else { (-1, -1) };
        let name = has_id.then(|| TransactionalId(text(if is_empty { "" } else { who.name })));
        InitProducerIdRequest::default()
            .with_transactional_id(name)
            .with_transaction_timeout_ms(timeout)
            .with_producer_id(WireId(id))
            .with_producer_epoch(epoch)
    };
    pair.ask(Kind::Writes, version, make, |response, ids| {
        if response.error_code == 0 && has_id {
            ids.held.insert(who.name.to_owned(), (response.producer_id.0, response.producer_epoch));
        }
        response.producer_id.0 = ids.tidy_producer(response.producer_id.0);
    });
    // Who finds a transaction open is told so at once, while a real Kafka goes on to write its markers: until they are there, it takes what whoever
    // holds it writes.
    ask_about(pair, who.name);
}

fn add_partitions(pair: &mut Pair, chance: &mut Chance) {
    let (min, _) = pair.versions(ApiKey::ADD_PARTITIONS_TO_TXN);
    let version = chance.version(min, 5);
    let (who, topic, index) = (Who::choose(chance), *chance.pick(TOPICS), partition(chance));
    let verify = version >= 4 && chance.once_in(2);
    let make = |ids: &Ids| {
        let (id, epoch) = who.identity(ids);
        let topics =
            vec![AddPartitionsToTxnTopic::default().with_name(TopicName(text(topic))).with_partitions(vec![index, 0])];
        if version < 4 {
            return AddPartitionsToTxnRequest::default()
                .with_v3_and_below_transactional_id(TransactionalId(text(who.name)))
                .with_v3_and_below_producer_id(WireId(id))
                .with_v3_and_below_producer_epoch(epoch)
                .with_v3_and_below_topics(topics);
        }
        let transaction = AddPartitionsToTxnTransaction::default()
            .with_transactional_id(TransactionalId(text(who.name)))
            .with_producer_id(WireId(id))
            .with_producer_epoch(epoch)
            .with_verify_only(verify)
            .with_topics(topics);
        AddPartitionsToTxnRequest::default().with_transactions(vec![transaction])
    };
    pair.ask(Kind::Writes, version, make, |response, _| {
        let single = response.results_by_topic_v3_and_below.iter_mut();
        let batched = response.results_by_transaction.iter_mut().flat_map(|each| &mut each.topic_results);
        single.chain(batched).for_each(|topic| topic.results_by_partition.sort_by_key(|each| each.partition_index));
    });
}

fn add_offsets(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::ADD_OFFSETS_TO_TXN);
    let version = chance.version(min, max);
    let (who, group) = (Who::choose(chance), *chance.pick(&["g1", "g2"]));
    let make = |ids: &Ids| {
        let (id, epoch) = who.identity(ids);
        AddOffsetsToTxnRequest::default()
            .with_transactional_id(TransactionalId(text(who.name)))
            .with_producer_id(WireId(id))
            .with_producer_epoch(epoch)
            .with_group_id(GroupId(text(group)))
    };
    pair.ask(Kind::Writes, version, make, |_, _| {});
}

fn produce(pair: &mut Pair, chance: &mut Chance) {
    let version = chance.version(9, 13);
    let (who, sequence) = (Who::choose(chance), *chance.pick(&[0, 0, 0, 1, 2, 5]));
    let (topic, index) = (*chance.pick(&["plain", "plain", "compacted"]), *chance.pick(&[0, 1]));
    // Whatever becomes of the one partition, the other is written to or not.
    let other = chance.once_in(4).then(|| (*chance.pick(TOPICS), partition(chance)));
    let other = other.filter(|(other, _)| *other != topic);
    let count = *chance.pick(&[1, 1, 2]);
    let now = pair.now;
    let has_id = !chance.once_in(20);
    pair.carries = format!("sequence {sequence}, {count} records");
    let make = |ids: &Ids| {
        let (id, epoch) = who.identity(ids);
        let mut builder = BatchBuilder::new();
        for _ in 0..count {
            builder.append(Timestamp::from_millis(now), Some(b"k"), Some(b"t"), &Headers::new()).expect("it fits");
        }
        let stamp = Stamp::transactional(ProducerId::new(id), ProducerEpoch::new(epoch), sequence);
        let bytes = builder.seal(&mut Compressor::none()).expect("no codec, no error").to_bytes(&stamp);
        let to = |topic, index| produce_request(topic, index, -1, has_id.then_some(who.name), &bytes, ids);
        let mut request = to(topic, index);
        request.topic_data.extend(other.into_iter().flat_map(|(topic, index)| to(topic, index).topic_data));
        request
    };
    pair.ask(Kind::Writes, version, make, |response, ids| {
        tidy_produce(response, ids);
        response.responses.sort_by(|one, other| (&one.name, one.topic_id).cmp(&(&other.name, other.topic_id)));
    });
}

fn end(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::END_TXN);
    let version = chance.version(min, max);
    let (who, committed) = (Who::choose(chance), chance.once_in(2));
    let make = |ids: &Ids| {
        let (id, epoch) = who.identity(ids);
        EndTxnRequest::default()
            .with_transactional_id(TransactionalId(text(who.name)))
            .with_producer_id(WireId(id))
            .with_producer_epoch(epoch)
            .with_committed(committed)
    };
    pair.ask(Kind::Writes, version, make, |response, ids| {
        if response.error_code == 0 && version >= 5 {
            ids.held.insert(who.name.to_owned(), (response.producer_id.0, response.producer_epoch));
        }
        response.producer_id.0 = ids.tidy_producer(response.producer_id.0);
    });
    // Until a real Kafka has written the markers.
    ask_about(pair, who.name);
}

fn describe(pair: &mut Pair, chance: &mut Chance) {
    ask_about(pair, chance.word(&["tx-a", "tx-b", "tx-c", "nobody", ""]));
}
/// Ids and times of a transaction are each cluster's own.
pub(crate) fn tidy_state(state: &mut TransactionState, ids: &mut Ids) {
    state.producer_id.0 = ids.tidy_producer(state.producer_id.0);
    state.transaction_start_time_ms = state.transaction_start_time_ms.min(1);
}
fn ask_about(pair: &mut Pair, name: &str) {
    let request = DescribeTransactionsRequest::default().with_transactional_ids(vec![TransactionalId(text(name))]);
    pair.ask(
        Kind::Reads,
        0,
        |_| request.clone(),
        |response, ids| {
            for state in &mut response.transaction_states {
                tidy_state(state, ids);
                state.topics.sort_by(|one, other| one.topic.0.cmp(&other.topic.0));
                state.topics.iter_mut().for_each(|topic| topic.partitions.sort_unstable());
            }
        },
    );
}
fn list(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::LIST_TRANSACTIONS);
    let version = chance.version(min, max);
    let states: Vec<_> = chance
        .pick::<&[&str]>(&[&[], &["Ongoing"], &["CompleteCommit", "Empty"], &["Odd"]])
        .iter()
        .map(|state| text(state))
        .collect();
    let patterns = [None, Some("tx-.*"), Some("tx-a"), Some("("), Some("t.-[^b]"), Some("tx-b|x"), Some("x")];
    let pattern = if version >= 2 { chance.pick(&patterns).map(text) } else { None };
    let request = ListTransactionsRequest::default().with_state_filters(states).with_transactional_id_pattern(pattern);
    pair.ask(
        Kind::Reads,
        version,
        |_| request.clone(),
        |response, ids| {
            response.transaction_states.sort_by(|one, other| one.transactional_id.0.cmp(&other.transactional_id.0));
            response
                .transaction_states
                .iter_mut()
                .for_each(|state| state.producer_id.0 = ids.tidy_producer(state.producer_id.0));
        },
    );
}

fn describe_producers(pair: &mut Pair, chance: &mut Chance) {
    let topic = TopicRequest::default()
        .with_name(TopicName(text(chance.word(TOPICS))))
        .with_partition_indexes(vec![partition(chance)]);
    let request = DescribeProducersRequest::default().with_topics(vec![topic]);
    pair.ask(
        Kind::Reads,
        0,
        |_| request.clone(),
        |response, ids| {
            for partition in response.topics.iter_mut().flat_map(|topic| &mut topic.partitions) {
                for producer in &mut partition.active_producers {
                    producer.producer_id.0 = ids.tidy_producer(producer.producer_id.0);
                    producer.last_timestamp = producer.last_timestamp.min(1);
                }
                partition.active_producers.sort_by_key(|producer| producer.producer_id.0);
            }
        },
    );
}

fn write_markers(pair: &mut Pair, chance: &mut Chance) {
    let (min, max) = pair.versions(ApiKey::WRITE_TXN_MARKERS);
    let version = chance.version(min, max);
    // Of a producer that no coordinator knows.
    let marker = WritableTxnMarker::default()
        .with_producer_id(WireId((1 << 40) + 9))
        .with_producer_epoch(*chance.pick(&[0, 0, 1]))
        .with_coordinator_epoch(*chance.pick(&[0, 0, 1]))
        .with_transaction_result(chance.once_in(2));
    let topic = WritableTxnMarkerTopic::default()
        .with_name(TopicName(text(chance.word(&["plain", "missing"]))))
        .with_partition_indexes(vec![*chance.pick(&[0, 0, 9])]);
    let request = WriteTxnMarkersRequest::default().with_markers(vec![marker.with_topics(vec![topic])]);
    pair.ask(Kind::Writes, version, |_| request.clone(), |_, _| {});
}
