//! Produce and Fetch: every field is where its name says, by Kafka's JSON.

use bytes::Bytes;
use millstream_protocol::messages::{
    FetchRequest, FetchResponse, ProduceRequest, ProduceResponse, Request, fetch_response, produce_response,
};
use millstream_protocol::{ApiKey, api, frame};
use millstream_vectors::{bytes, int16, rows};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Rows of one API with the version and the body of each.
fn messages(corpus: &'static str, api: ApiKey) -> impl Iterator<Item = (i16, Bytes, Value)> {
    let rows = rows(corpus).filter(move |row| int16(row, "api") == api.get());
    rows.map(|row| (int16(&row, "version"), bytes(&row, "hex").into(), row["json"].clone()))
}

fn response<R: Request>(version: i16, body: &Bytes) -> R::Response {
    let header = 4 + usize::from(api::response_header_version(R::KEY, version) == 1);
    let payload = [&[0; 5][..header], body].concat();
    frame::decode_response::<R>(version, payload.into()).expect("Kafka wrote it").1
}

/// What was compared: by the paths of our fields, whether Kafka's JSON had one of this name at any version.
#[derive(Default)]
struct Compared(BTreeMap<String, bool>);

impl Compared {
    /// That every field of `ours` which Kafka's JSON has at this version is the same there.
    fn check(&mut self, ours: &Value, kafkas: &Value, path: &str, version: i16) {
        match ours {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let (path, theirs) = (format!("{path}.{name}"), kafkas.get(name));
                    *self.0.entry(path.clone()).or_default() |= theirs.is_some();
                    if let Some(theirs) = theirs {
                        self.check(value, theirs, &path, version);
                    }
                }
            }
            Value::Array(elements) => {
                assert_eq!(Some(elements.len()), kafkas.as_array().map(Vec::len), "{path}, version {version}");
                for (value, theirs) in elements.iter().zip(kafkas.as_array().into_iter().flatten()) {
                    self.check(value, theirs, path, version);
                }
            }
            value => assert_eq!(value, kafkas, "{path}, version {version}"),
        }
    }
    /// A name that no version had would have compared nothing.
    fn end(self) {
        let unknown: Vec<_> = self.0.iter().filter(|(_, found)| !**found).map(|(path, _)| path).collect();
        assert!(!self.0.is_empty() && unknown.is_empty(), "Kafka has no fields {unknown:?}");
    }
}

#[test]
fn fields_of_a_produce_request_have_kafkas_values() {
    let mut compared = Compared::default();
    for (version, body, kafkas) in messages("messages-requests", ApiKey::PRODUCE) {
        let request: ProduceRequest = frame::decode_request(version, body).expect("Kafka wrote it");
        let topics = request.topic_data.iter().map(|topic| {
            let indexes = topic.partition_data.iter().map(|partition| json!({ "index": partition.index }));
            json!({ "name": topic.name.as_str(), "partitionData": indexes.collect::<Vec<_>>() })
        });
        let ours = json!({
            "transactionalId": request.transactional_id.as_deref(),
            "acks": request.acks,
            "timeoutMs": request.timeout_ms,
            "topicData": topics.collect::<Vec<_>>(),
        });
        compared.check(&ours, &kafkas, "", version);
    }
    compared.end();
}

#[test]
fn fields_of_a_produce_response_have_kafkas_values() {
    let mut compared = Compared::default();
    for (version, body, kafkas) in messages("messages-responses", ApiKey::PRODUCE) {
        let response: ProduceResponse = response::<ProduceRequest>(version, &body);
        let topics = response.responses.iter().map(|topic| {
            let partitions = topic.partition_responses.iter().map(produced).collect::<Vec<_>>();
            json!({ "name": topic.name.as_str(), "partitionResponses": partitions })
        });
        let ours = json!({ "throttleTimeMs": response.throttle_time_ms, "responses": topics.collect::<Vec<_>>() });
        compared.check(&ours, &kafkas, "", version);
    }
    compared.end();
}

