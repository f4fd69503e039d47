//! A Kafka cluster inside the test process, and a driver for topologies.

mod broker;
mod cluster;
mod driver;

pub use cluster::{ClusterRecord, FaultRule, RequestLog, StartError, TestCluster, TestClusterBuilder};
pub use driver::{DriverOptions, DriverRecord, TestInput, TestOutput, TopologyTestDriver};
