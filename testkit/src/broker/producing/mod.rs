//! Writing: what a batch must be, and answers that wait for followers.

mod broken_gzip;
mod fields;
pub(crate) mod records;
pub(crate) mod waits;

use super::log::Appended;
use super::log::batch::front;
use millstream_protocol::ErrorCode;
use millstream_protocol::messages::produce_response::{BatchIndexAndErrorMessage, PartitionProduceResponse};
use millstream_protocol::messages::{ProduceRequest, StrBytes};

/// Why a batch is not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    /// Told only where Kafka has more to say than the code.
    message: Option<String>,
    /// The records at fault, by their place in the batch, with the reason (KIP-467).
    records: Vec<(i32, String)>,
    /// Whether the answer tells where the log starts: it does when the log itself refused.
    pub(crate) is_of_log: bool,
}
impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self { code, message: None, records: Vec::new(), is_of_log: false }
    }
}
impl Refusal {
    /// What the log itself refuses.
    pub(crate) fn of_log(code: ErrorCode) -> Self {
        Self { is_of_log: true, ..Self::from(code) }
    }
    /// With a sentence of its own.
    pub(crate) fn with_message(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..self }
    }
    fn with_records(self, records: Vec<(i32, String)>) -> Self {
        Self { records, ..self }
    }
    /// The answer for a partition whose log starts at `start`.
    pub(crate) fn answer(self, index: i32, start: i64) -> PartitionProduceResponse {
        let error = |(batch_index, message)| BatchIndexAndErrorMessage {
            batch_index,
            batch_index_error_message: Some(StrBytes::from_string(message)),
            ..BatchIndexAndErrorMessage::default()
        };
        PartitionProduceResponse {
            index,
            error_code: self.code.get(),
            base_offset: -1,
            log_start_offset: if self.is_of_log { start } else { -1 },
            record_errors: self.records.into_iter().map(error).collect(),
            error_message: self.message.map(StrBytes::from_string),
            ..PartitionProduceResponse::default()
        }
    }
}

/// What keeps Kafka from cutting the first batch of some partition off, in its words: it refuses the whole request then, whoever sent it, since it
/// looks for records that are transactional, as far as the first that is, before it does anything else.
pub(crate) fn first_flaw(request: &ProduceRequest) -> Option<String> {
    let parts = request.topic_data.iter().flat_map(|topic| &topic.partition_data);
    for bytes in parts.filter_map(|data| data.records.clone().into_bytes()) {
        match front(&bytes) {
            Ok(Some(batch)) if batch.is_transactional() => return None,
            Ok(_) => {}
            Err(sentence) => return Some(sentence),
        }
    }
    None
}

/// The answer for a partition that took the batch.
pub(crate) fn accepted(index: i32, appended: Appended, start: i64) -> PartitionProduceResponse {
    PartitionProduceResponse {
        index,
        base_offset: appended.base_offset,
        log_append_time_ms: appended.append_time,
        log_start_offset: start,
        ..PartitionProduceResponse::default()
    }
}
