//! What all parts of a running application see.

use crate::config::{Changes, Options};
use crate::jobs::Jobs;
use crate::metrics::Counters;
use crate::queue::ReadyQueue;
use crate::slot::Slot;
use crate::standstill::GivenUp;
use crate::{RestoreEvent, State};
use millstream_client::Client;
use millstream_client::runtime::Runtime;
use millstream_processor_core::assign::TaskPartitions;
use millstream_processor_core::commit::CommitNumbers;
use millstream_processor_core::failure::TaskError;
use millstream_processor_core::task::TaskOptions;
use millstream_processor_core::{TaskId, Topology};
use millstream_protocol::hash::HashMap;
use millstream_protocol::{Timestamp, TopicName, TopicPartition};
use millstream_state::fs::Fs;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};

/// What all parts of a running application see.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) application_id: String,
    pub(crate) topology: Topology,
    pub(crate) options: Options,
    pub(crate) changes: Changes,
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) task_options: TaskOptions,
    /// The client of the runtime's own I/O thread.
    pub(crate) client: Client,
    pub(crate) layout: TaskPartitions,
    /// Per changelog, how long its tombstones are kept.
    pub(crate) delete_retention: HashMap<TopicName, Duration>,
    pub(crate) numbers: CommitNumbers,
    pub(crate) given_up: Arc<GivenUp>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) queue: Arc<ReadyQueue>,
    pub(crate) jobs: Jobs,
    pub(crate) signals: Arc<Signals>,
    pub(crate) view: Arc<View>,
}

impl Shared {
    /// What opens sockets, sleeps and starts threads.
    pub(crate) fn runtime(&self) -> &Arc<dyn Runtime> {
        self.client.runtime()
    }

    /// The time of the calendar.
    pub(crate) fn wall_clock(&self) -> Timestamp {
        self.runtime().wall_clock()
    }
}

/// What workers tell the engine. Each list holds at most one entry per task or partition.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    changed: Notify,
    commit_wanted: AtomicBool,
    lists: Mutex<SignalLists>,
}

#[derive(Debug, Default)]
pub(crate) struct SignalLists {
    pub(crate) failed: Vec<(Arc<Slot>, TaskError)>,
    /// Partitions that have room again.
    pub(crate) resumed: Vec<TopicPartition>,
}

impl Signals {
    /// Waits until something was told.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// A task has stopped.
    pub(crate) fn tell_failure(&self, slot: &Arc<Slot>, error: TaskError) {
        lock(&self.lists).failed.push((Arc::clone(slot), error));
        self.changed.notify_one();
    }

    /// A partition that was held back has room again.
    pub(crate) fn tell_room(&self, partition: &TopicPartition) {
        lock(&self.lists).resumed.push(partition.clone());
        self.changed.notify_one();
    }

    /// A processor asks for a commit, or there is much to commit.
    pub(crate) fn tell_commit(&self) {
        self.commit_wanted.store(true, Ordering::Release);
        self.changed.notify_one();
    }

    /// A task is due at another time than before.
    pub(crate) fn tell_due(&self) {
        self.changed.notify_one();
    }

    /// Whether a commit was asked for since the last call.
    pub(crate) fn take_commit_wanted(&self) -> bool {
        self.commit_wanted.swap(false, Ordering::AcqRel)
    }

    /// What was told since the last call.
    pub(crate) fn take(&self) -> SignalLists {
        std::mem::take(&mut *lock(&self.lists))
    }
}

/// What the handle of the application looks at from outside.
pub(crate) struct View {
    pub(crate) states: watch::Sender<State>,
    /// The tasks that are here and run.
    pub(crate) tasks: Mutex<BTreeMap<TaskId, Arc<Slot>>>,
    watchers: Mutex<Vec<mpsc::Sender<RestoreEvent>>>,
}

impl View {
    pub(crate) fn new() -> Self {
        Self { states: watch::Sender::new(State::Created), tasks: Mutex::default(), watchers: Mutex::default() }
    }

    /// How much state of all tasks is not committed.
    pub(crate) fn uncommitted_bytes(&self) -> usize {
        lock(&self.tasks).values().map(|slot| slot.uncommitted_bytes()).sum()
    }

    /// Tells restores to whoever watches them. A watcher that does not keep up misses some.
    pub(crate) fn tell_restore(&self, event: &RestoreEvent) {
        let is_there = |watcher: &mpsc::Sender<RestoreEvent>| {
            !matches!(watcher.try_send(event.clone()), Err(mpsc::error::TrySendError::Closed(_)))
        };
        lock(&self.watchers).retain(is_there);
    }

    /// Watches restores from now on.
    pub(crate) fn watch_restores(&self) -> mpsc::Receiver<RestoreEvent> {
        let (sender, receiver) = mpsc::channel(RESTORE_EVENTS);
        lock(&self.watchers).push(sender);
        receiver
    }

    /// A task runs here.
    pub(crate) fn insert(&self, slot: &Arc<Slot>) {
        lock(&self.tasks).insert(slot.id, Arc::clone(slot));
    }

    /// A slot is retired. Another one may have taken its place.
    pub(crate) fn remove(&self, slot: &Arc<Slot>) {
        let mut tasks = lock(&self.tasks);
        if tasks.get(&slot.id).is_some_and(|present| Arc::ptr_eq(present, slot)) {
            tasks.remove(&slot.id);
        }
    }

    /// Goes to a state, unless it is there or the last one is reached.
    pub(crate) fn set_state(&self, state: State) {
        let changed = self.states.send_if_modified(|now| {
            let changes = *now != state && !now.is_last();
            if changes {
                *now = state;
            }
            changes
        });
        if changed {
            tracing::info!(%state, "state changed");
        }
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("state", &*self.states.borrow()).finish_non_exhaustive()
    }
}

/// What is behind the crate's locks is whole between any two statements that could panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const RESTORE_EVENTS: usize = 1024;
