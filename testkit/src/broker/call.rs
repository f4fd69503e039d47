//! A request on its way: who sent it, in which version, and what becomes of it.

use bytes::Bytes;
use millstream_protocol::frame::Frame;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::{ErrorCode, NodeId};
use std::borrow::Cow;

/// A connection; never used twice in a cluster's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// One of the cluster's listeners, by its place among them; every node has all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct ListenerId(pub(crate) usize);

/// Who is at the other end of a connection, and at which node it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) connection: ConnectionId,
    pub(crate) node: NodeId,
    /// As DescribeGroups shows it: `/127.0.0.1`.
    pub(crate) host: StrBytes,
    /// Where it arrived at the node.
    pub(crate) listener: ListenerId,
    /// Whom its certificate names; none without one.
    pub(crate) certified: Option<StrBytes>,
}
impl Peer {
    /// Somebody at a node's first listener, without a certificate.
    pub(crate) fn new(connection: ConnectionId, node: NodeId, host: StrBytes) -> Self {
        Self { connection, node, host, listener: ListenerId::default(), certified: None }
    }
}

/// What is needed to answer a request, now or later.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) connection: ConnectionId,
    pub(crate) node: NodeId,
    pub(crate) host: StrBytes,
    pub(crate) listener: ListenerId,
    /// As ACLs name it: `User:alice`.
    pub(crate) principal: StrBytes,
    pub(crate) client_id: StrBytes,
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
    /// It was held back once: the rules have had their say.
    pub(crate) is_held: bool,
}

/// Why something is not done: a code, and the sentence that goes with it.
pub(crate) type Refusal = (ErrorCode, String);

/// What a handler decides.
#[derive(Debug)]
pub(crate) enum Answer<T> {
    /// This, at once.
    Reply(T),
    /// The handler has kept the call and completes it later. The connection reads no further request until then, as Kafka mutes it.
    Later,
    /// Nothing: a produce request that wants no acknowledgement.
    Silence,
    /// The connection ends: why.
    Close(Closing),
}

/// What the shell does with a connection.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) connection: ConnectionId,
    pub(crate) outcome: Outcome,
}
#[derive(Debug)]
pub(crate) enum Outcome {
    Frame(Frame),
    /// Bytes that are no Kafka answer, their size included.
    Raw(Bytes),
    /// The last frame before the connection ends.
    Last(Frame, Closing),
    Silence,
    Close(Closing),
}

/// Why the brokers end a connection. Kafka's clients see no more than an end: whoever wonders finds the reason in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Closing {
    pub(crate) fault: Fault,
    pub(crate) reason: Cow<'static, str>,
    /// The request that was open: API, version, correlation id and client. It is known when the connection ends.
    pub(crate) request: Option<String>,
}

/// Whose doing the end of a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A test wanted it.
    Test,
    /// The client sent what a Kafka broker hangs up on.
    Client,
    /// A Kafka broker would have served it.
    Broker,
}

impl Closing {
    /// A test wanted it.
    pub(crate) const fn wanted() -> Self {
        Self { fault: Fault::Test, reason: Cow::Borrowed("a fault wants it so"), request: None }
    }
    /// The client sent what a Kafka broker hangs up on.
    pub(crate) fn refused(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { fault: Fault::Client, reason: reason.into(), request: None }
    }
    /// A Kafka broker would have served it.
    pub(crate) fn failed(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { fault: Fault::Broker, reason: reason.into(), request: None }
    }
}
