//! Administers a cluster. Methods are grouped by what they are about; each takes many items and answers for each one.

mod brokers;
mod configs;
mod groups;
pub(crate) mod list_offsets;
mod per_item;
mod topics;
mod transactions;

pub use configs::{ConfigEntry, ConfigResource, Configs};
pub use groups::{GroupDescription, GroupListing, GroupState, GroupType, Groups, MemberDescription};
pub use per_item::PerItem;
pub use topics::{NewTopic, PartitionDescription, TopicDescription, Topics};
pub use transactions::{
    ProducerDescription, TransactionDescription, TransactionListing, TransactionState, Transactions,
};

use crate::{Client, ClientSource, Error};
use millstream_protocol::messages::StrBytes;
use std::time::Duration;

/// Administers a cluster. Cheap to clone.
///
/// ```no_run
/// # async fn set_up() -> Result<(), millstream_client::Error> {
/// use millstream_client::{Admin, admin::NewTopic};
/// let admin = Admin::connect("localhost:9092").await?;
/// admin.topics().create([NewTopic::new("orders").partitions(12)]).await?.all()?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Admin {
    client: Client,
}

impl Admin {
    /// Connects.
    ///
    /// # Errors
    ///
    /// When an option cannot be, or no address answers; the error says what happened to each.
    ///
    /// # Cancel safety
    ///
    /// Dropped early, it leaves nothing behind.
    pub async fn connect(client: impl Into<ClientSource> + Send) -> Result<Self, Error> {
        Ok(Self::of(client.into().connect().await?))
    }
    pub(crate) const fn of(client: Client) -> Self {
        Self { client }
    }
    /// Topics and partitions.
    #[must_use]
    pub const fn topics(&self) -> Topics<'_> {
        Topics::of(&self.client)
    }
    /// Options of topics and brokers.
    #[must_use]
    pub const fn configs(&self) -> Configs<'_> {
        Configs::of(&self.client)
    }
    /// Groups, their members and offsets.
    #[must_use]
    pub const fn groups(&self) -> Groups<'_> {
        Groups::of(&self.client)
    }
    /// Producers and open transactions.
    #[must_use]
    pub const fn transactions(&self) -> Transactions<'_> {
        Transactions::of(&self.client)
    }
}

impl Client {
    /// Administration over these connections.
    #[must_use]
    pub fn admin(&self) -> Admin {
        Admin::of(self.clone())
    }
}

/// Milliseconds as requests carry them.
fn millis(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
}

/// Text as messages carry it.
fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}
