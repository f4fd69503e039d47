//! What answers, and the lack of them, mean for the batches of a request.

use super::super::{Failure, Written};
use super::{Place, Sender, UnderWay};
use crate::cluster::{Broker, LeaderHint};
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::ProduceResponse;
use millstream_protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use millstream_protocol::{ErrorCode, LeaderEpoch, NodeId, Offset, Timestamp, TopicPartition};
use std::sync::Arc;
use std::time::Instant;

/// How often a batch's sequence may start anew before the batch fails.
const RESETS: u32 = 3;

impl Sender {
    /// The answer to a request.
    pub fn handle_response(&mut self, now: Instant, id: u64, response: &ProduceResponse) {
        let Some(under_way) = self.take(id) else { return };
        let answers = index(response, &under_way);
        for place in &under_way.places {
            let Some(partition) = self.lanes.get(place.0).map(|lane| lane.shard.partition().clone()) else { continue };
            match answers.get(&partition) {
                Some(answer) => {
                    self.note_denial(&under_way, *place, answer);
                    self.handle_answer(now, *place, answer);
                }
                None => self.retry(now, *place, true, &"the answer does not tell of this partition".into()),
            }
        }
        self.note_hints(&answers, response);
    }
    /// A request that has no answer is on its way (P-9).
    pub fn handle_unanswered(&mut self, id: u64) {
        let Some(under_way) = self.take(id) else { return };
        for place in under_way.places {
            self.succeed(place, Written::at(None));
        }
    }
    /// A request got no answer, and why. `may_be_written`: the broker may have got it (P-5).
    pub fn handle_failure(&mut self, now: Instant, id: u64, may_be_written: bool, why: &str) {
        let Some(under_way) = self.take(id) else { return };
        self.wants_metadata = true;
        let why: Arc<str> = why.into();
        for place in under_way.places {
            self.retry(now, place, may_be_written, &why);
        }
    }
    /// A request can never be sent: the broker is too old, or the bytes do not fit.
    pub fn handle_unsendable(&mut self, id: u64, why: &str) {
        let Some(under_way) = self.take(id) else { return };
        let failure = Arc::new(Failure::Unsendable(why.to_owned()));
        for place in under_way.places {
            self.fail(place, &failure);
        }
    }

