//! What happened, as clients saw it and as it went over the wire: what checkers look at.

use bytes::Bytes;
use millstream_protocol::messages::{RequestKind, ResponseKind};
use millstream_protocol::{ApiKey, NodeId, TopicPartition, frame};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a record carries: a number that no other record has.
pub type Value = u64;

/// A producer, consumer or process, under a number that no other has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(u64);
impl From<u64> for ClientId {
    fn from(id: u64) -> Self {
        Self(id)
    }
}

/// A transaction, under a number that no other has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId(u64);
impl From<u64> for TransactionId {
    fn from(id: u64) -> Self {
        Self(id)
    }
}

/// A record that a poll brought.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Read {
    /// Where it lies.
    pub partition: TopicPartition,
    /// Its position.
    pub offset: i64,
    /// What it carries.
    pub value: Value,
}
impl Read {
    /// A record that a poll brought.
    pub fn new(partition: impl Into<TopicPartition>, offset: i64, value: Value) -> Self {
        Self { partition: partition.into(), offset, value }
    }
}

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// It is committed.
    Committed,
    /// It is aborted.
    Aborted,
    /// It is the one or the other.
    Unknown,
}

/// Something that a client did or saw.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A send began.
    Send {
        /// What it sends.
        value: Value,
        /// Where to.
        partition: TopicPartition,
        /// In which transaction, if in any.
        transaction: Option<TransactionId>,
        /// How much memory it takes at least.
        bytes: usize,
    },
    /// The producer has taken it, and holds it until it is resolved.
    Taken {
        /// What was taken.
        value: Value,
    },
    /// It is written.
    Acked {
        /// What was written.
        value: Value,
        /// Where it lies; none if the broker had it already.
        offset: Option<i64>,
    },
    /// It failed.
    SendFailed {
        /// What was not written,
        value: Value,
        /// or may be.
        in_doubt: bool,
    },
    /// The producer has at most this much memory, in bytes.
    MemoryLimit(usize),
    /// A consumer of a process may hold so much that it has fetched and not handed out.
    FetchLimit {
        /// The process, as in [`Frame::client`].
        process: ClientId,
        /// How much.
        bytes: usize,
    },
    /// A transaction is to end.
    Ending {
        /// Which.
        transaction: TransactionId,
        /// By a commit, and not by an abort.
        commit: bool,
    },
    /// A transaction has ended.
    Ended {
        /// Which.
        transaction: TransactionId,
        /// How.
        outcome: Ended,
    },
    /// It is not known how a transaction ended.
    InDoubt {
        /// Which.
        transaction: TransactionId,
        /// Why, in words that are the same where the reason is.
        cause: String,
    },
    /// A poll brought records.
    Polled {
        /// The records, in their order.
        records: Vec<Read>,
        /// The transaction that consumes them, if any does.
        transaction: Option<TransactionId>,
        /// Whether the consumer sees what is committed alone.
        read_committed: bool,
    },
    /// Partitions are now this member's.
    Assigned {
        /// The group; none, if it was the application that chose them.
        group: Option<String>,
        /// The group's generation.
        generation: i32,
        /// Which.
        partitions: Vec<TopicPartition>,
    },
    /// The group asks for partitions: the client reads no more of them from here on. Whether it is in time is known later: `Revoked` or `Lost`.
    /// A history may lack these; then a client reads until it says how it ended.
    Revoking {
        /// Which.
        partitions: Vec<TopicPartition>,
    },
    /// Partitions were given up when the group asked for them.
    Revoked {
        /// Which.
        partitions: Vec<TopicPartition>,
    },
    /// Partitions turned out to be someone else's.
    Lost {
        /// Which.
        partitions: Vec<TopicPartition>,
    },
    /// The application chose another position.
    Sought {
        /// Where.
        partition: TopicPartition,
    },
    /// An offset was committed, by the broker's word.
    OffsetCommitted {
        /// The group.
        group: String,
        /// The partition.
        partition: TopicPartition,
        /// The position after the last record that is done.
        offset: i64,
    },
    /// The client is closed.
    Closed,
    /// The client is gone: its process was killed, if it was not closed before.
    Gone,
    /// The last fault has healed.
    Healed,
    /// Everybody has read all there is.
    CaughtUp,
}

impl Event {
    /// The partitions whose position is chosen anew by it: what was read before says nothing of what comes.
    pub(super) fn repositioned(&self) -> &[TopicPartition] {
        match self {
            Self::Assigned { partitions, .. } | Self::Lost { partitions } | Self::Revoked { partitions } => partitions,
            Self::Sought { partition } => std::slice::from_ref(partition),
            _ => &[],
        }
    }
}

