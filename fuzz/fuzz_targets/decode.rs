//! What the command `decode` reads: digits, and frames one after another.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use millstream_protocol::picture::{Picture, from_hex, split_frames};

fuzz_target!(|data: &[u8]| {
    if let Some(bytes) = std::str::from_utf8(data).ok().and_then(|text| from_hex(text).ok()) {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(from_hex(&digits), Ok(bytes));
    }
    let stream = Bytes::copy_from_slice(data);
    let (frames, rest) = split_frames(&stream);
    assert_eq!(frames.iter().map(|(_, frame)| 4 + frame.len()).sum::<usize>() + rest.len(), stream.len());
    for (at, frame) in &frames {
        assert_eq!(stream.get(*at..at + frame.len()), Some(&frame[..]));
    }
    if let Some((_, frame)) = frames.first() {
        assert!(!Picture::of_request_frame(frame).to_string().is_empty());
    }
});
