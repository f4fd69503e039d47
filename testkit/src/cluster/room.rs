//! Room for connections: how many a cluster takes at a time, and what becomes of a listener that the system gives none any more.

use super::listening::lacks_files;
use millstream_protocol::NodeId;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// How many connections all brokers of a cluster take at a time, and why.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimit {
    pub(crate) connections: usize,
    /// How many files the process may open.
    pub(crate) files: usize,
    /// How many of them are kept for others.
    pub(crate) kept: usize,
}

/// The room of a cluster: boundless, unless it is given a limit.
#[derive(Debug)]
pub(super) struct Room {
    places: Arc<Semaphore>,
    limit: OnceLock<ConnectionLimit>,
    has_told: AtomicBool,
}
impl Default for Room {
    fn default() -> Self {
        let places = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        Self { places, limit: OnceLock::new(), has_told: AtomicBool::new(false) }
    }
}
impl Room {
    /// Takes no more connections than this from here on; the first limit counts.
    #[cfg(feature = "server")]
    pub(super) fn limit(&self, limit: ConnectionLimit) {
        if self.limit.set(limit).is_ok() {
            self.places.forget_permits(Semaphore::MAX_PERMITS - limit.connections);
        }
    }
    /// A connection's place, if one is free.
    pub(super) fn try_enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }
    /// Waits for a connection's place; the first who has to is told of in the log.
    pub(super) async fn enter(&self, node: NodeId) -> Option<OwnedSemaphorePermit> {
        if let Some(limit) = self.limit.get()
            && !self.has_told.swap(true, Ordering::Relaxed)
        {
            tracing::error!("{}", no_room(node, limit));
        }
        Arc::clone(&self.places).acquire_owned().await.ok()
    }
}
fn no_room(node: NodeId, limit: &ConnectionLimit) -> String {
    let ConnectionLimit { connections, files, kept } = limit;
    format!(
        "node {node} cannot accept a connection beside the {connections} that the cluster has: this process may open {files} files, and \
         keeps {kept} of them for its control port; the client waits until another one ends; `ulimit -n` raises how many files a process \
         may have open"
    )
}

/// What keeps a listener from accepting, most likely that there are no more files: it waits longer and longer before it tries again, or until a
/// connection of its own ends, and says so once.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    until: Option<Instant>,
    pause: Duration,
    has_told: bool,
}
impl Trouble {
    const FIRST: Duration = Duration::from_millis(5);
    const LONGEST: Duration = Duration::from_secs(1);

    pub(crate) fn is_felt(&self) -> bool {
        self.until.is_some()
    }
    /// `who` cannot accept.
    pub(crate) fn meet(&mut self, error: &io::Error, who: &str) {
        if !std::mem::replace(&mut self.has_told, true) {
            tracing::error!("{who} cannot accept a connection: {error}; {}", advice(error));
        }
        self.pause = (self.pause * 2).clamp(Self::FIRST, Self::LONGEST);
        self.until = Some(Instant::now() + self.pause);
    }
    /// It is time to try again.
    pub(crate) async fn pass(&mut self) {
        if let Some(until) = self.until {
            tokio::time::sleep_until(until).await;
        }
        self.until = None;
    }
    /// Something has ended: trying again may help.
    pub(crate) fn may_be_over(&mut self) {
        self.until = None;
    }
    /// It could accept.
    pub(crate) fn is_over(&mut self) {
        *self = Self { has_told: self.has_told, ..Self::default() };
    }
}
fn advice(error: &io::Error) -> &'static str {
    if lacks_files(error) {
        "the client waits until another connection ends; `ulimit -n` raises how many files a process may have open"
    } else {
        "it tries again"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A listener that could not accept asked the system a thousand times a second.
    #[tokio::test(start_paused = true)]
    async fn a_listener_in_trouble_asks_more_and_more_seldom() {
        let (begun, mut trouble) = (Instant::now(), Trouble::default());
        for _ in 0..20 {
            trouble.meet(&io::Error::from_raw_os_error(24), "node 1");
            trouble.pass().await;
        }
        assert!(begun.elapsed() > Duration::from_secs(10), "{:?}", begun.elapsed());
        trouble.is_over();
        trouble.meet(&io::Error::from_raw_os_error(24), "node 1");
        trouble.may_be_over();
        assert!(!trouble.is_felt());
    }
}
