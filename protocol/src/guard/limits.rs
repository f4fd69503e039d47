//! How much one message may hold, and cost.

use crate::codec::Malformed;

/// Bytes of a text, whatever form its length has: Kafka's classes neither read a longer one nor write it.
pub const TEXT_BYTES: usize = 32_767;

/// Refuses a text of so many bytes if it is longer.
pub(crate) fn check_text(bytes: usize) -> Result<(), Malformed> {
    if bytes <= TEXT_BYTES {
        Ok(())
    } else {
        Err(Malformed::new(format!("a text of {bytes} bytes; Kafka's limit is {TEXT_BYTES}")))
    }
}

/// Bounds for one frame and the message in it. The defaults are Kafka's where it has one.
///
/// ```
/// use millstream_protocol::frame::{Decoder, Limits};
/// let mut limits = Limits::default();
/// limits.elements = 10_000;
/// let decoder = Decoder::new(limits);
/// assert_eq!(decoder.limits().frame_bytes, 100 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a frame after its size, and of a body. 100 MiB, a broker's `socket.request.max.bytes`.
    pub frame_bytes: usize,
    /// Structs and arrays within one another. 16; Kafka 4.4's messages have 11 at most.
    pub depth: usize,
    /// Elements of one array. A million, as Kafka.
    pub array_elements: usize,
    /// Elements of all arrays together that are text, bytes, arrays or structs. Two million.
    pub elements: usize,
    /// Tagged fields of one struct. Ten thousand, as Kafka.
    pub tagged_fields: u32,
    /// How many times its frame a message may take in memory, beyond [`memory_base_bytes`](Self::memory_base_bytes). 8.
    ///
    /// Small things grow when they are read: an empty text is one byte in a frame and 32 in memory. Real messages
    /// stay below; ten thousand empty names are refused.
    pub memory_multiple: usize,
    /// What any message may take in memory, however small its frame. 64 KiB.
    pub memory_base_bytes: usize,
}

impl Limits {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        frame_bytes: 100 << 20,
        depth: 16,
        array_elements: 1_000_000,
        elements: 2_000_000,
        tagged_fields: 10_000,
        memory_multiple: 8,
        memory_base_bytes: 64 << 10,
    };

    /// No limits but those that are the protocol's: for what was just written.
    pub(crate) const NONE: Self = Self {
        frame_bytes: usize::MAX,
        depth: usize::MAX,
        array_elements: usize::MAX,
        elements: usize::MAX,
        tagged_fields: u32::MAX,
        memory_multiple: usize::MAX,
        memory_base_bytes: usize::MAX,
    };

    /// Refuses a body that no frame within the limits can hold, wherever it came from.
    pub(crate) fn check_size(&self, bytes: usize) -> Result<(), Malformed> {
        let limit = self.frame_bytes;
        if bytes <= limit {
            Ok(())
        } else {
            Err(Malformed::new(format!("{bytes} bytes; the limit of a frame is {limit}")))
        }
    }
    /// What a message in a frame of this size may take.
    pub(crate) const fn memory(&self, frame_bytes: usize) -> usize {
        self.memory_multiple.saturating_mul(frame_bytes).saturating_add(self.memory_base_bytes)
    }
}
impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
