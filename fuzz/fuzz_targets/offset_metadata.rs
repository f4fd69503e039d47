//! What is committed with an offset: any text is read, and what was read is written and read again the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use millstream_processor_core::commit::OffsetMetadata;
use millstream_protocol::Offset;

fuzz_target!(|input: (i64, &str)| {
    let (offset, text) = input;
    let offset = Offset::new(offset);
    let read = OffsetMetadata::decode(text, offset);
    if let Ok(written) = read.encode() {
        assert_eq!(OffsetMetadata::decode(&written, offset), read);
    }
});
