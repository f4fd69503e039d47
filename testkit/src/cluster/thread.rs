//! The thread that a cluster runs on.

use super::shared::Shared;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread with a runtime of its own; dropping it ends all tasks, then the thread.
#[derive(Debug)]
pub(super) struct ClusterThread {
    runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}
impl ClusterThread {
    pub(super) fn start(shared: &Arc<Shared>) -> io::Result<Self> {
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
        Ok(Self { runtime: handle, stop: Some(stop), thread: Some(thread) })
    }
    pub(super) fn handle(&self) -> Handle {
        self.runtime.clone()
    }
}
impl Drop for ClusterThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It panicked: that was reported when it did.
            let _ = thread.join();
        }
    }
}
