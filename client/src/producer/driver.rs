//! A producer's driver: one task that asks the sender what goes now and tells it what came back.

use super::engine::Engine;
use super::identity::init_producer_id;
use crate::Error;
use crate::client::{Call, Target, View};
use crate::net::{Place, Purpose, RequestError, Row};
use crate::runtime::{BoxFuture, Timer};
use millstream_client_core::cluster::{CoordinatorKey, Creation};
use millstream_client_core::connection::Outgoing;
use millstream_client_core::produce::{Failure, Identity, ProduceCall};
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::ProduceResponse;
use millstream_protocol::{ApiKey, NodeId, TopicPartition};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often topics in use are named to the refresh, so that it goes on.
const INTEREST: Duration = Duration::from_secs(60);

pub(super) async fn run(engine: Arc<Engine>) {
    let view = engine.client.hub().watch();
    let timer = engine.client.runtime().timer();
    let interest = engine.client.now() + INTEREST;
    let mut driver = Driver {
        view,
        timer,
        interest,
        calls: HashMap::default(),
        rows: HashMap::default(),
        identity: None,
        adding: None,
        engine,
    };
    while driver.step() {
        driver.wait().await;
    }
    driver.engine.ended.send_replace(true);
}

struct Driver {
    engine: Arc<Engine>,
    view: watch::Receiver<View>,
    timer: Pin<Box<dyn Timer>>,
    interest: Instant,
    /// Requests under way, by broker, in the order in which they were sent.
    calls: HashMap<NodeId, VecDeque<BoxFuture<Landed>>>,
    /// By broker, what is sent now: until one of them fails or is refused, which is the end of all that are behind it.
    rows: HashMap<NodeId, Row>,
    identity: Option<BoxFuture<Result<Identity, Error>>>,
    adding: Option<BoxFuture<Result<(), Error>>>,
}

/// A request that came back.
struct Landed {
    node: NodeId,
    id: u64,
    row: Row,
    result: Result<Option<ProduceResponse>, RequestError>,
}

impl Driver {
    /// Starts everything that can start. Whether there will be more.
    fn step(&mut self) -> bool {
        // Asked first: what was taken before is seen below.
        let closing = self.engine.closing.load(Ordering::Acquire);
        loop {
            let calls = self.poll_sender();
            if calls.is_empty() {
                break;
            }
            for call in calls {
                let node = call.node;
                let started = self.start(call);
                self.calls.entry(node).or_default().push_back(started);
            }
        }
        let idle = self.calls.is_empty() && self.engine.sender().is_idle();
        !(idle && closing)
    }

    fn poll_sender(&mut self) -> Vec<ProduceCall> {
        let engine = &self.engine;
        let now = engine.client.now();
        let image = Arc::clone(&self.view.borrow().image);
        let mut sender = engine.sender();
        let calls = sender.poll_calls(now, &image);
        let to_seal = sender.take_to_seal();
        let asks_identity = self.identity.is_none() && sender.poll_identity();
        let to_add = if self.adding.is_none() { sender.poll_partitions_to_add() } else { Vec::new() };
        let identity = sender.identity();
        let freed = sender.take_freed();
        let (hints, brokers) = sender.take_hints();
        let wants_metadata = sender.take_wants_metadata();
        self.timer.as_mut().set(Some(sender.poll_deadline().map_or(self.interest, |at| at.min(self.interest))));
        drop(sender);
        for sealing in to_seal {
            // It ends by itself within milliseconds, and does its work also when it is dropped.
            engine.client.runtime().spawn(Box::pin(async move { sealing.run() })).detach();
        }
        if freed {
            engine.space.notify_waiters();
            engine.landed.notify_waiters();
        }
        if !hints.is_empty() {
            engine.client.hub().handle_hints(&hints, brokers);
        }
        if wants_metadata {
            engine.client.hub().request_refresh();
        }
        if asks_identity {
            let client = engine.client.clone();
            self.identity = Some(Box::pin(async move { init_producer_id(&client, None, None).await }));
        }
        if let Some(identity) = identity.filter(|_| !to_add.is_empty()) {
            self.adding = Some(Box::pin(add_partitions(Arc::clone(engine), to_add, identity)));
        }
        calls
    }

    fn start(&mut self, call: ProduceCall) -> BoxFuture<Landed> {
        let link = self.engine.client.hub().pool().link(Place::Node(call.node), Purpose::Produce);
        let (id, node) = (call.id, call.node);
        let row = self.rows.entry(node).or_default().clone();
        let mut outgoing = Outgoing::new(ApiKey::PRODUCE, call.timeout);
        outgoing.max_version = call.max_version;
        if call.acks == 0 {
            let sent = link.send_unanswered(row.clone(), outgoing, move |version| call.into_request(version));
            return Box::pin(async move { Landed { id, node, row, result: sent.await.map(|_| None) } });
        }
        let sent = link.send_in_row(Some(row.clone()), outgoing, move |version| call.into_request(version));
        Box::pin(async move { Landed { id, node, row, result: sent.await.map(|reply| Some(reply.body)) } })
    }

