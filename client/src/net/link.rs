//! A link to one broker: a task that connects when there is something to send, and again after the connection broke.
//!
//! What is asked while there is no connection waits for it, and fails with it. A link never sends a request twice:
//! whoever asked decides.

use super::dial::dial;
use super::inbox::{Answered, Asker, Command, Encode, Inbox, QUEUE};
use super::stream::Stream;
use super::{ConnectError, Place, RequestError, Row, Throttled, World};
use crate::runtime::Task;
use bytes::Bytes;
use millstream_client_core::backoff::{Backoff, Random};
use millstream_client_core::connection::{
    Broken, ClosedDuring, Connection, ConnectionOptions, Event, Outgoing, RequestId,
};
use millstream_protocol::frame::{self, Decoder};
use millstream_protocol::hash::HashMap;
use millstream_protocol::messages::Request;
use std::future::{Future, poll_fn};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// An answer and the version that it came in.
#[derive(Debug)]
pub(crate) struct Reply<T> {
    pub(crate) version: i16,
    pub(crate) body: T,
    /// Whether a try before this one ended without an answer, and may have had its effect as well.
    pub(crate) in_doubt: bool,
}

/// A handle on a link. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct Link {
    commands: mpsc::Sender<Command>,
    request_timeout: Duration,
    _task: Task,
}

impl Link {
    pub(crate) fn start(world: Arc<World>, place: Place) -> Self {
        let (commands, inbox) = mpsc::channel(QUEUE);
        let runtime = Arc::clone(&world.runtime);
        let request_timeout = world.request_timeout;
        let task = runtime.spawn(Box::pin(Driver::new(world, place, inbox).run()));
        Self { commands, request_timeout, _task: task }
    }
    /// How long a request may take unless it says otherwise.
    pub(crate) const fn request_timeout(&self) -> Duration {
        self.request_timeout
    }
    /// Takes a request now, in the order of the calls; the future waits for its answer. A request whose future is dropped
    /// before it is on its way is not sent. `build` gets the agreed version.
    pub(crate) fn send<R: Request, B>(
        &self,
        outgoing: Outgoing,
        build: B,
    ) -> impl Future<Output = Result<Reply<R::Response>, RequestError>> + Send + use<R, B>
    where
        R::Response: Throttled,
        B: FnOnce(i16) -> R + Send + 'static,
    {
        self.send_in_row(None, outgoing, build)
    }
    /// The same, behind the others of a row.
    pub(crate) fn send_in_row<R: Request, B>(
        &self,
        row: Option<Row>,
        mut outgoing: Outgoing,
        build: B,
    ) -> impl Future<Output = Result<Reply<R::Response>, RequestError>> + Send + use<R, B>
    where
        R::Response: Throttled,
        B: FnOnce(i16) -> R + Send + 'static,
    {
        outgoing.api = R::KEY;
        let (answer, answered) = oneshot::channel();
        let encode: Encode =
            Box::new(|version, id, client| frame::encode_request(version, id, Some(client), &build(version)));
        let taken = self.take(outgoing, encode, Asker { answer, row });
        let commands = self.commands.downgrade();
        async move {
            taken?;
            let Answered { version, payload, limits } = answered.await.map_err(|_| RequestError::Closed)??;
            let (_, body) = Decoder::new(limits)
                .response::<R>(version, payload)
                .map_err(|error| RequestError::Malformed(super::error::Whole(&error).to_string()))?;
            let pause = body.throttle_time();
            if !pause.is_zero()
                && let Some(commands) = commands.upgrade()
            {
                // A full queue is slow enough.
                let _ = commands.try_send(Command::Throttle(pause));
            }
            Ok(Reply { version, body, in_doubt: false })
        }
    }
    /// Takes a request that has no answer (P-9), behind the others of a row; the future waits until it is on its way. When the connection ends
    /// after that, the next in the row is refused: that is all that can be known of it.
    pub(crate) fn send_unanswered<R: Request, B>(
        &self,
        row: Row,
        mut outgoing: Outgoing,
        build: B,
    ) -> impl Future<Output = Result<i16, RequestError>> + Send + use<R, B>
    where
        B: FnOnce(i16) -> R + Send + 'static,
    {
        outgoing.api = R::KEY;
        outgoing.answered = false;
        let (answer, answered) = oneshot::channel();
        let encode: Encode =
            Box::new(|version, id, client| frame::encode_request(version, id, Some(client), &build(version)));
        let taken = self.take(outgoing, encode, Asker { answer, row: Some(row) });
        async move {
            taken?;
            answered.await.map_err(|_| RequestError::Closed)?.map(|answered| answered.version)
        }
    }
    /// Puts a request into the queue. What is refused here closes its row; what is refused as its row is not open has waited for nothing.
    fn take(&self, outgoing: Outgoing, encode: Encode, asker: Asker) -> Result<(), RequestError> {
        let row = asker.row.clone();
        if row.as_ref().is_some_and(|row| !row.is_open()) {
            return Err(RequestError::Overtaking);
        }
        self.commands.try_send(Command::Send { outgoing, encode, asker }).map_err(|error| {
            row.iter().for_each(Row::close);
            match error {
                mpsc::error::TrySendError::Full(_) => RequestError::Overloaded,
                mpsc::error::TrySendError::Closed(_) => RequestError::Closed,
            }
        })
    }
}

