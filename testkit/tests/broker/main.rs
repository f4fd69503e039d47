//! Conversations with the embedded cluster, frame by frame over TCP.

mod apis;
mod client;
mod cluster;
mod fetching;
mod groups;
mod hostile;
mod offsets;
mod producing;
mod topics;
mod transactions;
