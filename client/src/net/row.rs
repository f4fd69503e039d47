//! Requests that are of use only one behind the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Requests to one broker that are of use only one behind the other: once one of them has failed with its connection, those that were asked
/// for before that was known are not sent over the next.
///
/// ```text
///   driver          link
///     a ─────────────▶ sent; the connection breaks: `a` fails, the row breaks up
///     b (same row) ──▶ waits for the next connection, where it would come before `a`, which goes again
///     ◀── `a` failed
///     a (new row) ───▶
/// ```
#[derive(Debug, Clone, Default)]
pub(crate) struct Row(Arc<AtomicBool>);

impl Row {
    /// One of them has failed. The link's to say, before whoever asked hears of it.
    pub(super) fn break_up(&self) {
        self.0.store(true, Ordering::Release);
    }
    /// Whether one of them has failed, which whoever asked may not know yet.
    pub(crate) fn is_broken_up(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
    /// Whether both are the same row.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::link::Link;
    use crate::net::{Address, Place, RequestError, World};
    use crate::runtime::TokioRuntime;
    use millstream_client_core::connection::Outgoing;
    use millstream_protocol::ApiKey;
    use millstream_protocol::frame::Limits;
    use millstream_protocol::messages::MetadataRequest;
    use millstream_testkit::TestCluster;
    use std::sync::Mutex;
    use std::time::Duration;

    fn link_to(cluster: &TestCluster) -> Link {
        let servers = cluster.bootstrap_servers();
        let (host, port) = servers.rsplit_once(':').expect("one address");
        let world = World {
            runtime: Arc::new(TokioRuntime::current().expect("a runtime")),
            client_id: "c".to_owned(),
            setup_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(5),
            reconnect_backoff: Duration::from_millis(1),
            reconnect_backoff_max: Duration::from_millis(1),
            limits: Limits::default(),
            bootstrap: vec![Address { host: host.to_owned(), port: port.parse().expect("a port") }],
            image: Mutex::default(),
            features: Mutex::default(),
        };
        Link::start(Arc::new(world), Place::Bootstrap(0))
    }

    // Found by simulation: a connection broke with a batch of a partition, and before its producer knew, it had asked for the next batch, which
    // was the first on the next connection: out of order, as were all that followed.
    #[tokio::test]
    async fn what_was_asked_for_before_a_failure_was_known_does_not_overtake_what_failed() {
        let cluster = TestCluster::start().await;
        let link = link_to(&cluster);
        let send = |row: &Row| {
            let outgoing = Outgoing::new(ApiKey::METADATA, Duration::from_secs(5));
            link.send_in_row(Some(row.clone()), outgoing, |_| MetadataRequest::default())
        };
        let (row, next) = (Row::default(), Row::default());
        assert!(send(&row).await.is_ok());
        cluster.on_api(ApiKey::METADATA).times(1).disconnect();
        let failed = send(&row).await.map(drop);
        assert!(matches!(failed, Err(RequestError::Broken { written: true, .. })), "{failed:?}");
        let behind = send(&row).await.map(drop);
        assert!(matches!(behind, Err(RequestError::Overtaking)), "{behind:?}");
        assert!(send(&next).await.is_ok());
        assert_eq!(cluster.requests().count(ApiKey::METADATA), 3, "the one behind was not sent");
    }
}
