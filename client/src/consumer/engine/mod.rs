//! What stands behind a consumer: the state that the application and the driver share, and the driver.
//!
//! The driver does all I/O. With a group it runs on a thread of its own with its own connections, so that nothing the
//! application does can delay a heartbeat. The two sides meet in [`Shared`]: the fetcher, the membership and the queue of
//! events, each under a lock that nobody holds across an await.

mod commit;
mod driver;
mod fetching;
mod in_flight;
mod membership;
mod offsets;
mod topics;

pub(crate) use commit::{CommitGuard, commit};
pub(crate) use offsets::{NAMES_UP_TO, committed};

use crate::client::Client;
use crate::runtime::{Runtime, Task, Thread};
use crate::{Error, ErrorKind, Offsets};
use driver::Driver;
use millstream_client_core::cluster::CoordinatorKey;
use millstream_client_core::fetch::{Fetcher, Generation, Taken};
use millstream_client_core::group::{Ack, GroupEvent, GroupMetadata, LeavePolicy, Member};
use millstream_protocol::{TopicName, TopicPartition};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};

/// Who acknowledges that partitions were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LossAck {
    /// The driver, as soon as the event is queued: the application has nothing in hand that it could still commit.
    AtOnce,
    /// The application.
    Explicit,
}

/// What the application and the driver share.
#[derive(Debug)]
pub(crate) struct Shared {
    runtime: Arc<dyn Runtime>,
    fetcher: Mutex<Fetcher>,
    member: Option<Mutex<Member>>,
    queue: Mutex<Queue>,
    loss_ack: LossAck,
    /// Something for the driver to do.
    wake_driver: Notify,
    /// An event or an error for the application to see.
    wake_for_events: Notify,
    /// Records for the application to take.
    wake_for_records: Notify,
    /// The order of commits: an older one must not overtake a newer one, so a commit holds this until it is answered.
    pub(crate) commit_order: tokio::sync::Mutex<()>,
    ended: watch::Sender<bool>,
}

/// What one side leaves for the other.
#[derive(Debug, Default)]
struct Queue {
    /// What the application is to see.
    events: VecDeque<Queued>,
    /// Who the member was when the application last knew of all its losses.
    seen: Option<GroupMetadata>,
    errors: VecDeque<Error>,
    /// Positions that the driver is to commit, in passing.
    to_commit: Option<Offsets>,
    /// The last of these commits failed.
    commit_failed: bool,
    /// Why the membership is over.
    over: Option<Error>,
    closing: Option<LeavePolicy>,
    /// The topics that the application named itself.
    topics: BTreeSet<TopicName>,
    topics_version: u64,
}

/// An event, and what was so when it was queued.
#[derive(Debug)]
struct Queued {
    event: GroupEvent,
    /// Who the member is by an assignment.
    member: Option<GroupMetadata>,
    /// The life of a partition that had begun last.
    as_of: Generation,
}

