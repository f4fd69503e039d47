//! Topics and partitions.

use super::list_offsets;
use super::per_item::{PerItem, judged, shared_code};
use super::{millis, text};
use crate::client::{Call, Client, Target};
use crate::consumer::IsolationLevel;
use crate::{Error, OffsetSpec};
use millstream_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use millstream_protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use millstream_protocol::messages::delete_topics_request::DeleteTopicState;
use millstream_protocol::messages::metadata_request::MetadataRequestTopic;
use millstream_protocol::messages::metadata_response::{MetadataResponsePartition, MetadataResponseTopic};
use millstream_protocol::messages::{
    BrokerId, CreatePartitionsRequest, CreatePartitionsResponse, CreateTopicsRequest, CreateTopicsResponse,
    DeleteTopicsRequest, DeleteTopicsResponse, MetadataRequest, StrBytes,
};
use millstream_protocol::{ErrorCode, NodeId, Offset, PartitionId, TopicName, TopicPartition};

/// A topic to create; partitions and replicas are the broker's defaults unless given.
#[derive(Debug, Clone)]
#[must_use = "it is created by `Topics::create`"]
pub struct NewTopic {
    name: TopicName,
    partitions: Option<i32>,
    replication_factor: Option<i16>,
    replicas: Vec<Vec<NodeId>>,
    configs: Vec<(String, String)>,
}

impl NewTopic {
    /// A topic.
    pub fn new(name: impl Into<TopicName>) -> Self {
        Self {
            name: name.into(),
            partitions: None,
            replication_factor: None,
            replicas: Vec::new(),
            configs: Vec::new(),
        }
    }
    /// How many partitions.
    pub const fn partitions(mut self, count: i32) -> Self {
        self.partitions = Some(count);
        self
    }
    /// How many replicas of each.
    pub const fn replication_factor(mut self, count: i16) -> Self {
        self.replication_factor = Some(count);
        self
    }
    /// Which brokers hold each partition, instead.
    pub fn replicas<R: IntoIterator<Item = NodeId>>(mut self, per_partition: impl IntoIterator<Item = R>) -> Self {
        self.replicas = per_partition.into_iter().map(|nodes| nodes.into_iter().collect()).collect();
        self
    }
    /// A topic option, by Kafka's key.
    pub fn config(mut self, key: &str, value: &str) -> Self {
        self.configs.push((key.to_owned(), value.to_owned()));
        self
    }

    fn on_the_wire(&self) -> CreatableTopic {
        let assignments = self.replicas.iter().zip(0..).map(|(nodes, partition)| {
            let nodes = nodes.iter().map(|node| BrokerId(node.get())).collect();
            CreatableReplicaAssignment::default().with_partition_index(partition).with_broker_ids(nodes)
        });
        let configs = self
            .configs
            .iter()
            .map(|(key, value)| CreatableTopicConfig::default().with_name(text(key)).with_value(Some(text(value))));
        // -1 is the broker's default (KIP-464), and what replicas given one by one ask for.
        CreatableTopic::default()
            .with_name(text(self.name.as_str()).into())
            .with_num_partitions(self.partitions.unwrap_or(-1))
            .with_replication_factor(self.replication_factor.unwrap_or(-1))
            .with_assignments(assignments.collect())
            .with_configs(configs.collect())
    }
}

/// A topic as it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TopicDescription {
    /// Its name.
    pub name: TopicName,
    /// Whether it is the cluster's own, such as `__consumer_offsets`.
    pub is_internal: bool,
    /// Its partitions, in order.
    pub partitions: Vec<PartitionDescription>,
}
/// A partition as it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PartitionDescription {
    /// Its index.
    pub partition: PartitionId,
    /// Who leads it, if anyone does.
    pub leader: Option<NodeId>,
    /// Who should have it.
    pub replicas: Vec<NodeId>,
    /// Who has all of it.
    pub in_sync_replicas: Vec<NodeId>,
}

/// Topics and partitions.
#[derive(Debug, Clone, Copy)]
pub struct Topics<'a> {
    client: &'a Client,
}

impl<'a> Topics<'a> {
    pub(super) const fn of(client: &'a Client) -> Self {
        Self { client }
    }

