//! The loop of a consumer's driver: start what can be started, wait for whatever comes first, file it.

use super::Shared;
use super::in_flight::InFlight;
use crate::Error;
use crate::client::{Client, View};
use crate::runtime::{Runtime, Timer};
use millstream_client_core::cluster::CoordinatorKey;
use millstream_client_core::fetch::{Generation, Lookup, Outcome, Stream, Validation};
use millstream_client_core::group::assignor::ClusterLayout;
use millstream_client_core::group::{Call, Failure};
use millstream_protocol::messages::{
    HeartbeatResponse, JoinGroupResponse, LeaveGroupResponse, ListOffsetsResponse, OffsetForLeaderEpochResponse,
    SyncGroupResponse,
};
use millstream_protocol::{TopicName, TopicPartition};
use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::watch;

pub(super) struct Driver {
    pub(super) client: Client,
    pub(super) shared: Arc<Shared>,
    pub(super) group: Option<CoordinatorKey>,
    pub(super) session_timeout: Duration,
    pub(super) in_flight: InFlight<Done>,
    pub(super) view: watch::Receiver<View>,
    pub(super) committing: bool,
    pub(super) topics_in_use: BTreeSet<TopicName>,
    /// The versions of what is read and subscribed to, and of the cluster's picture, that were looked at last.
    pub(super) looked_at: (u64, u64, u64),
    pub(super) topics_told: Option<Instant>,
    pub(super) missing_told: BTreeSet<TopicName>,
    pub(super) next_refresh: Option<Instant>,
    pub(super) next_missing: Option<Instant>,
    closing: bool,
}

/// What came back.
pub(super) enum Done {
    Fetched(Stream, Outcome),
    LookedUp(Lookup, Option<ListOffsetsResponse>),
    Validated(Validation, Checked),
    Committed(Vec<(TopicPartition, Generation)>, Result<crate::Offsets, Error>),
    Commit,
    Joined(Call, Result<JoinGroupResponse, Failure>),
    Synced(Call, Result<SyncGroupResponse, Failure>),
    Beaten(Call, Result<HeartbeatResponse, Failure>),
    Left(Call, Result<LeaveGroupResponse, Failure>),
    Layout(Call, Option<ClusterLayout>),
}

/// What a question about truncation brought.
pub(super) enum Checked {
    Answer(OffsetForLeaderEpochResponse),
    NoAnswer,
    Unsupported,
}

impl Driver {
    pub(super) fn new(
        client: Client,
        shared: Arc<Shared>,
        group: Option<CoordinatorKey>,
        session_timeout: Duration,
    ) -> Self {
        let view = client.hub().watch();
        Self {
            client,
            shared,
            group,
            session_timeout,
            in_flight: InFlight::new(),
            view,
            committing: false,
            topics_in_use: BTreeSet::new(),
            looked_at: (0, 0, 0),
            topics_told: None,
            missing_told: BTreeSet::new(),
            next_refresh: None,
            next_missing: None,
            closing: false,
        }
    }

    pub(super) async fn run(mut self) {
        let runtime = Arc::clone(self.client.runtime());
        let mut timer = runtime.timer();
        let _ended = Ended(Arc::clone(&self.shared));
        while self.act(&*runtime) {
            let done = self.wait(timer.as_mut(), &*runtime).await;
            let now = runtime.now();
            if let Some(done) = done {
                self.file(now, done);
            }
        }
    }

    /// Starts what can be started. False when it is over.
    fn act(&mut self, runtime: &dyn Runtime) -> bool {
        let now = runtime.now();
        self.begin_close(now);
        self.look_at_topics(now);
        self.act_for_group(now);
        if self.closing {
            return !self.shared.member().is_none_or(|member| member.is_out());
        }
        self.start_auto_commit();
        self.start_lookups(now, runtime.wall_clock());
        self.start_fetches(now);
        true
    }
    fn begin_close(&mut self, now: Instant) {
        let policy = self.shared.queue().closing;
        if let Some(policy) = policy.filter(|_| !self.closing) {
            self.closing = true;
            if let Some(mut member) = self.shared.member() {
                member.close(now, policy);
            }
        }
    }
    /// Waits for the first of: an answer, a wake-up, news of the cluster, a deadline.
    async fn wait(&mut self, mut timer: Pin<&mut dyn Timer>, runtime: &dyn Runtime) -> Option<Done> {
        let deadline = self.deadline(runtime.now());
        timer.as_mut().set(deadline);
        let Self { in_flight, view, shared, .. } = self;
        let mut woken = std::pin::pin!(shared.wake_driver.notified());
        let mut changed = std::pin::pin!(view.changed());
        std::future::poll_fn(|cx| {
            if let Poll::Ready(done) = in_flight.poll_next(cx) {
                return Poll::Ready(Some(done));
            }
            let news = woken.as_mut().poll(cx).is_ready() || changed.as_mut().poll(cx).is_ready();
            if news || timer.as_mut().poll(cx).is_ready() { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }
    fn deadline(&self, now: Instant) -> Option<Instant> {
        let member = self.shared.member().and_then(|member| member.deadline());
        let fetcher = self.shared.fetcher().deadline(now);
        [member, fetcher, self.next_refresh, self.topics_deadline()].into_iter().flatten().min()
    }
    fn file(&mut self, now: Instant, done: Done) {
        match done {
            Done::Fetched(stream, outcome) => self.file_fetch(now, stream, outcome),
            Done::LookedUp(lookup, answer) => self.file_lookup(now, &lookup, answer.as_ref()),
            Done::Validated(validation, checked) => self.file_validation(now, &validation, &checked),
            Done::Committed(asked, answer) => self.file_committed(now, &asked, answer),
            Done::Commit => self.committing = false,
            Done::Joined(call, answer) => self.with_member(|member| member.handle_join(now, call, answer)),
            Done::Synced(call, answer) => self.with_member(|member| member.handle_sync(now, call, answer)),
            Done::Beaten(call, answer) => self.with_member(|member| member.handle_heartbeat(now, call, answer)),
            Done::Left(call, answer) => self.with_member(|member| member.handle_left(now, call, answer)),
            Done::Layout(call, layout) => self.with_member(|member| member.handle_layout(now, call, layout.as_ref())),
        }
    }
}

/// Tells whoever waits for it that the driver has ended, also by a panic.
struct Ended(Arc<Shared>);
impl Drop for Ended {
    fn drop(&mut self) {
        self.0.ended.send_replace(true);
        self.0.wake_for_events.notify_one();
        self.0.wake_for_records.notify_one();
    }
}
