//! A Kafka cluster inside the test process, and a driver for topologies.

mod broker;
pub mod checkers;
mod cluster;
#[cfg(feature = "driver")]
mod driver;
pub mod faults;
mod network;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "simulation")]
pub mod simulation;

pub use broker::{SecurityProtocol, TestTopic};
pub use cluster::{
    AnyRequest, ApiCoverage, ClusterRecord, Coverage, Expectation, FaultRule, LinkControl, LoggedRequest, Outcome,
    Parked, Reaction, RequestLog, StartError, TestCluster, TestClusterBuilder, VersionCoverage,
};
#[cfg(feature = "tls")]
pub use cluster::{ClientCertificate, ClusterTls, TlsFiles};
#[cfg(feature = "driver")]
pub use driver::{CommitStep, DriverOptions, DriverRecord, TestInput, TestOutput, TopologyTestDriver};
pub use network::{LinkConditions, Way};
