//! Which partition a key goes to: MurmurHash2 as Kafka's Java client computes it.

const MULTIPLIER: u32 = 0x5bd1_e995;
const SEED: u32 = 0x9747_b28c;

/// The 32-bit hash of a key, signed as Java has it.
///
/// ```
/// assert_eq!(millstream_protocol::murmur2(b""), 275_646_681);
/// ```
#[must_use]
pub fn murmur2(key: &[u8]) -> i32 {
    let (words, tail) = key.as_chunks::<4>();
    #[expect(clippy::cast_possible_truncation, reason = "the hash takes the length's low 32 bits")]
    let mut hash = SEED ^ key.len() as u32;
    for word in words {
        let mut word = u32::from_le_bytes(*word).wrapping_mul(MULTIPLIER);
        word ^= word >> 24;
        hash = hash.wrapping_mul(MULTIPLIER) ^ word.wrapping_mul(MULTIPLIER);
    }
    if !tail.is_empty() {
        let last = tail.iter().rev().fold(0, |word, &byte| (word << 8) | u32::from(byte));
        hash = (hash ^ last).wrapping_mul(MULTIPLIER);
    }
    hash = (hash ^ (hash >> 13)).wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> 15)).cast_signed()
}

/// The partition of a key among `count`: the hash without its sign, modulo `count`. None when there are no partitions.
///
/// ```
/// use millstream_protocol::{PartitionId, partition_for_key};
/// assert_eq!(partition_for_key(b"", 12), Some(PartitionId::new(9)));
/// assert_eq!(partition_for_key(b"", 0), None);
/// ```
#[must_use]
pub fn partition_for_key(key: &[u8], count: i32) -> Option<crate::PartitionId> {
    (count > 0).then(|| crate::PartitionId::new((murmur2(key) & i32::MAX) % count))
}
