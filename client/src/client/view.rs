//! What watchers of the cluster see.

use crate::Error;
use millstream_client_core::cluster::Image;
use std::sync::Arc;

/// The picture of the cluster, and how asking for it went.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) image: Arc<Image>,
    /// How many requests for it were answered.
    pub(crate) rounds: u64,
    /// Why the last one was not, if it was not.
    pub(crate) failure: Option<Error>,
}
