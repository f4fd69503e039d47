//! Where a role's connections come from.

use super::{Client, ClientBuilder};
use crate::Error;
use crate::config::{ConfigError, check_foreign};
use crate::runtime::Runtime;
use std::sync::Arc;

/// Where a role's connections come from: an address, a builder, or a client that is already there.
#[derive(Debug, Clone)]
pub struct ClientSource(Source);

#[derive(Debug, Clone)]
enum Source {
    Builder(Box<ClientBuilder>),
    Client(Client),
}

impl ClientSource {
    /// Names no brokers yet: the option `bootstrap.servers` is to.
    #[must_use]
    pub fn unset() -> Self {
        ClientBuilder::empty().into()
    }
    /// Sets an option of the client by its key, for a role that does not have it.
    ///
    /// # Errors
    ///
    /// When the value cannot be, nobody knows the key, or the client is already there and has its own.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        match &mut self.0 {
            Source::Builder(builder) => builder.try_set(key, value).unwrap_or_else(|| check_foreign(key)),
            Source::Client(_) if super::ClientOptions::default().set_text(key, value).is_some() => {
                Err(ConfigError::new(key, "belongs to the client, which is already there; set it on `Client::builder`"))
            }
            Source::Client(_) => check_foreign(key),
        }
    }
    /// The client, connected if it is new, or one beside it if it is there: with its tasks and connections on this runtime.
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::build`].
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn connect_on(self, runtime: Arc<dyn Runtime>) -> Result<Client, Error> {
        match self.0 {
            Source::Builder(builder) => builder.runtime(runtime).build().await,
            Source::Client(client) => Ok(client.on(runtime)),
        }
    }
    /// The client, connected if it is new.
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::build`].
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn connect(self) -> Result<Client, Error> {
        match self.0 {
            Source::Builder(builder) => builder.build().await,
            Source::Client(client) => Ok(client),
        }
    }
}

impl From<ClientBuilder> for ClientSource {
    fn from(builder: ClientBuilder) -> Self {
        Self(Source::Builder(Box::new(builder)))
    }
}
impl From<Client> for ClientSource {
    fn from(client: Client) -> Self {
        Self(Source::Client(client))
    }
}
impl From<&Client> for ClientSource {
    fn from(client: &Client) -> Self {
        client.clone().into()
    }
}
macro_rules! addresses {
    ($($ty:ty),*) => {$(
        impl From<$ty> for ClientSource {
            fn from(bootstrap_servers: $ty) -> Self {
                Client::builder(bootstrap_servers).into()
            }
        }
    )*};
}
addresses!(&str, String, &String);
