//! The loop of a running application: what the group says, what was fetched, what workers and lanes tell, and the clock.
//!
//! It never waits for any of them in turn: what takes time runs beside it and answers with an [`Outcome`], so that a task that moves
//! or restores stops no other.

mod assignment;
mod closing;
mod failure;
mod start;

pub(crate) use start::{Started, start};

use crate::config::TaskFailureHandler;
use crate::group::Group;
use crate::lane::{Lane, LaneEvent};
use crate::recovery::Recovered;
use crate::shared::Shared;
use crate::slot::Slot;
use crate::standstill::Standstills;
use crate::state_dir::StateDir;
use crate::workers::Workers;
use crate::{CloseOptions, State, StreamsError, StreamsErrorKind};
use millstream_client::runtime::{Task as Spawned, Timer};
use millstream_client::runtime_consumer::{Ack, GroupEvent};
use millstream_processor_core::TaskId;
use millstream_protocol::hash::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

/// A running application.
pub(crate) struct Engine {
    shared: Arc<Shared>,
    group: Group,
    lanes: Vec<Lane>,
    workers: Arc<Workers>,
    state_dir: Arc<StateDir>,
    on_task_failure: TaskFailureHandler,
    tasks: HashMap<TaskId, Entry>,
    /// How often each task has failed in a row.
    failures: HashMap<TaskId, u32>,
    lane_events: mpsc::Receiver<LaneEvent>,
    outcomes: mpsc::Receiver<Outcome>,
    tell: mpsc::Sender<Outcome>,
    /// What runs beside the loop; each ends by itself, and all end with it.
    beside: Vec<Spawned>,
    timer: Pin<Box<dyn Timer>>,
    next_commit: Instant,
    /// The first assignment has come.
    is_member: bool,
    attempts: u64,
    standstills: Standstills,
}

/// A task of this process, or one on its way.
enum Entry {
    /// Being recovered; dropping the job ends it. The attempt tells its outcome from that of an earlier one.
    Recovering { attempt: u64, _job: Spawned },
    /// Running, in a lane.
    Running { slot: Arc<Slot>, lane: usize },
    /// On its way out: revoked, or failed and to be started again. The lane, if there is one, may still be committing it.
    Leaving { lane: Option<usize> },
}

/// What ran beside the loop has ended.
enum Outcome {
    Recovered {
        task: TaskId,
        attempt: u64,
        result: Result<Recovered, StreamsError>,
    },
    /// The lanes have let the tasks go: the revocation can be acknowledged.
    Left {
        slots: Vec<Arc<Slot>>,
        tasks: Vec<TaskId>,
        ack: Ack,
    },
    /// All lanes are decided after a loss.
    Lost {
        slots: Vec<Arc<Slot>>,
        ack: Ack,
    },
    /// A task that failed, or could not be recovered, is to be tried again.
    Again {
        task: TaskId,
        slot: Option<Arc<Slot>>,
    },
}

/// What the handle asks of the engine.
#[derive(Debug)]
pub(crate) enum Command {
    /// Closes; the answer comes when nothing is left.
    Close(CloseOptions, oneshot::Sender<Result<(), StreamsError>>),
}

/// Why the loop has ended.
enum Ending {
    Asked(CloseOptions, Option<oneshot::Sender<Result<(), StreamsError>>>),
    Failed(StreamsError),
}

