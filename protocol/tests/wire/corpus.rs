//! The wire corpora: lines of JSON, gzip'd.

use millstream_protocol::ApiKey;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// Rows of a corpus; from `MILLSTREAM_WIRE_DIR`, or the copy in the project.
pub(crate) fn rows(name: &str) -> impl Iterator<Item = Value> {
    let directory = std::env::var_os("MILLSTREAM_WIRE_DIR")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/vectors/wire")), PathBuf::from);
    let path = directory.join(format!("{name}.jsonl.gz"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = BufReader::new(flate2::read::MultiGzDecoder::new(file)).lines();
    lines.map(|line| serde_json::from_str(&line.expect("the corpus is readable")).expect("a row is JSON"))
}

/// The bytes of a row's field.
pub(crate) fn bytes(row: &Value, field: &str) -> Vec<u8> {
    let hex = row[field].as_str().unwrap_or_else(|| panic!("{row} has no {field}"));
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
    (0..hex.len()).step_by(2).map(digit).collect()
}

/// A row's number.
pub(crate) fn int16(row: &Value, field: &str) -> i16 {
    let number = row[field].as_i64().unwrap_or_else(|| panic!("{row} has no {field}"));
    i16::try_from(number).expect("16 bits")
}

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
