//! What the cluster looks like: brokers, topics, leaders, coordinators.
//!
//! [`Cluster`] decides when to ask and what an answer means; readers get [`Image`]s, which never change.

mod coordinators;
mod image;
mod merge;
mod refresh;

pub use coordinators::{CoordinatorKey, Coordinators};
pub use image::{Broker, Image, Partition, Topic};
pub use merge::LeaderHint;
pub use refresh::{Cluster, Creation, RefreshOptions, Wanted};

#[cfg(test)]
mod tests;
