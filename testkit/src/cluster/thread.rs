//! Where a cluster runs: on a thread of its own, or beside the test that started it.

use super::shared::Shared;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// Who drives a cluster's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A thread of its own, so that a test that blocks does not stop it.
    OwnThread,
    /// The runtime of the test, so that both wait by one clock.
    Caller,
}

/// A thread with a runtime of its own, or a task. Dropping it ends all tasks, then the thread.
#[derive(Debug)]
pub(super) enum Host {
    Thread { runtime: Handle, stop: Option<oneshot::Sender<()>>, thread: Option<JoinHandle<()>> },
    Task { runtime: Handle, task: AbortHandle },
}
impl Host {
    /// On a thread of its own.
    pub(super) fn thread(shared: &Arc<Shared>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(shared);
        let run = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = shared.keep_time() => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("millstream-cluster".to_owned()).spawn(run)?;
        Ok(Self::Thread { runtime: handle, stop: Some(stop), thread: Some(thread) })
    }
    /// Beside the caller, who must be in a runtime.
    pub(super) fn beside(shared: &Arc<Shared>) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let shared = Arc::clone(shared);
        let task = runtime.spawn(async move { shared.keep_time().await }).abort_handle();
        Ok(Self::Task { runtime, task })
    }
    pub(super) fn handle(&self) -> Handle {
        match self {
            Self::Thread { runtime, .. } | Self::Task { runtime, .. } => runtime.clone(),
        }
    }
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Thread { .. } => Place::OwnThread,
            Self::Task { .. } => Place::Caller,
        }
    }
}
impl Drop for Host {
    fn drop(&mut self) {
        match self {
            Self::Thread { stop, thread, .. } => {
                drop(stop.take());
                if let Some(thread) = thread.take() {
                    // It panicked: that was reported when it did.
                    let _ = thread.join();
                }
            }
            Self::Task { task, .. } => task.abort(),
        }
    }
}
