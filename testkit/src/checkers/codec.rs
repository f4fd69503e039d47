//! K-18: every frame can be read, and is written again as it was.

use super::{Checker, Frame, FrameKind, History, Violation};
use bytes::Bytes;
use millstream_protocol::frame;

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    for frame in history.frames.iter().filter(|frame| !frame.payload.is_empty()) {
        let problem = match frame.kind {
            // The same frame comes again when the node takes it up, or was there when the node gave it.
            FrameKind::Sent | FrameKind::Received => None,
            FrameKind::Request => request(frame),
            FrameKind::Response => response(frame),
        };
        if let Some(problem) = problem {
            let text = format!("{:?} v{} ({:?}) at {:?}: {problem}", frame.api, frame.version, frame.kind, frame.at);
            found.push(Violation::new(Checker::K18, "codec", text));
        }
    }
}

fn request(frame: &Frame) -> Option<String> {
    let header = match frame::decode_request_header(&frame.payload) {
        Ok(header) => header,
        Err(error) => return Some(error.to_string()),
    };
    let decoded = frame::decode_any_request(frame.api, frame.version, header.body_of(&frame.payload));
    let again = decoded.map_err(|error| error.to_string()).and_then(|request| {
        frame::encode_any_request(frame.version, header.correlation_id(), header.client_id(), &request)
            .map_err(|error| error.to_string())
    });
    compare(&again.map(|again| again.payload()), &frame.payload)
}
fn response(frame: &Frame) -> Option<String> {
    // A broker that does not know the version answers in version 0's layout.
    let decoded = frame::decode_any_response(frame.api, frame.version, frame.payload.clone());
    let again = decoded.map_err(|error| error.to_string()).and_then(|(id, response)| {
        frame::encode_any_response(frame.version, id, &response).map_err(|error| error.to_string())
    });
    compare(&again.map(|again| again.payload()), &frame.payload)
}
fn compare(again: &Result<Bytes, String>, frame: &Bytes) -> Option<String> {
    match again {
        Ok(again) if again == frame => None,
        Ok(again) => Some(format!("{} bytes are written again as {} other bytes", frame.len(), again.len())),
        Err(error) => Some(error.clone()),
    }
}
