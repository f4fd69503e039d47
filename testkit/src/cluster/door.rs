//! How connections come in at a listener: as they are, or by a TLS handshake.

use super::connection;
use super::shared::Shared;
#[cfg(feature = "tls")]
use crate::broker::Closing;
use crate::broker::{ListenerId, SecurityProtocol, Settings};
use crate::network::{Line, Transport};
use millstream_protocol::NodeId;
use std::net::SocketAddr;
use std::sync::Arc;

/// A listener's way in; the same at every node.
#[derive(Debug, Clone)]
pub(super) struct Door {
    pub(super) listener: ListenerId,
    pub(super) lock: Lock,
}

/// What is asked of those who come.
#[derive(Debug, Clone)]
pub(super) enum Lock {
    None,
    #[cfg(feature = "tls")]
    Tls(super::tls::Acceptor),
}

/// The ways in of a cluster, by listener.
pub(super) struct Doors {
    locks: Vec<Lock>,
    #[cfg(feature = "tls")]
    pub(super) authority: Option<super::tls::Authority>,
}
impl Doors {
    #[cfg(feature = "tls")]
    pub(super) fn new(settings: &Settings) -> Result<Self, String> {
        use super::tls::{Acceptor, Authority};
        if !settings.protocols().any(SecurityProtocol::uses_tls) {
            let locks = settings.protocols().map(|_| Lock::None).collect();
            return Ok(Self { locks, authority: None });
        }
        let authority = Authority::new()?;
        let acceptor = Acceptor::new(&authority, settings.security.client_auth)?;
        let lock =
            |protocol: SecurityProtocol| if protocol.uses_tls() { Lock::Tls(acceptor.clone()) } else { Lock::None };
        Ok(Self { locks: settings.protocols().map(lock).collect(), authority: Some(authority) })
    }
    #[cfg(not(feature = "tls"))]
    pub(super) fn new(settings: &Settings) -> Result<Self, String> {
        let lock = |protocol: SecurityProtocol| match protocol.uses_tls() {
            true => Err(format!("{protocol} needs TLS, and millstream-testkit was built without its feature `tls`")),
            false => Ok(Lock::None),
        };
        Ok(Self { locks: settings.protocols().map(lock).collect::<Result<_, _>>()? })
    }
    pub(super) fn all(&self) -> impl Iterator<Item = Door> {
        self.locks.iter().cloned().enumerate().map(|(at, lock)| Door { listener: ListenerId(at), lock })
    }
}

impl Door {
    /// Serves a connection until either side ends it.
    pub(super) async fn serve<S: Transport>(self, stream: S, from: SocketAddr, node: NodeId, shared: Arc<Shared>) {
        let Some(link) = shared.links().of(node) else { return };
        let stream = Line::new(stream, link, shared.next_seed());
        let at = connection::At { node, listener: self.listener, from, client: stream.client() };
        match self.lock {
            Lock::None => connection::serve(stream, at, None, shared).await,
            #[cfg(feature = "tls")]
            Lock::Tls(acceptor) => {
                match acceptor.accept(stream).await {
                    Ok((stream, name)) => connection::serve(stream, at, name, shared).await,
                    // It hung up itself: to see that the port is open, say.
                    Err(error) if is_end(&error) => {}
                    Err(error) => {
                        let why =
                            format!("its TLS handshake failed: {error}; check security.protocol and certificates");
                        connection::tell_end(node, from, &Closing::refused(why));
                    }
                }
            }
        }
    }
}

#[cfg(feature = "tls")]
fn is_end(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
