//! The topics that a topology needs: sources must be there, internal ones are made as Kafka Streams makes them, and checked.

use crate::{StreamsError, StreamsErrorKind};
use millstream_client::admin::{ConfigResource, NewTopic, TopicDescription};
use millstream_client::runtime::{Runtime, sleep_until};
use millstream_client::{Admin, Client, Error};
use millstream_processor_core::assign::TaskPartitions;
use millstream_processor_core::{InternalTopic, InternalTopicKind, Topology};
use millstream_protocol::hash::HashMap;
use millstream_protocol::{ErrorCode, TopicName};
use std::time::Duration;

/// The topics of an application, checked.
#[derive(Debug)]
pub(crate) struct Topics {
    /// Every task with its partitions.
    pub(crate) layout: TaskPartitions,
    /// Per changelog, how long its tombstones are kept.
    pub(crate) delete_retention: HashMap<TopicName, Duration>,
    /// The topics that sinks name and that are there now.
    pub(crate) outputs: Vec<TopicName>,
}

/// What internal topics get over the defaults.
#[derive(Debug)]
pub(crate) struct TopicOptions<'a> {
    pub(crate) replication_factor: i16,
    /// `topic.*`.
    pub(crate) configs: &'a [(String, String)],
}

impl Topics {
    /// Looks at the sources, makes what is missing of the internal topics, and checks what is there.
    pub(crate) async fn prepare(
        client: &Client,
        topology: &Topology,
        application_id: &str,
        options: &TopicOptions<'_>,
    ) -> Result<Self, StreamsError> {
        let admin = client.admin();
        let sources = topology.subtopologies().iter().flat_map(|subtopology| subtopology.source_topics());
        let external: Vec<TopicName> =
            sources.filter(|topic| !topic.is_internal).map(|topic| topic.full_name(application_id)).collect();
        let mut counts = partition_counts(&admin, &external).await?;
        let internal = topology.internal_topics(application_id, |topic| counts.get(topic).copied());
        let internal = internal.map_err(|missing| missing_sources(&missing))?;
        make(&admin, client.runtime().as_ref(), &internal, options).await?;
        counts.extend(internal.iter().map(|topic| (topic.name.clone(), topic.partitions)));
        let count = |topic: &TopicName| counts.get(topic).and_then(|count| i32::try_from(*count).ok());
        let layout = topology.tasks(application_id, count);
        let outputs = known_outputs(&admin, topology, application_id);
        let (delete_retention, outputs) = tokio::join!(delete_retention(&admin, &internal), outputs);
        Ok(Self { layout, delete_retention, outputs })
    }
}

async fn partition_counts(admin: &Admin, topics: &[TopicName]) -> Result<HashMap<TopicName, usize>, StreamsError> {
    let described = admin.topics().describe(topics.to_vec()).await;
    let described =
        described.map_err(|error| StreamsError::client("look at the topics that the topology reads", error))?;
    let mut counts = HashMap::default();
    for (topic, description) in described.iter() {
        match description {
            Ok(TopicDescription { partitions, .. }) => drop(counts.insert(topic.clone(), partitions.len())),
            Err(error) if error.code() == Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) => {}
            Err(error) => {
                return Err(StreamsError::client(
                    format!("look at topic `{topic}`, which the topology reads"),
                    error.clone(),
                ));
            }
        }
    }
    Ok(counts)
}

/// The topics that sinks name, as far as they are there. What is wrong with the others is told when they are written.
async fn known_outputs(admin: &Admin, topology: &Topology, application_id: &str) -> Vec<TopicName> {
    let sinks = topology.subtopologies().iter().flat_map(|subtopology| subtopology.sink_topics());
    let names: Vec<TopicName> = sinks.map(|topic| topic.full_name(application_id)).collect();
    let described = admin.topics().describe(names).await;
    described
        .iter()
        .flat_map(|described| described.iter())
        .filter(|(_, topic)| topic.is_ok())
        .map(|(name, _)| name.clone())
        .collect()
}

fn missing_sources(missing: &[TopicName]) -> StreamsError {
    let names: Vec<String> = missing.iter().map(|topic| format!("`{topic}`")).collect();
    let (noun, verb, it) = if missing.len() == 1 { ("topic", "does", "it") } else { ("topics", "do", "them") };
    let text = format!(
        "start: {noun} {}, which the topology reads, {verb} not exist; create {it} before starting",
        names.join(", ")
    );
    StreamsError::new(text, StreamsErrorKind::Topology)
}

