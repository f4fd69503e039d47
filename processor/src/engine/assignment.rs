//! Tasks come and go. Only those that move are touched.

use super::{Engine, Entry, Outcome};
use crate::collector::{Outlet, TaskCollector, Token};
use crate::error::WithCauses;
use crate::recovery::{Recovered, Recovering, TaskStores, recover};
use crate::slot::{CommittedState, Slot};
use crate::stop_point::{StopPoint, reached};
use crate::{StreamsError, StreamsErrorKind};
use millstream_client::runtime::{Panicked, sleep_until};
use millstream_client::runtime_consumer::Ack;
use millstream_processor_core::{StoreInfo, Task, TaskId};
use millstream_protocol::TopicPartition;
use millstream_state::{MemoryStore, OrderedStore};
use std::collections::BTreeSet;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

impl Engine {
    /// A rebalance is complete: tasks that are new are recovered.
    pub(super) fn assigned(&mut self, all: &BTreeSet<TopicPartition>) {
        self.is_member = true;
        let tasks: BTreeSet<TaskId> =
            all.iter().filter_map(|partition| self.shared.layout.task_of(partition)).collect();
        for task in tasks {
            if !self.tasks.contains_key(&task) {
                self.begin_recovery(task, None);
            }
        }
    }

    /// Starts a recovery beside the loop. `stores` are those that are open already.
    pub(super) fn begin_recovery(&mut self, task: TaskId, stores: Option<Arc<TaskStores>>) {
        tracing::info!(%task, "task recovers");
        self.attempts += 1;
        let attempt = self.attempts;
        let recovering =
            Recovering { task, inputs: self.shared.layout.partitions(task), folder: self.state_dir.task(task), stores };
        let (tell, future) = (self.tell.clone(), recover(Arc::clone(&self.shared), self.group.clone(), recovering));
        let job = self.shared.runtime().spawn(Box::pin(async move {
            let result = future.await;
            // The loop is gone only when everything is.
            let _ = tell.send(Outcome::Recovered { task, attempt, result }).await;
        }));
        self.tasks.insert(task, Entry::Recovering { attempt, _job: job });
    }

