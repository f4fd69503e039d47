//! Requests that are of use only one behind the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Requests to one broker that are of use only one behind the other: once one of them has failed unanswered, those that were asked for
/// before that was known do not go before it.
///
/// ```text
///   driver          link
///     a ─────────────▶ sent; the connection breaks: `a` fails, the row breaks up
///     b (same row) ──▶ refused, and if it waits already, too: on the next connection it would come before `a`, which goes again
///     ◀── `a` failed
///     a (new row) ───▶
/// ```
///
/// One that asks for no answer fails when the connection ends that it was written to, for all that anybody can tell.
/// One that was never taken, since too many wait, closes the row: nobody follows it, and those before it go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row(Arc<AtomicU8>);

// Open ── one is refused ──▶ Closed ── one that was taken fails ──▶ BrokenUp
//   └────────────────────────────────────────────────────────────────▲
const CLOSED: u8 = 1;
const BROKEN_UP: u8 = 2;

impl Row {
    /// One was not taken, so that nobody can follow it.
    pub(super) fn close(&self) {
        self.0.fetch_max(CLOSED, Ordering::AcqRel);
    }
    /// One that was taken has failed. The link's to say, before whoever asked hears of it.
    pub(super) fn break_up(&self) {
        self.0.fetch_max(BROKEN_UP, Ordering::AcqRel);
    }
    /// Whether another one can follow. If not, whoever asked may not know yet why.
    pub(crate) fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire) < CLOSED
    }
    /// Whether those that wait are not to be sent any more.
    pub(super) fn is_broken_up(&self) -> bool {
        self.0.load(Ordering::Acquire) >= BROKEN_UP
    }
    /// Whether both are the same row.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::inbox::QUEUE;
    use crate::net::link::Link;
    use crate::net::{Address, Place, Reply, RequestError, World};
    use crate::runtime::TokioRuntime;
    use futures_util::FutureExt;
    use millstream_client_core::connection::Outgoing;
    use millstream_protocol::ApiKey;
    use millstream_protocol::frame::Limits;
    use millstream_protocol::messages::{MetadataRequest, MetadataResponse};
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

    fn send(link: &Link, row: &Row) -> impl Future<Output = Result<Reply<MetadataResponse>, RequestError>> + use<> {
        let outgoing = Outgoing::new(ApiKey::METADATA, Duration::from_secs(5));
        link.send_in_row(Some(row.clone()), outgoing, |_| MetadataRequest::default())
    }

    // Found by simulation: a connection broke with a batch of a partition, and before its producer knew, it had asked for the next batch, which
    // was the first on the next connection: out of order, as were all that followed.
    #[tokio::test]
    async fn what_was_asked_for_before_a_failure_was_known_does_not_overtake_what_failed() {
        let cluster = TestCluster::start().await;
        let link = link_to(&cluster);
        let (row, next) = (Row::default(), Row::default());
        assert!(send(&link, &row).await.is_ok());
        cluster.on_api(ApiKey::METADATA).times(1).disconnect();
        let failed = send(&link, &row).await.map(drop);
        assert!(matches!(failed, Err(RequestError::Broken { written: true, .. })), "{failed:?}");
        let behind = send(&link, &row).now_or_never().expect("it is known at once").map(drop);
        assert!(matches!(behind, Err(RequestError::Overtaking)), "{behind:?}");
        assert!(send(&link, &next).await.is_ok());
        assert_eq!(cluster.requests().count(ApiKey::METADATA), 3, "the one behind was not sent");
    }

    // One that found the queue full did not end its row: the next, for which there was room again, went before it.
    #[tokio::test]
    async fn what_follows_one_for_which_there_was_no_room_is_refused_and_what_is_before_it_goes() {
        let cluster = TestCluster::start().await;
        let link = link_to(&cluster);
        let (row, next) = (Row::default(), Row::default());
        let before: Vec<_> = std::iter::repeat_with(|| send(&link, &row)).take(QUEUE).collect();
        let refused = send(&link, &row).await.map(drop);
        assert!(matches!(refused, Err(RequestError::Overloaded)), "{refused:?}");
        for each in before {
            assert!(each.await.is_ok());
        }
        let behind = send(&link, &row).await.map(drop);
        assert!(matches!(behind, Err(RequestError::Overtaking)), "there is room now, and still: {behind:?}");
        assert!(send(&link, &next).await.is_ok());
    }
}