    async fn wait(&mut self) {
        let engine = Arc::clone(&self.engine);
        tokio::select! {
            // What is rare comes first, and cannot keep what is frequent from its turn.
            biased;
            identity = pending(&mut self.identity) => self.handle_identity(identity),
            added = pending(&mut self.adding) => self.handle_added(added),
            changed = self.view.changed() => {
                // The sender of the view lives in the client, which the engine holds.
                debug_assert!(changed.is_ok());
                self.handle_view();
            }
            landed = next(&mut self.calls) => self.land(landed),
            () = engine.wake.notified() => {}
            () = self.timer.as_mut() => self.handle_time(),
        }
    }

    fn land(&mut self, landed: Landed) {
        let now = self.engine.client.now();
        let mut sender = self.engine.sender();
        match landed.result {
            Ok(Some(response)) => sender.handle_response(now, landed.id, &response),
            Ok(None) => sender.handle_unanswered(landed.id),
            Err(error) => {
                self.rows.retain(|_, row| !row.is(&landed.row) || row.is_open());
                tracing::debug!(node = %landed.node, %error, "produce request failed");
                let why = format!("node {}: {error}", landed.node);
                match error {
                    RequestError::Unsupported(_) | RequestError::Encode(_) => {
                        sender.handle_unsendable(landed.id, &why);
                    }
                    error => sender.handle_failure(now, landed.id, error.may_be_sent(), &why),
                }
            }
        }
        drop(sender);
        self.engine.landed.notify_waiters();
    }
    fn handle_identity(&self, identity: Result<Identity, Error>) {
        match identity {
            Ok(identity) => self.engine.sender().handle_identity(Some(identity)),
            Err(error) if error.is_retriable() => self.engine.sender().handle_identity(None),
            Err(error) => self.fail_all(&error),
        }
    }
    fn handle_added(&self, added: Result<(), Error>) {
        match added {
            Ok(()) => self.engine.sender().handle_partitions_added(true),
            Err(error) if error.is_retriable() => self.engine.sender().handle_partitions_added(false),
            Err(error) => {
                let failure = error.code().map_or_else(
                    || Failure::Unsendable(error.to_string()),
                    |code| if code.is_fenced() { Failure::Fenced(code) } else { refused(code, &error) },
                );
                let mut sender = self.engine.sender();
                sender.handle_partitions_added(false);
                sender.abort_waiting(&Arc::new(failure));
            }
        }
    }
    fn fail_all(&self, error: &Error) {
        self.engine.sender().fail_all(&Arc::new(Failure::Unsendable(error.to_string())));
        self.engine.space.notify_waiters();
    }
    fn handle_view(&mut self) {
        let image = Arc::clone(&self.view.borrow_and_update().image);
        self.engine.handle_image(&image);
    }
    fn handle_time(&mut self) {
        let now = self.engine.client.now();
        if now < self.interest {
            return;
        }
        self.interest = now + INTEREST;
        for name in self.engine.accumulator.topic_names() {
            self.engine.client.hub().use_topic(&name, Creation::Allowed);
        }
    }
}

fn refused(code: millstream_protocol::ErrorCode, error: &Error) -> Failure {
    Failure::Refused { code, message: Some(error.to_string()), in_doubt: false }
}

/// The next request that comes back; never, while there is none. Of one broker's, always the oldest: that a batch is out of
/// sequence is news only while the one before it has not been sent again.
fn next(calls: &mut HashMap<NodeId, VecDeque<BoxFuture<Landed>>>) -> impl Future<Output = Landed> + '_ {
    poll_fn(|cx| {
        let landed = calls.values_mut().find_map(|queue| {
            let Poll::Ready(landed) = queue.front_mut()?.as_mut().poll(cx) else { return None };
            queue.pop_front();
            Some(landed)
        });
        calls.retain(|_, queue| !queue.is_empty());
        landed.map_or(Poll::Pending, Poll::Ready)
    })
}

/// A future that may be there; never ready while it is not.
fn pending<T>(slot: &mut Option<BoxFuture<T>>) -> impl Future<Output = T> + '_ {
    poll_fn(|cx| {
        let Some(future) = slot else { return Poll::Pending };
        let ready = future.as_mut().poll(cx);
        if ready.is_ready() {
            *slot = None;
        }
        ready
    })
}

/// Makes partitions part of the transaction (T-1).
async fn add_partitions(engine: Arc<Engine>, partitions: Vec<TopicPartition>, identity: Identity) -> Result<(), Error> {
    use crate::transaction::add_partitions_request;
    use millstream_client_core::transaction::{Step, Verdict, judge};
    let id = engine.transactional_id().unwrap_or_default().to_owned();
    let operation = format!("add partitions to the transaction of `{id}`");
    let call =
        Call::new(operation.clone(), Target::Coordinator(CoordinatorKey::Transaction(id.clone()))).max_version(3);
    let reply = engine
        .client
        .call(call, move |_| add_partitions_request(&id, identity, &partitions), crate::transaction::added_code)
        .await?;
    let code = crate::transaction::added_code(&reply.body);
    match judge(Step::Add, code) {
        Verdict::Done => Ok(()),
        _ => Err(Error::broker(code, operation).reason(code)),
    }
}