impl Engine {
    /// Runs until it is asked to close or fails, and closes. The error stays for whoever asks last.
    pub(crate) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let ending = self.work(&mut commands).await;
        self.end(ending, commands).await;
    }

    async fn work(&mut self, commands: &mut mpsc::Receiver<Command>) -> Ending {
        loop {
            if let Err(error) = self.turn() {
                return Ending::Failed(error);
            }
            let now = self.shared.runtime().now();
            let at = self.next_tick(now);
            self.timer.as_mut().set(Some(at));
            let signals = Arc::clone(&self.shared.signals);
            let handled = tokio::select! {
                // What is rare comes first, and cannot keep what is frequent from its turn. The next turn does what is due anyway.
                biased;
                command = commands.recv() => match command {
                    Some(Command::Close(options, done)) => return Ending::Asked(options, Some(done)),
                    None => return Ending::Asked(CloseOptions::within(closing::UNATTENDED), None),
                },
                event = self.group.next_event() => self.handle_group(event),
                Some(event) = self.lane_events.recv() => self.handle_lane(event),
                Some(outcome) = self.outcomes.recv() => self.handle_outcome(outcome),
                () = self.group.ready() => self.dispatch(),
                () = signals.changed() => Ok(()),
                () = &mut self.timer => Ok(()),
            };
            if let Err(error) = handled {
                return Ending::Failed(error);
            }
        }
    }

    /// What every turn looks at: signals of workers, due tasks, due commits, the state.
    fn turn(&mut self) -> Result<(), StreamsError> {
        let signals = self.shared.signals.take();
        self.group.resume(&signals.resumed);
        for (slot, error) in signals.failed {
            self.handle_failure(&slot, error.into())?;
        }
        self.wake_due();
        self.commit_if_due();
        self.look_for_standstills();
        self.tell_state();
        self.beside.retain_mut(|task| !is_over(task));
        Ok(())
    }

    fn handle_group(&mut self, event: Result<GroupEvent, StreamsError>) -> Result<(), StreamsError> {
        match event? {
            GroupEvent::Assigned { all, .. } => self.assigned(&all),
            GroupEvent::Revoking { partitions, ack } => self.revoking(&partitions, ack),
            GroupEvent::Lost { ack, .. } => self.lost(ack),
            GroupEvent::Failed(error) => {
                let text = format!("be a member of group `{}`", self.shared.application_id);
                return Err(StreamsError::new(text, StreamsErrorKind::Client).because(error));
            }
            _ => {}
        }
        Ok(())
    }

    fn handle_lane(&mut self, event: LaneEvent) -> Result<(), StreamsError> {
        match event {
            LaneEvent::Rewound(slots) => slots.into_iter().try_for_each(|slot| self.go_on(&slot)),
            LaneEvent::InDoubt(slots) => {
                slots.iter().for_each(|slot| self.recover_again(slot));
                Ok(())
            }
            LaneEvent::Failed(task, error) => match self.running(task) {
                Some(slot) => self.handle_failure(&slot, error.into()),
                None => Ok(()),
            },
            LaneEvent::Broken(error) => Err(error),
        }
    }

    fn handle_outcome(&mut self, outcome: Outcome) -> Result<(), StreamsError> {
        match outcome {
            Outcome::Recovered { task, attempt, result } => self.recovered(task, attempt, result),
            Outcome::Left { slots, tasks, ack } => {
                self.left(&slots, &tasks);
                self.group.acknowledge(ack);
                Ok(())
            }
            Outcome::Lost { slots, ack } => {
                slots.iter().for_each(|slot| self.retire(slot));
                self.group.acknowledge(ack);
                Ok(())
            }
            Outcome::Again { task, slot } => {
                slot.iter().for_each(|slot| self.retire(slot));
                if matches!(self.tasks.get(&task), Some(Entry::Leaving { .. })) {
                    self.begin_recovery(task, None);
                }
                Ok(())
            }
        }
    }

    /// Hands what was fetched to the tasks, undecoded.
    fn dispatch(&mut self) -> Result<(), StreamsError> {
        let limit = self.buffer_limit();
        for fetched in self.group.take_batches(TAKE_BYTES)? {
            let partition = fetched.topic_partition.clone();
            let task = self.shared.layout.task_of(&partition);
            let Some(Entry::Running { slot, .. }) = task.and_then(|task| self.tasks.get(&task)) else { continue };
            if slot.deliver(fetched, limit) {
                self.group.pause(&partition);
            }
            self.shared.queue.wake(slot);
        }
        Ok(())
    }

    /// How much may wait of one partition: less when there are many, so that all together stay bounded.
    fn buffer_limit(&self) -> usize {
        let partitions = self.tasks.len().max(1);
        self.shared.options.buffered_bytes_per_partition.min((ALL_BUFFERS / partitions).max(LEAST_BUFFER))
    }

    /// Queues the tasks whose punctuation, retry or room is due.
    fn wake_due(&self) {
        let now = self.shared.wall_clock();
        for slot in self.slots() {
            if slot.due().is_some_and(|due| due <= now) {
                slot.clear_due();
                self.shared.queue.wake(slot);
            }
        }
    }

    fn commit_if_due(&mut self) {
        let now = self.shared.runtime().now();
        let is_wanted = self.shared.signals.take_commit_wanted();
        if is_wanted || now >= self.next_commit {
            self.next_commit = now + self.shared.options.commit_interval;
            self.lanes.iter().for_each(Lane::ask_commit);
        }
    }

    /// A task whose record has taken too long is given up, and may come back when it is out of it: the group is told, and asks it back.
    fn look_for_standstills(&mut self) {
        let (now, limit) = (self.shared.runtime().now(), self.shared.options.max_poll_interval);
        // Asked at every turn, so nothing is gathered unless it is time.
        if now < self.standstills.next_look() {
            return;
        }
        let slots: Vec<Arc<Slot>> = self.slots().cloned().collect();
        let seen = self.standstills.look(now, limit, &slots, &self.shared);
        // A worker that is inside such a record does nothing else: another one takes its place meanwhile.
        for _ in 0..seen.given_up {
            if let Err(error) = self.workers.add() {
                tracing::error!(%error, "the other tasks have a worker less");
            }
        }
        for _ in 0..seen.returned {
            self.workers.dismiss_one();
        }
        if seen.given_up + seen.returned > 0 {
            self.group.join_anew();
        }
    }

    /// When to look again though nothing happens.
    fn next_tick(&self, now: Instant) -> Instant {
        let wall_clock = self.shared.wall_clock();
        let due = self.slots().filter_map(|slot| slot.due()).min();
        let at_latest = self.next_commit.min(self.standstills.next_look());
        due.map_or(at_latest, |due| {
            let ahead = if due > wall_clock { due.since(wall_clock) } else { std::time::Duration::ZERO };
            at_latest.min(now + ahead)
        })
    }

    fn tell_state(&self) {
        let all_run = self.tasks.values().all(|entry| matches!(entry, Entry::Running { .. }));
        let state = if self.is_member && all_run { State::Running } else { State::Rebalancing };
        self.shared.view.set_state(state);
    }

    fn slots(&self) -> impl Iterator<Item = &Arc<Slot>> {
        self.tasks.values().filter_map(|entry| match entry {
            Entry::Running { slot, .. } => Some(slot),
            Entry::Recovering { .. } | Entry::Leaving { .. } => None,
        })
    }

    fn running(&self, task: TaskId) -> Option<Arc<Slot>> {
        match self.tasks.get(&task) {
            Some(Entry::Running { slot, .. }) => Some(Arc::clone(slot)),
            _ => None,
        }
    }
}

/// Whether a task has ended, without waiting for it.
fn is_over(task: &mut Spawned) -> bool {
    Pin::new(task).poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// How much is taken from the fetcher at once.
const TAKE_BYTES: usize = 16 << 20;
/// How many bytes may wait for tasks in all, about.
const ALL_BUFFERS: usize = 32 << 20;
/// However many partitions there are, each may have this much waiting.
const LEAST_BUFFER: usize = 256 << 10;
