//! A compressed block of any codec: it inflates within the limit or is refused; and any data, compressed, inflates to itself.

#![no_main]

use libfuzzer_sys::fuzz_target;
use millstream_protocol::{Compression, Compressor, Decompressor};

const LIMIT: usize = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let [which, data @ ..] = data else { return };
    let codec = Compression::ALL[usize::from(*which) % Compression::ALL.len()];
    let mut decompressor = Decompressor::with_limit(LIMIT);
    if let Ok(inflated) = decompressor.decompress(codec, data) {
        assert!(inflated.len() <= LIMIT || codec == Compression::None);
    }
    if let Ok(inflated) = decompressor.decompress_old_lz4(data) {
        assert!(inflated.len() <= LIMIT);
    }
    let mut compressor = Compressor::new(codec, None).expect("every codec is compiled in");
    let compressed = compressor.compress(data).expect("any data can be compressed");
    let inflated = decompressor.decompress(codec, &compressed).expect("what was compressed can be inflated");
    assert_eq!(inflated, data);
});
