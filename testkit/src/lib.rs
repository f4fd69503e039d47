//! A Kafka cluster inside the test process, and a driver for topologies.

mod broker;
mod cluster;

pub use cluster::{ClusterRecord, FaultRule, RequestLog, TestCluster, TestClusterBuilder};
