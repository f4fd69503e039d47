//! The values that all benchmarks send: half constant, half random, so that codecs have something to do.

/// Bytes of a value.
const SIZE: usize = 100;
const CONSTANT: &[u8; 8] = b"\"field\":";

/// `count` distinct values of 100 bytes, the same in every run.
#[must_use]
pub fn values(count: usize) -> Vec<Vec<u8>> {
    let mut state = 0x9E37_79B9_7F4A_7C15;
    (0..count).map(|_| value(&mut state)).collect()
}

fn value(state: &mut u64) -> Vec<u8> {
    let mut value = Vec::with_capacity(SIZE + CONSTANT.len());
    while value.len() < SIZE {
        value.extend_from_slice(CONSTANT);
        value.extend_from_slice(format!("{:08x}", next(state) & 0xffff_ffff).as_bytes());
    }
    value.truncate(SIZE);
    value
}

/// Marsaglia's xorshift.
const fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
