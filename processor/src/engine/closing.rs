//! The end: commits, lets the tasks go, leaves the group, ends the threads.

use super::{Command, Ending, Engine, Entry};
use crate::error::WithCauses;
use crate::lane::LaneEvent;
use crate::slot::Slot;
use crate::{CloseOptions, GroupMembership, State, StreamsError, StreamsErrorKind};
use millstream_client::runtime::{after, sleep_until, timeout_at};
use millstream_client::runtime_consumer::LeavePolicy;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

impl Engine {
    pub(super) async fn end(self, ending: Ending, mut commands: mpsc::Receiver<Command>) {
        let (options, done, failure) = match ending {
            Ending::Asked(options, done) => (options, done, None),
            Ending::Failed(error) => (CloseOptions::within(UNATTENDED), None, Some(error)),
        };
        if let Some(error) = &failure {
            tracing::error!(error = %WithCauses(error), "the application stops");
        } else {
            self.shared.view.set_state(State::PendingShutdown);
        }
        let view = Arc::clone(&self.shared.view);
        let closed = self.close(&options).await;
        let last = if failure.is_some() { State::Error } else { State::NotRunning };
        view.set_state(last);
        let mut answer = failure.map_or(closed, Err);
        if let Some(done) = done {
            let _ = done.send(answer);
            return;
        }
        // Whoever asks after a failure is told it; further ones, that it has stopped.
        while let Some(Command::Close(_, done)) = commands.recv().await {
            let _ = done.send(answer);
            answer = Ok(());
        }
    }

    /// Closes within the time, and as much as there is time for.
    async fn close(mut self, options: &CloseOptions) -> Result<(), StreamsError> {
        let runtime = Arc::clone(self.shared.runtime());
        let deadline = after(runtime.now(), options.within);
        let slots: Vec<Arc<Slot>> = self.slots().cloned().collect();
        slots.iter().for_each(|slot| slot.stop());
        self.tasks.retain(|_, entry| matches!(entry, Entry::Running { .. }));
        self.group.stop_reading(&self.inputs());
        let committed = timeout_at(runtime.as_ref(), deadline, self.close_lanes()).await;
        slots.iter().for_each(|slot| self.retire(slot));
        let closed = timeout_at(runtime.as_ref(), deadline, all_closed(&self.shared, &slots)).await.is_some();
        self.tasks.clear();
        self.beside.clear();
        let left = self.group.close(leave_policy(options), remaining(deadline, runtime.now()), runtime.as_ref()).await;
        self.workers.close();
        let mut living = self.workers.living();
        let until = deadline.max(runtime.now() + LEAST);
        let _ = timeout_at(runtime.as_ref(), until, living.wait_for(|count| *count == 0)).await;
        self.workers.join();
        drop(slots);
        self.shared.jobs.close();
        let what = match committed {
            Some(committed) if closed => return committed.and(left),
            Some(_) => "a processor is still inside user code",
            None => "the last commit is not decided",
        };
        let text = format!("close within {:?}: {what}; the next start goes on from what is committed", options.within);
        Err(StreamsError::new(text, StreamsErrorKind::Stopped))
    }

    /// Lanes close one beside the other. Their events are read meanwhile, so that none waits for room. The first failure is the result.
    async fn close_lanes(&mut self) -> Result<(), StreamsError> {
        let lanes = std::mem::take(&mut self.lanes);
        let mut closing = Box::pin(async move {
            for lane in &lanes {
                lane.close().await;
            }
        });
        let mut outcome = Ok(());
        loop {
            tokio::select! {
                biased;
                Some(event) = self.lane_events.recv() => outcome = outcome.and(last_word(event)),
                () = &mut closing => return outcome,
            }
        }
    }
}

/// What a closing lane tells. A task that would go on from what is committed does so at the next start.
fn last_word(event: LaneEvent) -> Result<(), StreamsError> {
    match event {
        LaneEvent::Failed(_, error) | LaneEvent::Broken(error) => {
            tracing::warn!(error = %WithCauses(&error), "the last commit failed; the next start goes on from the one before");
            Err(error)
        }
        LaneEvent::Rewound(_) | LaneEvent::InDoubt(_) => Ok(()),
    }
}

/// Waits until workers have closed all processors.
async fn all_closed(shared: &crate::shared::Shared, slots: &[Arc<Slot>]) {
    let runtime = shared.runtime().as_ref();
    while !slots.iter().all(|slot| slot.is_closed()) {
        sleep_until(runtime, runtime.now() + LOOK).await;
    }
}

const fn leave_policy(options: &CloseOptions) -> LeavePolicy {
    match options.group {
        Some(GroupMembership::Leave) => LeavePolicy::Leave,
        Some(GroupMembership::Remain) => LeavePolicy::Remain,
        None => LeavePolicy::Dynamic,
    }
}

fn remaining(deadline: Instant, now: Instant) -> Duration {
    deadline.saturating_duration_since(now).max(LEAST)
}

/// How long a runtime whose handles are gone, or that failed, may take.
pub(super) const UNATTENDED: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(2);
/// What is left for leaving the group and for workers, however long the commit took.
const LEAST: Duration = Duration::from_millis(500);
