//! Zigzag varints: seven bits a byte, low ones first; an int of at most five bytes, a long of at most ten.

/// The most bytes of a long.
pub(super) const MOST_LONG: usize = 10;

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

/// Writes a long at the start of `out` and tells how many bytes it took.
pub(super) fn write_long(out: &mut [u8; MOST_LONG], value: i64) -> usize {
    let mut rest = zigzag_long(value);
    let mut at = 0;
    while rest >= 0x80 {
        out[at] = (rest & 0x7f) as u8 | 0x80;
        rest >>= 7;
        at += 1;
    }
    out[at] = rest as u8;
    at + 1
}
/// Appends a long; an int is written as the long of the same value.
pub(super) fn put_long(out: &mut Vec<u8>, value: i64) {
    let mut bytes = [0; MOST_LONG];
    let length = write_long(&mut bytes, value);
    out.extend_from_slice(&bytes[..length]);
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
