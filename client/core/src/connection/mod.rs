//! One connection to a broker: agrees on versions, matches answers to requests, knows when to give up.
//!
//! Bytes come in by [`handle_read`](Connection::handle_read), frames go out by [`poll_transmit`](Connection::poll_transmit).
//! A connection that broke stays broken: the shell closes the socket and starts a new machine.

mod broken;
mod in_flight;
mod negotiation;

pub use broken::{Broken, ClosedDuring};
pub use in_flight::RequestId;
pub use negotiation::Versions;

use bytes::{Bytes, BytesMut};
use in_flight::{InFlight, Waiting};
use millstream_protocol::api::UnsupportedVersion;
use millstream_protocol::frame::{self, EncodeError, Frame, FrameBuffer, Limits};
use millstream_protocol::{ApiKey, ErrorCode};
use negotiation::Negotiation;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a connection is told when it starts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConnectionOptions {
    /// Shows in the broker's logs and quotas (`client.id`).
    pub client_id: String,
    /// How long the broker may take to name its versions.
    pub setup_timeout: Duration,
    /// How large an answer may be, and what reading it may cost.
    pub limits: Limits,
    /// The version of ApiVersions to start with; none is the highest. Lower after brokers that close on what they do not
    /// know (W-3).
    pub first_version: Option<i16>,
}

impl ConnectionOptions {
    /// The protocol's defaults, but for answers of up to 256 MiB: a fetch's first batch comes whatever its size.
    #[must_use]
    pub fn limits() -> Limits {
        let mut limits = Limits::default();
        limits.frame_bytes = 256 << 20;
        limits
    }
    /// Kafka's defaults.
    #[must_use]
    pub fn new(client_id: impl Into<String>) -> Self {
        Self {
            client_id: client_id.into(),
            setup_timeout: Duration::from_secs(30),
            limits: Self::limits(),
            first_version: None,
        }
    }
}

/// A request, but for its body.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outgoing {
    /// What is asked.
    pub api: ApiKey,
    /// The highest version that the caller can fill; none leaves it to the two sides.
    pub max_version: Option<i16>,
    /// How long the answer may take once the request is written.
    pub timeout: Duration,
    /// Whether there is an answer; a produce request with `acks=0` has none (P-9).
    pub answered: bool,
}

impl Outgoing {
    /// A request with an answer, at the highest common version.
    #[must_use]
    pub const fn new(api: ApiKey, timeout: Duration) -> Self {
        Self { api, max_version: None, timeout, answered: true }
    }
}

/// What happened on a connection.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// Versions are agreed on; requests may be sent.
    Ready(Arc<Versions>),
    /// The answer to a request: the payload with its header, without its size.
    Answer {
        /// Which request.
        id: RequestId,
        /// The version that it was sent with.
        version: i16,
        /// The answer.
        payload: Bytes,
        /// What reading it may cost: an answer tells of all that was asked, some of it in fewer bytes than it takes in memory.
        limits: Limits,
    },
}

/// A request that cannot be sent on this connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The broker and this client share no version of it.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedVersion),
    /// Its body does not fit the agreed version.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The versions are not agreed on yet, or the connection broke.
    #[error("the connection is not ready for requests")]
    NotReady,
}

/// The machine of one connection.
#[derive(Debug)]
pub struct Connection {
    options: ConnectionOptions,
    state: State,
    next_correlation: i32,
    in_flight: InFlight,
    received: FrameBuffer,
    transmit: VecDeque<Frame>,
    muted_until: Option<Instant>,
    events: VecDeque<Event>,
    answers: u64,
}

// Negotiating ── ApiVersions answered ──▶ Ready ── end of stream, timeout, nonsense ──▶ Broken
//      └────────────── the same ───────────────────────────────────────────────────────────▲
#[derive(Debug)]
enum State {
    Negotiating(Negotiation),
    Ready(Arc<Versions>),
    Broken,
}

impl Connection {
    /// A connection whose socket has just opened. Its first frame asks for the broker's versions.
    #[must_use]
    pub fn new(now: Instant, options: ConnectionOptions) -> Self {
        let mut connection = Self {
            state: State::Broken,
            next_correlation: 0,
            in_flight: InFlight::default(),
            received: FrameBuffer::new(options.limits.frame_bytes),
            transmit: VecDeque::new(),
            muted_until: None,
            events: VecDeque::new(),
            answers: 0,
            options,
        };
        let negotiation = Negotiation::new(connection.options.first_version);
        connection.negotiate(now, negotiation);
        connection
    }

    /// Takes a request. `encode` gets the agreed version, the correlation id and the client's id.
    ///
    /// # Errors
    ///
    /// When the broker offers no version that the caller can fill, the body does not fit, or the connection is not ready.
    pub fn send(
        &mut self,
        now: Instant,
        outgoing: &Outgoing,
        encode: impl FnOnce(i16, i32, &str) -> Result<Frame, EncodeError>,
    ) -> Result<RequestId, SendError> {
        let State::Ready(versions) = &self.state else { return Err(SendError::NotReady) };
        let version = versions.negotiate(outgoing.api, outgoing.max_version)?;
        let correlation = self.allocate_correlation();
        let frame = encode(version, correlation, &self.options.client_id)?;
        let start = self.muted_until.map_or(now, |until| until.max(now));
        let id = self.in_flight.next_id();
        if outgoing.answered {
            let deadline = start + outgoing.timeout;
            let (api, bytes) = (outgoing.api, frame.len());
            self.in_flight.push(Waiting { id, api, version, correlation, deadline, written: false, bytes });
        }
        self.transmit.push_back(frame);
        Ok(id)
    }

