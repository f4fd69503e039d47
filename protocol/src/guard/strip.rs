//! A copy of a body without the tagged fields that nobody knows.

use super::{Limits, Shape, Visit, walk};
use crate::codec::Malformed;
use bytes::Bytes;
use std::ops::Range;

/// The body at the front of `bytes` without tagged fields that the shape does not know. The sizes of known tagged
/// fields stay as they were: decoders skip them.
pub(crate) fn without_unknown_tags(
    shape: &Shape,
    version: i16,
    bytes: &[u8],
    limits: &Limits,
) -> Result<Bytes, Malformed> {
    let mut strip = Strip { bytes, out: Vec::with_capacity(bytes.len()), copied: 0, open: Vec::new() };
    let end = walk(shape, version, bytes, limits, &mut strip)?.length;
    strip.copy_to(end);
    Ok(strip.out.into())
}

struct Strip<'a> {
    bytes: &'a [u8],
    out: Vec<u8>,
    /// How much of `bytes` was copied or passed over.
    copied: usize,
    /// The counts of tagged fields around this place: where they are in `out`, and what is left of them.
    open: Vec<(Range<usize>, u32)>,
}

impl Strip<'_> {
    fn copy_to(&mut self, end: usize) {
        self.out.extend_from_slice(self.bytes.get(self.copied..end).unwrap_or_default());
        self.copied = end;
    }
}

impl<'a> Visit<'a> for Strip<'a> {
    fn open_tags(&mut self, count: u32, at: Range<usize>) {
        self.copy_to(at.end);
        self.open.push((self.out.len() - at.len()..self.out.len(), count));
    }
    fn unknown_tag(&mut self, _tag: u32, _content: &'a [u8], at: Range<usize>) {
        self.copy_to(at.start);
        self.copied = at.end;
        self.open.iter_mut().last().into_iter().for_each(|(_, count)| *count -= 1);
    }
    fn close_tags(&mut self) {
        let Some((at, count)) = self.open.pop() else { return };
        overwrite_varint(self.out.get_mut(at).unwrap_or_default(), count);
    }
}

/// Writes a varint over a longer one; a byte with its top bit set says that more follow, though they are zero.
fn overwrite_varint(at: &mut [u8], mut value: u32) {
    let last = at.len().saturating_sub(1);
    for (index, byte) in at.iter_mut().enumerate() {
        let more = if index < last { 0x80 } else { 0 };
        *byte = u8::try_from(value & 0x7f).unwrap_or_default() | more;
        value >>= 7;
    }
}
