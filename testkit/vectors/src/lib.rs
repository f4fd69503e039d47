//! The wire corpora of the folder `wire` beside this crate, or of another one with files of the same format that
//! `MILLSTREAM_WIRE_DIR` names: what Kafka's own classes write and read. For tests alone, of every package.
//!
//! ```
//! let first = millstream_vectors::rows("partitioner").next().expect("rows");
//! assert_eq!(first["key"].as_str().map(str::len), Some(2 * millstream_vectors::bytes(&first, "key").len()));
//! ```

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

/// The folder to read from.
#[must_use]
pub fn folder() -> PathBuf {
    let own = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/wire"));
    std::env::var_os("MILLSTREAM_WIRE_DIR").map_or_else(own, PathBuf::from)
}

/// Whether it is the copy in the project: what is said of its rows alone, such as their number, holds there only.
#[must_use]
pub fn is_own_copy() -> bool {
    std::env::var_os("MILLSTREAM_WIRE_DIR").is_none()
}

/// The rows of a corpus, such as `records`.
///
/// # Panics
///
/// When it is not there, or its lines are not JSON, or there are none: a test that reads nothing shows nothing.
pub fn rows(corpus: &str) -> impl Iterator<Item = Value> + use<> {
    let path = folder().join(format!("{corpus}.jsonl.gz"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("open {}: {error}", path.display()));
    let mut lines = BufReader::new(flate2::read::MultiGzDecoder::new(file)).lines().peekable();
    assert!(lines.peek().is_some(), "{} has no rows", path.display());
    lines.map(|line| serde_json::from_str(&line.expect("the corpus is readable")).expect("a row is JSON"))
}

/// The bytes of a row's field, which is hex.
///
/// # Panics
///
/// When it is not.
#[must_use]
pub fn bytes(row: &Value, field: &str) -> Vec<u8> {
    unhex(row[field].as_str().unwrap_or_else(|| panic!("{row} has no {field}")))
}

/// The bytes that stand there as hex.
///
/// # Panics
///
/// When it is no hex.
#[must_use]
pub fn unhex(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
    (0..text.len()).step_by(2).map(digits).collect()
}

/// A row's number.
///
/// # Panics
///
/// When it has none of 16 bits.
#[must_use]
pub fn int16(row: &Value, field: &str) -> i16 {
    let number = row[field].as_i64().unwrap_or_else(|| panic!("{row} has no {field}"));
    i16::try_from(number).expect("16 bits")
}
