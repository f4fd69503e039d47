//! Connections: opening them, keeping them by broker and purpose, and what can go wrong on them.

mod address;
mod dial;
mod error;
mod inbox;
mod link;
mod pool;
mod row;
mod stream;
mod throttle;

pub(crate) use address::{Address, parse_bootstrap};
pub(crate) use error::{ConnectError, RequestError};
pub(crate) use link::Reply;
pub(crate) use pool::{Place, Pool, Purpose, World};
pub(crate) use row::Row;
pub(crate) use throttle::Throttled;