/// The task behind a link.
struct Driver {
    world: Arc<World>,
    place: Place,
    inbox: Inbox,
    random: Random,
    backoff: Backoff,
    setup_closes: u8,
}

/// After so many connections that were closed at the first request, ApiVersions is asked in its oldest form once (W-3).
const SETUP_CLOSES: u8 = 2;

impl Driver {
    fn new(world: Arc<World>, place: Place, commands: mpsc::Receiver<Command>) -> Self {
        let random = Random::new(world.runtime.seed());
        let backoff = Backoff::new(world.reconnect_backoff, world.reconnect_backoff_max);
        Self { world, place, inbox: Inbox::new(commands), random, backoff, setup_closes: 0 }
    }

    // Idle ── a command ──▶ Dialing ── open ──▶ Serving ── broken, or done ──▶ Idle
    //   ▲                       │ failed: everything that waits fails
    //   └────── backoff ◀───────┘
    async fn run(mut self) {
        while self.inbox.fill().await {
            let failure = match self.open().await {
                Ok(serving) => match serving.run(&mut self.inbox).await {
                    Ended::Closed => return,
                    Ended::Broken { broken, was_ready } => self.handle_broken(&broken, was_ready),
                },
                Err(error) => {
                    tracing::debug!(place = %self.place, %error, "no connection");
                    self.inbox.fail_all(&RequestError::Connect(error));
                    true
                }
            };
            if failure {
                self.pause().await;
            } else {
                self.backoff.reset();
            }
        }
    }

    async fn open(&mut self) -> Result<Serving, ConnectError> {
        let address = self.world.address(self.place)?;
        let socket = dial(&*self.world.runtime, &address, self.world.setup_timeout).await?;
        let mut options = ConnectionOptions::new(self.world.client_id.as_str());
        options.limits = self.world.limits;
        options.setup_timeout = self.world.setup_timeout;
        if self.setup_closes >= SETUP_CLOSES {
            self.setup_closes = 0;
            options.first_version = Some(0);
        }
        let connection = Connection::new(self.world.runtime.now(), options);
        Ok(Serving {
            world: Arc::clone(&self.world),
            address: address.to_string(),
            stream: Stream::new(socket),
            connection,
            waiting: HashMap::default(),
            unanswered: Vec::new(),
            was_ready: false,
        })
    }

    /// Whether the end of a connection is a failure that the next try should wait for.
    fn handle_broken(&mut self, broken: &Broken, was_ready: bool) -> bool {
        tracing::debug!(place = %self.place, %broken, "connection ended");
        let closed_early = matches!(broken, Broken::Closed(ClosedDuring::Setup));
        self.setup_closes = if closed_early { self.setup_closes.saturating_add(1) } else { 0 };
        if was_ready {
            self.backoff.reset();
        }
        !matches!(broken, Broken::Closed(ClosedDuring::Idle))
    }

    /// Waits before the next connection. Who would have to be refused on it does not wait.
    async fn pause(&mut self) {
        let wait = self.backoff.next(&mut self.random);
        let mut timer = self.world.runtime.timer();
        timer.as_mut().set(Some(self.world.runtime.now() + wait));
        poll_fn(|cx| {
            self.inbox.poll_sift(cx);
            timer.as_mut().poll(cx)
        })
        .await;
    }
}

enum Ended {
    /// The handle is gone.
    Closed,
    Broken {
        broken: Broken,
        was_ready: bool,
    },
}

/// A link with an open socket.
struct Serving {
    world: Arc<World>,
    address: String,
    stream: Stream,
    connection: Connection,
    waiting: HashMap<RequestId, Asker>,
    /// The rows of what was sent and has no answer: to the broker's hanging up alone they can see that something was wrong.
    unanswered: Vec<Row>,
    was_ready: bool,
}

