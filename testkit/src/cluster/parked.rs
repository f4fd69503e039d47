//! Requests that a test holds.

use super::TestCluster;

/// Requests that are held before they are served. Dropping it lets them go.
#[derive(Debug)]
#[must_use = "dropping it lets the requests go"]
pub struct Parked<'c> {
    cluster: &'c TestCluster,
    rule: u64,
}

impl<'c> Parked<'c> {
    pub(super) fn new(cluster: &'c TestCluster, rule: u64) -> Self {
        Self { cluster, rule }
    }
    /// How many are held.
    #[must_use]
    pub fn count(&self) -> usize {
        self.cluster.shared.look(|broker| broker.parked(self.rule))
    }
    /// Waits until one is held.
    ///
    /// # Cancel safety
    ///
    /// Waiting changes nothing.
    ///
    /// # Panics
    ///
    /// After a minute without one.
    pub async fn arrived(&self) {
        self.cluster.wait_until("a request to park", || (self.count() > 0).then_some(())).await;
    }
    /// Serves those that are held; later ones are served at once.
    pub fn release(self) {}
}
impl Drop for Parked<'_> {
    fn drop(&mut self) {
        self.cluster.with_broker(|broker| broker.release(self.rule));
    }
}
