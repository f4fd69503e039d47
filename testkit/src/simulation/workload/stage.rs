//! What all workloads stand on: processes that are killed and start again, clients that write down what they do, and the end of a run.

use super::case::Case;
use crate::checkers::{ClientId, Ended, Event, History, Read, TransactionId, Value, Violation};
use crate::simulation::{Fault, Handle, Random, Schedule, SimulatedProcess, rack_of};
use millstream_client::runtime::{BoxFuture, Runtime, sleep_until, timeout_at};
use millstream_client::{ClientBuilder, Error, Records};
use millstream_protocol::{NodeId, TopicPartition};
use millstream_state::fs::MemoryFs;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long a silent member keeps its partitions. Heartbeats come every three seconds.
pub(super) const SESSION_TIMEOUT: Duration = Duration::from_secs(10);
/// How long after that the last fault has healed.
pub(super) const HEALING: Duration = Duration::from_secs(30);
/// How long after the trouble the last record is written, or has failed.
const WRITTEN: Duration = Duration::from_secs(45);
/// How long readers have after that until they must have read everything.
pub(super) const CATCH_UP: Duration = Duration::from_secs(240);

/// What all parts of a workload share. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    pub(super) handle: Handle,
    /// What the workload itself runs on, which nothing happens to.
    pub(super) runtime: Arc<dyn Runtime>,
    process: SimulatedProcess,
    history: Arc<Mutex<History>>,
    violations: Arc<Mutex<Vec<Violation>>>,
    next: Arc<AtomicU64>,
    process_faults: Arc<Schedule>,
    pub(super) case: Arc<Case>,
}

