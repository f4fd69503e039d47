//! Every decision of a Kafka client, without I/O: facts and the time go in, requests and deadlines come out.
//!
//! Each room is a machine, or a few: `handle_*` takes a fact in, `poll_*` gives a result out, `now` comes first. Nothing here
//! opens a socket, reads a clock or rolls dice; the shell in `millstream-client` does.

pub mod backoff;
pub mod cluster;
pub mod connection;
pub mod fetch;
pub mod group;
pub mod produce;
pub mod transaction;
