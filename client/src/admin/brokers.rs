//! All brokers there are now: whom to ask what each answers for itself alone.

use crate::Error;
use crate::client::{Call, Client, Target};
use millstream_client_core::cluster::Broker;
use millstream_protocol::messages::MetadataRequest;
use millstream_protocol::{ErrorCode, NodeId};

/// Asks for them, and tells the client's connections where they are.
pub(super) async fn all(client: &Client) -> Result<Vec<NodeId>, Error> {
    let call = Call::new("list the cluster's brokers", Target::Any);
    // No topics at all: an empty list, but for version 0, which knows no such wish.
    let none = |_| MetadataRequest::default().with_topics(Some(Vec::new())).with_allow_auto_topic_creation(false);
    let reply = client.call::<MetadataRequest>(call, none, |_| ErrorCode::NONE).await?;
    let known = reply.body.brokers.iter().filter_map(|broker| {
        let port = u16::try_from(broker.port).ok()?;
        Some(Broker::new(NodeId::new(broker.node_id.0), broker.host.as_str(), port))
    });
    let known: Vec<_> = known.collect();
    let ids = known.iter().map(|broker| broker.id).collect();
    client.hub().handle_hints(&[], known);
    Ok(ids)
}
