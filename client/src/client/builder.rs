//! Options that every role shares.

use super::Client;
use super::hub::Hub;
use crate::config::{ConfigError, options};
use crate::net::parse_bootstrap;
use crate::runtime::{Runtime, TokioRuntime};
use crate::{Error, Properties};
use millstream_client_core::connection::ConnectionOptions;
use millstream_protocol::frame::Limits;
use std::sync::Arc;
use std::time::Duration;

/// Options that every role shares.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it is built"]
pub struct ClientBuilder {
    options: ClientOptions,
    runtime: Option<Arc<dyn Runtime>>,
    limits: Limits,
    problem: Option<ConfigError>,
}

options! { ClientBuilder, ClientOptions {
    /// The addresses to ask first; the rest of the cluster is learnt from them.
    "bootstrap.servers" => bootstrap_servers(impl Into<String>): String = String::new(), "none";
    /// Shows in the brokers' logs and quotas.
    "client.id" => client_id(impl Into<String>): String = "millstream".to_owned(), "`millstream`", short;
    /// Where this process runs, so that it may read from a replica nearby.
    "client.rack" => client_rack(impl Into<String>): Option<String> = None, "none";
    /// How long one request may take.
    "request.timeout.ms" => request_timeout(Duration): Duration = Duration::from_secs(30), "30 s", positive_duration;
    /// How long one operation may take, retries included.
    "default.api.timeout.ms" => default_api_timeout(Duration): Duration = Duration::from_secs(60), "1 min", positive_duration;
    /// How old the picture of the cluster may become.
    "metadata.max.age.ms" => metadata_max_age(Duration): Duration = Duration::from_secs(300), "5 min", positive_duration;
    /// How long a topic that nobody uses is still looked at.
    "metadata.max.idle.ms" => metadata_max_idle(Duration): Duration = Duration::from_secs(300), "5 min";
    /// How long a topic that the brokers do not know may still be on its way to them, before it is said not to exist. A key of librdkafka's.
    "topic.metadata.propagation.max.ms" => topic_propagation(Duration): Duration = Duration::from_secs(30), "30 s";
    /// How long opening a connection may take, over all addresses of the host.
    "socket.connection.setup.timeout.ms" => socket_connection_setup_timeout(Duration): Duration = Duration::from_secs(10), "10 s", positive_duration;
    /// The first wait before a broker that could not be reached is tried again; it doubles, give or take a fifth.
    "reconnect.backoff.ms" => reconnect_backoff(Duration): Duration = Duration::from_millis(50), "50 ms";
    /// The longest such wait.
    "reconnect.backoff.max.ms" => reconnect_backoff_max(Duration): Duration = Duration::from_secs(1), "1 s";
    /// The first wait before a request that failed is tried again; it doubles, give or take a fifth.
    "retry.backoff.ms" => retry_backoff(Duration): Duration = Duration::from_millis(100), "100 ms";
    /// The longest such wait.
    "retry.backoff.max.ms" => retry_backoff_max(Duration): Duration = Duration::from_secs(1), "1 s";
    /// How connections are secured. Only `PLAINTEXT` so far.
    "security.protocol" => security_protocol(impl Into<String>): String = "PLAINTEXT".to_owned(), "`PLAINTEXT`", plain_text;
}}

impl ClientBuilder {
    /// Kafka's keys of the options that every role shares.
    pub const KEYS: &'static [&'static str] = ClientOptions::KEYS;

    pub(super) fn new(bootstrap_servers: String) -> Self {
        Self::empty().bootstrap_servers(bootstrap_servers)
    }
    pub(crate) fn empty() -> Self {
        Self { options: ClientOptions::default(), runtime: None, limits: ConnectionOptions::limits(), problem: None }
    }
    pub(super) fn from_properties(properties: &Properties) -> Self {
        properties.iter().fold(Self::empty(), |builder, (key, value)| builder.set(key, value))
    }
    /// Sets an option by Kafka's key. What is wrong with it comes out of `build`. A key that another role has, or a JVM alone,
    /// is skipped; one that nobody has is an error that suggests the nearest.
    pub fn set(mut self, key: &str, value: &str) -> Self {
        let set = self.try_set(key, value).unwrap_or_else(|| crate::config::check_foreign(key));
        self.problem = self.problem.or(set.err());
        self
    }
    /// How large a broker's answer may be, and what reading it may cost: answers beyond are refused, and their connection
    /// ends. The default takes frames of up to 256 MiB.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
    /// Runs on another runtime than the one that the caller is in.
    pub fn runtime(mut self, runtime: Arc<dyn Runtime>) -> Self {
        self.runtime = Some(runtime);
        self
    }
    /// Connects, once every address has been tried.
    ///
    /// # Errors
    ///
    /// When an option cannot be, or no address answers within `request.timeout.ms`; the error says what happened to each.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn build(self) -> Result<Client, Error> {
        self.build_lazy()?.connected().await
    }
    /// Connects when first used, for a process that may start before its cluster.
    ///
    /// # Errors
    ///
    /// When an option cannot be, or the caller is in no tokio runtime and names none.
    pub fn build_lazy(self) -> Result<Client, Error> {
        if let Some(problem) = self.problem {
            return Err(problem.into());
        }
        self.options.check()?;
        let bootstrap = parse_bootstrap(&self.options.bootstrap_servers)?;
        let runtime = match self.runtime {
            Some(runtime) => runtime,
            None => Arc::new(TokioRuntime::current()?),
        };
        Ok(Client::start(Hub::new(self.options, bootstrap, runtime, self.limits)))
    }

    pub(crate) fn try_set(&mut self, key: &str, value: &str) -> Option<Result<(), ConfigError>> {
        self.options.set_text(key, value)
    }
}
