//! Routes about topics and what they hold.

use super::answer::{Answer, Refusal};
use super::bodies::{NewTopic, PartitionView, RecordView, Spoil, TopicView};
use super::route::{Asked, Route};
use super::topology::check_partition;
use crate::ClusterRecord;
use crate::TestTopic;
use crate::broker::{Broker, TopicRefusal, TopicState};
use base64::Engine;
use bytes::Bytes;
use hyper::Method;
use millstream_protocol::NodeId;

/// How many records are told of at once, unless it is said.
const RECORDS: usize = 1_000;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Method::GET, "/topics", list),
        Route::new(Method::POST, "/topics", create).reading(),
        Route::new(Method::GET, "/topics/{name}", look),
        Route::new(Method::DELETE, "/topics/{name}", delete),
        Route::new(Method::POST, "/topics/{name}/recreate", recreate),
        Route::new(Method::POST, "/topics/{name}/corrupt", corrupt).reading(),
        Route::new(Method::POST, "/topics/{name}/compact", compact),
        Route::new(Method::GET, "/topics/{name}/records", records).with(&["partition", "from_offset", "limit"]),
    ]
}

fn list(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let names = asked.cluster.look(Broker::topic_names);
    let views: Vec<TopicView> = names.iter().filter_map(|name| view(asked, name)).collect();
    Answer::json(&views)
}
fn view(asked: &Asked<'_>, name: &str) -> Option<TopicView> {
    asked.cluster.look(|broker| {
        let TopicState { id, config, partitions } = broker.topic_state(name)?;
        let partitions = partitions.into_iter().map(|state| PartitionView {
            partition: state.index,
            leader: state.leader.map(NodeId::get),
            leader_epoch: state.leader_epoch,
            replicas: state.replicas.into_iter().map(NodeId::get).collect(),
            isr: state.isr.into_iter().map(NodeId::get).collect(),
            elr: state.elr.into_iter().map(NodeId::get).collect(),
            start_offset: state.start,
            high_watermark: state.high_watermark,
            end_offset: state.end,
        });
        Some(TopicView { name: name.to_owned(), id: id.to_string(), config, partitions: partitions.collect() })
    })
}
pub(super) fn missing(name: &str) -> Refusal {
    Refusal::missing(format!("there is no topic `{name}`; GET /topics names those that there are"))
}
fn look(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let name = asked.place("name");
    Answer::json(&view(asked, name).ok_or_else(|| missing(name))?)
}
fn create(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let NewTopic { name, partitions, replication_factor, config } = asked.body()?;
    let topic = TestTopic { name, partitions, replication_factor, config };
    let made = asked.cluster.with_broker(|broker| {
        if broker.controller().is_none() {
            let reason =
                "all brokers are down, so that nobody would lead it; POST /brokers/{id}/restart brings one back";
            return Err(TopicRefusal::NotNow(reason.to_owned()));
        }
        broker.try_create_topic(&topic)
    });
    made.map_err(|refusal| match refusal {
        TopicRefusal::Impossible(reason) => Refusal::bad(reason),
        TopicRefusal::NotNow(reason) => Refusal::conflict(reason),
    })?;
    Answer::created(&view(asked, &topic.name).ok_or_else(|| missing(&topic.name))?)
}
fn act(asked: &Asked<'_>, act: impl FnOnce(&mut Broker, &str) -> bool) -> Result<Answer, Refusal> {
    let name = asked.place("name");
    let is_done = asked.cluster.with_broker(|broker| act(broker, name));
    if is_done { Ok(Answer::Nothing) } else { Err(missing(name)) }
}
fn delete(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    act(asked, Broker::delete_topic)
}
fn recreate(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    act(asked, Broker::recreate_topic)
}
fn compact(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    act(asked, Broker::compact)
}
fn corrupt(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let Spoil { partition, offset } = asked.body()?;
    let name = asked.place("name");
    let spoilt = asked.cluster.with_broker(|broker| broker.spoil(name, partition, offset));
    let reason = || Refusal::missing(format!("no batch of {name}-{partition} holds offset {offset}"));
    if spoilt { Ok(Answer::Nothing) } else { Err(reason()) }
}
fn records(asked: &Asked<'_>) -> Result<Answer, Refusal> {
    let name = asked.place("name");
    let (partition, from) = (asked.query::<i32>("partition")?, asked.query::<i64>("from_offset")?);
    match partition {
        Some(index) => check_partition(asked, name, index)?,
        None if asked.cluster.look(|broker| broker.has_topic(name)) => {}
        None => return Err(missing(name)),
    }
    let limit = asked.query("limit")?.unwrap_or(RECORDS);
    let is_meant = |record: &ClusterRecord| {
        partition.is_none_or(|only| record.topic_partition.partition.get() == only)
            && from.is_none_or(|from| record.offset.get() >= from)
    };
    let records = asked.cluster.records(name).into_iter().filter(is_meant).take(limit);
    Answer::json(&records.map(record).collect::<Vec<_>>())
}
fn record(record: ClusterRecord) -> RecordView {
    let text = |bytes: &Option<Bytes>| bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let base64 =
        |bytes: &Option<Bytes>| bytes.as_ref().map(|bytes| base64::engine::general_purpose::STANDARD.encode(bytes));
    RecordView {
        partition: record.topic_partition.partition.get(),
        offset: record.offset.get(),
        timestamp: record.timestamp.as_millis(),
        key: text(&record.key),
        value: text(&record.value),
        key_base64: base64(&record.key),
        value_base64: base64(&record.value),
    }
}
