//! WriteTxnMarkers, as an administrator sends it to end a transaction that hangs (KIP-664).
//!
//! Versions 1 to 2. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::bounds::Comer;
use crate::broker::call::{Answer, Call};
use crate::broker::log::batch::Marker;
use crate::broker::transactions::transaction::Identity;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::write_txn_markers_request::WritableTxnMarker;
use millstream_protocol::messages::write_txn_markers_response::{
    WritableTxnMarkerPartitionResult, WritableTxnMarkerResult, WritableTxnMarkerTopicResult,
};
use millstream_protocol::messages::{TopicName, WriteTxnMarkersRequest, WriteTxnMarkersResponse};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct WriteTxnMarkers;

impl Handler for WriteTxnMarkers {
    type Request = WriteTxnMarkersRequest;
    fn handle(broker: &mut Broker, call: &Call, request: WriteTxnMarkersRequest) -> Answer<WriteTxnMarkersResponse> {
        Answer::Reply(answer(&request, |marker, topic, partition| write(broker, call, marker, topic, partition)))
    }
    fn when_full(_: &Broker, _: &WriteTxnMarkersRequest) -> Option<ErrorCode> {
        Some(ErrorCode::KAFKA_STORAGE_ERROR)
    }
    fn comer(_: &Broker, _: &WriteTxnMarkersRequest) -> Comer {
        Comer::Known
    }
    fn refuse(request: &WriteTxnMarkersRequest, code: ErrorCode) -> WriteTxnMarkersResponse {
        answer(request, |_, _, _| code)
    }
}

fn write(broker: &mut Broker, call: &Call, marker: &WritableTxnMarker, topic: &str, index: i32) -> ErrorCode {
    let Some(topic) = broker.topics.find(topic) else { return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION };
    let key = (topic.id, index);
    let Some(partition) = topic.partition(index) else { return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION };
    if let Err(code) = partition.check_leader(call.node, -1) {
        return code;
    }
    let known = partition.log.producers.find(marker.producer_id.0);
    if known.is_some_and(|producer| producer.epoch > marker.producer_epoch) {
        return ErrorCode::INVALID_PRODUCER_EPOCH;
    }
    if known.is_some_and(|producer| producer.coordinator_epoch > marker.coordinator_epoch) {
        return ErrorCode::TRANSACTION_COORDINATOR_FENCED;
    }
    let kind = if marker.transaction_result { Marker::Commit } else { Marker::Abort };
    broker.write_marker(
        key,
        Identity { id: marker.producer_id.0, epoch: marker.producer_epoch },
        kind,
        marker.coordinator_epoch,
    );
    ErrorCode::NONE
}
fn answer(
    request: &WriteTxnMarkersRequest,
    mut code: impl FnMut(&WritableTxnMarker, &str, i32) -> ErrorCode,
) -> WriteTxnMarkersResponse {
    let mut markers = Vec::new();
    for marker in &request.markers {
        let topics = each_once(marker).into_iter().map(|(topic, indexes)| {
            let partitions = indexes.into_iter().map(|index| {
                WritableTxnMarkerPartitionResult::default()
                    .with_partition_index(index)
                    .with_error_code(code(marker, &topic.0, index).get())
            });
            WritableTxnMarkerTopicResult::default().with_name(topic.clone()).with_partitions(partitions.collect())
        });
        let result = WritableTxnMarkerResult::default().with_producer_id(marker.producer_id);
        markers.push(result.with_topics(topics.collect()));
    }
    WriteTxnMarkersResponse::default().with_markers(markers)
}
/// The partitions of a marker: one that is named twice gets one record. Kafka, too, writes it once; then it never answers.
fn each_once(marker: &WritableTxnMarker) -> BTreeMap<&TopicName, BTreeSet<i32>> {
    let mut partitions: BTreeMap<&TopicName, BTreeSet<i32>> = BTreeMap::new();
    for topic in &marker.topics {
        partitions.entry(&topic.name).or_default().extend(&topic.partition_indexes);
    }
    partitions
}
