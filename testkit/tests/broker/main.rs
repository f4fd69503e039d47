//! Conversations with the embedded cluster, frame by frame over TCP.

mod acls;
mod admin;
mod apis;
mod client;
mod cluster;
mod consumer_groups;
mod coordinator;
mod faults;
mod fetching;
mod groups;
mod hostile;
mod looking;
mod offsets;
mod producing;
mod replication;
mod sasl;
#[cfg(feature = "tls")]
mod tls;
mod topics;
mod topology;
mod transactions;
mod versions;