    /// The buffer to read into; call [`handle_read`](Self::handle_read) after.
    pub fn read_buffer(&mut self) -> &mut BytesMut {
        self.received.spare()
    }
    /// Bytes came into the read buffer.
    ///
    /// # Errors
    ///
    /// When they are not what a Kafka broker sends; the connection is broken then.
    pub fn handle_read(&mut self, now: Instant) -> Result<(), Broken> {
        let result = self.take_frames(now);
        if result.is_err() {
            self.state = State::Broken;
        }
        result
    }
    /// The broker closed the connection, or it was lost.
    pub fn handle_closed(&mut self) -> Broken {
        let during = match &self.state {
            State::Negotiating(_) => ClosedDuring::Setup,
            _ if self.in_flight.is_empty() => ClosedDuring::Idle,
            _ if self.answers == 0 => ClosedDuring::FirstRequest,
            _ => ClosedDuring::Requests(self.in_flight.len()),
        };
        self.state = State::Broken;
        Broken::Closed(during)
    }
    /// Time went by. A request that took too long breaks the connection: its answer may still come (W-10).
    ///
    /// # Errors
    ///
    /// What took too long.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), Broken> {
        if self.muted_until.is_some_and(|until| until <= now) {
            self.muted_until = None;
        }
        let Some(late) = self.in_flight.overdue(now) else { return Ok(()) };
        let broken = Broken::TimedOut { api: late.api };
        self.state = State::Broken;
        Err(broken)
    }
    /// The broker asked for a pause (KIP-219). Requests that wait for it do not age meanwhile (W-14).
    pub fn handle_throttle(&mut self, now: Instant, pause: Duration) {
        if pause.is_zero() {
            return;
        }
        self.muted_until = Some(self.muted_until.unwrap_or(now).max(now + pause));
        self.in_flight.postpone_unwritten(pause);
    }

    /// The next frame to write, unless the broker asked for a pause.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Frame> {
        if self.muted_until.is_some_and(|until| until > now) {
            return None;
        }
        let frame = self.transmit.pop_front()?;
        self.in_flight.mark_written(self.transmit.len());
        Some(frame)
    }
    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    /// When [`handle_timeout`](Self::handle_timeout) is due.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Instant> {
        let muted = self.muted_until.filter(|_| !self.transmit.is_empty());
        [self.in_flight.deadline(), muted].into_iter().flatten().min()
    }
    /// How many requests wait for their answers.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }
    /// Whether requests may be sent.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready(_))
    }

    fn negotiate(&mut self, now: Instant, negotiation: Negotiation) {
        let correlation = self.allocate_correlation();
        let deadline = now + self.options.setup_timeout;
        let id = self.in_flight.next_id();
        let (api, version) = (ApiKey::API_VERSIONS, negotiation.version());
        self.in_flight.push(Waiting { id, api, version, correlation, deadline, written: false, bytes: 0 });
        match negotiation.encode(correlation, &self.options.client_id) {
            Ok(frame) => {
                self.transmit.push_back(frame);
                self.state = State::Negotiating(negotiation);
            }
            // Only the client's id may be too long for it, which the shell checks; the connection would never be ready, and time out.
            Err(_) => self.state = State::Broken,
        }
    }

    fn take_frames(&mut self, now: Instant) -> Result<(), Broken> {
        while let Some(payload) = self.received.next_frame().map_err(Broken::malformed)? {
            self.take_answer(now, payload)?;
        }
        Ok(())
    }

    fn take_answer(&mut self, now: Instant, payload: Bytes) -> Result<(), Broken> {
        let correlation = frame::correlation_id(&payload).map_err(Broken::malformed)?;
        // Answers come in the order of the requests (W-9).
        let waiting = self.in_flight.pop(correlation)?;
        match std::mem::replace(&mut self.state, State::Broken) {
            State::Negotiating(negotiation) => self.take_versions(now, negotiation, payload)?,
            ready => {
                self.state = ready;
                self.answers += 1;
                let limits = limits_for(self.options.limits, waiting.bytes);
                self.events.push_back(Event::Answer { id: waiting.id, version: waiting.version, payload, limits });
            }
        }
        Ok(())
    }

    fn take_versions(&mut self, now: Instant, negotiation: Negotiation, payload: Bytes) -> Result<(), Broken> {
        match negotiation.handle_answer(payload)? {
            negotiation::Outcome::Agreed(versions) => {
                let versions = Arc::new(versions);
                self.state = State::Ready(Arc::clone(&versions));
                self.events.push_back(Event::Ready(versions));
            }
            negotiation::Outcome::Again(lower) => self.negotiate(now, lower),
            negotiation::Outcome::Refused(code) => return Err(Broken::Refused(code)),
        }
        Ok(())
    }

    /// Counts up and wraps; an id that still waits for its answer is not given twice (W-8).
    fn allocate_correlation(&mut self) -> i32 {
        loop {
            let id = self.next_correlation;
            self.next_correlation = id.checked_add(1).unwrap_or(0);
            if !self.in_flight.contains(id) {
                return id;
            }
        }
    }
}

/// The limits for the answer to a request of so many bytes. A name of three bytes in a request may have an answer of four, which takes a
/// hundred in memory: thousands of them are more than the frame alone lets it take (a CreateAcls of two thousand rules, by a real Kafka).
fn limits_for(mut limits: Limits, request_bytes: usize) -> Limits {
    let asked = request_bytes.saturating_mul(ANSWER_MULTIPLE);
    limits.memory_base_bytes = limits.memory_base_bytes.saturating_add(asked);
    limits
}
/// How many times its request an answer may take in memory, beside what its own frame lets it take.
const ANSWER_MULTIPLE: usize = 32;

impl From<ErrorCode> for Broken {
    fn from(code: ErrorCode) -> Self {
        Self::Refused(code)
    }
}

#[cfg(test)]
mod tests;
