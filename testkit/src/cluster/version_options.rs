//! Which release of Kafka a cluster speaks as.

use super::{TestCluster, TestClusterBuilder};
use millstream_protocol::ApiKey;
use millstream_protocol::api::VersionRange;

impl TestClusterBuilder {
    /// Has the API versions and features of a Kafka release: `0.11` to `4.4`, the default. What follows from them follows: no topic ids
    /// before 2.8, none in Fetch before 3.1, no leader epochs before 2.1, no features before 3.3. An unknown version of ApiVersions is
    /// answered in version 0, any other unknown API or version ends the connection, as on that release.
    ///
    /// Versions that Kafka 4.4's schemas have no more (Fetch below 4, CreateTopics below 2 and some others, KIP-896) are not offered, and
    /// requests of them are told in the log as an error.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use millstream_testkit::TestCluster;
    ///
    /// let cluster = TestCluster::builder().kafka_version("2.8").start().await;
    /// assert!(TestCluster::builder().kafka_version("0.8").try_start().is_err());
    /// # }
    /// ```
    pub fn kafka_version(mut self, release: &str) -> Self {
        self.release = Some(release.to_owned());
        self
    }
    /// Has only these versions of an API, whatever its release has; none if `min` is above `max`.
    pub fn api_versions(mut self, api: ApiKey, min: i16, max: i16) -> Self {
        self.api_versions.push((api, VersionRange::new(min, max)));
        self
    }
}

impl TestCluster {
    /// From now on has only these versions of an API; none if `min` is above `max`. Connections that have asked before are not told.
    pub fn set_api_versions(&self, api: ApiKey, min: i16, max: i16) {
        self.with_broker(|broker| broker.set_api_versions(api, VersionRange::new(min, max)));
    }
}