fn produced(partition: &produce_response::PartitionProduceResponse) -> Value {
    let errors = partition.record_errors.iter().map(|error| {
        json!({ "batchIndex": error.batch_index, "batchIndexErrorMessage": error.batch_index_error_message.as_deref() })
    });
    json!({
        "index": partition.index,
        "errorCode": partition.error_code,
        "baseOffset": partition.base_offset,
        "logAppendTimeMs": partition.log_append_time_ms,
        "logStartOffset": partition.log_start_offset,
        "errorMessage": partition.error_message.as_deref(),
        "recordErrors": errors.collect::<Vec<_>>(),
        "currentLeader": {
            "leaderId": partition.current_leader.leader_id,
            "leaderEpoch": partition.current_leader.leader_epoch,
        },
    })
}

#[test]
fn fields_of_a_fetch_request_have_kafkas_values() {
    let mut compared = Compared::default();
    for (version, body, kafkas) in messages("messages-requests", ApiKey::FETCH) {
        let request: FetchRequest = frame::decode_request(version, body).expect("Kafka wrote it");
        let topics = request.topics.iter().map(|topic| {
            let partitions = topic.partitions.iter().map(|partition| {
                json!({
                    "partition": partition.partition,
                    "currentLeaderEpoch": partition.current_leader_epoch,
                    "fetchOffset": partition.fetch_offset,
                    "lastFetchedEpoch": partition.last_fetched_epoch,
                    "logStartOffset": partition.log_start_offset,
                    "partitionMaxBytes": partition.partition_max_bytes,
                    "highWatermark": partition.high_watermark,
                })
            });
            json!({ "topic": topic.topic.as_str(), "partitions": partitions.collect::<Vec<_>>() })
        });
        let forgotten = request.forgotten_topics_data.iter();
        let forgotten = forgotten.map(|topic| json!({ "topic": topic.topic.as_str(), "partitions": topic.partitions }));
        let ours = json!({
            "clusterId": request.cluster_id.as_deref(),
            "replicaId": request.replica_id,
            "replicaState": {
                "replicaId": request.replica_state.replica_id,
                "replicaEpoch": request.replica_state.replica_epoch,
            },
            "maxWaitMs": request.max_wait_ms,
            "minBytes": request.min_bytes,
            "maxBytes": request.max_bytes,
            "isolationLevel": request.isolation_level,
            "sessionId": request.session_id,
            "sessionEpoch": request.session_epoch,
            "topics": topics.collect::<Vec<_>>(),
            "forgottenTopicsData": forgotten.collect::<Vec<_>>(),
            "rackId": request.rack_id.as_str(),
        });
        compared.check(&ours, &kafkas, "", version);
    }
    compared.end();
}

#[test]
fn fields_of_a_fetch_response_have_kafkas_values() {
    let mut compared = Compared::default();
    for (version, body, kafkas) in messages("messages-responses", ApiKey::FETCH) {
        let response: FetchResponse = response::<FetchRequest>(version, &body);
        let topics = response.responses.iter().map(|topic| {
            let partitions = topic.partitions.iter().map(fetched).collect::<Vec<_>>();
            json!({ "topic": topic.topic.as_str(), "partitions": partitions })
        });
        let ours = json!({
            "throttleTimeMs": response.throttle_time_ms,
            "errorCode": response.error_code,
            "sessionId": response.session_id,
            "responses": topics.collect::<Vec<_>>(),
        });
        compared.check(&ours, &kafkas, "", version);
    }
    compared.end();
}

fn fetched(partition: &fetch_response::PartitionData) -> Value {
    let aborted = partition.aborted_transactions.as_ref().map(|list| {
        let each = |one: &fetch_response::AbortedTransaction| {
            json!({ "producerId": one.producer_id, "firstOffset": one.first_offset })
        };
        list.iter().map(each).collect::<Vec<_>>()
    });
    json!({
        "partitionIndex": partition.partition_index,
        "errorCode": partition.error_code,
        "highWatermark": partition.high_watermark,
        "lastStableOffset": partition.last_stable_offset,
        "logStartOffset": partition.log_start_offset,
        "divergingEpoch": {
            "epoch": partition.diverging_epoch.epoch,
            "endOffset": partition.diverging_epoch.end_offset,
        },
        "currentLeader": {
            "leaderId": partition.current_leader.leader_id,
            "leaderEpoch": partition.current_leader.leader_epoch,
        },
        "snapshotId": { "endOffset": partition.snapshot_id.end_offset, "epoch": partition.snapshot_id.epoch },
        "abortedTransactions": aborted,
        "preferredReadReplica": partition.preferred_read_replica,
    })
}
