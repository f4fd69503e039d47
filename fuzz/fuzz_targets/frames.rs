//! A stream of bytes, in reads of the size that its first byte says: the same frames come out of it as of one read.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use millstream_protocol::frame::{self, FrameBuffer, FrameError};
use millstream_protocol::picture::Picture;

fn frames(stream: &[u8], read: usize) -> (Vec<Bytes>, Option<FrameError>) {
    let mut buffer = FrameBuffer::new(1 << 16);
    let mut frames = Vec::new();
    for part in stream.chunks(read) {
        buffer.extend(part);
        loop {
            match buffer.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    (frames, None)
}

fuzz_target!(|data: &[u8]| {
    let [read, stream @ ..] = data else { return };
    let (cut, error) = frames(stream, usize::from(*read).max(1));
    assert_eq!((cut.clone(), error), frames(stream, usize::MAX));
    for payload in cut {
        let Ok(header) = frame::decode_request_header(&payload) else { continue };
        let body = header.body_of(&payload);
        let picture = Picture::of_request(header.api(), header.version(), &body);
        let drawn = picture.map(|picture| (picture.to_string(), picture.json().is_ok(), picture.length().is_ok()));
        assert!(drawn.is_none_or(|(text, json, length)| !text.is_empty() && json == length));
    }
});
