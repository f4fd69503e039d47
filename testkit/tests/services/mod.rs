//! What tests with programs of others stand on: a real Kafka, and scripts.

pub(crate) mod real_kafka;
pub(crate) mod scripts;