    /// Creates topics, and answers for each.
    ///
    /// # Errors
    ///
    /// When the controller could not be asked within `default.api.timeout.ms`.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the topics may or may not be created.
    pub async fn create<I>(&self, topics: I) -> Result<PerItem<TopicName, ()>, Error>
    where
        I: IntoIterator<Item = NewTopic> + Send,
    {
        let wanted: Vec<_> = topics.into_iter().map(|topic| topic.on_the_wire()).collect();
        if wanted.is_empty() {
            return Ok(PerItem::new());
        }
        let names: Vec<_> = wanted.iter().map(|topic| topic.name.as_str()).collect();
        let call = Call::new(format!("create {}", named("topic", &names)), Target::Controller);
        let timeout = millis(self.client.options().request_timeout);
        let request = move |_| CreateTopicsRequest::default().with_topics(wanted.clone()).with_timeout_ms(timeout);
        let code = |answer: &CreateTopicsResponse| shared_code(answer.topics.iter().map(|topic| topic.error_code));
        let reply = self.client.call::<CreateTopicsRequest>(call, request, code).await?;
        let answers = reply.body.topics.iter();
        Ok(answers
            .map(|topic| answer("create", topic.name.as_str(), topic.error_code, topic.error_message.as_ref()))
            .collect())
    }

    /// Deletes topics and all their records, and answers for each. The broker deletes in the background: for a moment a name may still
    /// be listed, and be refused for a new topic.
    ///
    /// # Errors
    ///
    /// When the controller could not be asked within `default.api.timeout.ms`.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the topics may or may not be deleted.
    pub async fn delete<I, T>(&self, topics: I) -> Result<PerItem<TopicName, ()>, Error>
    where
        I: IntoIterator<Item = T> + Send,
        T: Into<TopicName>,
    {
        let wanted: Vec<TopicName> = topics.into_iter().map(Into::into).collect();
        if wanted.is_empty() {
            return Ok(PerItem::new());
        }
        let names: Vec<_> = wanted.iter().map(TopicName::as_str).collect();
        let call = Call::new(format!("delete {}", named("topic", &names)), Target::Controller);
        let timeout = millis(self.client.options().request_timeout);
        let request = move |version| delete_request(&wanted, version).with_timeout_ms(timeout);
        let code = |answer: &DeleteTopicsResponse| {
            // A topic that is not there is an answer, not a reason to ask again.
            let codes = answer.responses.iter().map(|topic| topic.error_code);
            shared_code(codes.map(|code| if code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.get() { 0 } else { code }))
        };
        let reply = self.client.call::<DeleteTopicsRequest>(call, request, code).await?;
        let answers = reply.body.responses.iter().filter_map(|topic| {
            Some(answer("delete", topic.name.as_ref()?.as_str(), topic.error_code, topic.error_message.as_ref()))
        });
        Ok(answers.map(|(name, result)| (name, result.map_err(not_deleted))).collect())
    }

    /// The names of all topics but the cluster's own.
    ///
    /// # Errors
    ///
    /// When no broker could be asked within `default.api.timeout.ms`.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn list(&self) -> Result<Vec<TopicName>, Error> {
        let call = Call::new("list topics", Target::Any);
        // No list means all, but for version 0, where an empty one does.
        let all = |version| {
            let topics = if version == 0 { Some(Vec::new()) } else { None };
            MetadataRequest::default().with_topics(topics).with_allow_auto_topic_creation(false)
        };
        let reply = self.client.call::<MetadataRequest>(call, all, |_| ErrorCode::NONE).await?;
        let shown = reply.body.topics.iter().filter(|topic| !topic.is_internal);
        Ok(shown.filter_map(|topic| topic.name.as_ref()).map(|name| TopicName::from(name.as_str())).collect())
    }

    /// Topics as they are.
    ///
    /// # Errors
    ///
    /// When no broker could be asked within `default.api.timeout.ms`.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn describe<I, T>(&self, topics: I) -> Result<PerItem<TopicName, TopicDescription>, Error>
    where
        I: IntoIterator<Item = T> + Send,
        T: Into<TopicName>,
    {
        let wanted: Vec<TopicName> = topics.into_iter().map(Into::into).collect();
        if wanted.is_empty() {
            return Ok(PerItem::new());
        }
        let names: Vec<_> = wanted.iter().map(TopicName::as_str).collect();
        let call = Call::new(format!("describe {}", named("topic", &names)), Target::Any);
        let request = move |_| {
            let topics =
                wanted.iter().map(|name| MetadataRequestTopic::default().with_name(Some(text(name.as_str()).into())));
            MetadataRequest::default().with_topics(Some(topics.collect())).with_allow_auto_topic_creation(false)
        };
        let reply = self.client.call::<MetadataRequest>(call, request, |_| ErrorCode::NONE).await?;
        Ok(reply.body.topics.iter().filter_map(described).collect())
    }

    /// Grows topics to this many partitions; keys may move to others.
    ///
    /// # Errors
    ///
    /// When the controller could not be asked within `default.api.timeout.ms`.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the topics may or may not have grown.
    pub async fn create_partitions<I, T>(&self, to: I) -> Result<PerItem<TopicName, ()>, Error>
    where
        I: IntoIterator<Item = (T, i32)> + Send,
        T: Into<TopicName>,
    {
        let wanted: Vec<_> = to
            .into_iter()
            .map(|(name, count)| (name.into(), count))
            .map(|(name, count): (TopicName, i32)| {
                let name = text(name.as_str()).into();
                CreatePartitionsTopic::default().with_name(name).with_count(count).with_assignments(None)
            })
            .collect();
        if wanted.is_empty() {
            return Ok(PerItem::new());
        }
        let call = Call::new(format!("create partitions of {} topic(s)", wanted.len()), Target::Controller);
        let timeout = millis(self.client.options().request_timeout);
        let request = move |_| CreatePartitionsRequest::default().with_topics(wanted.clone()).with_timeout_ms(timeout);
        let code = |answer: &CreatePartitionsResponse| shared_code(answer.results.iter().map(|topic| topic.error_code));
        let reply = self.client.call::<CreatePartitionsRequest>(call, request, code).await?;
        let answers = reply.body.results.iter();
        Ok(answers
            .map(|topic| {
                answer("create partitions of", topic.name.as_str(), topic.error_code, topic.error_message.as_ref())
            })
            .collect())
    }

    /// The offset that each spec means now; `Latest` counts records of open transactions too. A time after the last record has none.
    ///
    /// # Errors
    ///
    /// Only for single partitions: each answer tells.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn offsets<I>(&self, specs: I) -> Result<PerItem<TopicPartition, Option<Offset>>, Error>
    where
        I: IntoIterator<Item = (TopicPartition, OffsetSpec)> + Send,
    {
        let specs = specs.into_iter().collect();
        Ok(list_offsets::resolve(self.client, specs, IsolationLevel::ReadUncommitted).await)
    }
}

