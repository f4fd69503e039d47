//! A batch's failure, as the error of each of its records.

use crate::{Error, ErrorKind};
use millstream_client_core::produce::Failure;
use millstream_protocol::TopicPartition;
use std::sync::Arc;

/// The error of a record in a batch that failed.
pub(crate) fn error_of(failure: &Arc<Failure>, partition: &TopicPartition) -> Error {
    const OPERATION: &str = "write a record";
    let error = match failure.cause() {
        Failure::Refused { code, .. } => Error::broker(*code, OPERATION),
        Failure::Expired { .. } => Error::new(ErrorKind::TimedOut, OPERATION),
        Failure::Aborted => Error::new(ErrorKind::Aborted, OPERATION),
        Failure::Fenced(code) => Error::broker(*code, OPERATION),
        Failure::Closed => Error::new(ErrorKind::Closed, OPERATION),
        _ => Error::new(ErrorKind::Unsupported, OPERATION),
    };
    let error = error.reason(failure).about(partition.clone());
    if failure.is_in_doubt() { error.doubtful() } else { error }
}
