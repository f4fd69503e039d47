//! The one thread: which task runs next, and what time it is.
//!
//! Of the tasks that are woken one is chosen by the seed; when none is, time jumps to the next timer or the next event of the network.
//! The order in which tasks are woken is forgotten on purpose: it hangs on things that no seed decides.

use super::network::Network;
use super::process::{Process, ProcessId};
use super::random::Random;
use millstream_client::runtime::{BoxFuture, Panicked};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// How often tasks are polled without time going on before that is called an endless loop.
const PATIENCE: u64 = 2_000_000;

/// Everything that a simulation is.
pub(crate) struct World {
    state: Mutex<State>,
    woken: Arc<Woken>,
    began: Instant,
}

pub(crate) struct State {
    /// Since the beginning.
    pub(crate) now: Duration,
    pub(crate) random: Random,
    pub(crate) network: Network,
    pub(crate) processes: BTreeMap<ProcessId, Process>,
    tasks: BTreeMap<TaskId, Entry>,
    timers: BTreeMap<(Duration, u64), Waker>,
    next_id: u64,
    panics: Vec<String>,
}

/// A task; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TaskId(u64);

struct Entry {
    process: ProcessId,
    /// None while it is polled.
    future: Option<BoxFuture<()>>,
    waker: Waker,
}

/// The tasks that have something to do.
#[derive(Debug, Default)]
struct Woken(Mutex<BTreeSet<TaskId>>);

struct TaskWaker {
    task: TaskId,
    woken: Arc<Woken>,
}
impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.woken.add(self.task);
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.add(self.task);
    }
}

impl Woken {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<TaskId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn add(&self, task: TaskId) {
        self.lock().insert(task);
    }
    fn take(&self, task: TaskId) -> bool {
        self.lock().remove(&task)
    }
    fn choose(&self, random: &mut Random) -> Option<TaskId> {
        let mut woken = self.lock();
        let index = random.below(woken.len());
        let task = woken.iter().nth(index).copied()?;
        woken.remove(&task);
        Some(task)
    }
}

/// Why a simulation did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// It took longer than it may, in its own time.
    #[error("it is not over after {0:?} of its own time")]
    TooLong(Duration),
    /// Nobody waits for a time or for the network, and it is not over.
    #[error("at {0:?} everybody waits for somebody else")]
    Deadlock(Duration),
    /// Tasks wake each other without end.
    #[error("at {0:?} tasks wake each other without end")]
    Livelock(Duration),
    /// Tasks panicked.
    #[error("a task panicked: {0}")]
    Panicked(String),
}

impl World {
    pub(crate) fn new(random: Random, network: Network) -> Arc<Self> {
        let state = State {
            now: Duration::ZERO,
            random,
            network,
            processes: BTreeMap::new(),
            tasks: BTreeMap::new(),
            timers: BTreeMap::new(),
            next_id: 0,
            panics: Vec::new(),
        };
        // Only differences of this instant are ever looked at.
        let began = Instant::now();
        Arc::new(Self { state: Mutex::new(state), woken: Arc::default(), began })
    }
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// What a clock shows that goes so many times as fast as time.
    pub(crate) fn now(&self, pace: u32) -> Instant {
        self.began + self.lock().now * pace
    }
    /// When such a clock shows an instant, in time since the beginning.
    pub(crate) fn time_of(&self, at: Instant, pace: u32) -> Duration {
        // Not before that: a timer that ends too soon would be set again without end.
        let early = if pace == 1 { Duration::ZERO } else { Duration::from_nanos(1) };
        at.saturating_duration_since(self.began) / pace + early
    }
    /// Starts a task; none if its process is dead.
    pub(crate) fn spawn(&self, process: ProcessId, future: BoxFuture<()>) -> Option<TaskId> {
        let mut state = self.lock();
        if !state.is_alive(process) {
            drop(state);
            drop(future);
            return None;
        }
        let task = TaskId(state.next_id());
        let waker = Waker::from(Arc::new(TaskWaker { task, woken: Arc::clone(&self.woken) }));
        state.tasks.insert(task, Entry { process, future: Some(future), waker });
        self.woken.add(task);
        Some(task)
    }
    /// Ends a task where it is.
    pub(crate) fn abort(&self, task: TaskId) {
        // What it drops may come back here.
        let entry = self.lock().tasks.remove(&task);
        drop(entry);
    }
    /// Ends all tasks of a process where they are, and its connections.
    pub(crate) fn kill(&self, process: ProcessId) {
        let mut state = self.lock();
        state.processes.remove(&process);
        let now = state.now;
        state.network.process_died(now, process);
        let tasks: Vec<TaskId> =
            state.tasks.iter().filter(|(_, entry)| entry.process == process).map(|(id, _)| *id).collect();
        drop(state);
        tasks.into_iter().for_each(|task| self.abort(task));
    }
    /// Runs a task as far as it goes without waiting: what joining a thread is here.
    pub(crate) fn drive(&self, task: TaskId) -> Result<(), Panicked> {
        self.woken.add(task);
        while self.woken.take(task) {
            if let Some(panicked) = self.poll(task) {
                return Err(panicked);
            }
        }
        Ok(())
    }

