//! The steps of a lane's commit, each as it is done. Which one is next is the core's decision.

use super::batch::{Batch, Part};
use super::producer::{LaneProducer, WriteFailure};
use super::{LaneEvent, Lost, Members};
use crate::StreamsError;
use crate::group::Group;
use crate::shared::{Shared, lock};
use crate::slot::Slot;
use crate::stop_point::{StopPoint, reached};
use millstream_client::runtime::sleep_until;
use millstream_client::{Producer, ProducerRecord};
use millstream_processor_core::commit::{Fact, Lane, OffsetsRefused, Order};
use millstream_protocol::{Offset, Timestamp, TopicPartition};
use millstream_state::{CommitId, StoreError};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Commits for a lane.
#[derive(Debug)]
pub(super) struct Committer {
    shared: Arc<Shared>,
    group: Group,
    producer: LaneProducer,
    output: Producer,
    events: mpsc::Sender<LaneEvent>,
    lost: Arc<Lost>,
    lane: Lane,
    batch: Batch,
    /// The time of step 2.
    time: Timestamp,
}

impl Committer {
    pub(super) fn new(
        shared: Arc<Shared>,
        group: Group,
        producer: LaneProducer,
        output: Producer,
        events: mpsc::Sender<LaneEvent>,
        lost: Arc<Lost>,
    ) -> Self {
        let (lane, batch) = (Lane::new(), Batch::default());
        Self { shared, group, producer, output, events, lost, lane, batch, time: Timestamp::NONE }
    }

    /// One commit, to its decision.
    pub(super) async fn commit(&mut self, members: &Members) {
        let mut order = self.lane.begin();
        while order != Order::Rest {
            let fact = self.carry_out(order, members).await;
            if self.lost.is_lost() {
                self.lane.lose();
            }
            order = match self.lane.handle(fact, &self.shared.numbers) {
                Ok(order) => order,
                Err(mistake) => return self.tell(LaneEvent::Broken(StreamsError::state("commit", mistake))).await,
            };
        }
        self.batch = Batch::default();
    }

    /// Nothing is held any more: the member may join again.
    pub(super) fn found(&self) {
        self.lost.set(false);
    }

    /// Closes the producers.
    pub(super) async fn close(&mut self) {
        self.producer.close(CLOSE).await;
        if let Err(error) = self.output.clone().close(CLOSE).await {
            tracing::warn!(%error, "outputs may be missing");
        }
    }

    async fn carry_out(&mut self, order: Order, members: &Members) -> Fact {
        match order {
            Order::Freeze => self.freeze(members).await,
            Order::FlushOutputs => self.flush_outputs().await,
            Order::WriteChangelogs(_) => self.write_changelogs().await,
            Order::Prepare(commit) => self.prepare(commit).await,
            Order::SendOffsets { commit, again } => self.send_offsets(commit, again).await,
            Order::EndTransaction(_) => Fact::Ended(self.producer.end().await),
            Order::Apply(commit) => self.apply(commit).await,
            Order::Abort => Fact::Aborted { fenced: self.producer.abort().await },
            Order::Rewind { commit, lost, new_producer } => self.rewind(members, commit, lost, new_producer).await,
            Order::Recover { lost, .. } => self.hand_over(members, lost).await,
            _ => Fact::Failed,
        }
    }

    /// Step 1. What a task has in hand belongs to its next commit.
    async fn freeze(&mut self, members: &Members) -> Fact {
        let slots: Vec<Arc<Slot>> = lock(members).clone();
        let mut parts = Vec::with_capacity(slots.len());
        for slot in slots {
            match slot.commits.freeze() {
                Ok(Some(freeze)) => parts.push(Part::new(slot, freeze)),
                Ok(None) => {}
                Err(error) => self.tell_failed(&slot, "freeze", error).await,
            }
        }
        let nothing = parts.is_empty();
        self.batch = Batch::new(parts);
        Fact::Frozen { nothing }
    }

