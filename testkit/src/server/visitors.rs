//! Who is connected to the control port: no more than some at a time, of whom the one that has stood still the longest goes when another comes.
//!
//! Nobody can hold the port for ever by half a request, by an answer that he does not read, or by a connection that he keeps for later.

use super::moving::{Moved, Moving};
use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::Instant;

/// How long a connection may stand still while others wait: long for a program of the same machine. Hundreds that wait may each have it before
/// somebody with a question is let in.
const STANDING: Duration = Duration::from_millis(50);

/// The connections that are open. Dropping it ends them.
#[derive(Debug)]
pub(super) struct Visitors {
    most: usize,
    tasks: JoinSet<()>,
    open: BTreeMap<Id, (AbortHandle, Moved)>,
}
impl Visitors {
    pub(super) fn new(most: usize) -> Self {
        Self { most, tasks: JoinSet::new(), open: BTreeMap::new() }
    }
    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= self.most
    }
    /// Lets one in.
    pub(super) fn admit<F>(&mut self, stream: TcpStream, serve: impl FnOnce(Moving<TcpStream>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let moved = Moved::default();
        let task = self.tasks.spawn(serve(Moving::new(stream, moved.clone())));
        self.open.insert(task.id(), (task, moved));
    }
    /// Waits until one has left; for ever when there is none.
    pub(super) async fn leave(&mut self) {
        let left = match self.tasks.join_next_with_id().await {
            Some(Ok((id, ()))) => id,
            Some(Err(error)) => error.id(),
            None => return std::future::pending().await,
        };
        self.open.remove(&left);
    }
    /// When the one that has stood still the longest will have done so for too long; none when there is nobody.
    pub(super) fn patience_ends(&self) -> Option<Instant> {
        self.open.values().map(|(_, moved)| moved.last() + STANDING).min()
    }
    /// Hangs up on the one that has stood still the longest, if it was for too long.
    pub(super) fn expel(&mut self) {
        let stillest = self.open.iter().min_by_key(|(_, (_, moved))| moved.last());
        let standing = stillest.filter(|(_, (_, moved))| moved.last() + STANDING <= Instant::now());
        if let Some(id) = standing.map(|(id, _)| *id)
            && let Some((task, _)) = self.open.remove(&id)
        {
            task.abort();
        }
    }
}
