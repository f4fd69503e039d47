//! A running topology.

use crate::engine::{Command, Started, start};
use crate::metrics::Counters;
use crate::shared::{View, lock};
use crate::workers::Workers;
use crate::{CloseOptions, Metrics, State, StateWatch, StreamsConfig, StreamsError, StreamsErrorKind};
use futures_core::Stream;
use millstream_client::runtime::{Runtime, Thread, TokioRuntime, after, timeout_at};
use millstream_processor_core::{TaskId, Topology};
use millstream_protocol::{Offset, TopicPartition};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// A running topology. Cheap to clone: the clones are one runtime. Dropping the last one stops it in the background.
///
/// ```no_run
/// use millstream::prelude::*;
///
/// # async fn run(topology: Topology) -> Result<(), millstream::StreamsError> {
/// let streams = Streams::start(topology, StreamsConfig::new("word-count", "localhost:9092")).await?;
/// streams.states().wait_for(millstream::State::Running).await?;
/// # streams.run_until(std::future::pending::<()>()).await
/// # }
/// ```
#[derive(Clone)]
pub struct Streams(Arc<Handle>);

/// What all clones own together.
struct Handle {
    application_id: String,
    runtime: Arc<dyn Runtime>,
    view: Arc<View>,
    counters: Arc<Counters>,
    queue: Arc<crate::queue::ReadyQueue>,
    workers: Arc<Workers>,
    /// When it is dropped, the engine closes.
    commands: mpsc::Sender<Command>,
    thread: Mutex<Option<Thread>>,
}

/// Life.
impl Streams {
    /// Makes the internal topics, joins the group and runs the tasks: on threads of its own, so that nothing that the caller does holds
    /// heartbeats up. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// When an option cannot be, no broker answers, a source topic does not exist, an internal topic is not as it must be, or the state
    /// folder is not usable or in use.
    ///
    /// # Cancel safety
    /// Dropped early, what was begun ends in the background; internal topics may have been made.
    pub async fn start(topology: Topology, config: StreamsConfig) -> Result<Self, StreamsError> {
        config.check()?;
        let runtime = match &config.runtime {
            Some(runtime) => Arc::clone(runtime),
            None => current_runtime()?,
        };
        let application_id = config.application_id.clone();
        let (commands, asked) = mpsc::channel(COMMANDS);
        let (tell, told) = oneshot::channel();
        let main = Box::new(move |runtime| -> Pin<Box<dyn Future<Output = ()> + Send>> {
            Box::pin(async move {
                match start(topology, config, runtime).await {
                    Ok((engine, started)) => {
                        // A caller that is gone drops its end of the commands too: the engine closes.
                        let _ = tell.send(Ok(started));
                        engine.run(asked).await;
                    }
                    Err(error) => drop(tell.send(Err(error))),
                }
            })
        });
        let thread = runtime.start_io_thread("millstream", main);
        let thread = thread.map_err(|error| StreamsError::state("start the runtime's thread", error))?;
        let ended = || StreamsError::new("start the runtime: its thread has ended", StreamsErrorKind::Stopped);
        let Started { view, counters, queue, workers } = told.await.unwrap_or_else(|_| Err(ended()))?;
        let thread = Mutex::new(Some(thread));
        Ok(Self(Arc::new(Handle { application_id, runtime, view, counters, queue, workers, commands, thread })))
    }

    /// Runs until `stop` completes, then closes within 30 s.
    ///
    /// # Errors
    /// The failure, if the runtime stopped before; what kept it from closing cleanly, else.
    ///
    /// # Cancel safety
    /// Dropped early, the runtime stops in the background, unless a clone is left.
    pub async fn run_until(self, stop: impl Future<Output: Send> + Send) -> Result<(), StreamsError> {
        let mut states = self.0.view.states.subscribe();
        tokio::select! {
            biased;
            _ = stop => {}
            _ = states.wait_for(|state| state.is_last()) => {}
        }
        drop(states);
        self.close(CLOSE).await
    }

    /// Stops: commits, keeps stores, leaves the group (a static member stays).
    ///
    /// # Errors
    /// The failure, if the runtime stopped before; or that it could not commit or stop in time. What is committed stays as it is.
    ///
    /// # Cancel safety
    /// Dropped early, it goes on closing in the background.
    pub async fn close(self, options: impl Into<CloseOptions> + Send) -> Result<(), StreamsError> {
        let (done, is_done) = oneshot::channel();
        if self.0.commands.send(Command::Close(options.into(), done)).await.is_err() {
            return Ok(()); // A clone has closed it.
        }
        let closed = is_done.await.unwrap_or(Ok(()));
        let thread = lock(&self.0.thread).take();
        if let Some(thread) = thread
            && self.state() == State::NotRunning
            && let Err(panic) = thread.join()
        {
            tracing::error!(%panic, "the runtime's thread failed");
        }
        closed
    }

