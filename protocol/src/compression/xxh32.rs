//! xxHash, 32 bits: the checksum of LZ4's frames.

const PRIME_1: u32 = 0x9E37_79B1;
const PRIME_2: u32 = 0x85EB_CA77;
const PRIME_3: u32 = 0xC2B2_AE3D;
const PRIME_4: u32 = 0x27D4_EB2F;
const PRIME_5: u32 = 0x1656_67B1;

/// The hash of `input` with seed 0.
pub(super) fn xxh32(input: &[u8]) -> u32 {
    let (stripes, mut tail) = input.as_chunks::<16>();
    let mut hash = if stripes.is_empty() { PRIME_5 } else { lanes(stripes) };
    #[expect(clippy::cast_possible_truncation, reason = "the hash takes the length's low 32 bits")]
    let length = input.len() as u32;
    hash = hash.wrapping_add(length);
    while let Some((word, rest)) = tail.split_first_chunk::<4>() {
        let word = u32::from_le_bytes(*word).wrapping_mul(PRIME_3);
        hash = hash.wrapping_add(word).rotate_left(17).wrapping_mul(PRIME_4);
        tail = rest;
    }
    for &byte in tail {
        let byte = u32::from(byte).wrapping_mul(PRIME_5);
        hash = hash.wrapping_add(byte).rotate_left(11).wrapping_mul(PRIME_1);
    }
    avalanche(hash)
}

fn lanes(stripes: &[[u8; 16]]) -> u32 {
    let mut lanes = [PRIME_1.wrapping_add(PRIME_2), PRIME_2, 0, 0_u32.wrapping_sub(PRIME_1)];
    for stripe in stripes {
        let (words, _) = stripe.as_chunks::<4>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            let word = u32::from_le_bytes(*word).wrapping_mul(PRIME_2);
            *lane = lane.wrapping_add(word).rotate_left(13).wrapping_mul(PRIME_1);
        }
    }
    let [a, b, c, d] = lanes;
    a.rotate_left(1).wrapping_add(b.rotate_left(7)).wrapping_add(c.rotate_left(12)).wrapping_add(d.rotate_left(18))
}

fn avalanche(mut hash: u32) -> u32 {
    hash = (hash ^ (hash >> 15)).wrapping_mul(PRIME_2);
    hash = (hash ^ (hash >> 13)).wrapping_mul(PRIME_3);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::xxh32;

    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(xxh32(b""), 0x02CC_5D05);
        assert_eq!(xxh32(b"abc"), 0x32D1_53FF);
        assert_eq!(xxh32(b"Nobody inspects the spammish repetition"), 0xE229_3B2F);
    }
}