    fn take(&mut self, id: u64) -> Option<UnderWay> {
        let under_way = self.under_way.remove(&id)?;
        if let Some(count) = self.per_broker.get_mut(&under_way.node) {
            *count = count.saturating_sub(1);
        }
        Some(under_way)
    }
    fn note_denial(&mut self, under_way: &UnderWay, place: Place, answer: &PartitionProduceResponse) {
        if ErrorCode::new(answer.error_code) == ErrorCode::NOT_LEADER_OR_FOLLOWER
            && let Some(lane) = self.lanes.get_mut(place.0)
        {
            lane.deny(under_way.node, under_way.picture);
        }
    }
    fn handle_answer(&mut self, now: Instant, place: Place, answer: &PartitionProduceResponse) {
        let code = ErrorCode::new(answer.error_code);
        match code {
            ErrorCode::NONE | ErrorCode::DUPLICATE_SEQUENCE_NUMBER => self.succeed(place, written(answer)),
            ErrorCode::MESSAGE_TOO_LARGE | ErrorCode::RECORD_LIST_TOO_LARGE => self.split(place, answer),
            ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER
            | ErrorCode::UNKNOWN_PRODUCER_ID
            | ErrorCode::INVALID_PRODUCER_ID_MAPPING
            | ErrorCode::INVALID_PRODUCER_EPOCH
                if self.options.transactional_id.is_none() && self.options.idempotent =>
            {
                self.out_of_sequence(now, place, answer);
            }
            // Behind one that is to be sent again, this is no news (P-2).
            ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER if !self.is_first(place) => {
                self.retry(now, place, false, &code.to_string().into());
            }
            ErrorCode::PRODUCER_FENCED => self.fail(place, &Arc::new(Failure::Fenced(code))),
            code if code.is_retriable() => {
                self.wants_metadata |= code.refreshes_metadata();
                self.retry(now, place, is_appended(answer), &code.to_string().into());
            }
            _ => self.refuse(place, answer),
        }
    }
    fn succeed(&mut self, (index, ticket): Place, written: Written) {
        let Some(lane) = self.lanes.get_mut(index) else { return };
        lane.land(ticket);
        lane.progress();
        if let Some(batch) = lane.remove(ticket) {
            self.finish(&batch, Ok(written));
        }
    }
    fn retry(&mut self, now: Instant, (index, ticket): Place, may_be_written: bool, why: &Arc<str>) {
        let Some(lane) = self.lanes.get_mut(index) else { return };
        if let Some(batch) = lane.land(ticket) {
            batch.in_doubt |= may_be_written;
            batch.last_failure = Some(Arc::clone(why));
            lane.doom_behind(ticket);
            if lane.is_first(ticket) {
                lane.pause(now, &mut self.random);
            }
            self.active.insert(index);
        }
    }
    fn refuse(&mut self, place: Place, answer: &PartitionProduceResponse) {
        let record = answer.record_errors.first().and_then(|error| error.batch_index_error_message.as_ref());
        let message = answer.error_message.as_ref().or(record).map(ToString::to_string);
        let in_doubt = self.batch_in_doubt(place);
        let failure = Failure::Refused { code: ErrorCode::new(answer.error_code), message, in_doubt };
        self.fail(place, &Arc::new(failure));
    }
    /// Fails a batch for good. The numbers after it have a gap then.
    fn fail(&mut self, (index, ticket): Place, failure: &Arc<Failure>) {
        let Some(lane) = self.lanes.get_mut(index) else { return };
        lane.land(ticket);
        lane.needs_reset |= lane.identity.is_some();
        self.active.insert(index);
        if let Some(batch) = lane.remove(ticket) {
            self.transaction.handle_failed_batch();
            self.finish(&batch, Err(Arc::clone(failure)));
        }
    }
    /// The first that is not acknowledged is out of sequence: the broker has lost what came before (P-3, P-10).
    fn out_of_sequence(&mut self, now: Instant, place: Place, answer: &PartitionProduceResponse) {
        let (index, ticket) = place;
        if !self.is_first(place) {
            return self.retry(now, place, false, &ErrorCode::new(answer.error_code).to_string().into());
        }
        let Some(lane) = self.lanes.get_mut(index) else { return };
        if lane.land(ticket).is_some_and(|batch| batch.resets >= RESETS) {
            return self.refuse(place, answer);
        }
        lane.needs_reset = true;
        self.active.insert(index);
    }
    fn split(&mut self, place: Place, answer: &PartitionProduceResponse) {
        let (index, ticket) = place;
        let codec = self.accumulator.codec();
        let Some(lane) = self.lanes.get_mut(index) else { return };
        let halves = lane.land(ticket).and_then(|batch| codec.with(|compressor| batch.split(compressor)));
        let Some(halves) = halves else { return self.refuse(place, answer) };
        let tickets = (self.next_ticket + 1, self.next_ticket + 2);
        self.next_ticket += 2;
        lane.replace(ticket, halves, tickets);
        self.active.insert(index);
    }
    fn is_first(&self, (index, ticket): Place) -> bool {
        self.lanes.get(index).is_some_and(|lane| lane.is_first(ticket))
    }
    fn batch_in_doubt(&mut self, (index, ticket): Place) -> bool {
        self.lanes.get_mut(index).is_some_and(|lane| lane.doubts(ticket))
    }
    fn note_hints(&mut self, answers: &HashMap<TopicPartition, &PartitionProduceResponse>, response: &ProduceResponse) {
        for (partition, answer) in answers {
            let leader = &answer.current_leader;
            if leader.leader_id >= 0 && leader.leader_epoch >= 0 {
                let (node, epoch) = (NodeId::new(leader.leader_id), LeaderEpoch::new(leader.leader_epoch));
                self.hints.push(LeaderHint::new(partition.clone(), node, epoch));
            }
        }
        for node in &response.node_endpoints {
            if let Ok(port) = u16::try_from(node.port) {
                self.hinted_brokers.push(Broker::new(NodeId::new(node.node_id), node.host.as_str(), port));
            }
        }
    }
}

fn written(answer: &PartitionProduceResponse) -> Written {
    let base_offset = (answer.base_offset >= 0).then(|| Offset::new(answer.base_offset));
    let log_append_time = (answer.log_append_time_ms >= 0).then(|| Timestamp::from_millis(answer.log_append_time_ms));
    Written { base_offset, log_append_time }
}

/// Whether a batch that was refused may be in the log all the same (P-5): what happens while the leader waits for replicas, such as the end
/// of its term, is told with the offset at which it had written the batch before.
fn is_appended(answer: &PartitionProduceResponse) -> bool {
    const AFTER_APPEND: [ErrorCode; 3] =
        [ErrorCode::REQUEST_TIMED_OUT, ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND, ErrorCode::KAFKA_STORAGE_ERROR];
    answer.base_offset >= 0 || AFTER_APPEND.contains(&ErrorCode::new(answer.error_code))
}

/// The answers by partition, whether topics have names or ids in this version.
fn index<'r>(
    response: &'r ProduceResponse,
    under_way: &UnderWay,
) -> HashMap<TopicPartition, &'r PartitionProduceResponse> {
    let mut answers = HashMap::default();
    for topic in &response.responses {
        let Some(name) = topic_name(topic, under_way) else { continue };
        for answer in &topic.partition_responses {
            answers.insert(TopicPartition::new(name.clone(), answer.index), answer);
        }
    }
    answers
}

fn topic_name(topic: &TopicProduceResponse, under_way: &UnderWay) -> Option<millstream_protocol::TopicName> {
    if !topic.name.as_str().is_empty() {
        return Some(topic.name.clone());
    }
    let by_id = under_way.topic_ids.iter().find(|(_, id)| **id == topic.topic_id);
    by_id.map(|(name, _)| name.clone())
}
