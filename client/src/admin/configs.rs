//! Options of topics and brokers.

use super::per_item::{PerItem, judged, shared_code};
use super::text;
use crate::client::{Call, Client, Target};
use crate::{Error, ErrorKind};
use millstream_protocol::messages::describe_configs_request::DescribeConfigsResource;
use millstream_protocol::messages::describe_configs_response::{DescribeConfigsResourceResult, DescribeConfigsResult};
use millstream_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse};
use millstream_protocol::{NodeId, TopicName};

/// Whose options.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfigResource {
    /// A topic's.
    Topic(TopicName),
    /// A broker's.
    Broker(NodeId),
}

impl ConfigResource {
    /// As requests carry it: type and name.
    fn on_the_wire(&self) -> (i8, String) {
        match self {
            Self::Topic(name) => (2, name.as_str().to_owned()),
            Self::Broker(node) => (4, node.to_string()),
        }
    }
    /// A broker alone knows its own options.
    const fn target(&self) -> Target {
        match self {
            Self::Topic(_) => Target::Any,
            Self::Broker(node) => Target::Node(*node),
        }
    }
}
impl std::fmt::Display for ConfigResource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Topic(name) => write!(f, "topic `{name}`"),
            Self::Broker(node) => write!(f, "broker {node}"),
        }
    }
}

/// An option as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigEntry {
    /// Kafka's key.
    pub key: String,
    /// The value; a secret is not told.
    pub value: Option<String>,
    /// Whether nobody has set it.
    pub is_default: bool,
}

/// Options of topics and brokers.
#[derive(Debug, Clone, Copy)]
pub struct Configs<'a> {
    client: &'a Client,
}

impl<'a> Configs<'a> {
    pub(super) const fn of(client: &'a Client) -> Self {
        Self { client }
    }

    /// Options as they are.
    ///
    /// # Errors
    ///
    /// Only for single resources: each answer tells.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn describe<I>(&self, of: I) -> Result<PerItem<ConfigResource, Vec<ConfigEntry>>, Error>
    where
        I: IntoIterator<Item = ConfigResource> + Send,
    {
        let resources: Vec<_> = of.into_iter().collect();
        let mut answers = PerItem::new();
        for resource in resources {
            let answer = self.describe_one(&resource).await;
            answers.insert(resource, answer);
        }
        Ok(answers)
    }
    async fn describe_one(&self, resource: &ConfigResource) -> Result<Vec<ConfigEntry>, Error> {
        let operation = format!("describe the options of {resource}");
        let call = Call::new(operation.as_str(), resource.target());
        let (kind, name) = resource.on_the_wire();
        let request = move |_| {
            let asked = DescribeConfigsResource::default()
                .with_resource_type(kind)
                .with_resource_name(text(&name))
                .with_configuration_keys(None);
            DescribeConfigsRequest::default().with_resources(vec![asked])
        };
        let code = |answer: &DescribeConfigsResponse| shared_code(answer.results.iter().map(not_missing));
        let reply = self.client.call::<DescribeConfigsRequest>(call, request, code).await?;
        let found = reply.body.results.first();
        let found = found.ok_or_else(|| Error::new(ErrorKind::Malformed, &operation).reason("the answer is empty"))?;
        judged(found.error_code, found.error_message.as_deref(), &operation)?;
        Ok(found.configs.iter().map(entry).collect())
    }
}

/// A resource that is not there is an answer, not a reason to ask again.
const fn not_missing(found: &DescribeConfigsResult) -> i16 {
    if found.error_code == millstream_protocol::ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.get() {
        0
    } else {
        found.error_code
    }
}

fn entry(found: &DescribeConfigsResourceResult) -> ConfigEntry {
    ConfigEntry {
        key: found.name.to_string(),
        value: found.value.as_ref().map(ToString::to_string),
        is_default: found.config_source == DEFAULT_CONFIG,
    }
}

/// The source of an option that nobody has set.
const DEFAULT_CONFIG: i8 = 5;
