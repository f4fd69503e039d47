//! Replays a case and compares.

use super::case::{Case, bytes, encoded, headers, lines, timestamp};
use super::topologies::{Setup, Trace};
use bytes::Bytes;
use millstream_processor_core::Subtopology;
use millstream_processor_core::failure::TaskError;
use millstream_protocol::{Headers, Timestamp};
use millstream_testkit::{DriverRecord, TopologyTestDriver};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

type Outcome = Result<(), String>;
/// A record for comparing: topic, key, value, time, headers.
type Row = (String, Option<Bytes>, Option<Bytes>, Timestamp, Headers);

pub(crate) fn replay(case: &Case, setup: Setup) -> Outcome {
    let Setup { topology, options, trace, query } = setup;
    let is_refused = case.field("build_error").or(case.field("start_error")).is_some();
    let topology = match topology {
        Ok(_) if is_refused => return Err("it was to be refused".to_owned()),
        Err(_) if is_refused => return Ok(()),
        Err(error) => return Err(format!("it was refused: {error}")),
        Ok(topology) => topology,
    };
    same(
        "describe",
        &topology.describe(),
        &case.field("describe").and_then(Value::as_str).unwrap_or_default().to_owned(),
    )?;
    let groups = topology.subtopologies().to_vec();
    let mut driver = TopologyTestDriver::try_new(topology, options).map_err(|error| error.to_string())?;
    same("init_trace", &trace.take(), &lines(case.field("init_trace")))?;
    let has_failed = case.steps().last().is_some_and(|step| step.get("error").is_some());
    for (number, step) in case.steps().iter().enumerate() {
        let (before, dropped) = (driver.records().len(), driver.dropped_records());
        let replay = Step { driver: &driver, groups: &groups, before, dropped };
        replay.step(step, query.as_deref(), &trace).map_err(|problem| format!("step {number}: {problem}"))?;
    }
    if has_failed {
        return Ok(());
    }
    stores(case, &driver)?;
    let _ = trace.take();
    driver.crash_and_restart();
    stores(case, &driver).map_err(|problem| format!("after a crash: {problem}"))?;
    let _ = trace.take();
    driver.close();
    same("close_trace", &trace.take(), &lines(case.field("close_trace")))
}

struct Step<'d> {
    groups: &'d [Subtopology],
    driver: &'d TopologyTestDriver,
    before: usize,
    dropped: u64,
}
/// Answers a read of a store by the words of the case.
pub(crate) type Query = dyn Fn(&TopologyTestDriver, &str) -> Value;

impl Step<'_> {
    fn step(&self, step: &Value, query: Option<&Query>, trace: &Trace) -> Outcome {
        if let Some(asked) = step.get("query") {
            let query = query.ok_or("nobody answers queries")?;
            let call = asked["call"].as_str().unwrap_or_default();
            return same(call, &query(self.driver, call), &step["result"]);
        }
        let result = self.act(step);
        same("outputs", &self.by_group(self.written(false)), &self.by_group(rows(step, false)))?;
        same("changelogs", &last_writes(self.written(true)), &last_writes(rows(step, true)))?;
        same("trace", &trace.take(), &lines(step.get("trace")))?;
        match (result, step.get("error")) {
            (Err(error), None) => return Err(format!("it failed: {error}")),
            (Ok(()), Some(error)) => return Err(format!("it was to fail: {error}")),
            (Err(_), Some(_)) => return Ok(()),
            (Ok(()), None) => {}
        }
        let dropped = self.driver.dropped_records() - self.dropped;
        same("dropped_records", &dropped, &step.get("dropped_records").and_then(Value::as_u64).unwrap_or(0))
    }
    fn act(&self, step: &Value) -> Result<(), TaskError> {
        if let Some(by) = step.get("advance_wall_clock_ms").and_then(Value::as_u64) {
            return self.driver.try_advance_wall_clock(Duration::from_millis(by));
        }
        let record = &step["pipe"];
        let topic = record["topic"].as_str().expect("a record has a topic");
        let (key, value) = (bytes(record, "key"), bytes(record, "value"));
        self.driver.try_pipe_bytes(topic, key, value, timestamp(record), &headers(record))
    }
    /// In the order of what wrote them: between sub-topologies there is none, where records of one time lie in several topics.
    fn by_group(&self, mut rows: Vec<Row>) -> Vec<Row> {
        let is_of = |group: &Subtopology, topic: &str| {
            group.sink_topics().iter().any(|sink| sink.full_name("golden") == *topic)
        };
        rows.sort_by_key(|(topic, ..)| self.groups.iter().position(|group| is_of(group, topic)));
        rows
    }
    fn written(&self, changelogs: bool) -> Vec<Row> {
        let records = self.driver.records().into_iter().skip(self.before);
        records.map(row).filter(|(topic, ..)| is_changelog(topic) == changelogs).collect()
    }
}

fn is_changelog(topic: &str) -> bool {
    topic.ends_with("-changelog")
}
fn row(record: DriverRecord) -> Row {
    let headers = without_words(&record.headers);
    (record.topic.to_string(), record.key, record.value, record.timestamp, headers)
}
fn rows(step: &Value, changelogs: bool) -> Vec<Row> {
    let outputs = step["outputs"].as_array().into_iter().flatten();
    let row = |record: &Value| {
        let topic = record["topic"].as_str().expect("a record has a topic").to_owned();
        (topic, bytes(record, "key"), bytes(record, "value"), timestamp(record), without_words(&headers(record)))
    };
    outputs.map(row).filter(|(topic, ..)| is_changelog(topic) == changelogs).collect()
}
/// What went wrong is said in words of our own.
fn without_words(headers: &Headers) -> Headers {
    let is_words = |name: &str| {
        ["exception", "message", "stacktrace"].iter().any(|word| name.strip_prefix("__streams.errors.") == Some(word))
    };
    let mut same = Headers::new();
    for header in headers.iter() {
        let value = header.value.filter(|_| !is_words(header.name));
        same.push(header.name, value.map(Bytes::copy_from_slice));
    }
    same
}
/// A commit writes one record per dirty key, Kafka Streams one per put.
fn last_writes(rows: Vec<Row>) -> BTreeMap<(String, Option<Bytes>), (Option<Bytes>, Timestamp)> {
    rows.into_iter().map(|(topic, key, value, time, _)| ((topic, key), (value, time))).collect()
}

fn stores(case: &Case, driver: &TopologyTestDriver) -> Outcome {
    for (name, store) in case.field("stores").and_then(Value::as_object).into_iter().flatten() {
        let format = |part: &str| case.store_format(name, part);
        let part = |entry: &Value, part: &str| Some(encoded(&entry[part], &format(part)));
        let entry = |entry: &Value| (part(entry, "key"), part(entry, "value"), timestamp(entry));
        let expected: Vec<_> = store["entries"].as_array().into_iter().flatten().map(entry).collect();
        let entries = driver.store_entries(name).into_iter();
        let found: Vec<_> = entries.map(|record| (record.key, record.value, record.timestamp)).collect();
        same(&format!("store `{name}`"), &found, &expected)?;
    }
    Ok(())
}
fn same<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what}:\n   found {found:?}\nexpected {expected:?}")) }
}