    async fn flush_outputs(&mut self) -> Fact {
        let mut flushed = Ok(());
        for slot in self.batch.slots() {
            flushed = flushed.and(slot.outlet.drain(self.shared.runtime().as_ref()).await);
        }
        match flushed.and(self.output.flush().await) {
            Ok(()) => {
                reached(StopPoint::Frozen);
                Fact::OutputsFlushed
            }
            Err(error) if error.is_retriable() => {
                tracing::warn!(%error, "outputs cannot be written now; their tasks go back to the last commit");
                Fact::OutputFailed
            }
            Err(error) => {
                self.tell(LaneEvent::Broken(StreamsError::client("write the outputs of tasks", error))).await;
                Fact::OutputFailed
            }
        }
    }

    /// Step 2.
    async fn write_changelogs(&mut self) -> Fact {
        self.time = self.shared.wall_clock();
        // Taken out meanwhile, so that no lock is held across an await.
        let mut parts = self.batch.with(std::mem::take);
        let written = self.write_all(&parts).await;
        if let Ok((_, ends)) = &written {
            parts.iter_mut().for_each(|part| part.set_changelog_ends(ends));
        }
        self.batch.with(|place| *place = parts);
        match written {
            Ok((count, _)) => {
                self.shared.counters.changelog_records.add(count);
                reached(StopPoint::Logged);
                Fact::ChangelogsWritten
            }
            Err(failure) => failure.into_fact("changelog records cannot be written"),
        }
    }

    async fn write_all(&mut self, parts: &[Part]) -> Result<(u64, HashMap<TopicPartition, Offset>), WriteFailure> {
        self.producer.begin().await?;
        let mut count = 0;
        for (partition, record) in parts.iter().flat_map(Part::changelog) {
            let output = ProducerRecord::to(&partition.topic).partition(partition.partition);
            let mut output = output.timestamp(record.timestamp);
            (output.key, output.value) = (Some(record.key), record.value);
            self.producer.write(output).await?;
            count += 1;
        }
        Ok((count, self.producer.written().await?))
    }

    /// Step 3.
    async fn prepare(&mut self, commit: CommitId) -> Fact {
        let time = self.time;
        if self.in_stores("prepare a commit in", move |part| part.prepare(commit, time)).await {
            reached(StopPoint::Prepared);
            return Fact::Prepared;
        }
        Fact::Failed
    }

    /// Step 4.
    async fn send_offsets(&mut self, commit: CommitId, again: bool) -> Fact {
        if again {
            self.wait_for_generation().await;
        }
        let requests = match self.batch.offsets(commit) {
            Ok(requests) => requests,
            Err((slot, error)) => {
                let error = StreamsError::state(format!("commit task {}", slot.id), error);
                self.tell(LaneEvent::Failed(slot.id, error)).await;
                return Fact::Failed;
            }
        };
        // Between Join and Sync nothing may be committed; a join waits for the guard.
        let Some(mut guard) = self.group.begin_commit() else {
            return Fact::OffsetsRefused(OffsetsRefused::StaleGeneration);
        };
        for offsets in requests {
            if let Err(refusal) = self.producer.send_offsets(&offsets, guard.metadata()).await {
                refusal.code.into_iter().for_each(|code| guard.answered(code));
                return refusal.fact;
            }
        }
        drop(guard);
        reached(StopPoint::OffsetsSent);
        Fact::OffsetsSent
    }

    /// Waits a moment for the group's newest generation, or until the tasks are lost.
    async fn wait_for_generation(&self) {
        let runtime = self.shared.runtime().as_ref();
        tokio::select! {
            biased;
            () = sleep_until(runtime, runtime.now() + STALE) => {}
            () = self.lost.changed() => {}
        }
    }

    /// Step 6. The commit stands whatever the journals do: a store that cannot take it is recovered from it.
    async fn apply(&mut self, commit: CommitId) -> Fact {
        reached(StopPoint::Committed);
        self.in_stores("apply a commit to", move |part| part.apply(commit)).await;
        self.shared.counters.commits.add(1);
        reached(StopPoint::Applied);
        Fact::Applied
    }

