//! Conversations with the embedded cluster, frame by frame over TCP.

mod acls;
mod admin;
mod apis;
mod bounds;
mod cleaning;
mod client;
mod cluster;
mod consumer_groups;
mod coordinator;
mod crowds;
mod expressions;
mod faults;
mod fetching;
mod groups;
mod hostile;
mod life;
mod looking;
mod offsets;
mod producing;
mod reassigning;
mod recreated;
mod repeats;
mod replication;
mod sasl;
#[path = "../services/mod.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod services;
#[cfg(feature = "tls")]
mod tls;
mod topics;
mod topology;
mod transaction_log;
mod transactions;
mod transactions_tool;
mod versions;
