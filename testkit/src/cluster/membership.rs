//! Brokers that join a running cluster, and that leave it for good.

use super::TestCluster;
use crate::broker::{Node, NodeState};
use millstream_protocol::NodeId;

impl TestCluster {
    /// Adds a broker to the running cluster, and says which: clients hear of it by Metadata. It holds no replicas before topics are made, leaders
    /// moved or replicas assigned to it. It listens where the others do: at [`host`](super::TestClusterBuilder::host), on the ports after theirs
    /// if they [follow one](super::TestClusterBuilder::port), and clients are [told](super::TestClusterBuilder::advertise) of it as of them. [`reset`](Self::reset) takes it away again.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # use millstream_testkit::TestCluster;
    /// let cluster = TestCluster::builder().topic("orders", 1).start().await;
    /// let added = cluster.add_broker();
    /// assert_eq!(added.get(), 2);
    /// cluster.move_leader(("orders", 0), added);
    /// cluster.remove_broker(1);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no free port where the cluster listens.
    pub fn add_broker(&self) -> NodeId {
        let added = self.try_add_broker();
        added.unwrap_or_else(|error| panic!("no broker can be added: {error}"))
    }
    /// The same, where there may be no room.
    pub(crate) fn try_add_broker(&self) -> Result<NodeId, String> {
        let (id, endpoints) = self.nodes().add_broker(&self.recipe.places, &self.shared)?;
        self.with_broker(|broker| broker.add_node(Node { id, endpoints, state: NodeState::Running, rack: None }));
        Ok(id)
    }
    /// Takes a broker out of the cluster: it goes down, and nobody knows it any more, as after UnregisterBroker. What it had replicas of is
    /// led by others, if it may be. [`restart`](Self::restart) brings it back.
    ///
    /// # Panics
    ///
    /// When there is no such broker.
    pub fn remove_broker(&self, node: impl Into<NodeId>) {
        let node = self.known(node.into());
        self.crash(node);
        let _is_news = self.with_broker(|broker| broker.forget_node(node)).unwrap_or_else(|error| panic!("{error}"));
    }
}
