//! Connections by broker and purpose, so that a long poll never delays a heartbeat or a produce (W-9).

use super::link::Link;
use super::{Address, ConnectError};
use crate::runtime::Runtime;
use millstream_client_core::cluster::Image;
use millstream_client_core::connection::Versions;
use millstream_protocol::NodeId;
use millstream_protocol::frame::Limits;
use millstream_protocol::hash::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A broker of the cluster, or one of the addresses that the user named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// A broker by its id.
    Node(NodeId),
    /// An address of `bootstrap.servers` by its index.
    Bootstrap(usize),
}
impl Place {
    /// The broker's id, once it is known.
    pub(crate) const fn node(self) -> Option<NodeId> {
        match self {
            Self::Node(id) => Some(id),
            Self::Bootstrap(_) => None,
        }
    }
}
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(id) => write!(f, "node {id}"),
            Self::Bootstrap(index) => write!(f, "bootstrap address {}", index + 1),
        }
    }
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    Produce,
    Fetch,
    /// Fetches beside a session's long poll.
    FetchBeside,
    Group,
    Other,
}

/// What the links of a pool share.
pub(crate) struct World {
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) client_id: String,
    pub(crate) setup_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) reconnect_backoff: Duration,
    pub(crate) reconnect_backoff_max: Duration,
    pub(crate) limits: Limits,
    pub(crate) bootstrap: Vec<Address>,
    pub(crate) image: Mutex<Arc<Image>>,
    pub(crate) features: Mutex<Features>,
}

/// What the cluster has switched on, by the newest word of any broker.
#[derive(Debug, Default)]
pub(crate) struct Features {
    epoch: i64,
    levels: HashMap<String, i16>,
}
impl Features {
    /// Takes a broker's word if it is not older than what is known.
    pub(crate) fn handle_versions(&mut self, versions: &Versions) {
        if versions.features_epoch >= self.epoch && versions.features_epoch >= 0 {
            self.epoch = versions.features_epoch;
            self.levels.clone_from(&versions.finalized_features);
        }
    }
    /// The level of a feature; zero if it is off or unknown.
    pub(crate) fn level(&self, name: &str) -> i16 {
        self.levels.get(name).copied().unwrap_or(0)
    }
}

impl World {
    /// Where a place is now: a broker's address may change (W-11).
    pub(crate) fn address(&self, place: Place) -> Result<Address, ConnectError> {
        match place {
            Place::Bootstrap(index) => {
                Ok(self.bootstrap.get(index).cloned().expect("places of the bootstrap list are made from its indexes"))
            }
            Place::Node(id) => {
                let image = self.image();
                let broker = image.broker(id).ok_or(ConnectError::UnknownNode(id))?;
                Ok(Address { host: broker.host.clone(), port: broker.port })
            }
        }
    }
    pub(crate) fn image(&self) -> Arc<Image> {
        Arc::clone(&self.image.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("bootstrap", &self.bootstrap).finish_non_exhaustive()
    }
}

/// The connections of one client. A link connects when it is first used, and again after it broke.
#[derive(Debug)]
pub(crate) struct Pool {
    world: Arc<World>,
    links: Mutex<HashMap<(Place, Purpose), Arc<Link>>>,
}

impl Pool {
    pub(crate) fn new(world: Arc<World>) -> Self {
        Self { world, links: Mutex::default() }
    }
    /// The link to a place for a purpose.
    pub(crate) fn link(&self, place: Place, purpose: Purpose) -> Arc<Link> {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let link =
            links.entry((place, purpose)).or_insert_with(|| Arc::new(Link::start(Arc::clone(&self.world), place)));
        Arc::clone(link)
    }
    /// Lets go of brokers that have left the cluster.
    pub(crate) fn retain(&self, image: &Image) {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|(place, _), _| place.node().is_none_or(|id| image.broker(id).is_some()));
    }
}
