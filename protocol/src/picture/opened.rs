//! Bytes inside of a message that hold something themselves: which they are, and what it is.

use super::lines::{Lines, Origin};
use super::outline::{self, Place};
use super::records;
use crate::embedded::{
    ConsumerProtocolAssignment, ConsumerProtocolSubscription, CooperativeStickyUserData, DefaultPrincipalData,
    Embedded, GroupKey, ShareKey, StickyUserData, TransactionKey,
};
use crate::guard::{self, Blind, Limits, Shape, Value};

/// What was read before, as far as it tells what follows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hints<'a> {
    /// The last name of a topic.
    topic: Option<&'a [u8]>,
    /// The last name of an assignor.
    protocol: Option<&'a [u8]>,
    /// How many messages are around this one.
    depth: usize,
}

/// No message inside a message inside a … is drawn deeper than this.
const DEEPEST: usize = 4;

impl<'a> Hints<'a> {
    pub(super) const NONE: Self = Self { topic: None, protocol: None, depth: 0 };

    pub(super) const fn of_topic(topic: &'a str) -> Self {
        Self { topic: Some(topic.as_bytes()), ..Self::NONE }
    }
    pub(super) const fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
    /// Takes note of a field.
    pub(super) fn note(&mut self, field: &str, value: Value<'a>) {
        let Value::Text(text) = value else { return };
        match field {
            "name" => (self.topic, self.protocol) = (Some(text), Some(text)),
            "topic" => self.topic = Some(text),
            "protocolName" => self.protocol = Some(text),
            _ => {}
        }
    }
    /// The log that the last topic is.
    pub(super) fn log(&self) -> Option<Log> {
        match self.topic? {
            b"__consumer_offsets" => Some(Log::Group),
            b"__transaction_state" => Some(Log::Transaction),
            b"__share_group_state" => Some(Log::Share),
            _ => None,
        }
    }
}

/// A topic whose records are a coordinator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Log {
    Group,
    Transaction,
    Share,
}

impl Log {
    /// The shapes of a record's key and value, by the type in the key.
    pub(super) fn shapes(self, key: &[u8]) -> Option<(&'static Shape, &'static Shape)> {
        let record_type = i16::from_be_bytes(*key.first_chunk()?);
        match self {
            Self::Group => GroupKey::shapes(record_type),
            Self::Transaction => TransactionKey::shapes(record_type),
            Self::Share => ShareKey::shapes(record_type),
        }
    }
}

/// What bytes hold.
#[derive(Debug, Clone, Copy)]
pub(super) enum Opened<'a> {
    Records(Hints<'a>),
    /// A schema, at this version, after so many bytes of prefix.
    Schema(&'static Shape, i16, usize, Hints<'a>),
    /// A request with its header.
    Request(Hints<'a>),
}

impl Opened<'_> {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Records(_) => "record batches",
            Self::Schema(shape, ..) => shape.name,
            Self::Request(_) => "a request",
        }
    }
}

/// What a field's bytes hold, where the field says so or the bytes leave no doubt.
pub(super) fn what<'a>(
    shape: &Shape,
    field: &str,
    value: Value<'a>,
    hints: &Hints<'a>,
) -> Option<(&'a [u8], Opened<'a>)> {
    let (bytes, is_records) = match value {
        Value::Records(bytes) => (bytes, true),
        Value::Bytes(bytes) => (bytes, false),
        _ => return None,
    };
    if bytes.is_empty() || hints.depth >= DEEPEST {
        return None;
    }
    let inner = hints.deeper();
    if is_records {
        return Some((bytes, Opened::Records(inner)));
    }
    let opened = match (shape.name, field) {
        ("EnvelopeRequest", "requestData") => Some(Opened::Request(inner)),
        ("EnvelopeRequest", "requestPrincipal") => versioned::<DefaultPrincipalData>(bytes, inner),
        ("ConsumerProtocolSubscription", "userData") => user_data(bytes, inner),
        (_, "metadata" | "memberMetadata" | "subscription") => versioned::<ConsumerProtocolSubscription>(bytes, inner),
        (_, "assignment" | "memberAssignment") => versioned::<ConsumerProtocolAssignment>(bytes, inner),
        _ => None,
    };
    opened.map(|opened| (bytes, opened))
}

/// A schema after its version, if the bytes are nothing else.
fn versioned<'a, T: Embedded>(bytes: &[u8], hints: Hints<'a>) -> Option<Opened<'a>> {
    let version = i16::from_be_bytes(*bytes.first_chunk()?);
    let shape = T::SCHEMA.shape;
    is_whole(shape, version, bytes.get(2..)?).then_some(Opened::Schema(shape, version, 2, hints))
}

fn user_data<'a>(bytes: &[u8], hints: Hints<'a>) -> Option<Opened<'a>> {
    let (shape, newest) = match hints.protocol? {
        b"sticky" => (StickyUserData::SCHEMA.shape, 1),
        b"cooperative-sticky" => (CooperativeStickyUserData::SCHEMA.shape, 0),
        _ => return None,
    };
    let version = (0..=newest).rev().find(|version| is_whole(shape, *version, bytes))?;
    Some(Opened::Schema(shape, version, 0, hints))
}

fn is_whole(shape: &Shape, version: i16, bytes: &[u8]) -> bool {
    guard::walk(shape, version, bytes, &Limits::DEFAULT, &mut Blind).is_ok_and(|walked| walked.length == bytes.len())
}

/// Draws what the bytes hold.
pub(super) fn draw(opened: Opened<'_>, bytes: &[u8], origin: Origin, path: &str, lines: &mut Lines) {
    match opened {
        Opened::Records(hints) => records::draw(bytes, origin, path, hints, lines),
        Opened::Schema(shape, version, prefix, hints) => {
            let (before, bytes) = bytes.split_at_checked(prefix).unwrap_or_default();
            if prefix > 0 {
                lines.push(origin, before, &format!("{path}: version {version}"));
            }
            outline::draw(Place { shape, version, bytes, origin: origin.plus(prefix), path, hints }, lines);
        }
        Opened::Request(hints) => super::frame::draw_request(bytes, origin, path, hints, lines),
    }
}
