//! What the corpora of messages have of their own.

use millstream_protocol::ApiKey;
use serde_json::Value;

/// Kafka's JSON converter finds a snapshot's records read to their end already, and writes none.
pub(crate) fn forget_unaligned_records(api: ApiKey, json: &mut Value) {
    if api != ApiKey::FETCH_SNAPSHOT {
        return;
    }
    let topics = json.get_mut("topics").and_then(Value::as_array_mut);
    let partitions =
        topics.into_iter().flatten().filter_map(|topic| topic.get_mut("partitions")?.as_array_mut()).flatten();
    for records in partitions.filter_map(|partition| partition.get_mut("unalignedRecords")) {
        *records = "".into();
    }
}
