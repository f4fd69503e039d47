//! Zigzag varints: seven bits a byte, low ones first; an int of at most five bytes, a long of at most ten.

/// The most bytes of a long.
pub(super) const MOST_LONG: usize = 10;

/// A few varints, put together on the stack and appended by one copy of fixed size.
pub(super) struct Front {
    bytes: [u8; Self::SIZE],
    length: usize,
}

impl Front {
    /// Room for a record's length, attributes, deltas, and the lengths of key and value, and one word more, since words are written whole.
    pub(super) const SIZE: usize = 48;

    pub(super) const fn new() -> Self {
        Self { bytes: [0; Self::SIZE], length: 0 }
    }
    #[inline]
    pub(super) const fn byte(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }
    #[inline]
    pub(super) fn long(&mut self, value: i64) {
        let mut rest = zigzag_long(value);
        if rest < 1 << 28 {
            return self.word(rest);
        }
        while rest >= 0x80 {
            self.byte((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        self.byte(rest as u8);
    }
    #[inline]
    pub(super) fn count(&mut self, length: usize) {
        self.long(length as i64);
    }
    /// Appends what was written, where there is room for [`Self::SIZE`] bytes more than that.
    #[inline]
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let end = out.len() + self.length;
        out.extend_from_slice(&self.bytes);
        out.truncate(end);
    }

    /// Four groups of seven bits at once: spread over bytes, all but the last of which say that more follow.
    #[inline]
    fn word(&mut self, value: u64) {
        let length = size(value);
        let spread = value & 0x7f | (value & 0x3f80) << 1 | (value & 0x1f_c000) << 2 | (value & 0xfe0_0000) << 3;
        let more = 0x8080_8080 & ((1 << (8 * (length - 1))) - 1);
        let word = ((spread | more) as u32).to_le_bytes();
        self.bytes[self.length..self.length + 4].copy_from_slice(&word);
        self.length += length;
    }
}

/// How many bytes an int takes.
pub(super) const fn size_int(value: i32) -> usize {
    size(zigzag_int(value) as u64)
}
/// How many bytes a long takes.
pub(super) const fn size_long(value: i64) -> usize {
    size(zigzag_long(value))
}
/// How many bytes a length takes; lengths are never negative.
pub(super) const fn size_length(length: usize) -> usize {
    size((length as u64) << 1)
}

/// Appends a long; an int is written as the long of the same value.
pub(super) fn put_long(out: &mut Vec<u8>, value: i64) {
    let mut front = Front::new();
    front.long(value);
    front.put(out);
}
/// Appends a length.
pub(super) fn put_length(out: &mut Vec<u8>, length: usize) {
    put_long(out, length as i64);
}

const fn zigzag_int(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)).cast_unsigned()
}
const fn zigzag_long(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}
const fn size(zigzag: u64) -> usize {
    // One byte for each seven bits, and one for zero.
    (70 - (zigzag | 1).leading_zeros() as usize) / 7
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_what_is_written() {
        let longs = (0..63).flat_map(|bit| [1_i64 << bit, (1 << bit) - 1, -(1 << bit)]).chain([i64::MIN, i64::MAX]);
        for value in longs {
            let mut out = Vec::new();
            put_long(&mut out, value);
            assert_eq!(out.len(), size_long(value), "{value}");
            if let Ok(int) = i32::try_from(value) {
                assert_eq!(out.len(), size_int(int), "{value}");
            }
        }
    }
}
