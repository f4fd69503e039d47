//! Links between clients and nodes: what they do to bytes on their way. `pipe` decides, without a clock or a socket; the rest does I/O.

mod conditions;
mod line;
mod link;
#[cfg(feature = "client")]
pub(crate) mod memory;
mod pipe;

pub use conditions::{LinkConditions, Way};

pub(crate) use line::{Client, Line, Transport};
pub(crate) use link::{Link, Links};