    /// Runs until `main` is over, or the world is `limit` old.
    pub(crate) fn run<T: Send + 'static>(
        self: &Arc<Self>,
        process: ProcessId,
        main: impl Future<Output = T> + Send + 'static,
        limit: Duration,
    ) -> Result<T, SimulationError> {
        let output = Arc::new(Mutex::new(None));
        let place = Arc::clone(&output);
        let task = self.spawn(
            process,
            Box::pin(async move {
                let result = main.await;
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            }),
        );
        let task = task.ok_or_else(|| SimulationError::Panicked("the process is dead".to_owned()))?;
        let result = self.run_until(|| output.lock().unwrap_or_else(PoisonError::into_inner).take(), limit);
        self.abort(task);
        result
    }

    fn run_until<T>(&self, done: impl Fn() -> Option<T>, limit: Duration) -> Result<T, SimulationError> {
        let mut polls = 0;
        loop {
            while let Some(task) = self.choose() {
                let _ = self.poll(task);
                if let Some(panic) = self.lock().panics.first() {
                    return Err(SimulationError::Panicked(panic.clone()));
                }
                if let Some(output) = done() {
                    return Ok(output);
                }
                polls += 1;
                if polls > PATIENCE {
                    return Err(SimulationError::Livelock(self.lock().now));
                }
            }
            polls = 0;
            self.advance(limit)?;
        }
    }
    fn choose(&self) -> Option<TaskId> {
        self.woken.choose(&mut self.lock().random)
    }
    fn poll(&self, task: TaskId) -> Option<Panicked> {
        let mut state = self.lock();
        let entry = state.tasks.get_mut(&task)?;
        let mut future = entry.future.take()?;
        let waker = entry.waker.clone();
        drop(state);
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
        let ended = match polled {
            Ok(Poll::Pending) => {
                if let Some(entry) = self.lock().tasks.get_mut(&task) {
                    entry.future = Some(future);
                    return None;
                }
                None // It was ended meanwhile.
            }
            Ok(Poll::Ready(())) => None,
            Err(payload) => Some(Panicked::new(&*payload)),
        };
        drop(future);
        self.abort(task);
        if let Some(panicked) = &ended {
            self.lock().panics.push(panicked.to_string());
        }
        ended
    }
    /// Goes on to the next time at which something happens.
    fn advance(&self, limit: Duration) -> Result<(), SimulationError> {
        let mut state = self.lock();
        let timer = state.timers.keys().next().map(|(at, _)| *at);
        let event = state.network.deadline();
        let Some(next) = [timer, event].into_iter().flatten().min() else {
            return Err(SimulationError::Deadlock(state.now));
        };
        if next > limit {
            return Err(SimulationError::TooLong(limit));
        }
        state.now = state.now.max(next);
        state.fire();
        Ok(())
    }
}

impl State {
    pub(crate) fn next_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
    pub(crate) fn is_alive(&self, process: ProcessId) -> bool {
        self.processes.contains_key(&process)
    }
    /// Notes that somebody waits for a time; the key takes it back.
    pub(crate) fn add_timer(&mut self, at: Duration, waker: Waker) -> (Duration, u64) {
        let key = (at, self.next_id());
        self.timers.insert(key, waker);
        key
    }
    /// Whether this wakes the same one when its time has come.
    pub(crate) fn has_timer(&self, key: (Duration, u64), waker: &Waker) -> bool {
        self.timers.get(&key).is_some_and(|waiting| waiting.will_wake(waker))
    }
    pub(crate) fn remove_timer(&mut self, key: (Duration, u64)) {
        self.timers.remove(&key);
    }
    fn fire(&mut self) {
        while let Some(first) = self.timers.first_entry().filter(|first| first.key().0 <= self.now) {
            first.remove().wake();
        }
        self.network.handle_time(self.now);
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}
