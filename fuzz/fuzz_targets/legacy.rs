//! Messages of magic 0 and 1, with wrappers: the first byte says which magic, and is put where it belongs.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use millstream_protocol::Decompressor;
use millstream_protocol::record::{CrcCheck, batches};

const MAGIC_AT: usize = 16;

fuzz_target!(|data: &[u8]| {
    let [magic, data @ ..] = data else { return };
    let mut buffer = data.to_vec();
    if let Some(byte) = buffer.get_mut(MAGIC_AT) {
        *byte = magic & 1;
    }
    let mut decompressor = Decompressor::with_limit(1 << 20);
    for batch in batches(Bytes::from(buffer)) {
        let Ok(decoded) = batch.and_then(|batch| batch.decode(&mut decompressor, CrcCheck::Skip)) else { return };
        assert_eq!(decoded.iter().count(), decoded.len());
        // What follows in the buffer may be of magic 2.
        assert!(decoded.header().magic == 2 || decoded.iter().all(|record| record.headers.is_empty()));
    }
});
