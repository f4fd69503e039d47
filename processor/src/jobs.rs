//! A thread for what may block and is no user code: opening stores, writing to journals, filling stores from changelogs.

use crate::StreamsError;
use millstream_client::runtime::{BoxFuture, Runtime, Thread};
use std::sync::Mutex;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Jobs run in the order in which they are given, so that a store that is opened again is closed before.
#[derive(Debug)]
pub(crate) struct Jobs {
    queue: Mutex<Option<UnboundedSender<Job>>>,
    thread: Mutex<Option<Thread>>,
}

impl Jobs {
    /// Starts the thread.
    pub(crate) fn start(runtime: &dyn Runtime) -> Result<Self, StreamsError> {
        let (queue, mut jobs) = unbounded_channel::<Job>();
        let main = move || -> BoxFuture<()> {
            Box::pin(async move {
                while let Some(job) = jobs.recv().await {
                    job();
                }
            })
        };
        let thread = runtime.start_thread("millstream-stores", Box::new(main));
        let thread = thread.map_err(|error| StreamsError::state("start the thread for stores", error))?;
        Ok(Self { queue: Mutex::new(Some(queue)), thread: Mutex::new(Some(thread)) })
    }

    /// Runs a job and waits for its answer; none if the thread is gone, or the job panicked. What is queued runs, also when nobody
    /// waits for it any more.
    pub(crate) async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.send(Box::new(move || {
            // Whoever asked may be gone.
            let _ = answer.send(job());
        }));
        answered.await.ok()
    }

    /// Runs a job that nobody waits for: dropping what closes files.
    pub(crate) fn send(&self, job: Job) {
        let queue = self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(queue) = &*queue {
            // An error means that the thread has ended; the job is dropped, and who waits is told so.
            let _ = queue.send(job);
        }
    }

    /// Ends the thread after what is queued, and waits for it.
    pub(crate) fn close(&self) {
        self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let thread = self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(Err(panic)) = thread.map(Thread::join) {
            tracing::error!(%panic, "the thread for stores failed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_client::runtime::TokioRuntime;
    use std::sync::mpsc::channel;

    #[tokio::test]
    async fn jobs_run_in_their_order_and_answer() {
        let runtime = TokioRuntime::current().expect("a test has a runtime");
        let jobs = Jobs::start(&runtime).expect("threads can be started");
        let (sender, receiver) = channel();
        let other = sender.clone();
        jobs.send(Box::new(move || other.send(1).expect("it is received")));
        assert_eq!(jobs.run(move || sender.send(2).map(|()| "done")).await, Some(Ok("done")));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
        jobs.close();
        assert_eq!(jobs.run(|| 3).await, None, "it is closed");
    }
}