    /// A recovery has ended. One that another try may mend is tried again; a task that is gone meanwhile is left.
    pub(super) fn recovered(
        &mut self,
        task: TaskId,
        attempt: u64,
        result: Result<Recovered, StreamsError>,
    ) -> Result<(), StreamsError> {
        match self.tasks.get(&task) {
            Some(Entry::Recovering { attempt: now, .. }) if *now == attempt => {}
            _ => return Ok(()),
        }
        match result {
            Ok(recovered) => self.install(task, recovered),
            Err(error) if error.is_retriable() => {
                tracing::warn!(%task, error = %WithCauses(&error), "cannot be recovered yet");
                self.try_again(task, None, AGAIN);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Makes the task and lets it run, in the lane that has fewest.
    fn install(&mut self, task: TaskId, recovered: Recovered) -> Result<(), StreamsError> {
        let lane = (0..self.lanes.len()).min_by_key(|lane| self.lanes[*lane].len()).unwrap_or(0);
        self.shared.counters.tasks_created.add(1);
        self.run_task(task, lane, recovered)
    }

    fn run_task(&mut self, task: TaskId, lane: usize, recovered: Recovered) -> Result<(), StreamsError> {
        let Recovered { stores, committed } = recovered;
        let token = Token::new();
        let outlet = Arc::new(Outlet::new(self.lanes[lane].output().clone()));
        let collector = TaskCollector::new(Arc::clone(&outlet), token.clone());
        let made = self.make(task, &stores, &committed, collector)?;
        let starts: Vec<_> = committed
            .positions
            .iter()
            .filter_map(|position| Some((position.partition.clone(), position.next?)))
            .collect();
        let slot = Arc::new(Slot::new(made, stores, outlet, token, committed));
        self.lanes[lane].add(&slot);
        tracing::debug!(%task, lane, ?starts, "runs");
        self.group.read(starts);
        self.shared.view.insert(&slot);
        self.shared.queue.wake(&slot);
        self.tasks.insert(task, Entry::Running { slot, lane });
        tracing::info!(%task, lane, "task runs");
        Ok(())
    }

    /// Builds the task's nodes: suppliers are user code.
    fn make(
        &self,
        task: TaskId,
        stores: &TaskStores,
        committed: &CommittedState,
        collector: TaskCollector,
    ) -> Result<Task, StreamsError> {
        let base = |info: &StoreInfo| -> Arc<dyn OrderedStore> {
            let store = stores.stores.iter().find(|store| store.name == info.name());
            store.map_or_else(|| Arc::new(MemoryStore::new(info.name())) as _, |store| Arc::clone(&store.base))
        };
        let positions = committed.positions.clone();
        let make =
            || Task::new(&self.shared.topology, task, positions, base, Box::new(collector), &self.shared.task_options);
        let failed = || StreamsError::new(format!("build task {task}"), StreamsErrorKind::Task(task));
        match catch_unwind(AssertUnwindSafe(make)) {
            Ok(made) => made.map_err(|error| failed().because(error)),
            Err(panic) => Err(failed().because(Panicked::new(&*panic))),
        }
    }

    /// After an abort: the task goes on from what is committed, with the stores that it has.
    pub(super) fn go_on(&mut self, slot: &Arc<Slot>) -> Result<(), StreamsError> {
        let Some(lane) = self.lane_of(slot) else { return Ok(()) };
        self.retire(slot);
        let recovered = Recovered { stores: Arc::clone(&slot.stores), committed: slot.committed() };
        self.run_task(slot.id, lane, recovered)
    }

    /// After a commit in doubt: the task is recovered, with the stores that it has.
    pub(super) fn recover_again(&mut self, slot: &Arc<Slot>) {
        if self.lane_of(slot).is_some() {
            self.group.stop_reading(&self.shared.layout.partitions(slot.id));
            self.retire(slot);
            self.begin_recovery(slot.id, Some(Arc::clone(&slot.stores)));
        }
    }

    /// The lane of a slot that is the task's present one.
    fn lane_of(&self, slot: &Arc<Slot>) -> Option<usize> {
        match self.tasks.get(&slot.id) {
            Some(Entry::Running { slot: present, lane }) if Arc::ptr_eq(present, slot) => Some(*lane),
            _ => None,
        }
    }

    /// These tasks are asked back. They start nothing new; what they have finished is committed, and then they are let go.
    pub(super) fn revoking(&mut self, partitions: &[TopicPartition], ack: Ack) {
        reached(StopPoint::Revoking);
        let tasks: BTreeSet<TaskId> =
            partitions.iter().filter_map(|partition| self.shared.layout.task_of(partition)).collect();
        self.group.stop_reading(partitions);
        let (mut slots, mut lanes) = (Vec::new(), BTreeSet::new());
        for task in &tasks {
            let lane = match self.tasks.remove(task) {
                Some(Entry::Running { slot, lane }) => {
                    tracing::info!(%task, "task is asked back");
                    slot.stop();
                    slots.push(slot);
                    Some(lane)
                }
                // A task that has failed may still be in its lane's commit, which must not end under the next generation.
                Some(Entry::Leaving { lane }) => lane,
                Some(Entry::Recovering { .. }) | None => None,
            };
            lanes.extend(lane);
            self.tasks.insert(*task, Entry::Leaving { lane });
        }
        let tasks: Vec<TaskId> = tasks.into_iter().collect();
        let lanes: Vec<_> = lanes.into_iter().map(|lane| self.lanes[lane].clone()).collect();
        let tell = self.tell.clone();
        self.beside(async move {
            for lane in lanes {
                lane.leave(tasks.clone()).await;
            }
            let _ = tell.send(Outcome::Left { slots, tasks, ack }).await;
        });
    }

    pub(super) fn left(&mut self, slots: &[Arc<Slot>], tasks: &[TaskId]) {
        slots.iter().for_each(|slot| self.retire(slot));
        tasks.iter().for_each(|task| drop(self.tasks.remove(task)));
    }

    /// All tasks are somebody else's. Lanes abort, or wait for an outcome; only then may the member join again.
    pub(super) fn lost(&mut self, ack: Ack) {
        self.group.stop_reading(&self.inputs());
        let mut slots = Vec::new();
        for (_, entry) in self.tasks.drain() {
            if let Entry::Running { slot, .. } = entry {
                slot.stop();
                slots.push(slot);
            }
        }
        self.is_member = false;
        let (lanes, tell) = (self.lanes.clone(), self.tell.clone());
        self.beside(async move {
            for lane in lanes {
                lane.lose().await;
            }
            let _ = tell.send(Outcome::Lost { slots, ack }).await;
        });
    }

    /// The inputs of all tasks that are here.
    pub(super) fn inputs(&self) -> Vec<TopicPartition> {
        self.tasks.keys().flat_map(|task| self.shared.layout.partitions(*task)).collect()
    }

    /// Takes a slot out of everybody's sight; a worker closes it.
    pub(super) fn retire(&self, slot: &Arc<Slot>) {
        tracing::info!(task = %slot.id, "task closed");
        slot.retire();
        self.shared.counters.tasks_closed.add(1);
        self.shared.view.remove(slot);
        self.shared.queue.wake(slot);
    }

    /// Recovers a task after a pause, once its old slot is retired.
    pub(super) fn try_again(&mut self, task: TaskId, slot: Option<Arc<Slot>>, after: Duration) {
        self.tasks.insert(task, Entry::Leaving { lane: None });
        let (tell, runtime) = (self.tell.clone(), Arc::clone(self.shared.runtime()));
        self.beside(async move {
            sleep_until(runtime.as_ref(), runtime.now() + after).await;
            let _ = tell.send(Outcome::Again { task, slot }).await;
        });
    }

    pub(super) fn beside(&mut self, future: impl Future<Output = ()> + Send + 'static) {
        self.beside.push(self.shared.runtime().spawn(Box::pin(future)));
    }
}

/// How long a recovery that failed for now waits.
const AGAIN: Duration = Duration::from_millis(500);
