//! Rust text of messages: one file for each, and one index.

use super::render::{NOTICE, snake};
use super::schema::{Kind, Schema};
use super::types::{Style, body_versions, imports, of_schema, structs};
use std::collections::BTreeMap;
use std::error::Error;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The APIs whose messages are made here: `kafka-protocol` 0.18 lacks them, or stops short of their newest version.
pub(crate) const GENERATED: [&str; 20] = [
    "AddRaftVoter",
    "ApiVersions",
    "BrokerHeartbeat",
    "DeleteGroups",
    "DescribeLogDirs",
    "DescribeShareGroupOffsets",
    "InitProducerId",
    "ListOffsets",
    "OffsetCommit",
    "OffsetFetch",
    "ReadShareGroupStateSummary",
    "ShareAcknowledge",
    "ShareFetch",
    "StreamsGroupDescribe",
    "StreamsGroupHeartbeat",
    "StreamsGroupTopologyDescriptionUpdate",
    "TxnOffsetCommit",
    "UnregisterController",
    "WriteShareGroupState",
    "WriteTxnMarkers",
];

/// Those written by hand, since they carry records.
pub(crate) const BY_HAND: [&str; 2] = ["Fetch", "Produce"];

/// File names and texts.
pub(crate) fn files(schemas: &[Schema]) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for schema in schemas.iter().filter(|schema| GENERATED.contains(&schema.api_name())) {
        files.insert(format!("{}.rs", snake(&schema.name)), file(schema)?);
    }
    let mut index = format!("//! Messages that `kafka-protocol` lacks, or of which it lacks a version.\n{NOTICE}\n");
    files.keys().for_each(|name| index += &format!("pub mod {};\n", name.trim_end_matches(".rs")));
    files.insert("mod.rs".into(), index);
    Ok(files)
}

fn file(schema: &Schema) -> Result<String> {
    let (name, text) = (&schema.name, structs(schema, Style::Message)?);
    let role = if matches!(schema.kind, Kind::Request(_)) { "request" } else { "response" };
    let head = format!("//! {name}, {}.\n{NOTICE}", of_schema(schema.versions));
    let macros = "use crate::messages::field::{setters, wire_body, wire_struct};\n";
    Ok(head + macros + &imports(&text) + &text + &format!("wire_body!({role} {name}, {});\n", body_versions(schema)))
}