impl Serving {
    async fn run(mut self, inbox: &mut Inbox) -> Ended {
        let mut timer = self.world.runtime.timer();
        let ended = poll_fn(|cx| {
            loop {
                if let Poll::Ready(ended) = self.poll_io(cx, inbox) {
                    return Poll::Ready(ended);
                }
                timer.as_mut().set(self.connection.poll_deadline());
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                if let Err(broken) = self.connection.handle_timeout(self.world.runtime.now()) {
                    return Poll::Ready(Some(broken));
                }
            }
        })
        .await;
        match ended {
            None => Ended::Closed,
            Some(broken) => {
                self.fail(inbox, &broken);
                Ended::Broken { broken, was_ready: self.was_ready }
            }
        }
    }

    /// Moves everything that can move. Ready with why the connection ended; none when the handle is gone.
    fn poll_io(&mut self, cx: &mut Context<'_>, inbox: &mut Inbox) -> Poll<Option<Broken>> {
        loop {
            if self.connection.is_ready() {
                while !self.stream.is_full() {
                    match inbox.poll_next(cx) {
                        Poll::Ready(Some(command)) => self.handle(command),
                        Poll::Ready(None) => return Poll::Ready(None),
                        Poll::Pending => break,
                    }
                }
            }
            let was_full = self.stream.is_full();
            if let Poll::Ready(Err(_)) = self.poll_write(cx) {
                return Poll::Ready(Some(self.connection.handle_closed()));
            }
            if was_full && !self.stream.is_full() {
                continue;
            }
            match self.stream.poll_read(cx, self.connection.read_buffer()) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(Some(self.connection.handle_closed())),
                Poll::Ready(Ok(_)) => {}
            }
            if let Err(broken) = self.connection.handle_read(self.world.runtime.now()) {
                return Poll::Ready(Some(broken));
            }
            while let Some(event) = self.connection.poll_event() {
                self.handle_event(event);
            }
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        loop {
            while !self.stream.is_full() {
                let Some(frame) = self.connection.poll_transmit(self.world.runtime.now()) else { break };
                self.stream.push(frame);
            }
            let filled = self.stream.is_full();
            std::task::ready!(self.stream.poll_write(cx))?;
            if !filled {
                return Poll::Ready(Ok(()));
            }
        }
    }

    fn handle(&mut self, command: Command) {
        let now = self.world.runtime.now();
        match command {
            Command::Throttle(pause) => self.connection.handle_throttle(now, pause),
            Command::Send { outgoing, encode, asker } => match self.send(&outgoing, encode) {
                Ok((id, _)) if outgoing.answered => {
                    self.waiting.insert(id, asker);
                }
                Ok((_, version)) => {
                    self.note_unanswered(asker.row.as_ref());
                    asker.answer(Ok(Answered { version, payload: Bytes::new(), limits: self.world.limits }));
                }
                Err(error) => asker.answer(Err(error)),
            },
        }
    }

    fn note_unanswered(&mut self, row: Option<&Row>) {
        if let Some(row) = row.filter(|row| !self.unanswered.iter().any(|known| known.is(row))) {
            self.unanswered.retain(Row::is_open);
            self.unanswered.push(row.clone());
        }
    }
    fn send(&mut self, outgoing: &Outgoing, encode: Encode) -> Result<(RequestId, i16), RequestError> {
        let mut sent_version = 0;
        let sent = self.connection.send(self.world.runtime.now(), outgoing, |version, id, client| {
            sent_version = version;
            encode(version, id, client)
        });
        Ok((sent?, sent_version))
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Ready(versions) => {
                self.was_ready = true;
                self.world.features.lock().unwrap_or_else(PoisonError::into_inner).handle_versions(&versions);
            }
            Event::Answer { id, version, payload, limits } => {
                if let Some(asker) = self.waiting.remove(&id) {
                    asker.answer(Ok(Answered { version, payload, limits }));
                }
            }
            _ => {}
        }
    }

    /// What is under way fails, and what stands behind it in a row. Before the versions were agreed on nothing was sent, so that is a failure
    /// to connect, of all that wait.
    fn fail(&mut self, inbox: &mut Inbox, broken: &Broken) {
        for (_, asker) in self.waiting.drain() {
            asker.fail(RequestError::Broken { broken: broken.clone(), written: true });
        }
        self.unanswered.iter().for_each(Row::break_up);
        if self.was_ready {
            inbox.sift();
        } else {
            inbox.fail_all(&RequestError::Connect(ConnectError::Setup(self.address.clone(), broken.clone())));
        }
    }
}

/// Links go between threads.
const fn _is_send<T: Send + Sync>() {}
const _: () = _is_send::<Link>();
