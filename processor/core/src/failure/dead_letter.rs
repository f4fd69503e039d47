//! The headers of a dead letter, under Kafka's names (KIP-1034): those of the record, then what went wrong and where it lay.

use super::Origin;
use millstream_protocol::Headers;
use std::error::Error;
use std::fmt::Write;

/// The record's headers, then those that say what went wrong. There is no stack trace to give; the chain of causes is in its place.
pub(crate) fn dead_letter_headers(origin: &Origin, kind: &str, error: &(dyn Error + 'static)) -> Headers {
    let mut headers = origin.headers.clone();
    headers.add("__streams.errors.exception", kind.to_owned().into_bytes());
    headers.add("__streams.errors.message", error.to_string().into_bytes());
    headers.add("__streams.errors.stacktrace", causes(error).into_bytes());
    headers.add("__streams.errors.topic", origin.topic_partition.topic.as_str().to_owned().into_bytes());
    headers.add("__streams.errors.partition", origin.topic_partition.partition.to_string().into_bytes());
    headers.add("__streams.errors.offset", origin.offset.to_string().into_bytes());
    headers
}

fn causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let _ = write!(text, "\ncaused by: {cause}");
        next = cause.source();
    }
    text
}
