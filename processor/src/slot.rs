//! A task of this process: its engine, which one worker at a time has, what waits for it, and what it has committed.
//!
//! A slot lives from a recovery to the next abort, revocation or failure; then it is retired and, if the task is still here, another
//! one takes its place. A retired slot's outputs go nowhere: a worker may still be in the middle of a record.

use crate::collector::{Outlet, Token};
use crate::queue::Turn;
use crate::recovery::TaskStores;
use crate::shared::{Shared, lock};
use millstream_client::runtime_consumer::FetchedPartition;
use millstream_processor_core::failure::TaskError;
use millstream_processor_core::task::{Progress, TaskCommits, TaskPosition};
use millstream_processor_core::{Task, TaskId};
use millstream_protocol::{Offset, Timestamp, TopicPartition};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A task of this process.
pub(crate) struct Slot {
    pub(crate) id: TaskId,
    pub(crate) turn: Turn,
    pub(crate) commits: TaskCommits,
    pub(crate) stores: Arc<TaskStores>,
    pub(crate) outlet: Arc<Outlet>,
    inputs: Vec<Input>,
    /// How much may wait of one input, as the engine said last.
    limit: AtomicUsize,
    engine: Mutex<Option<Engine>>,
    inbox: Mutex<Vec<FetchedPartition>>,
    committed: Mutex<CommittedState>,
    began_at: Vec<TaskPosition>,
    /// Nothing new is started.
    stopping: AtomicBool,
    /// While it lives, outputs pass.
    token: Token,
    /// A worker is in it.
    is_worked_on: AtomicBool,
    /// When to look at the task again though nothing came: milliseconds of the calendar.
    due: AtomicI64,
}

struct Engine {
    task: Task,
    started: bool,
    dropped: u64,
}

/// What waits of one input partition.
struct Input {
    partition: TopicPartition,
    bytes_in_inbox: AtomicUsize,
    bytes_in_task: AtomicUsize,
    is_held: AtomicBool,
}

/// What is committed of a task.
#[derive(Debug, Clone)]
pub(crate) struct CommittedState {
    /// Its inputs; where it goes on after an abort.
    pub(crate) positions: Vec<TaskPosition>,
    /// P of each store, in the order of its stores.
    pub(crate) changelog_ends: Vec<Offset>,
}

impl Slot {
    pub(crate) fn new(
        task: Task,
        stores: Arc<TaskStores>,
        outlet: Arc<Outlet>,
        token: Token,
        committed: CommittedState,
    ) -> Self {
        let input = |position: &TaskPosition| Input {
            partition: position.partition.clone(),
            bytes_in_inbox: AtomicUsize::new(0),
            bytes_in_task: AtomicUsize::new(0),
            is_held: AtomicBool::new(false),
        };
        Self {
            id: task.id(),
            turn: Turn::default(),
            commits: task.commits(),
            stores,
            outlet,
            inputs: committed.positions.iter().map(input).collect(),
            limit: AtomicUsize::new(usize::MAX),
            engine: Mutex::new(Some(Engine { task, started: false, dropped: 0 })),
            inbox: Mutex::default(),
            began_at: committed.positions.clone(),
            committed: Mutex::new(committed),
            stopping: AtomicBool::new(false),
            token,
            is_worked_on: AtomicBool::new(false),
            due: AtomicI64::new(NEVER),
        }
    }

    /// Adds what was fetched; true if the partition is to be held back now.
    pub(crate) fn deliver(&self, fetched: FetchedPartition, limit: usize) -> bool {
        let input = self.inputs.iter().find(|input| input.partition == fetched.topic_partition);
        let bytes = fetched.batches.iter().map(|batch| batch.size()).sum();
        self.limit.store(limit, Ordering::Release);
        lock(&self.inbox).push(fetched);
        input.is_some_and(|input| {
            input.bytes_in_inbox.fetch_add(bytes, Ordering::AcqRel);
            input.bytes() > limit && !input.is_held.swap(true, Ordering::AcqRel)
        })
    }

    /// Starts nothing new from here on; what is in hand is finished.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// Takes the task away: outputs pass no more. The next worker that has it closes it.
    pub(crate) fn retire(&self) {
        self.stop();
        self.token.revoke();
    }

    /// What is committed.
    pub(crate) fn committed(&self) -> CommittedState {
        lock(&self.committed).clone()
    }

    /// Notes what a commit has made of it.
    pub(crate) fn set_committed(&self, committed: CommittedState) {
        *lock(&self.committed) = committed;
    }

    /// Whether a commit has moved it on since it began.
    pub(crate) fn has_advanced(&self) -> bool {
        lock(&self.committed).positions != self.began_at
    }

    /// Whether a worker is in it now.
    pub(crate) fn is_worked_on(&self) -> bool {
        self.is_worked_on.load(Ordering::Acquire)
    }

    /// Whether its processors are closed and its stores let go.
    pub(crate) fn is_closed(&self) -> bool {
        self.engine.try_lock().is_ok_and(|engine| engine.is_none())
    }