/// Which way a frame went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameKind {
    /// A request, when the process sent it.
    Sent,
    /// A request, when the node took it up.
    Request,
    /// An answer, when the node gave it.
    Response,
    /// The same, when it had come to the process, without its bytes. A history may lack these; then an answer counts as there when it is given.
    Received,
}

/// A frame on the wire, without its size.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// When.
    pub at: Duration,
    /// Whose.
    pub client: ClientId,
    /// On which connection.
    pub connection: u64,
    /// The node at its other end.
    pub node: NodeId,
    /// Which way it went.
    pub kind: FrameKind,
    /// Which API.
    pub api: ApiKey,
    /// In which version.
    pub version: i16,
    /// Header and body.
    pub payload: Bytes,
}
impl Frame {
    /// A frame on the wire.
    #[must_use]
    pub fn new(
        (at, kind): (Duration, FrameKind),
        (client, connection, node): (ClientId, u64, NodeId),
        (api, version): (ApiKey, i16),
        payload: Bytes,
    ) -> Self {
        Self { at, client, connection, node, kind, api, version, payload }
    }
    /// The request, if it is one that can be read.
    pub(super) fn request(&self) -> Option<RequestKind> {
        let header = frame::decode_request_header(&self.payload).ok()?;
        frame::decode_any_request(self.api, self.version, header.body_of(&self.payload)).ok()
    }
    /// The answer, if it is one that can be read.
    pub(super) fn response(&self) -> Option<ResponseKind> {
        let decoded = frame::decode_any_response(self.api, self.version, self.payload.clone());
        decoded.ok().map(|(_, response)| response)
    }
}

/// A run: what clients did, in order of time; frames, in order of time; and what is in the logs at the end.
///
/// ```
/// use millstream_testkit::checkers::{Event, History, Read, check};
/// use std::time::Duration;
///
/// let mut history = History::default();
/// let mut add = |at, client: u64, event| history.add(Duration::from_secs(at), client, event);
/// for (at, value) in [(1, 10), (2, 11)] {
///     add(at, 1, Event::Send { value, partition: ("orders", 0).into(), transaction: None, bytes: 8 });
///     add(at, 1, Event::Acked { value, offset: Some(i64::try_from(value).unwrap() - 10) });
/// }
/// // The first record never comes.
/// let records = vec![Read::new(("orders", 0), 1, 11)];
/// add(3, 2, Event::Polled { records, transaction: None, read_committed: true });
///
/// let violations = check(&history);
/// assert_eq!(violations[0].name(), "lost-write");
/// ```
#[derive(Debug, Clone, Default)]
pub struct History {
    pub(super) events: Vec<(Duration, ClientId, Event)>,
    pub(super) frames: Vec<Frame>,
    pub(super) log: BTreeMap<TopicPartition, BTreeMap<i64, Value>>,
    /// Topics whose records are no values, or that were deleted on the way.
    pub(super) is_read_whole: bool,
}

impl History {
    /// Something happened. Times do not fall.
    pub fn add(&mut self, at: Duration, client: impl Into<ClientId>, event: Event) {
        self.events.push((at, client.into(), event));
    }
    /// Adds frames, in order of time.
    pub fn add_frames(&mut self, frames: impl IntoIterator<Item = Frame>) {
        self.frames.extend(frames);
    }
    /// What a partition's log has at the end, committed records alone.
    pub fn set_log(&mut self, partition: impl Into<TopicPartition>, records: impl IntoIterator<Item = (i64, Value)>) {
        self.log.insert(partition.into(), records.into_iter().collect());
    }
    /// Says that consumers were given the time to read everything: what they have not read is unseen.
    pub fn set_read_whole(&mut self) {
        self.is_read_whole = true;
    }
    /// What clients did.
    pub fn events(&self) -> impl Iterator<Item = (Duration, ClientId, &Event)> {
        self.events.iter().map(|(at, client, event)| (*at, *client, event))
    }
    /// The same, to be changed: for tests of checkers.
    pub fn events_mut(&mut self) -> &mut Vec<(Duration, ClientId, Event)> {
        &mut self.events
    }
    /// What went over the wire.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }
    /// The same, to be changed: for tests of checkers.
    pub fn frames_mut(&mut self) -> &mut Vec<Frame> {
        &mut self.frames
    }
}