impl Shared {
    pub(crate) fn now(&self) -> Instant {
        self.runtime.now()
    }
    pub(crate) fn fetcher(&self) -> MutexGuard<'_, Fetcher> {
        self.fetcher.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(crate) fn member(&self) -> Option<MutexGuard<'_, Member>> {
        self.member.as_ref().map(|member| member.lock().unwrap_or_else(PoisonError::into_inner))
    }
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Changes what is read, and lets the driver see it.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Fetcher) -> T) -> T {
        let changed = change(&mut self.fetcher());
        self.wake_driver.notify_one();
        changed
    }
    /// Joins the group again, since what the member's assignor says about it has changed.
    pub(crate) fn join_anew(&self) {
        if let Some(mut member) = self.member() {
            member.join_anew(self.now());
        }
        self.wake_driver.notify_one();
    }
    /// Names the topics to read; with a group its members share them.
    pub(crate) fn subscribe(&self, topics: BTreeSet<TopicName>) {
        {
            let mut queue = self.queue();
            if topics.is_empty() {
                queue.events.clear();
            }
            queue.topics.clone_from(&topics);
            queue.topics_version += 1;
        }
        if let Some(mut member) = self.member() {
            member.subscribe(self.now(), topics);
        }
        self.wake_driver.notify_one();
    }
    pub(crate) fn subscription(&self) -> BTreeSet<TopicName> {
        self.queue().topics.clone()
    }
    pub(crate) fn acknowledge(&self, ack: Ack) {
        if let Some(mut member) = self.member() {
            member.acknowledge(self.now(), ack);
        }
        self.wake_driver.notify_one();
    }
    pub(crate) fn set_polling(&self, polling: bool) {
        let now = self.now();
        let acts = self.member().is_some_and(|mut member| member.set_polling(now, polling));
        if acts {
            self.wake_driver.notify_one();
        }
    }
    pub(crate) fn group_metadata(&self) -> Option<GroupMetadata> {
        self.member().map(|member| member.metadata().clone())
    }
    /// Queues an event for the application.
    fn queue_event(&self, event: GroupEvent) {
        let member = match &event {
            // The member may be out again by now, so the generation is the event's.
            GroupEvent::Assigned { generation, .. } => self.group_metadata().map(|mut member| {
                member.generation = *generation;
                member
            }),
            _ => None,
        };
        let as_of = self.fetcher().last_generation();
        self.queue().events.push_back(Queued { event, member, as_of });
    }
    /// The next event, left in the queue: it is taken off when all that it asks for is done.
    pub(crate) fn first_event(&self) -> Option<GroupEvent> {
        self.queue().events.front().map(|queued| queued.event.clone())
    }
    /// Takes the next event off the queue, with the life of a partition that had begun last when it was put there.
    pub(crate) fn take_event(&self) -> Option<(GroupEvent, Generation)> {
        let queued = self.queue().events.pop_front();
        let (taken, assigned) = queued.map(|Queued { event, member, as_of }| ((event, as_of), member)).unzip();
        if let Some(member) = assigned.flatten() {
            // Even if it is lost again already: it is what the application knows from now on.
            self.queue().seen = Some(member);
        }
        self.seen_metadata();
        taken
    }
    /// Who the member is as far as the application knows: while it has not been told of partitions that are lost, who it was before, which
    /// is who it was by the last assignment that the application has taken or at the last look before the loss, whichever came later. A
    /// member that was thrown out and is in again would else commit, under its new name, what is someone else's by now.
    pub(crate) fn seen_metadata(&self) -> Option<GroupMetadata> {
        // Read first: a new name is given after the loss is in the queue.
        let now = self.group_metadata()?;
        let mut queue = self.queue();
        if !queue.events.iter().any(|queued| matches!(queued.event, GroupEvent::Lost { .. })) {
            queue.seen = Some(now);
        }
        queue.seen.clone()
    }
    /// Whether any of these is lost, and the application has not been told yet.
    pub(crate) fn is_any_lost(&self, offsets: &Offsets) -> bool {
        self.queue().events.iter().any(|queued| match &queued.event {
            GroupEvent::Lost { partitions, .. } => partitions.iter().any(|partition| offsets.of(partition).is_some()),
            _ => false,
        })
    }
    /// The next error; once the membership is over, that for ever.
    pub(crate) fn take_error(&self) -> Option<Error> {
        let mut queue = self.queue();
        queue.errors.pop_front().or_else(|| queue.over.clone())
    }
    /// The membership is over.
    fn end_membership(&self, error: Error) {
        self.queue().over = Some(error);
        self.wake_for_events.notify_one();
    }
    /// Takes what is buffered of the next partition that is wanted; the driver may fill its place.
    pub(crate) fn take(&self, wanted: impl Fn(&TopicPartition) -> bool) -> Option<Taken> {
        let taken = self.fetcher().take(self.now(), wanted)?;
        self.wake_driver.notify_one();
        Some(taken)
    }
    /// Whether a commit in passing failed since this was asked last.
    pub(crate) fn take_commit_failed(&self) -> bool {
        std::mem::take(&mut self.queue().commit_failed)
    }
    pub(crate) fn fail(&self, error: Error) {
        self.queue().errors.push_back(error);
        self.wake_for_events.notify_one();
    }
    /// As [`fail`](Self::fail), unless an error with the same text still waits to be told of.
    pub(crate) fn fail_once(&self, error: Error) {
        let text = error.to_string();
        if !self.queue().errors.iter().any(|waiting| waiting.to_string() == text) {
            self.fail(error);
        }
    }
    /// Leaves positions for the driver to commit; newer ones replace those that it has not got to.
    pub(crate) fn commit_in_passing(&self, offsets: Offsets) {
        self.queue().to_commit = Some(offsets);
        self.wake_driver.notify_one();
    }
    /// Waits until there may be a new event or error.
    pub(crate) async fn event_changed(&self) {
        self.wake_for_events.notified().await;
    }
    /// Waits until there may be new records.
    pub(crate) async fn records_changed(&self) {
        self.wake_for_records.notified().await;
    }
    pub(crate) fn wake_for_records(&self) {
        self.wake_for_records.notify_one();
    }
    pub(crate) fn has_ended(&self) -> bool {
        *self.ended.borrow()
    }
}