impl Stage {
    pub(super) fn new(handle: Handle, process_faults: Schedule, case: Case) -> Self {
        let process = handle.start_process("workload");
        let runtime = process.runtime();
        let next = Arc::new(AtomicU64::new(1));
        let (process_faults, case) = (Arc::new(process_faults), Arc::new(case));
        let (history, violations) = (Arc::default(), Arc::default());
        Self { handle, runtime, process, history, violations, next, process_faults, case }
    }
    /// How long things go wrong.
    pub(super) fn trouble(&self) -> Duration {
        self.case.trouble()
    }
    /// A number that nothing else has.
    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
    /// Writes down what a client did or saw.
    pub(super) fn note(&self, client: ClientId, event: Event) {
        let now = self.handle.now();
        self.lock().add(now, client, event);
    }
    pub(super) fn lock(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Says what must not be, and was, where only the workload itself can tell.
    pub(super) fn violate(&self, violation: Violation) {
        self.violations.lock().unwrap_or_else(PoisonError::into_inner).push(violation);
    }
    pub(super) fn take_violations(&self) -> Vec<Violation> {
        std::mem::take(&mut *self.violations.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// Runs all of them beside each other, to their ends.
    pub(super) async fn all(&self, tasks: Vec<BoxFuture<()>>) {
        let start = |task: BoxFuture<()>| {
            let (done, is_done) = oneshot::channel();
            self.process.spawn(async move {
                task.await;
                let _ = done.send(());
            });
            is_done
        };
        let running: Vec<_> = tasks.into_iter().map(start).collect();
        for task in running {
            let _ = task.await;
        }
    }
    /// Whether it is time to end.
    pub(super) fn is_over(&self) -> bool {
        self.handle.now() >= self.trouble()
    }
    /// Whether a group may stop: everything is written and it has consumed a topic to its end, or it has had its time.
    pub(super) fn is_done(&self, group: &str, topic: &str) -> bool {
        self.has_had_its_time()
            || (self.is_written()
                && (0..self.partitions(topic)).all(|partition| self.is_consumed(group, topic, partition)))
    }
    /// Whether the last record is written, or has failed.
    pub(super) fn is_written(&self) -> bool {
        self.handle.now() > self.trouble() + WRITTEN
    }
    /// Whether everything must be over by now.
    pub(super) fn has_had_its_time(&self) -> bool {
        self.handle.now() >= self.trouble() + HEALING + CATCH_UP
    }
    /// How many partitions a topic has by now.
    pub(super) fn partitions(&self, topic: &str) -> i32 {
        self.handle.with_broker(|broker| broker.partition_count(topic))
    }
    fn is_consumed(&self, group: &str, topic: &str, partition: i32) -> bool {
        self.handle.with_broker(|broker| {
            let end = broker.span(topic, partition).map_or(0, |(_, end)| end);
            broker.committed_offset(group, topic, partition).unwrap_or(0) >= end
        })
    }
    pub(super) fn instant(&self, at: Duration) -> Instant {
        self.runtime.now() + at.saturating_sub(self.handle.now())
    }
    pub(super) async fn sleep_until(&self, at: Duration) {
        sleep_until(&*self.runtime, self.instant(at)).await;
    }

    /// Runs a process without a disk.
    pub(super) async fn supervise(
        &self,
        index: usize,
        host: String,
        body: impl Fn(SimulatedProcess, usize) -> BoxFuture<()> + Send + Sync,
    ) {
        self.supervise_on(index, host, None, body).await;
    }
    /// Runs a process: kills it when its faults say so, and starts it again until it has ended by itself.
    pub(super) async fn supervise_on(
        &self,
        index: usize,
        host: String,
        disk: Option<MemoryFs>,
        body: impl Fn(SimulatedProcess, usize) -> BoxFuture<()> + Send + Sync,
    ) {
        let own = |fault: &Fault| matches!(fault, Fault::Kill(of, _) | Fault::DiskFailure(of, ..) | Fault::PowerLoss(of, ..) if *of == index);
        let mut faults = self.process_faults.iter().filter(|(_, fault)| own(fault));
        for life in 0.. {
            let process = self.handle.start_process(&host);
            let (done, mut is_done) = oneshot::channel();
            let main = body(process.clone(), life);
            process.spawn(async move {
                main.await;
                let _ = done.send(());
            });
            loop {
                let Some((at, fault)) = faults.next() else {
                    let _ = is_done.await;
                    return process.kill();
                };
                if timeout_at(&*self.runtime, self.instant(*at), &mut is_done).await.is_some() {
                    return process.kill();
                }
                if self.strike(&process, disk.as_ref(), fault).await {
                    break;
                }
            }
        }
    }
    /// Lets something happen to a process; says whether it has to be started again.
    async fn strike(&self, process: &SimulatedProcess, disk: Option<&MemoryFs>, fault: &Fault) -> bool {
        let (Fault::Kill(_, lasts) | Fault::DiskFailure(_, _, lasts) | Fault::PowerLoss(_, _, lasts)) = fault else {
            return false;
        };
        let kills = !matches!(fault, Fault::DiskFailure(..));
        if kills {
            // What the dying process still does no longer reaches its disk.
            disk.into_iter().for_each(|disk| disk.fail_from(disk.operations(), ErrorKind::Other));
            process.kill();
        }
        let fails_from = disk.map(|disk| super::counting::strike(disk, fault));
        sleep_until(&*self.runtime, self.runtime.now() + *lasts).await;
        // A disk that nobody wrote to has not failed anybody.
        if disk.zip(fails_from).is_none_or(|(disk, from)| kills || disk.operations() > from) {
            self.handle.count(fault);
        }
        disk.into_iter().for_each(MemoryFs::heal);
        kills
    }
}

/// A client that writes down what it does.
#[derive(Debug, Clone)]
pub(super) struct Scribe {
    pub(super) stage: Stage,
    pub(super) client: ClientId,
}
impl Scribe {
    pub(super) fn new(stage: &Stage) -> Self {
        Self { stage: stage.clone(), client: stage.number().into() }
    }
    pub(super) fn note(&self, event: Event) {
        self.stage.note(self.client, event);
    }
    /// How a transaction ended; and where that is not known, why.
    pub(super) fn ended(&self, transaction: TransactionId, outcome: Ended, error: Option<&Error>) {
        if let Some(error) = error.filter(|_| outcome == Ended::Unknown) {
            let code = error.code().map_or_else(String::new, |code| format!(", {code}"));
            let cause = format!("{:?}{code}", error.kind());
            self.note(Event::InDoubt { transaction, cause });
        }
        self.note(Event::Ended { transaction, outcome });
    }
    /// Says what the consumer of a process may hold, where that is little.
    pub(super) fn holds(&self, process: &SimulatedProcess) {
        let limit = super::seams::fetch_memory(&self.stage);
        let note = |bytes| self.note(Event::FetchLimit { process: process.number().into(), bytes });
        limit.into_iter().for_each(note);
    }
    /// A new value that is about to be sent, and the bytes that carry it.
    pub(super) fn send(
        &self,
        partition: &TopicPartition,
        transaction: Option<TransactionId>,
        padding: usize,
    ) -> (Value, Vec<u8>) {
        let value = self.stage.number();
        let mut bytes = value.to_be_bytes().to_vec();
        bytes.resize(8 + padding, b'.');
        self.note(Event::Send { value, partition: partition.clone(), transaction, bytes: bytes.len() });
        (value, bytes)
    }
    /// What a poll brought.
    pub(super) fn polled(&self, records: &Records, transaction: Option<TransactionId>) {
        let read = |record: millstream_client::RecordRef<'_>| {
            Some(Read::new(
                TopicPartition::new(record.topic(), record.partition()),
                record.offset().get(),
                value_of(record.value()?)?,
            ))
        };
        let records: Vec<Read> = records.iter().filter_map(read).collect();
        if !records.is_empty() {
            self.note(Event::Polled { records, transaction, read_committed: true });
        }
    }
}

/// Writes down that a client is gone, however it ends.
#[derive(Debug)]
pub(super) struct Life(pub(super) Scribe);
impl Drop for Life {
    fn drop(&mut self) {
        self.0.note(Event::Gone);
    }
}

/// The value that a record carries.
pub(crate) fn value_of(bytes: &[u8]) -> Option<Value> {
    Some(u64::from_be_bytes(*bytes.first_chunk()?))
}

/// Waits for a while, as long as the seed says.
pub(super) async fn pause(runtime: &dyn Runtime, random: &mut Random, most: Duration) {
    let wait = random.between(Duration::ZERO, most);
    sleep_until(runtime, runtime.now() + wait).await;
}

/// Asks until the answer is good, or it is time to end.
pub(super) async fn until_good<T, F>(
    runtime: &dyn Runtime,
    stage: &Stage,
    mut ask: impl FnMut() -> F + Send,
) -> Option<T>
where
    F: Future<Output = Result<T, Error>> + Send,
{
    while !stage.has_had_its_time() {
        match ask().await {
            Ok(answer) => return Some(answer),
            Err(error) => {
                let kind = error.kind();
                assert!(kind != millstream_client::ErrorKind::Misuse, "{error}");
                sleep_until(runtime, runtime.now() + Duration::from_secs(1)).await;
            }
        }
    }
    None
}

/// A client of a consumer, which stands in the rack of one node.
pub(super) fn client_in_rack(process: &SimulatedProcess) -> ClientBuilder {
    process.client().client_rack(rack_of(NodeId::new(2)))
}
