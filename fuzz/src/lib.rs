//! What targets share.

use millstream_protocol::frame::{Decoder, Limits};

/// Reads what was written after it was read, and may be shorter than it was: varints may have been longer than they need be,
/// and unknown tagged fields that cost too much memory are let go. So what it may cost is not measured by its length.
///
/// ```
/// assert_eq!(millstream_fuzz::again().limits().memory_base_bytes, 1 << 30);
/// ```
#[must_use]
pub fn again() -> Decoder {
    let mut limits = Limits::DEFAULT;
    limits.memory_base_bytes = 1 << 30;
    Decoder::new(limits)
}
