//! DescribeProducers: who has written to a partition, and whose transaction is open there.
//!
//! Version 0. Left out: nothing.

use super::Handler;
use super::told::weighs_too_much;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use crate::broker::log::producers::Producer;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::describe_producers_request::TopicRequest;
use millstream_protocol::messages::describe_producers_response::{PartitionResponse, ProducerState, TopicResponse};
use millstream_protocol::messages::{DescribeProducersRequest, DescribeProducersResponse, ProducerId, StrBytes};

pub(super) struct DescribeProducers;

/// A code and what there is to say.
type NotFound = (ErrorCode, Option<&'static str>);

impl Handler for DescribeProducers {
    type Request = DescribeProducersRequest;
    fn handle(
        broker: &mut Broker,
        call: &Call,
        request: DescribeProducersRequest,
    ) -> Answer<DescribeProducersResponse> {
        if weighs_too_much(request.topics.iter().flat_map(|asked| weights(broker, asked))) {
            return Answer::Reply(Self::refuse(&request, ErrorCode::INVALID_REQUEST));
        }
        Answer::Reply(answer(&request, |topic, index| match find(broker, call, topic, index) {
            Ok(producers) => PartitionResponse::default()
                .with_partition_index(index)
                .with_error_message(None)
                .with_active_producers(producers),
            Err(not_found) => refused(index, not_found),
        }))
    }
    fn refuse(request: &DescribeProducersRequest, code: ErrorCode) -> DescribeProducersResponse {
        answer(request, |_, index| refused(index, (code, Some(code.message()))))
    }
}

/// Of each partition that is asked for, what is known of its producers.
fn weights<'b>(broker: &'b Broker, asked: &'b TopicRequest) -> impl Iterator<Item = usize> + 'b {
    let topic = broker.topics.find(&asked.name.0);
    let partitions = asked.partition_indexes.iter().filter_map(move |index| topic?.partition(*index));
    partitions.map(|partition| partition.log.producers.weight())
}
fn find(broker: &Broker, call: &Call, topic: &str, index: i32) -> Result<Vec<ProducerState>, NotFound> {
    let unknown = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    // Kafka has a sentence for an unknown topic alone.
    let topic = broker.topics.find(topic).ok_or((unknown, Some(unknown.message())))?;
    let partition = topic.partition(index).ok_or((unknown, None))?;
    partition.check_leader(call.node, -1).map_err(|code| (code, None))?;
    Ok(partition.log.producers.active().into_iter().map(describe).collect())
}
fn describe((id, producer): (i64, &Producer)) -> ProducerState {
    ProducerState::default()
        .with_producer_id(ProducerId(id))
        .with_producer_epoch(i32::from(producer.epoch))
        .with_last_sequence(producer.last_sequence())
        .with_last_timestamp(producer.last_timestamp)
        .with_coordinator_epoch(producer.coordinator_epoch)
        .with_current_txn_start_offset(producer.open_at.unwrap_or(-1))
}
fn refused(index: i32, (code, message): NotFound) -> PartitionResponse {
    PartitionResponse::default()
        .with_partition_index(index)
        .with_error_code(code.get())
        .with_error_message(message.map(StrBytes::from_static_str))
}
fn answer(
    request: &DescribeProducersRequest,
    each: impl Fn(&str, i32) -> PartitionResponse,
) -> DescribeProducersResponse {
    let topic = |topic: &TopicRequest| {
        let partitions = topic.partition_indexes.iter().map(|index| each(&topic.name.0, *index)).collect();
        TopicResponse::default().with_name(topic.name.clone()).with_partitions(partitions)
    };
    DescribeProducersResponse::default().with_topics(request.topics.iter().map(topic).collect())
}
