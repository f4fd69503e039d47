//! A thread's compressor, kept from batch to batch: its tables are large, and zstd's cannot change threads.

use millstream_protocol::compression::{Compression, CompressionError, Compressor};
use std::cell::RefCell;

/// A codec and its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Codec {
    compression: Compression,
    level: Option<i32>,
}

/// Below this, in bytes, compressing takes some ten microseconds.
const WORTH_HANDING_OVER: usize = 16 << 10;

thread_local! {
    static LAST: RefCell<Option<(Codec, Compressor)>> = const { RefCell::new(None) };
}

impl Codec {
    /// A codec that is compiled in and has the level.
    pub(super) fn new(compression: Compression, level: Option<i32>) -> Result<Self, CompressionError> {
        drop(Compressor::new(compression, level)?);
        Ok(Self { compression, level })
    }
    /// Whether so many bytes take longer to compress than to hand to another task.
    pub(super) fn is_work(self, bytes: usize) -> bool {
        self.compression != Compression::None && bytes >= WORTH_HANDING_OVER
    }
    /// Lends this thread's compressor.
    pub(super) fn with<T>(self, work: impl FnOnce(&mut Compressor) -> T) -> T {
        let mut compressor =
            LAST.take().filter(|(codec, _)| *codec == self).map_or_else(|| self.compressor(), |(_, kept)| kept);
        let done = work(&mut compressor);
        LAST.set(Some((self, compressor)));
        done
    }

    fn compressor(self) -> Compressor {
        Compressor::new(self.compression, self.level).expect("one of the same kind was made when the codec was")
    }
}
