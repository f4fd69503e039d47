//! The log of all requests and answers: as text, one line each, with a sum over the bytes, and as frames for checkers.

use super::process::ProcessId;
use crate::broker::ConnectionId;
use crate::checkers::{Frame, FrameKind};
use bytes::Bytes;
use millstream_protocol::{ApiKey, NodeId, frame};
use std::fmt::Write;
use std::time::Duration;

/// Everything that was asked and answered.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    text: String,
    frames: Vec<Frame>,
}

impl Trace {
    /// What a process has sent; the log's text has it when the node takes it up.
    pub(super) fn sent(&mut self, at: Duration, process: ProcessId, id: ConnectionId, node: NodeId, payload: &Bytes) {
        let Ok(header) = frame::decode_request_header(payload) else { return };
        let about = (header.api(), header.version());
        let who = (process.0.into(), id.0, node);
        self.frames.push(Frame::new((at, FrameKind::Sent), who, about, payload.clone()));
    }
    pub(super) fn request(
        &mut self,
        now: Duration,
        process: ProcessId,
        id: ConnectionId,
        node: NodeId,
        payload: &Bytes,
    ) {
        let header = frame::decode_request_header(payload).ok();
        let (api, version) = header.map_or((ApiKey::API_VERSIONS, -1), |header| (header.api(), header.version()));
        self.note(now, process, id, node, (FrameKind::Request, api, version), payload.clone());
    }
    pub(super) fn response(
        &mut self,
        now: Duration,
        process: ProcessId,
        id: ConnectionId,
        node: NodeId,
        (api, version): (ApiKey, i16),
        frame: &Bytes,
    ) {
        let payload = frame.slice(4.min(frame.len())..);
        self.note(now, process, id, node, (FrameKind::Response, api, version), payload);
    }
    /// An answer that is made into none: what it was does not matter to checkers, only that there was one.
    pub(super) fn garbage(
        &mut self,
        now: Duration,
        process: ProcessId,
        id: ConnectionId,
        node: NodeId,
        (api, version): (ApiKey, i16),
        bytes: &Bytes,
    ) {
        self.note(now, process, id, node, (FrameKind::Response, api, version), bytes.clone());
        self.frames.last_mut().into_iter().for_each(|frame| frame.payload = Bytes::new());
    }
    fn note(
        &mut self,
        at: Duration,
        process: ProcessId,
        id: ConnectionId,
        node: NodeId,
        (kind, api, version): (FrameKind, ApiKey, i16),
        payload: Bytes,
    ) {
        let arrow = if kind == FrameKind::Request { '→' } else { '←' };
        let (micros, process, connection, len) = (at.as_micros(), process.0, id.0, payload.len());
        let sum = sum(&payload);
        // Writing to a string does not fail.
        let _ = writeln!(
            self.text,
            "{micros:>12} p{process} c{connection} {arrow} {node} {api:?} v{version} {len} B {sum:016x}"
        );
        self.frames.push(Frame::new((at, kind), (process.into(), connection, node), (api, version), payload));
    }
    /// The log as text: the same bytes exactly if the same bytes were sent at the same times.
    pub(crate) fn text(&self) -> &str {
        &self.text
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