/// Makes what is missing. Several processes of the application may do so at once.
async fn make(
    admin: &Admin,
    runtime: &dyn Runtime,
    internal: &[InternalTopic],
    options: &TopicOptions<'_>,
) -> Result<(), StreamsError> {
    let mut wait = FIRST_WAIT;
    for _ in 0..LOOKS {
        let missing = missing(admin, internal).await?;
        if missing.is_empty() {
            return Ok(());
        }
        let wanted: Vec<NewTopic> = missing.iter().map(|topic| new_topic(topic, options)).collect();
        let created = admin.topics().create(wanted).await;
        let created =
            created.map_err(|error| StreamsError::client("create the application's internal topics", error))?;
        for (topic, answer) in created.iter() {
            if let Err(error) = answer
                && error.code() != Some(ErrorCode::TOPIC_ALREADY_EXISTS)
                && !error.is_retriable()
            {
                return Err(StreamsError::client(format!("create internal topic `{topic}`"), error.clone()));
            }
        }
        sleep_until(runtime, runtime.now() + wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
    let text = "create the application's internal topics: they were created, and brokers still do not show them";
    Err(StreamsError::new(text, StreamsErrorKind::Client))
}

/// The internal topics that are not there. One that is there must have the right number of partitions.
async fn missing<'a>(admin: &Admin, internal: &'a [InternalTopic]) -> Result<Vec<&'a InternalTopic>, StreamsError> {
    let names: Vec<TopicName> = internal.iter().map(|topic| topic.name.clone()).collect();
    let there = partition_counts(admin, &names).await?;
    let mut missing = Vec::new();
    for topic in internal {
        match there.get(&topic.name) {
            None => missing.push(topic),
            Some(count) if *count == topic.partitions => {}
            Some(count) => return Err(wrong_count(topic, *count)),
        }
    }
    Ok(missing)
}

fn wrong_count(topic: &InternalTopic, count: usize) -> StreamsError {
    let InternalTopic { name, partitions, kind, .. } = topic;
    let kind = if *kind == InternalTopicKind::Changelog { "changelog" } else { "repartition" };
    let text = format!(
        "start: {kind} topic `{name}` has {count} partitions and must have {partitions}, one for each task; \
         the number of partitions of a source topic has changed: stop all processes and reset the application"
    );
    StreamsError::new(text, StreamsErrorKind::Topology)
}

fn new_topic(topic: &InternalTopic, options: &TopicOptions<'_>) -> NewTopic {
    let partitions = i32::try_from(topic.partitions).unwrap_or(i32::MAX);
    let mut new =
        NewTopic::new(topic.name.clone()).partitions(partitions).replication_factor(options.replication_factor);
    let is_set_over = |key: &str| options.configs.iter().any(|(other, _)| other == key);
    let defaults = topic.config.iter().filter(|(key, _)| !is_set_over(key));
    for (key, value) in defaults.chain(options.configs) {
        new = new.config(key, value);
    }
    new
}

/// How long each changelog keeps tombstones; the broker's default where it does not say.
async fn delete_retention(admin: &Admin, internal: &[InternalTopic]) -> HashMap<TopicName, Duration> {
    let changelogs =
        || internal.iter().filter(|topic| topic.kind == InternalTopicKind::Changelog).map(|topic| &topic.name);
    let mut retention: HashMap<TopicName, Duration> =
        changelogs().map(|topic| (topic.clone(), DELETE_RETENTION)).collect();
    let resources: Vec<ConfigResource> = changelogs().map(|topic| ConfigResource::Topic(topic.clone())).collect();
    let described = if resources.is_empty() { return retention } else { admin.configs().describe(resources).await };
    let log =
        |error: &Error| tracing::warn!(%error, "cannot read the changelogs' delete.retention.ms; a day is assumed");
    let described = match described {
        Ok(described) => described,
        Err(error) => {
            log(&error);
            return retention;
        }
    };
    for (resource, entries) in described.iter() {
        match (resource, entries) {
            (ConfigResource::Topic(topic), Ok(entries)) => {
                let entry = entries.iter().find(|entry| entry.key == "delete.retention.ms");
                let millis = entry.and_then(|entry| entry.value.as_ref()?.parse().ok());
                retention.extend(millis.map(|millis| (topic.clone(), Duration::from_millis(millis))));
            }
            (_, Err(error)) => log(error),
            _ => {}
        }
    }
    retention
}

const LOOKS: u32 = 100;
/// Brokers show a new topic after a few milliseconds, as a rule.
const FIRST_WAIT: Duration = Duration::from_millis(2);
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// Kafka's default of `delete.retention.ms`.
const DELETE_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_sources_are_named() {
        let one = missing_sources(&[TopicName::from("orders")]).to_string();
        assert_eq!(one, "start: topic `orders`, which the topology reads, does not exist; create it before starting");
        let two = missing_sources(&[TopicName::from("a"), TopicName::from("b")]).to_string();
        assert_eq!(two, "start: topics `a`, `b`, which the topology reads, do not exist; create them before starting");
    }
}
