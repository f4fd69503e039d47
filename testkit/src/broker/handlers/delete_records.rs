//! DeleteRecords: the log starts later; −1 means at the high watermark.
//!
//! Versions 0 to 2. Left out: nothing.

use super::Handler;
use crate::broker::Broker;
use crate::broker::call::{Answer, Call};
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::delete_records_request::DeleteRecordsTopic;
use millstream_protocol::messages::delete_records_response::{DeleteRecordsPartitionResult, DeleteRecordsTopicResult};
use millstream_protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse};

pub(super) struct DeleteRecords;

impl Handler for DeleteRecords {
    type Request = DeleteRecordsRequest;
    fn handle(broker: &mut Broker, call: &Call, request: DeleteRecordsRequest) -> Answer<DeleteRecordsResponse> {
        let response = answer(&request, |topic, index, offset| delete(broker, call, topic, index, offset));
        broker.wake_all_fetches();
        Answer::Reply(response)
    }
    fn refuse(request: &DeleteRecordsRequest, code: ErrorCode) -> DeleteRecordsResponse {
        answer(request, |_, _, _| Err(code))
    }
}

fn delete(broker: &mut Broker, call: &Call, topic: &str, index: i32, offset: i64) -> Result<i64, ErrorCode> {
    let topic = broker.topics.find_mut(topic).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    let only_compacts = topic.config("cleanup.policy") == "compact";
    let partition = topic.partition_mut(index).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    if only_compacts {
        return Err(ErrorCode::POLICY_VIOLATION);
    }
    partition.check_leader(call.node, -1)?;
    let end = partition.log.high_watermark();
    let until = if offset == -1 { end } else { offset };
    if !(0..=end).contains(&until) {
        return Err(ErrorCode::OFFSET_OUT_OF_RANGE);
    }
    partition.log.delete_before(until);
    Ok(partition.log.start())
}
fn answer(
    request: &DeleteRecordsRequest,
    mut each: impl FnMut(&str, i32, i64) -> Result<i64, ErrorCode>,
) -> DeleteRecordsResponse {
    let mut topic = |topic: &DeleteRecordsTopic| {
        let partitions = topic.partitions.iter().map(|asked| {
            let result = each(&topic.name.0, asked.partition_index, asked.offset);
            let code = result.err().unwrap_or(ErrorCode::NONE);
            DeleteRecordsPartitionResult::default()
                .with_partition_index(asked.partition_index)
                .with_low_watermark(result.unwrap_or(-1))
                .with_error_code(code.get())
        });
        DeleteRecordsTopicResult::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
    };
    DeleteRecordsResponse::default().with_topics(request.topics.iter().map(&mut topic).collect())
}
