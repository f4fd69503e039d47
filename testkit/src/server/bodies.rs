//! What goes in and out as JSON, beside the values that the library has anyway.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The cluster at a glance.
#[derive(Debug, Serialize)]
pub(super) struct ClusterView {
    pub(super) bootstrap: String,
    pub(super) cluster_id: String,
    pub(super) time_ms: i64,
    pub(super) controller: Option<i32>,
    pub(super) brokers: Vec<BrokerView>,
}
#[derive(Debug, Serialize)]
pub(super) struct BrokerView {
    pub(super) id: i32,
    /// What state it is in, in one word.
    pub(super) state: &'static str,
    pub(super) is_up: bool,
    pub(super) is_hidden: bool,
    pub(super) is_paused: bool,
}

/// A topic and its partitions.
#[derive(Debug, Serialize)]
pub(super) struct TopicView {
    pub(super) name: String,
    pub(super) id: String,
    /// What it was given; the rest is as brokers have it.
    pub(super) config: BTreeMap<String, String>,
    pub(super) partitions: Vec<PartitionView>,
}
#[derive(Debug, Serialize)]
pub(super) struct PartitionView {
    pub(super) partition: i32,
    pub(super) leader: Option<i32>,
    pub(super) leader_epoch: i32,
    pub(super) replicas: Vec<i32>,
    pub(super) isr: Vec<i32>,
    pub(super) elr: Vec<i32>,
    pub(super) start_offset: i64,
    pub(super) high_watermark: i64,
    pub(super) end_offset: i64,
}

/// A committed record; keys and values as text, with what is no text replaced, and in base64.
#[derive(Debug, Serialize)]
pub(super) struct RecordView {
    pub(super) partition: i32,
    pub(super) offset: i64,
    pub(super) timestamp: i64,
    pub(super) key: Option<String>,
    pub(super) value: Option<String>,
    pub(super) key_base64: Option<String>,
    pub(super) value_base64: Option<String>,
}

/// One exchange.
#[derive(Debug, Serialize)]
pub(super) struct RequestView {
    pub(super) number: u64,
    pub(super) at_ms: i64,
    pub(super) answered_at_ms: Option<i64>,
    pub(super) node: i32,
    pub(super) connection: u64,
    pub(super) client_id: String,
    pub(super) api: &'static str,
    pub(super) version: i16,
    pub(super) correlation_id: i32,
    pub(super) outcome: String,
    /// Why the connection was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    pub(super) fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<serde_json::Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct Id {
    pub(super) id: u64,
}
#[derive(Debug, Serialize)]
pub(super) struct BrokerId {
    pub(super) id: i32,
}
#[derive(Debug, Serialize)]
pub(super) struct Count {
    pub(super) count: u64,
}
#[derive(Debug, Serialize)]
pub(super) struct Time {
    pub(super) time_ms: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewTopic {
    pub(super) name: String,
    #[serde(default = "one")]
    pub(super) partitions: usize,
    pub(super) replication_factor: Option<usize>,
    #[serde(default)]
    pub(super) config: BTreeMap<String, String>,
}
const fn one() -> usize {
    1
}
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spoil {
    pub(super) partition: i32,
    pub(super) offset: i64,
}
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LeaderMove {
    pub(super) topic: String,
    pub(super) partition: i32,
    /// None: nobody leads.
    pub(super) node: Option<i32>,
    #[serde(default)]
    pub(super) keeps_epoch: bool,
}
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewTerm {
    pub(super) topic: String,
    pub(super) partition: i32,
}
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LeaderAnswer {
    pub(super) topic: String,
    pub(super) partition: i32,
    pub(super) node: i32,
    pub(super) leader_epoch: i32,
}
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Follower {
    pub(super) topic: String,
    pub(super) partition: i32,
    pub(super) node: i32,
}
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FollowerAt {
    pub(super) topic: String,
    pub(super) partition: i32,
    pub(super) node: i32,
    pub(super) offset: i64,
}
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Versions {
    pub(super) min: i16,
    pub(super) max: i16,
}
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CoordinatorMove {
    pub(super) id: String,
    pub(super) node: i32,
}
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ControllerMove {
    pub(super) node: i32,
}
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Advance {
    pub(super) ms: u64,
}
