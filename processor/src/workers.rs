//! The threads that run tasks. User code may block them; nothing else waits for them.

use crate::shared::{Shared, lock};
use crate::{StreamsError, StreamsErrorKind};
use millstream_client::runtime::{BoxFuture, Thread};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

/// The workers of a process.
#[derive(Debug)]
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Mutex<Threads>,
    /// How many live.
    living: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Threads {
    handles: Vec<Thread>,
    wanted: usize,
    started: usize,
}

impl Workers {
    /// Starts `count` workers.
    pub(crate) fn start(shared: Arc<Shared>, count: usize) -> Result<Self, StreamsError> {
        let workers = Self { shared, threads: Mutex::default(), living: watch::Sender::new(0) };
        for _ in 0..count {
            workers.add()?;
        }
        Ok(workers)
    }

    /// One more; answers how many there are.
    pub(crate) fn add(&self) -> Result<usize, StreamsError> {
        let mut threads = lock(&self.threads);
        let (shared, living) = (Arc::clone(&self.shared), self.living.clone());
        let main = move || -> BoxFuture<()> {
            Box::pin(async move {
                let _living = Living(living);
                run(&shared).await;
            })
        };
        self.living.send_modify(|count| *count += 1);
        let name = format!("millstream-worker-{}", threads.started);
        match self.shared.runtime().start_thread(&name, Box::new(main)) {
            Ok(handle) => threads.handles.push(handle),
            Err(error) => {
                self.living.send_modify(|count| *count -= 1);
                return Err(StreamsError::new("start a worker", StreamsErrorKind::State).because(error));
            }
        }
        threads.started += 1;
        threads.wanted += 1;
        Ok(threads.wanted)
    }

    /// One less, once it has finished its record; answers how many are left. The last one stays.
    pub(crate) fn dismiss_one(&self) -> usize {
        let mut threads = lock(&self.threads);
        if threads.wanted > 1 {
            threads.wanted -= 1;
            self.shared.queue.dismiss_one();
        }
        threads.wanted
    }

    /// Sees how many live.
    pub(crate) fn living(&self) -> watch::Receiver<usize> {
        self.living.subscribe()
    }

    /// Ends all once they have given their tasks back. Does not wait: user code may take as long as it likes.
    pub(crate) fn close(&self) {
        self.shared.queue.close();
    }

    /// Waits for all that have ended or will at once, and leaves those to themselves that are inside user code.
    pub(crate) fn join(&self) {
        let handles = std::mem::take(&mut lock(&self.threads).handles);
        if *self.living.borrow() > 0 {
            tracing::warn!("a worker is still inside user code; it is left to itself");
            return;
        }
        for handle in handles {
            if let Err(panic) = handle.join() {
                tracing::error!(%panic, "a worker failed");
            }
        }
    }
}

/// Counts a worker out, however it ends.
struct Living(watch::Sender<usize>);

impl Drop for Living {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

async fn run(shared: &Shared) {
    while let Some(slot) = shared.queue.take().await {
        let more = slot.run(shared);
        shared.queue.give_back(slot, more);
    }
}