    /// When to look at it again though nothing came.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        let due = self.due.load(Ordering::Acquire);
        (due != NEVER && !self.stopping.load(Ordering::Acquire)).then_some(Timestamp::from_millis(due))
    }

    /// Nothing is due any more, until a worker says so: it was queued.
    pub(crate) fn clear_due(&self) {
        self.due.store(NEVER, Ordering::Release);
    }

    /// Works for a while; true if there is more to do. Called by one worker at a time.
    pub(crate) fn run(self: &Arc<Self>, shared: &Shared) -> bool {
        let mut place = lock(&self.engine);
        if !self.token.is_live() {
            let engine = place.take();
            drop(place);
            engine.into_iter().for_each(|engine| close(engine, shared));
            return false;
        }
        let Some(engine) = place.as_mut().filter(|_| !self.stopping.load(Ordering::Acquire)) else { return false };
        self.is_worked_on.store(true, Ordering::Release);
        let worked = catch_unwind(AssertUnwindSafe(|| self.work(engine, shared)));
        self.is_worked_on.store(false, Ordering::Release);
        match worked.unwrap_or_else(|panic| Err(panicked(self.id, &*panic))) {
            Ok(more) => {
                self.tell(engine, shared);
                more && !self.stopping.load(Ordering::Acquire)
            }
            Err(error) => {
                self.stop();
                shared.signals.tell_failure(self, error);
                false
            }
        }
    }

    fn work(&self, engine: &mut Engine, shared: &Shared) -> Result<bool, TaskError> {
        if !engine.started {
            engine.started = true;
            engine.task.start(shared.wall_clock())?;
        }
        let until = shared.runtime().now() + SLICE;
        loop {
            self.feed(&mut engine.task);
            let now = shared.wall_clock();
            if engine.task.next_wall_clock_punctuation().is_some_and(|due| due <= now) {
                engine.task.punctuate(now)?;
            }
            let step = engine.task.process(now, BUDGET)?;
            shared.counters.processed_records.add(u64::try_from(step.records).unwrap_or(0));
            let due = match step.progress {
                Progress::Ready if self.stopping.load(Ordering::Acquire) || shared.runtime().now() >= until => {
                    return Ok(true);
                }
                Progress::Ready => continue,
                Progress::Parked => Some(now + PARKED),
                Progress::Retrying(at) => Some(at),
                Progress::Idle if !engine.task.is_drained() => Some(now + shared.options.max_task_idle.max(PARKED)),
                _ => None,
            };
            let punctuation = engine.task.next_wall_clock_punctuation();
            let due = [due, punctuation].into_iter().flatten().min().map_or(NEVER, Timestamp::as_millis);
            if due != NEVER && self.due.swap(due, Ordering::AcqRel) != due {
                shared.signals.tell_due();
            }
            return Ok(false);
        }
    }

    /// How much state of the task is not committed.
    pub(crate) fn uncommitted_bytes(&self) -> usize {
        self.commits.uncommitted_bytes()
    }

    fn feed(&self, task: &mut Task) {
        let inbox = std::mem::take(&mut *lock(&self.inbox));
        for fetched in inbox {
            let bytes: usize = fetched.batches.iter().map(|batch| batch.size()).sum();
            if let Some(input) = self.inputs.iter().find(|input| input.partition == fetched.topic_partition) {
                input.bytes_in_inbox.fetch_sub(bytes, Ordering::AcqRel);
            }
            let is_caught_up = fetched.last_stable_offset.is_none_or(|end| fetched.next_offset >= end);
            task.set_caught_up(&fetched.topic_partition, is_caught_up);
            task.feed(&fetched.topic_partition, fetched.batches, fetched.next_offset);
        }
    }

    /// Tells what others wait for: room, commits, counts.
    fn tell(&self, engine: &mut Engine, shared: &Shared) {
        let limit = self.limit.load(Ordering::Acquire) / 2;
        for (input, (_, bytes)) in self.inputs.iter().zip(engine.task.buffered()) {
            input.bytes_in_task.store(bytes, Ordering::Release);
            if input.is_held.load(Ordering::Acquire) && input.bytes() <= limit {
                input.is_held.store(false, Ordering::Release);
                shared.signals.tell_room(&input.partition);
            }
        }
        let dropped = engine.task.dropped_records();
        shared.counters.dropped_records.add(dropped - std::mem::replace(&mut engine.dropped, dropped));
        // The budget is the process's: many tasks, each of them small, reach it together.
        let is_much = || shared.view.uncommitted_bytes() > shared.options.uncommitted_state_max_bytes;
        if self.commits.is_commit_requested() || is_much() {
            shared.signals.tell_commit();
        }
    }
}

impl Input {
    fn bytes(&self) -> usize {
        self.bytes_in_inbox.load(Ordering::Acquire) + self.bytes_in_task.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("id", &self.id).field("turn", &self.turn).finish_non_exhaustive()
    }
}

/// Closes the processors, and then the stores, unless another slot goes on with them.
fn close(mut engine: Engine, shared: &Shared) {
    let closed = catch_unwind(AssertUnwindSafe(|| engine.task.close()));
    if closed.is_err() {
        tracing::error!(task = %engine.task.id(), "a processor's `close` panicked");
    }
    shared.jobs.send(Box::new(move || drop(engine)));
}

fn panicked(task: TaskId, panic: &(dyn std::any::Any + Send)) -> TaskError {
    TaskError::panicked(task, millstream_client::runtime::Panicked::new(panic))
}

/// How many records a worker takes before it looks at the clock and at what it is asked.
const BUDGET: usize = 256;
/// How long a worker stays with a task that has more to do, while others wait.
const SLICE: Duration = Duration::from_millis(10);
/// How soon a task whose outputs have no room is looked at again.
const PARKED: Duration = Duration::from_millis(2);
const NEVER: i64 = i64::MAX;
