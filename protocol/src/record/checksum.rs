//! CRC-32C of a header and a payload from the checksums of each, so that a batch of a megabyte gets another producer's id in nanoseconds.
//!
//! A checksum is a polynomial over GF(2) modulo the generator; `n` bytes behind it multiply it by x⁸ⁿ. Reflected, as hardware has it: bit 31 is x⁰.

const GENERATOR: u32 = 0x82F6_3B78;
/// x⁸ to the power of 1, 2, 4, 8, …
const POWERS: [u32; 32] = powers();

/// A payload's length and checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Checksummed {
    length: usize,
    crc: u32,
    /// x⁸ⁿ for the length n.
    shift: u32,
}

impl Checksummed {
    pub(super) fn of(payload: &[u8]) -> Self {
        Self { length: payload.len(), crc: crc32c::crc32c(payload), shift: shift(payload.len()) }
    }
    pub(super) const fn length(self) -> usize {
        self.length
    }
    /// The checksum of the payload after bytes whose checksum is `before`.
    pub(super) const fn crc_after(self, before: u32) -> u32 {
        multiply(before, self.shift) ^ self.crc
    }
}

fn shift(length: usize) -> u32 {
    // x⁰
    let one = 1 << 31;
    let set = POWERS.iter().enumerate().filter(|(bit, _)| length >> bit & 1 == 1);
    set.fold(one, |product, (_, power)| multiply(product, *power))
}

#[expect(clippy::indexing_slicing, reason = "it runs when this is compiled")]
const fn powers() -> [u32; 32] {
    let mut powers = [1 << (31 - 8); 32];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = multiply(powers[at - 1], powers[at - 1]);
        at += 1;
    }
    powers
}

const fn multiply(left: u32, mut right: u32) -> u32 {
    let mut product = 0;
    let mut bit = 32;
    while bit > 0 {
        bit -= 1;
        product ^= right & 0_u32.wrapping_sub(left >> bit & 1);
        right = (right >> 1) ^ (GENERATOR & 0_u32.wrapping_sub(right & 1));
    }
    product
}

#[cfg(test)]
mod tests {
    use super::Checksummed;

    #[test]
    fn parts_checksummed_apart_give_the_checksum_of_the_whole() {
        let whole: Vec<u8> = (0..100_000_u32).map(|i| (i.wrapping_mul(31) >> 3) as u8).collect();
        for length in [0, 1, 7, 8, 255, 256, 4097, 99_960] {
            let (head, payload) = (&whole[..40], &whole[40..40 + length]);
            let combined = Checksummed::of(payload).crc_after(crc32c::crc32c(head));
            assert_eq!(combined, crc32c::crc32c(&whole[..40 + length]), "{length}");
        }
    }
}