fn delete_request(topics: &[TopicName], version: i16) -> DeleteTopicsRequest {
    let names = topics.iter().map(|name| text(name.as_str()).into());
    if version >= 6 {
        let states = names.map(|name| DeleteTopicState::default().with_name(Some(name)));
        DeleteTopicsRequest::default().with_topics(states.collect())
    } else {
        DeleteTopicsRequest::default().with_topic_names(names.collect())
    }
}

/// What was done to a topic, or why it was not.
fn answer(doing: &str, name: &str, code: i16, message: Option<&StrBytes>) -> (TopicName, Result<(), Error>) {
    let operation = format!("{doing} topic `{name}`");
    (TopicName::from(name), judged_topic(code, message.map(|message| &**message), &operation))
}

/// Whoever deletes a topic that is not there is not to create it.
fn not_deleted(error: Error) -> Error {
    match error.code() {
        Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) => error.reason("the cluster has no such topic; check its name"),
        _ => error,
    }
}

/// A broker's word on a topic. Kafka's own words for one that does not exist help nobody.
fn judged_topic(code: i16, message: Option<&str>, operation: &str) -> Result<(), Error> {
    match ErrorCode::new(code) {
        missing @ ErrorCode::UNKNOWN_TOPIC_OR_PARTITION => Err(Error::topic(missing, operation)),
        _ => judged(code, message, operation),
    }
}

fn described(topic: &MetadataResponseTopic) -> Option<(TopicName, Result<TopicDescription, Error>)> {
    let name = TopicName::from(topic.name.as_ref()?.as_str());
    let answer = judged_topic(topic.error_code, None, &format!("describe topic `{name}`")).map(|()| {
        let mut partitions: Vec<_> = topic.partitions.iter().map(partition).collect();
        partitions.sort_by_key(|each| each.partition);
        TopicDescription { name: name.clone(), is_internal: topic.is_internal, partitions }
    });
    Some((name, answer))
}

fn partition(partition: &MetadataResponsePartition) -> PartitionDescription {
    let nodes = |ids: &[BrokerId]| ids.iter().map(|id| NodeId::new(id.0)).collect();
    PartitionDescription {
        partition: PartitionId::new(partition.partition_index),
        leader: Some(partition.leader_id.0).filter(|id| *id >= 0).map(NodeId::new),
        replicas: nodes(&partition.replica_nodes),
        in_sync_replicas: nodes(&partition.isr_nodes),
    }
}

/// "topic `a`", "topics `a`, `b`", "5 topics".
fn named(what: &str, names: &[&str]) -> String {
    match names {
        [one] => format!("{what} `{one}`"),
        [_, ..] if names.len() <= 3 => format!("{what}s `{}`", names.join("`, `")),
        _ => format!("{} {what}s", names.len()),
    }
}
