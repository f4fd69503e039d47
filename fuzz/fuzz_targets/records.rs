//! A buffer of record batches as a Fetch response carries it. Checksums are not checked, so that chance gets past them.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use millstream_protocol::Decompressor;
use millstream_protocol::record::{CrcCheck, batches};

fuzz_target!(|data: &[u8]| {
    let mut decompressor = Decompressor::with_limit(1 << 20);
    for batch in batches(Bytes::copy_from_slice(data)) {
        let Ok(decoded) = batch.and_then(|batch| batch.decode(&mut decompressor, CrcCheck::Skip)) else { return };
        let mut cursor = decoded.cursor();
        let stepped = std::iter::from_fn(|| decoded.next(&mut cursor)).map(|record| record.offset).collect::<Vec<_>>();
        assert!(decoded.iter().map(|record| record.offset).eq(stepped));
        let header_bytes = |record: millstream_protocol::record::RecordView<'_>| {
            record.headers.iter().map(|header| header.name.len() + header.value.map_or(0, <[u8]>::len)).sum::<usize>()
        };
        assert!(decoded.iter().map(header_bytes).sum::<usize>() <= decoded.payload().len());
        assert!(decoded.control().is_none_or(|_| decoded.header().is_control()));
    }
});
