//! The log of all requests and answers: one line each, with a sum over the bytes, and frames for checkers.

use super::process::ProcessId;
use crate::broker::ConnectionId;
use crate::checkers::{Frame, FrameKind};
use bytes::Bytes;
use millstream_protocol::{ApiKey, NodeId, frame};
use std::fmt;
use std::time::Duration;

/// Everything that was asked and answered.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    log: RequestLog,
    frames: Vec<Frame>,
}

/// Every request and answer of a run, a line each: when, whose, on which connection, at which node, which API and version, how long, and a sum
/// over the bytes. Two are equal exactly if the same bytes were sent at the same times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestLog(Vec<Line>);

/// Its text is written when somebody wants to read it, which of most runs nobody does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    place: Place,
    arrow: char,
    about: (ApiKey, i16),
    len: usize,
    sum: u64,
}
impl fmt::Display for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place: Place { at, process, connection, node }, arrow, about: (api, version), len, sum } = self;
        let (micros, process, connection) = (at.as_micros(), process.0, connection.0);
        write!(f, "{micros:>12} p{process} c{connection} {arrow} {node} {api:?} v{version} {len} B {sum:016x}")
    }
}

/// When and where a frame is: of which process, on which connection, with which node at its other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) at: Duration,
    pub(super) process: ProcessId,
    pub(super) connection: ConnectionId,
    pub(super) node: NodeId,
}
impl Place {
    fn frame(self, kind: FrameKind, about: (ApiKey, i16), payload: Bytes) -> Frame {
        Frame::new((self.at, kind), (self.process.0.into(), self.connection.0, self.node), about, payload)
    }
}

impl Trace {
    /// What a process has sent; the log has it when the node takes it up.
    pub(super) fn sent(&mut self, place: Place, payload: &Bytes) {
        let Ok(header) = frame::decode_request_header(payload) else { return };
        let about = (header.api(), header.version());
        self.frames.push(place.frame(FrameKind::Sent, about, payload.clone()));
    }
    /// What a node has taken up; what it is about is none, if nobody can tell.
    pub(super) fn request(&mut self, place: Place, about: Option<(ApiKey, i16)>, payload: &Bytes) {
        let about = about.unwrap_or((ApiKey::API_VERSIONS, -1));
        self.note(place, '→', about, payload);
        self.frames.push(place.frame(FrameKind::Request, about, payload.clone()));
    }
    pub(super) fn response(&mut self, place: Place, about: (ApiKey, i16), frame: &Bytes) {
        let payload = frame.slice(4.min(frame.len())..);
        self.note(place, '←', about, &payload);
        self.frames.push(place.frame(FrameKind::Response, about, payload));
    }
    /// An answer that is made into none: what it was does not matter to checkers, only that there was one.
    pub(super) fn garbage(&mut self, place: Place, about: (ApiKey, i16), bytes: &Bytes) {
        self.note(place, '←', about, bytes);
        self.frames.push(place.frame(FrameKind::Response, about, Bytes::new()));
    }
    /// An answer has come to the process, whole.
    pub(super) fn received(&mut self, place: Place, about: (ApiKey, i16)) {
        self.frames.push(place.frame(FrameKind::Received, about, Bytes::new()));
    }
    fn note(&mut self, place: Place, arrow: char, about: (ApiKey, i16), payload: &Bytes) {
        self.log.0.push(Line { place, arrow, about, len: payload.len(), sum: sum(payload) });
    }
    /// What was asked and answered by now.
    pub(crate) const fn log(&self) -> &RequestLog {
        &self.log
    }
    /// Takes the frames out.
    pub(crate) fn take_frames(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.frames)
    }
}

// FNV-1a over words: a line of the log is to change with any byte.
fn sum(bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |word: u64| sum = (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| mix(u64::from_le_bytes(*word)));
    rest.iter().for_each(|byte| mix(u64::from(*byte)));
    sum
}
