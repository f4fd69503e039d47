//! One request as the log has it, and what came of it.

use super::AnyRequest;
use crate::broker::{Answered, Exchange};
use bytes::Bytes;
use millstream_protocol::frame;
use millstream_protocol::messages::Request;
use millstream_protocol::picture::Picture;
use millstream_protocol::{ApiKey, NodeId, Timestamp, api};
use std::fmt::{self, Write};
use std::marker::PhantomData;

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// An answer went out.
    Answered,
    /// What went out is no Kafka answer: a malformed one.
    Malformed,
    /// It wanted no answer.
    Unanswered,
    /// The connection was closed.
    Closed,
    /// Nothing yet.
    Open,
}
/// One word, as the control port has it.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "answered",
            Self::Malformed => "malformed",
            Self::Unanswered => "unanswered",
            Self::Closed => "closed",
            Self::Open => "open",
        })
    }
}

/// One request as the log has it, and what came of it. Typed when it was asked for by its type.
#[derive(Clone)]
pub struct LoggedRequest<R = AnyRequest> {
    exchange: Exchange,
    request: PhantomData<fn(R)>,
}
impl<R> fmt::Debug for LoggedRequest<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoggedRequest({self})")
    }
}

impl<R> LoggedRequest<R> {
    pub(super) fn new(exchange: Exchange) -> Self {
        Self { exchange, request: PhantomData }
    }
    /// Its place in the order of arrival, from 0.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.exchange.number
    }
    /// When it came, by the brokers' clock.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.exchange.at
    }
    /// When its answer went out, by the brokers' clock.
    #[must_use]
    pub fn answered_at(&self) -> Option<Timestamp> {
        self.exchange.answered_at
    }
    /// The broker that was asked.
    #[must_use]
    pub fn node(&self) -> NodeId {
        self.exchange.node
    }
    /// The connection, by a number that is never used twice.
    #[must_use]
    pub fn connection(&self) -> u64 {
        self.exchange.connection
    }
    /// Who asked, in their own words.
    #[must_use]
    pub fn client_id(&self) -> &str {
        &self.exchange.client_id
    }
    /// Where they are, as Kafka writes it: `/127.0.0.1`.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.exchange.host
    }
    /// The API.
    #[must_use]
    pub fn api(&self) -> ApiKey {
        self.exchange.api
    }
    /// The version.
    #[must_use]
    pub fn version(&self) -> i16 {
        self.exchange.version
    }
    /// The correlation id.
    #[must_use]
    pub fn correlation_id(&self) -> i32 {
        self.exchange.correlation_id
    }
    /// What a rule made of it, in words.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        self.exchange.fault.as_deref()
    }
    /// What came of it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match &self.exchange.answer {
            Some(Answered::Frame(_)) => Outcome::Answered,
            Some(Answered::Raw(_)) => Outcome::Malformed,
            Some(Answered::Nothing) => Outcome::Unanswered,
            Some(Answered::Closed(_)) => Outcome::Closed,
            None => Outcome::Open,
        }
    }
    /// Why the connection was closed instead of an answer.
    #[must_use]
    pub fn closed_because(&self) -> Option<&str> {
        match &self.exchange.answer {
            Some(Answered::Closed(reason)) => Some(reason),
            _ => None,
        }
    }
    /// The request's frame without its size.
    #[must_use]
    pub fn request_bytes(&self) -> &[u8] {
        &self.exchange.request
    }
    /// The answer's frame without its size.
    #[must_use]
    pub fn response_bytes(&self) -> Option<Bytes> {
        match &self.exchange.answer {
            Some(Answered::Frame(frame)) => Some(frame.payload()),
            Some(Answered::Raw(bytes)) => Some(bytes.slice(4.min(bytes.len())..)),
            _ => None,
        }
    }
    /// Request and answer, drawn value by value with the byte where each begins.
    #[must_use]
    pub fn picture(&self) -> String {
        let mut text = format!("{self}\n");
        let (api, version) = (self.api(), self.version());
        let request = self.exchange.request.get(self.exchange.body_at..).unwrap_or_default();
        if let Some(picture) = Picture::of_request(api, version, request) {
            draw(&mut text, &picture);
        }
        let response = self.response_bytes();
        let body = response.as_deref().and_then(|bytes| bytes.get(response_header(api, version)..));
        if let Some(picture) = body.and_then(|body| Picture::of_response(api, version, body)) {
            draw(&mut text, &picture);
        }
        text
    }
    /// The request as Kafka's JSON converters write it, if its bytes can be read.
    #[must_use]
    pub fn request_json(&self) -> Option<String> {
        let body = self.exchange.request.get(self.exchange.body_at..)?;
        Picture::of_request(self.api(), self.version(), body)?.json().ok()
    }
    /// The answer as Kafka's JSON converters write it, if there is one and its bytes can be read.
    #[must_use]
    pub fn response_json(&self) -> Option<String> {
        let bytes = self.response_bytes()?;
        let body = bytes.get(response_header(self.api(), self.version())..)?;
        Picture::of_response(self.api(), self.version(), body)?.json().ok()
    }
}
impl<R: Request> LoggedRequest<R> {
    /// The request.
    ///
    /// # Panics
    ///
    /// When its bytes are no such request: a client sent what no broker could read.
    #[must_use]
    pub fn request(&self) -> R {
        let body = self.exchange.request.slice(self.exchange.body_at..);
        match frame::decode_request(self.version(), body) {
            Ok(request) => request,
            Err(error) => panic!("{self}: {error}"),
        }
    }
    /// The answer, if one went out that can be read.
    #[must_use]
    pub fn response(&self) -> Option<R::Response> {
        frame::decode_response::<R>(self.version(), self.response_bytes()?).ok().map(|(_, response)| response)
    }
}
impl<R> fmt::Display for LoggedRequest<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Exchange { number, node, connection, client_id, api, version, correlation_id, .. } = &self.exchange;
        write!(f, "#{number} {} node {node} connection {connection} {client_id:?}: ", self.at().as_millis())?;
        write!(f, "{api} {version} ({correlation_id}) -> {}", self.outcome())?;
        if let Some(at) = self.answered_at() {
            write!(f, " after {} ms", at.since(self.at()).as_millis())?;
        }
        if let Some(fault) = self.fault() {
            return write!(f, " by a fault: {fault}");
        }
        self.closed_because().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

/// How many bytes stand before an answer's body.
fn response_header(api: ApiKey, version: i16) -> usize {
    if api::response_header_version(api, version) >= 1 { 5 } else { 4 }
}
fn draw(text: &mut String, picture: &Picture<'_>) {
    // Writing to a string cannot fail.
    let _infallible = write!(text, "{picture}");
}
