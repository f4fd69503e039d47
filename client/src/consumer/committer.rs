//! Committing from other tasks.

use super::engine::{self, Shared};
use super::tracker::Ledger;
use crate::client::Client;
use crate::{ConsumerRecord, Error, Offsets};
use millstream_client_core::cluster::CoordinatorKey;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Commits from anywhere. Cheap to clone.
#[derive(Clone)]
pub struct Committer(Arc<Inner>);

struct Inner {
    ledger: Arc<Ledger>,
    client: Client,
    shared: Arc<Shared>,
    group: Option<CoordinatorKey>,
    /// The highest that was committed through this handle.
    committed: Mutex<Offsets>,
}

impl Committer {
    pub(super) fn new(ledger: Arc<Ledger>, client: Client, shared: Arc<Shared>, group: Option<CoordinatorKey>) -> Self {
        Self(Arc::new(Inner { ledger, client, shared, group, committed: Mutex::default() }))
    }
    /// Marks a record finished, in any order. Once a committer exists, auto-commit commits what is finished: per partition, up to the
    /// first record that is not. A record of an earlier assignment, or from before a seek, is ignored.
    pub fn finish(&self, record: &ConsumerRecord) {
        self.0.ledger.finish(record);
    }
    /// Commits these; a position older than one already committed through this handle is left out.
    ///
    /// # Errors
    ///
    /// As [`Consumer::commit`](crate::Consumer::commit).
    ///
    /// # Cancel safety
    ///
    /// Dropped early, the commit may or may not happen.
    pub async fn commit(&self, offsets: &Offsets) -> Result<(), Error> {
        let newer = self.newer(offsets);
        engine::commit(&self.0.client, &self.0.shared, self.0.group.as_ref(), newer.clone()).await?;
        let mut committed = self.0.committed.lock().unwrap_or_else(PoisonError::into_inner);
        newer.iter().for_each(|(id, next)| committed.add(id.clone(), next.clone()));
        Ok(())
    }

    fn newer(&self, offsets: &Offsets) -> Offsets {
        let committed = self.0.committed.lock().unwrap_or_else(PoisonError::into_inner);
        let newer =
            offsets.iter().filter(|(id, next)| committed.of(id).is_none_or(|known| known.offset <= next.offset));
        newer.map(|(id, next)| (id.clone(), next.clone())).collect()
    }
}
impl fmt::Debug for Committer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Committer").field("group", &self.0.group).finish_non_exhaustive()
    }
}
