//! One request and what came of it.

use bytes::Bytes;
use millstream_protocol::frame::Frame;
use millstream_protocol::messages::StrBytes;
use millstream_protocol::{ApiKey, NodeId, Timestamp};
use std::borrow::Cow;

/// One request and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// From 0, in the order of arrival.
    pub(crate) number: u64,
    pub(crate) at: Timestamp,
    pub(crate) node: NodeId,
    pub(crate) connection: u64,
    pub(crate) host: StrBytes,
    pub(crate) client_id: String,
    pub(crate) api: ApiKey,
    pub(crate) version: i16,
    pub(crate) correlation_id: i32,
    /// The frame without its size.
    pub(crate) request: Bytes,
    /// Where the body begins in it.
    pub(crate) body_at: usize,
    pub(crate) answered_at: Option<Timestamp>,
    pub(crate) answer: Option<Answered>,
    /// What a rule said about it.
    pub(crate) fault: Option<String>,
}
impl Exchange {
    /// Bytes that it keeps.
    pub(super) fn len(&self) -> usize {
        self.request.len() + self.answer.as_ref().map_or(0, Answered::len)
    }
}

/// What went out.
#[derive(Debug, Clone)]
pub(crate) enum Answered {
    Frame(Frame),
    /// What is no Kafka answer.
    Raw(Bytes),
    /// The request wanted no answer.
    Nothing,
    /// The connection ended: why.
    Closed(Cow<'static, str>),
}
impl Answered {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Frame(frame) => frame.len(),
            Self::Raw(bytes) => bytes.len(),
            Self::Nothing | Self::Closed(_) => 0,
        }
    }
}