    /// What it is doing now.
    #[must_use]
    pub fn state(&self) -> State {
        *self.0.view.states.borrow()
    }

    /// Sees that change.
    #[must_use]
    pub fn states(&self) -> StateWatch {
        StateWatch::new(self.0.view.states.subscribe())
    }

    /// Stops processing; membership goes on, and what is finished is committed.
    pub fn pause(&self) {
        self.0.queue.set_paused(true);
    }

    /// Processes again.
    pub fn resume(&self) {
        self.0.queue.set_paused(false);
    }

    /// One worker more; answers how many there are.
    #[expect(clippy::must_use_candidate, reason = "it is called for its effect")]
    pub fn add_worker(&self) -> usize {
        self.0.workers.add().unwrap_or_else(|error| {
            tracing::error!(%error, "no worker more");
            *self.0.workers.living().borrow()
        })
    }

    /// One worker less, once it has finished its record; answers how many are left. The last one stays.
    ///
    /// # Errors
    /// When it is still inside user code after that time. It ends all the same, later.
    ///
    /// # Cancel safety
    /// Dropped early, the worker ends all the same.
    pub async fn remove_worker(&self, within: Duration) -> Result<usize, StreamsError> {
        let wanted = self.0.workers.dismiss_one();
        let mut living = self.0.workers.living();
        let runtime = self.0.runtime.as_ref();
        let gone = timeout_at(runtime, after(runtime.now(), within), living.wait_for(|count| *count <= wanted)).await;
        let late = || format!("remove a worker within {within:?}: it is still inside user code");
        gone.map(|_| wanted).ok_or_else(|| StreamsError::new(late(), StreamsErrorKind::NotHere))
    }
}

/// Sight.
impl Streams {
    /// All measurements.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.0.counters.read(&self.0.application_id)
    }

    /// The tasks here.
    #[must_use]
    pub fn local_metadata(&self) -> LocalMetadata {
        let tasks = lock(&self.0.view.tasks);
        let active = tasks.values().map(|slot| TaskMetadata {
            task: slot.id,
            committed: slot
                .committed()
                .positions
                .into_iter()
                .map(|position| (position.partition, position.next))
                .collect(),
            restore_lag: 0,
        });
        LocalMetadata { active: active.collect(), standby: Vec::new() }
    }

    /// Restores as they go. A watcher that does not keep up misses some.
    pub fn restores(&self) -> impl Stream<Item = RestoreEvent> + Send + use<> {
        Restores(self.0.view.watch_restores())
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Streams");
        text.field("application_id", &self.0.application_id).field("state", &self.state()).finish_non_exhaustive()
    }
}

/// The tasks of a process.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LocalMetadata {
    /// Those that process.
    pub active: Vec<TaskMetadata>,
    /// Those that keep a copy of the state.
    pub standby: Vec<TaskMetadata>,
}

/// A task.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// Its id.
    pub task: TaskId,
    /// Its inputs, and where a restart would begin: what is committed, or where it began.
    pub committed: Vec<(TopicPartition, Option<Offset>)>,
    /// How many records its stores are behind their changelogs.
    pub restore_lag: u64,
}

/// A store that is being restored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreEvent {
    /// It began.
    Started {
        /// The store.
        store: String,
        /// The changelog.
        partition: TopicPartition,
        /// How many offsets there are to read.
        remaining: u64,
    },
    /// It is done.
    Finished {
        /// The store.
        store: String,
        /// The changelog.
        partition: TopicPartition,
        /// How many records were read.
        restored: u64,
    },
}

fn current_runtime() -> Result<Arc<dyn Runtime>, StreamsError> {
    let runtime = TokioRuntime::current().map_err(|error| StreamsError::client("start the application", error))?;
    Ok(Arc::new(runtime))
}

struct Restores(mpsc::Receiver<RestoreEvent>);

impl Stream for Restores {
    type Item = RestoreEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<RestoreEvent>> {
        self.0.poll_recv(cx)
    }
}

/// How long `run_until` may take to close.
const CLOSE: Duration = Duration::from_secs(30);
const COMMANDS: usize = 4;
