//! A task has stopped: its neighbours go on, and the handler says what becomes of it and of the process.

use super::{Engine, Entry, Outcome};
use crate::slot::Slot;
use crate::{StreamsError, StreamsErrorKind};
use millstream_client::runtime::sleep_until;
use millstream_processor_core::ProcessorError;
use millstream_processor_core::failure::{OnTaskFailure, TaskFailure};
use std::sync::Arc;
use std::time::Duration;

impl Engine {
    /// What finished before the failure is committed with the neighbours' work, whatever the handler says.
    pub(super) fn handle_failure(&mut self, slot: &Arc<Slot>, error: ProcessorError) -> Result<(), StreamsError> {
        let task = slot.id;
        let is_present =
            matches!(self.tasks.get(&task), Some(Entry::Running { slot: present, .. }) if Arc::ptr_eq(present, slot));
        if !is_present {
            return Ok(());
        }
        slot.stop();
        let attempts = self.count_failure(slot);
        let failure = TaskFailure::new(task, attempts, error);
        tracing::error!(%task, attempts, error = %failure.error, "a task has stopped");
        match self.on_task_failure.handle(&failure) {
            OnTaskFailure::Restart(after) => {
                self.restart(slot, after);
                Ok(())
            }
            answer => {
                if answer == OnTaskFailure::ShutdownApplication {
                    tracing::warn!("only this process is stopped: others are not told yet");
                }
                Err(StreamsError::new(format!("run task {task}"), StreamsErrorKind::Task(task)).because(failure.error))
            }
        }
    }

    /// How often the task has stopped without a commit that moved it on.
    fn count_failure(&mut self, slot: &Slot) -> u32 {
        let attempts = if slot.has_advanced() { 1 } else { self.failures.get(&slot.id).copied().unwrap_or(0) + 1 };
        self.failures.insert(slot.id, attempts);
        attempts
    }

    /// Commits, takes the task out of its lane, and recovers it after a while.
    fn restart(&mut self, slot: &Arc<Slot>, after: Duration) {
        let task = slot.id;
        self.group.stop_reading(&self.shared.layout.partitions(task));
        let Some(Entry::Running { lane, .. }) = self.tasks.get(&task) else { return };
        let lane = *lane;
        self.tasks.insert(task, Entry::Leaving { lane: Some(lane) });
        let (lane, slot, tell) = (self.lanes[lane].clone(), Arc::clone(slot), self.tell.clone());
        let runtime = Arc::clone(self.shared.runtime());
        self.beside(async move {
            lane.leave(vec![task]).await;
            sleep_until(runtime.as_ref(), runtime.now() + after).await;
            let _ = tell.send(Outcome::Again { task, slot: Some(slot) }).await;
        });
    }
}
