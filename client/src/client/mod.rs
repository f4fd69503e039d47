//! Connections, metadata and credentials of one cluster, shared by everything made from it.

mod builder;
mod call;
mod coordinator;
mod hub;
mod refresh;
mod source;
mod view;

pub use builder::ClientBuilder;
pub use source::ClientSource;

pub(crate) use builder::ClientOptions;
pub(crate) use call::{Call, Target};
pub(crate) use view::View;

use crate::runtime::{Runtime, Task};
use crate::{Error, Producer, ProducerBuilder, Properties};
use hub::Hub;
use std::sync::Arc;

/// One cluster, seen from this process. Cheap to clone; the last clone dropped closes the connections without blocking.
#[derive(Debug, Clone)]
pub struct Client(Arc<Owner>);

/// What all clones own together. The refresh task ends when it is dropped, and with it the connections.
#[derive(Debug)]
struct Owner {
    hub: Arc<Hub>,
    _refresh: Task,
}

impl Client {
    /// Starts with the addresses to ask first: `"host:9092"` or `"a:9092,b:9092"`.
    ///
    /// ```no_run
    /// # async fn connect() -> Result<(), millstream_client::Error> {
    /// let client = millstream_client::Client::builder("localhost:9092").client_id("billing").build().await?;
    /// # Ok(()) }
    /// ```
    pub fn builder(bootstrap_servers: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(bootstrap_servers.into())
    }
    /// Starts with a properties file's keys.
    pub fn from_properties(properties: &Properties) -> ClientBuilder {
        ClientBuilder::from_properties(properties)
    }
    /// A producer over these connections.
    pub fn producer(&self) -> ProducerBuilder {
        Producer::builder(self)
    }

    /// A consumer of this client's cluster.
    pub fn consumer(&self) -> crate::ConsumerBuilder {
        crate::ConsumerBuilder::new(self.into())
    }
    /// A client of the same cluster, with connections and tasks of its own on another runtime: for a thread that nothing
    /// else may hold up. It starts with what this one knows of the cluster.
    #[must_use]
    pub fn on(&self, runtime: Arc<dyn Runtime>) -> Self {
        Self::start(Hub::beside(&self.0.hub, runtime))
    }
    /// The runtime that the client's tasks run on.
    #[must_use]
    pub fn runtime(&self) -> &Arc<dyn Runtime> {
        &self.0.hub.runtime
    }

    fn start(hub: Hub) -> Self {
        let hub = Arc::new(hub);
        let refresh = hub.runtime.spawn(Box::pin(refresh::run(Arc::clone(&hub))));
        Self(Arc::new(Owner { hub, _refresh: refresh }))
    }
    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.0.hub
    }
    /// The options of the client, for what its roles share.
    pub(crate) fn options(&self) -> &ClientOptions {
        &self.0.hub.options
    }
    /// The time by the client's runtime.
    pub(crate) fn now(&self) -> std::time::Instant {
        self.0.hub.runtime.now()
    }
    /// When an operation that starts now should give up (`default.api.timeout.ms`).
    pub(crate) fn api_deadline(&self) -> std::time::Instant {
        self.now() + self.options().default_api_timeout
    }
    /// Fails unless a broker answers.
    pub(crate) async fn connected(self) -> Result<Self, Error> {
        self.hub().first_contact().await?;
        Ok(self)
    }
}
