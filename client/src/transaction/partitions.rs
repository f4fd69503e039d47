//! The request that adds partitions to a transaction (T-1).

use millstream_client_core::produce::Identity;
use millstream_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnTopic,
};
use millstream_protocol::messages::{AddPartitionsToTxnResponse, StrBytes};
use millstream_protocol::{ErrorCode, TopicPartition};

/// Versions up to 3 are for clients; the later ones are between brokers.
pub(crate) fn add_partitions_request(
    id: &str,
    identity: Identity,
    partitions: &[TopicPartition],
) -> AddPartitionsToTxnRequest {
    let mut request = AddPartitionsToTxnRequest::default();
    request.v3_and_below_transactional_id = StrBytes::from_string(id.to_owned()).into();
    request.v3_and_below_producer_id = identity.id.get().into();
    request.v3_and_below_producer_epoch = identity.epoch.get();
    for partition in partitions {
        let topics = &mut request.v3_and_below_topics;
        let known = topics.iter().position(|topic| topic.name.as_str() == partition.topic.as_str());
        let index = known.unwrap_or_else(|| {
            let mut topic = AddPartitionsToTxnTopic::default();
            topic.name = StrBytes::from_string(partition.topic.as_str().to_owned()).into();
            topics.push(topic);
            topics.len() - 1
        });
        topics[index].partitions.push(partition.partition.get());
    }
    request
}

/// The code that decides: one failed partition fails the request, and then the others say that they were not attempted.
pub(crate) fn added_code(answer: &AddPartitionsToTxnResponse) -> ErrorCode {
    let topics = answer.results_by_topic_v3_and_below.iter();
    let codes = topics
        .flat_map(|topic| &topic.results_by_partition)
        .map(|partition| ErrorCode::new(partition.partition_error_code));
    let errors: Vec<ErrorCode> = codes.filter(|code| code.is_error()).collect();
    let decisive = errors.iter().find(|code| **code != ErrorCode::OPERATION_NOT_ATTEMPTED).or(errors.first());
    decisive.copied().unwrap_or_else(|| ErrorCode::new(answer.error_code))
}