    /// The tasks of the commit go back to what is committed; all of the lane's if it is not known whose outputs failed.
    async fn rewind(&mut self, members: &Members, commit: Option<CommitId>, lost: bool, new_producer: bool) -> Fact {
        let slots = self.take_out(members, |slots| if commit.is_some() { slots } else { Vec::new() });
        if let Some(commit) = commit {
            self.in_stores("discard a commit in", move |part| part.discard(commit)).await;
        }
        if new_producer {
            self.renew().await;
        }
        if !lost {
            self.tell(LaneEvent::Rewound(slots)).await;
        }
        Fact::Rewound
    }

    /// Fenced while ending: the tasks leave the lane with their prepared batches, and recovery reads the outcome.
    async fn hand_over(&mut self, members: &Members, lost: bool) -> Fact {
        let slots = self.take_out(members, |slots| slots);
        self.renew().await;
        if !lost {
            self.tell(LaneEvent::InDoubt(slots)).await;
        }
        Fact::Recovered
    }

    /// Takes the commit's tasks out of the lane, without what is not committed; all tasks if `which` names none.
    fn take_out(&self, members: &Members, which: impl Fn(Vec<Arc<Slot>>) -> Vec<Arc<Slot>>) -> Vec<Arc<Slot>> {
        self.shared.counters.aborted_commits.add(1);
        let named = which(self.batch.slots());
        let is_named = |slot: &Arc<Slot>| named.is_empty() || named.iter().any(|other| Arc::ptr_eq(slot, other));
        let mut members = lock(members);
        let (out, stay) = std::mem::take(&mut *members).into_iter().partition(is_named);
        *members = stay;
        drop(members);
        for slot in named.iter().chain(&out) {
            slot.retire();
            slot.commits.abandon();
        }
        out
    }

    /// A producer that is fenced is of no more use. Another one of the same id takes its place, however long that takes.
    async fn renew(&mut self) {
        while let Err(error) = self.producer.renew(&self.shared).await {
            if !error.is_retriable() {
                return self
                    .tell(LaneEvent::Broken(StreamsError::client("make the lane's producer again", error)))
                    .await;
            }
            tracing::warn!(%error, "the lane's producer cannot be made again yet");
            let runtime = self.shared.runtime().as_ref();
            sleep_until(runtime, runtime.now() + RENEWAL).await;
        }
    }

    /// Does one step in the stores of every part, on the thread for that; true if it succeeded in all.
    async fn in_stores(
        &self,
        doing: &'static str,
        each: impl Fn(&Part) -> Result<(), StoreError> + Send + 'static,
    ) -> bool {
        let batch = self.batch.clone();
        let all = move || {
            let failed = |part: &Part| Some((Arc::clone(&part.slot), each(part).err()?));
            batch.with(|parts| parts.iter().filter_map(failed).collect::<Vec<_>>())
        };
        let Some(failed) = self.shared.jobs.run(all).await else { return false };
        let succeeded = failed.is_empty();
        for (slot, error) in failed {
            self.tell_failed(&slot, doing, error).await;
        }
        succeeded
    }

    async fn tell_failed(&self, slot: &Slot, doing: &str, error: StoreError) {
        let error = StreamsError::state(format!("{doing} the stores of task {}", slot.id), error);
        self.tell(LaneEvent::Failed(slot.id, error)).await;
    }

    async fn tell(&self, event: LaneEvent) {
        // The engine is gone only when nothing is left to tell.
        let _ = self.events.send(event).await;
    }
}

/// Between two tries under a stale generation.
const STALE: Duration = Duration::from_millis(20);
/// Between two tries to make a producer again.
const RENEWAL: Duration = Duration::from_millis(500);
const CLOSE: Duration = Duration::from_secs(10);