/// How an engine starts.
#[derive(Debug)]
pub(crate) struct EngineConfig {
    pub(crate) fetcher: Fetcher,
    pub(crate) member: Option<Member>,
    pub(crate) group_id: Option<String>,
    pub(crate) loss_ack: LossAck,
    /// How long one question to a coordinator may take.
    pub(crate) session_timeout: Duration,
}

/// A running driver. Dropping it lets the driver leave the group and end by itself.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Client,
    pub(crate) group: Option<CoordinatorKey>,
    host: Host,
}

/// Where the driver runs.
#[derive(Debug)]
enum Host {
    /// On a thread of its own. In a lock only because a thread's handle may not be looked at from two threads.
    Thread(Mutex<Option<Thread>>),
    /// On the caller's runtime; it ends with its owner.
    Task(#[expect(dead_code, reason = "owned, so that the driver ends with it")] Task),
}

impl Engine {
    /// Starts a driver on a thread of its own.
    pub(crate) fn on_thread(client: Client, config: EngineConfig) -> Result<Self, Error> {
        let (shared, group) =
            prepare(&client, config.loss_ack, config.fetcher, config.member, config.group_id.as_deref());
        let (theirs, side, key) = (client.clone(), Arc::clone(&shared), group.clone());
        let timeout = config.session_timeout;
        let thread = client.runtime().start_io_thread(
            "millstream-consumer",
            Box::new(move |runtime| {
                Box::pin(async move {
                    let client = theirs.on(runtime);
                    drop(theirs);
                    Driver::new(client, side, key, timeout).run().await;
                })
            }),
        );
        let thread = thread.map_err(|error| {
            Error::new(ErrorKind::Unreachable, "start the consumer's thread").reason(&error).because(error)
        })?;
        Ok(Self { shared, client, group, host: Host::Thread(Mutex::new(Some(thread))) })
    }
    /// Starts a driver beside the caller.
    pub(crate) fn beside(client: Client, config: EngineConfig) -> Self {
        let (shared, group) =
            prepare(&client, config.loss_ack, config.fetcher, config.member, config.group_id.as_deref());
        let driver = Driver::new(
            client.on(Arc::clone(client.runtime())),
            Arc::clone(&shared),
            group.clone(),
            config.session_timeout,
        );
        let task = client.runtime().spawn(Box::pin(driver.run()));
        Self { shared, client, group, host: Host::Task(task) }
    }
    /// Leaves the group and ends, within this time.
    pub(crate) async fn close(&mut self, policy: LeavePolicy, deadline: Instant) -> Result<(), Error> {
        self.begin_close(policy);
        let mut ended = self.shared.ended.subscribe();
        let ended = async move { ended.wait_for(|ended| *ended).await.is_ok() };
        let runtime = Arc::clone(self.client.runtime());
        if crate::runtime::timeout_at(&*runtime, deadline, ended).await.is_none() {
            return Err(Error::new(ErrorKind::TimedOut, "close the consumer")
                .reason("the coordinator did not answer in time; the member's session will end by itself"));
        }
        // The driver has ended, so this waits for no more than the thread's last instructions.
        if let Host::Thread(thread) = &mut self.host
            && let Ok(thread) = thread.get_mut()
            && let Some(Err(error)) = thread.take().map(Thread::join)
        {
            return Err(Error::new(ErrorKind::Closed, "close the consumer").reason(&error).because(error));
        }
        Ok(())
    }
    fn begin_close(&self, policy: LeavePolicy) {
        self.shared.queue().closing.get_or_insert(policy);
        self.shared.wake_driver.notify_one();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.begin_close(LeavePolicy::Dynamic);
    }
}

fn prepare(
    client: &Client,
    loss_ack: LossAck,
    fetcher: Fetcher,
    member: Option<Member>,
    group_id: Option<&str>,
) -> (Arc<Shared>, Option<CoordinatorKey>) {
    let shared = Arc::new(Shared {
        runtime: Arc::clone(client.runtime()),
        fetcher: Mutex::new(fetcher),
        member: member.map(Mutex::new),
        queue: Mutex::default(),
        loss_ack,
        wake_driver: Notify::new(),
        wake_for_events: Notify::new(),
        wake_for_records: Notify::new(),
        commit_order: tokio::sync::Mutex::new(()),
        ended: watch::Sender::new(false),
    });
    (shared, group_id.map(|group| CoordinatorKey::Group(group.to_owned())))
}
