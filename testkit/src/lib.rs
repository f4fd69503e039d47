//! A Kafka cluster inside the test process, and a driver for topologies.

mod broker;
mod cluster;
mod driver;
pub mod faults;

pub use broker::SecurityProtocol;
pub use cluster::{
    AnyRequest, ApiCoverage, ClusterRecord, Coverage, Expectation, FaultRule, LoggedRequest, Outcome, Parked, Reaction,
    RequestLog, StartError, TestCluster, TestClusterBuilder, VersionCoverage,
};
#[cfg(feature = "tls")]
pub use cluster::{ClientCertificate, ClusterTls, TlsFiles};
pub use driver::{DriverOptions, DriverRecord, TestInput, TestOutput, TopologyTestDriver};
